"""Splits into training and validation frames, and how much of one is nearly repeated in the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs.candidates import Indices, close_pairs
from egoequiv.pairs.neighbours import are_neighbours
from egoequiv.store import FrameStore

TRAIN_FRACTION = 0.67
GIVEN = "given"


@dataclass(frozen=True)
class Split:
    """Store rows for training and for validation; disjoint."""

    train: Indices
    validation: Indices
    kind: str


def make_split(
    store: FrameStore, kind: str = "paper", *, seed: int = 0, train_fraction: float = TRAIN_FRACTION
) -> Split:
    """Split a whole store.

    `paper` cuts over frames at random, `by-recording` and `by-ATTRIBUTE` over whole groups, and `given` takes the
    parts that came with the data: training is the part called train. Where every recording is of one class and every
    class has two or more, `by-recording` cuts class by class, so that both parts have every class; it goes by the
    number of frames, not of recordings.
    """
    if kind == GIVEN:
        in_train = np.char.lower(store.attribute("part")) == "train"
        if in_train.all() or not in_train.any():
            raise DataError(f"{store.place}: split 'given' needs a part called train and another one")
        return Split(np.flatnonzero(in_train), np.flatnonzero(~in_train), kind)
    return split_frames(store, np.arange(len(store)), kind, seed=seed, train_fraction=train_fraction)


def split_frames(store: FrameStore, frames: Indices, kind: str, *, seed: int, train_fraction: float) -> Split:
    """Split the given frames of a store."""
    if not 0 < train_fraction < 1:
        raise ConfigError(f"train_fraction must lie between 0 and 1, found {train_fraction}")
    units = _units(store, frames, kind)
    distinct = np.unique(units)
    if len(distinct) < 2:
        raise DataError(f"split {kind!r} needs at least two groups to divide, {store.place} has {len(distinct)}")
    rng = np.random.default_rng([seed, 0x5B117])
    if kind == "by-recording":
        strata = _strata(store, frames, units, distinct)
        chosen = np.concatenate([_share(rng.permutation(stratum), units, train_fraction) for stratum in strata])
    else:
        cut = min(max(round(train_fraction * len(distinct)), 1), len(distinct) - 1)
        chosen = rng.permutation(distinct)[:cut]
    in_train = np.isin(units, chosen)
    return Split(frames[in_train], frames[~in_train], kind)


def _share(groups: NDArray[np.int64], units: NDArray[np.int64], fraction: float) -> NDArray[np.int64]:
    """Some of the groups, but not all, that have about this fraction of their frames; the largest are placed first.

    Recordings may differ in length a hundredfold, and a part of a few short ones is no training part.
    """
    lengths = np.array([int((units == group).sum()) for group in groups])
    wanted = fraction * lengths.sum()
    taken = np.zeros(len(groups), bool)
    for k in np.argsort(-lengths, kind="stable"):
        have = lengths[taken].sum()
        taken[k] = abs(have + lengths[k] - wanted) < abs(have - wanted) and taken.sum() < len(groups) - 1
    if not taken.any():
        taken[lengths.argmin()] = True
    return groups[taken]


def _strata(
    store: FrameStore, frames: Indices, units: NDArray[np.int64], distinct: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Groups to cut one by one, so that every class is in both parts: recordings by class, where that can be."""
    labels = store.labels[frames]
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.diff(units[order], prepend=-1))
    low, high = np.minimum.reduceat(labels[order], starts), np.maximum.reduceat(labels[order], starts)
    strata = {int(label): distinct[low == label] for label in np.unique(low)}
    # A lone recording without a label may stand in either part.
    if (low != high).any() or any(len(stratum) < 2 for label, stratum in strata.items() if label >= 0):
        return [distinct]
    return list(strata.values())


def _units(store: FrameStore, frames: Indices, kind: str) -> NDArray[np.int64]:
    """What each frame is divided by: itself, its recording, or the value of an attribute."""
    if kind in ("paper", GIVEN):  # the training part of a given split is cut again at random
        return frames
    if kind == "by-recording":
        return store.recording[frames]
    if kind.startswith("by-"):
        codes, _ = store.classes(kind.removeprefix("by-"))
        return codes[frames]
    have = ", ".join(f"by-{name}" for name in ("recording", *store.attributes))
    raise ConfigError(f"split {kind!r} is not known; choose paper, given, {have}")


def count_leaked(store: FrameStore, split: Split, max_gap_s: float = 1.0) -> int:
    """How many validation frames have a training frame of their recording within `max_gap_s` or one grid step."""
    in_train = np.zeros(len(store), bool)
    in_train[split.train] = True
    in_validation = np.zeros(len(store), bool)
    in_validation[split.validation] = True
    leaked = np.zeros(len(store), bool)
    for i, j in close_pairs(store, np.concatenate([split.train, split.validation]), max_gap_s):
        crossing = in_train[i] != in_train[j]
        i, j = i[crossing], j[crossing]
        near = are_neighbours(store, i, j, max_gap_s)
        leaked[i[near]] = True
        leaked[j[near]] = True
    return int((leaked & in_validation).sum())


def draw_labelled(
    classes: NDArray[np.int64], frames: Indices, per_class: int, class_names: tuple[str, ...], seed: int
) -> Indices:
    """Draw `per_class` labelled frames of every class from `frames`."""
    if per_class < 1:
        raise ConfigError(f"per_class must be at least 1, found {per_class}")
    rng = np.random.default_rng([seed, 0x1ABE1])
    drawn = []
    for number, name in enumerate(class_names):
        of_class = frames[classes[frames] == number]
        if len(of_class) < per_class:
            raise DataError(
                f"class {name!r} has {len(of_class)} training frames, {per_class} were asked for: "
                "lower per_class, or choose a split that keeps every class in the training part"
            )
        drawn.append(rng.choice(of_class, per_class, replace=False))
    return np.concatenate(drawn)
