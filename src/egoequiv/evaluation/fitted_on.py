"""What maps are fitted on before they are measured: other frames, or a random half of the pairs that are measured."""

from __future__ import annotations

import numpy as np

from egoequiv.errors import ConfigError
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.evaluation.task import TaskData
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural

MOST_FITTED = 10_000  # pairs of each motion, of other frames
FITTED_APART = (
    "maps are fitted on pairs of training frames, by ridge regression of the change of features, and measured on pairs "
    "of validation frames"
)
CHOSEN_ON_HALVES = (
    "how strongly a map is penalised, and which share of the change it predicts, is chosen on one half of the "
    "validation pairs for the other half"
)
AS_IN_THE_PAPER = (
    "maps are fitted on a random half of the pairs and measured on the other, as in the paper: both are of the same "
    "recordings; --fit-on training fits them on training recordings instead"
)


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
    both = plural(shared, "recording is", "recordings are")
    words = f"{both} both fitted and measured, so that rho is lower than on new recordings"
    return [FITTED_APART, f"split {data.split.kind}: {words}"]
