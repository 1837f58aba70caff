"""What maps are fitted on before they are measured: other frames, or a random half of the pairs that are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.evaluation.equivariance import Features, fit_change, fit_map, halves
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.evaluation.task import TaskData
from egoequiv.models.maps import FEWEST_SCORED, fewest_pairs
from egoequiv.pairs.candidates import Indices

Map = NDArray[np.float64]  # (D + 1, D), as `fit_map` gives it
MOST_FITTED = 10_000  # pairs of each motion, of other frames
FITTED_APART = (
    "maps are fitted on pairs of training frames, by ridge regression of the change of features, and measured on pairs "
    "of validation frames"
)
AS_IN_THE_PAPER = (
    "maps are fitted on a random half of the pairs and measured on the other, as in the paper: both are of the same "
    "recordings; --fit-on training fits them on training recordings instead"
)


@dataclass(frozen=True)
class MotionFeatures:
    """Features of the pairs of one motion or sequence, x_j = g x_i, and the recordings they are from."""

    z_i: Features
    z_j: Features
    groups: NDArray[np.int64]
    training: MotionFeatures | None = None  # what maps are fitted on; None: a random half of these pairs

    def __len__(self) -> int:
        return len(self.z_i)

    def divided(self, seed: int) -> tuple[MotionFeatures, MotionFeatures]:
        """The pairs to fit maps on, and those to measure them on."""
        if self.training is not None:
            return self.training, self
        fit, held = halves(len(self), seed)
        return self.take(fit), self.take(held)

    def take(self, chosen: Indices) -> MotionFeatures:
        """Some of the pairs."""
        return MotionFeatures(self.z_i[chosen], self.z_j[chosen], self.groups[chosen])

    def turned(self) -> MotionFeatures:
        """The pairs of the inverse motion."""
        other = None if self.training is None else self.training.turned()
        return MotionFeatures(self.z_j, self.z_i, self.groups, other)

    def are_too_few(self) -> bool:
        """Whether a map cannot be fitted and measured."""
        if self.training is None:
            return len(self) < fewest_pairs(self.z_j)
        return len(self.training) < fewest_pairs(self.training.z_j) // 2 or len(self) < FEWEST_SCORED

    def fit_back(self, seed: int = 0) -> Map:
        """The map from z(gx) to z(x), fitted on pairs that it is not measured on."""
        fit, _ = self.divided(seed)
        if self.training is None:
            return fit_map(fit.z_j, fit.z_i)
        return fit_change(fit.z_j, fit.z_i, fit.groups)


def training_frames(data: TaskData) -> Indices:
    """The frames that maps are fitted on where that is not what is measured; an error where all are measured."""
    split = data.split
    if np.intersect1d(split.train, split.validation).size:
        raise ConfigError(
            "--fit-on training: all frames are measured, so none are left to fit maps on: measure on the split of the "
            "run, or leave --fit-on out"
        )
    return split.train


def halved_notes(data: TaskData) -> list[str]:
    """That pairs of a grid are divided, said where training recordings are others and maps could be fitted on them."""
    return [] if shared_recordings(data) else [AS_IN_THE_PAPER]


def shared_recordings(data: TaskData) -> int:
    """How many recordings, or groups that ran at the same time, are in both parts of the split."""
    recordings = groups_of(data.store, "recording")
    return len(np.intersect1d(recordings[data.split.train], recordings[data.split.validation]))


def fitted_apart_notes(data: TaskData) -> list[str]:
    """That maps are fitted on training frames, and how many recordings are fitted and measured all the same."""
    shared = shared_recordings(data)
    if not shared or data.store.times_s is not None:  # of video, the note on leakage says it
        return [FITTED_APART]
    words = f"{shared} recordings are both fitted and measured, so that rho is lower than on new recordings"
    return [FITTED_APART, f"split {data.split.kind}: {words}"]
