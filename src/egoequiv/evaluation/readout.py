"""Motion read-out: how much of pose and motion a simple probe can read from features, on recordings it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from egoequiv.errors import DataError
from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.probes import PROBES, Probe, TrainingPart, folds_of
from egoequiv.evaluation.ranking import interval_text
from egoequiv.evaluation.read_targets import Targets, motion_targets, pose_targets
from egoequiv.evaluation.statistics import group_estimate
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable
from egoequiv.files import plain
from egoequiv.pairs import sample_neighbour_pairs
from egoequiv.pairs.candidates import Indices

Array = NDArray[np.float64]
FOLDS = 5
FEWEST_GROUPS = 3
MOST_FRAMES, MOST_PAIRS = 10_000, 20_000
FEWEST = 60


@dataclass(frozen=True)
class ReadOut:
    """How well a probe reads one quantity: R^2 of 1 is all of it, 0 is no better than its mean."""

    read_from: str  # "z" or "z_i, z_j"
    quantity: str  # with its unit
    probe: str
    r2: float
    interval: tuple[float, float]  # 95 %, over groups
    rmse: float  # in the unit of the quantity
    spread: float  # the standard deviation of the quantity, in its unit

    def describe(self) -> dict[str, Any]:
        """A JSON object; what is not defined is null."""
        described: dict[str, Any] = plain(asdict(self))
        return described


@dataclass(frozen=True)
class ReadOutResult:
    """What probes read from features."""

    rows: tuple[ReadOut, ...]
    apart: str  # what training and test have none of in common: recordings, or the values of an attribute
    groups: int
    folds: int
    frames: int
    pairs: int

    def describe(self) -> dict[str, Any]:
        """A JSON object."""
        values = {name: getattr(self, name) for name in ("apart", "groups", "folds", "frames", "pairs")}
        return values | {"rows": [row.describe() for row in self.rows]}

    def tables(self) -> list[TaskTable]:
        """The same for people."""
        rows = [
            (
                row.read_from,
                row.quantity,
                row.probe,
                f"{row.r2:.3f}",
                interval_text(row.interval),
                f"{row.rmse:.3g}",
                f"{row.spread:.3g}",
            )
            for row in self.rows
        ]
        columns = ("read from", "quantity", "probe", "R2", "95 % interval", "rms error", "spread")
        notes = (
            f"{self.frames:,} frames and {self.pairs:,} pairs; every {self.apart} is read by a probe fitted on others "
            f"({self.folds} folds of {self.groups})",
            "R2 is 1 for a perfect reading, 0 for always saying the mean, and below 0 where that would be better",
        )
        return [TaskTable("read-out of pose and motion", columns, rows, notes)]

    def headline(self) -> dict[str, float]:
        """R2 of every quantity by every probe; motion, which is read from two frames, first."""
        rows = sorted(self.rows, key=lambda row: row.read_from == "z")
        return {f"R2 of {row.quantity} from {row.read_from}, {row.probe}": row.r2 for row in rows}


def read_poses(
    features: FrameFeatures, *, apart: str = "recording", most: int = MOST_FRAMES, seed: int = 0
) -> tuple[ReadOut, ...]:
    """Read the pose of each frame from its features; cyclic coordinates as sine and cosine."""
    frames = _some(features.frames, most, seed)
    targets = pose_targets(features.store.space, features.store.poses[frames])
    return read_out("z", features.of(frames), targets, groups_of(features.store, apart)[frames], seed=seed)


def read_motions(
    features: FrameFeatures, i: Indices, j: Indices, *, apart: str = "recording", seed: int = 0
) -> tuple[ReadOut, ...]:
    """Read the motion of pairs from the features of both frames; cyclic coordinates as sine and cosine."""
    space, poses = features.store.space, features.store.poses
    targets = motion_targets(space, space.difference(poses[i], poses[j]))
    both = np.concatenate([features.of(i), features.of(j)], axis=1)
    return read_out("z_i, z_j", both, targets, groups_of(features.store, apart)[i], seed=seed)


def read_out(
    read_from: str, z: NDArray[Any], targets: Targets, groups: Indices, *, seed: int = 0
) -> tuple[ReadOut, ...]:
    """Fit every probe on some groups and read the others, until each has been read; (N, D), (N, T), (N,)."""
    if len(z) < FEWEST:
        raise DataError(f"{len(z)} examples are too few to fit and test a probe of {read_from}, {FEWEST} at the least")
    rows = []
    for probe, make in PROBES.items():
        read = cross_read(make, np.asarray(z, np.float64), targets.values, groups, seed)
        for column, name in enumerate(targets.names):
            true, guess = targets.values[:, column], read[:, column]
            r2, interval = r2_by_group(true, guess, groups)
            rmse = float(np.sqrt(np.mean((true - guess) ** 2)))
            rows.append(ReadOut(read_from, name, probe, r2, interval, rmse, float(true.std())))
    return tuple(sorted(rows, key=lambda row: targets.names.index(row.quantity)))


def cross_read(make: Callable[[TrainingPart], Probe], z: Array, values: Array, groups: Indices, seed: int) -> Array:
    """What probes say of groups they were not fitted on; (N, T)."""
    if len(np.unique(groups)) < FEWEST_GROUPS:
        raise DataError(
            f"what is read covers {len(np.unique(groups))} recordings or other parts, and probes need {FEWEST_GROUPS}: "
            "two to be fitted and chosen on, one to be read"
        )
    read = np.empty_like(values)
    for fit, rest in GroupKFold(folds_of(groups, FOLDS)).split(z, groups=groups):
        probe = make(TrainingPart(groups[fit], seed))
        probe.fit(z[fit], values[fit])
        read[rest] = probe.predict(z[rest]).reshape(len(rest), -1)
    return read


def r2_by_group(true: Array, guess: Array, groups: Indices) -> tuple[float, tuple[float, float]]:
    """R^2 and its 95 % interval over groups; not a number where the quantity never changes."""
    _, group = np.unique(groups, return_inverse=True)
    centred = true - true.mean()  # first, so that a far offset costs no digits
    weights = ((true - guess) ** 2, centred, centred**2, np.ones_like(true))
    sums = np.array([np.bincount(group, weight) for weight in weights], np.float64)
    found = group_estimate(sums, sums[3], _r2)
    return found.value, found.interval(within=(-np.inf, 1.0))


def _r2(sums: Array) -> Array:
    """R^2 from the sums of squared errors, of values, of their squares, and their number; (4, ...) -> (...)."""
    error, total, squares, count = sums
    variation = squares - total**2 / count
    known = variation > 1e-12 * np.maximum(squares, 1e-300)
    return np.where(known, 1 - error / np.where(known, variation, 1.0), np.nan)


def _some(rows: Indices, most: int, seed: int) -> Indices:
    return rows if len(rows) <= most else np.sort(np.random.default_rng([seed, 0x5A]).choice(rows, most, replace=False))


def read_features(
    features: FrameFeatures, *, max_gap_s: float = 1.0, apart: str = "recording", seed: int = 0
) -> ReadOutResult:
    """Read poses from features, and motions from the features of pairs.

    The pairs are those of one recording at most `max_gap_s` apart, or where frames have no times, at most one step of
    the grid in each direction.
    """
    store, frames = features.store, features.frames
    if not store.space.axes:
        raise DataError(f"{store.path} has no poses to be read from features: ingest frames with poses")
    groups = groups_of(store, apart)[frames]
    if len(np.unique(groups)) < FEWEST_GROUPS:
        raise DataError(
            f"{store.path}: the frames have {len(np.unique(groups))} values of {apart}, and probes need three or more: "
            "two to be fitted and chosen on, one to be read"
        )
    drawn = sample_neighbour_pairs(
        store, frames, count=MOST_PAIRS, positive_fraction=1.0, max_gap_s=max_gap_s, seed=seed
    )
    i, j = drawn.i, drawn.j
    if store.times_s is None:  # on a grid there is no before and after: half of the pairs are turned round
        turned = np.random.default_rng([seed, 0x7B]).random(len(i)) < 0.5
        i, j = np.where(turned, j, i), np.where(turned, i, j)
    rows = read_poses(features, apart=apart, seed=seed) + read_motions(features, i, j, apart=apart, seed=seed)
    return ReadOutResult(
        rows, apart, len(np.unique(groups)), folds_of(groups, FOLDS), min(len(frames), MOST_FRAMES), len(i)
    )


def readout(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> ReadOutResult:
    """The task: on the validation frames of a run."""
    on_progress("read-out", 0, 1)
    frames = data.split.validation
    features = FrameFeatures(data.store, frames, data.features[frames])
    result = read_features(features, max_gap_s=data.max_gap_s, apart=options.apart, seed=options.seed)
    on_progress("read-out", 1, 1)
    return result
