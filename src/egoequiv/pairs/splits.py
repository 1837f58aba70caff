"""Splits into training and validation frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.held_out import HeldOut
from egoequiv.pairs.places import divide_places, usual_place_m
from egoequiv.pairs.shared import clocks_of, groups_of_recordings, time_to_nearest
from egoequiv.store import FrameStore

TRAIN_FRACTION = 0.67
PAPER, BY_RECORDING, BY_TIME, BY_PLACE, GIVEN, AUTO = "paper", "by-recording", "by-time", "by-place", "given", "auto"
MOST_BLOCKS = 10  # of a recording, in a split by time
GAPS = 6  # a validation block lasts about so many guard gaps or longer, so that two of them leave most of it


@dataclass(frozen=True)
class Split:
    """Store rows for training and for validation; disjoint, and by time or place not all of them."""

    train: Indices
    validation: Indices
    kind: str
    place_m: float | None = None  # by place: how far the parts are apart


def make_split(
    store: FrameStore,
    kind: str = AUTO,
    *,
    seed: int = 0,
    train_fraction: float = TRAIN_FRACTION,
    max_gap_s: float = 1.0,
    place_m: float | None = None,
) -> Split:
    """Split a whole store into frames to train on and frames to validate on.

    Args:
        store: The frames.
        kind: `paper` divides frames at random, as the paper does, so that most validation frames are a step from a
            training frame. `by-recording` and `by-ATTRIBUTE` divide whole groups; recordings that ran at the same
            time (`clocks_of`) are one group of `by-recording`, and divided as one by `by-time`. Where every recording
            is of one class and every class has two or more, `by-recording` divides class by class, by the number of
            frames, so that both parts have every class. `by-time` divides each recording into blocks of time, with a
            guard gap around each. `by-place` divides by where frames were taken. `by-ATTRIBUTE:VALUE,VALUE` validates
            on the frames with these values (`by-recording:NAME` too). With further attributes, such as
            `by-toy:3+lighting:4,5`, validation frames have all of them, and training frames lack the first. `given`
            takes the parts that came with the data: training is the part called train. `auto` takes the first of these
            that the store allows: given, by-recording, by-time, by-place, paper.
        seed: Another seed, another split of the same kind.
        train_fraction: About this part of the frames is for training.
        max_gap_s: The guard gap of `by-time`; frames within it of a training frame are in neither part.
        place_m: The guard gap of `by-place`, in metres; by default `usual_place_m`.

    Returns:
        The rows of both parts; `kind` says which split was made.
    """
    every = np.arange(len(store))
    if kind == AUTO:
        return first_fitting(
            store, every, seed=seed, train_fraction=train_fraction, max_gap_s=max_gap_s, place_m=place_m
        )
    if kind == GIVEN:
        in_train = np.char.lower(store.attribute("part")) == "train"
        if in_train.all() or not in_train.any():
            raise DataError(f"{store.place}: split 'given' needs a part called train and another one")
        return Split(np.flatnonzero(in_train), np.flatnonzero(~in_train), kind)
    if named := HeldOut.parse(kind):
        return Split(*named.divide(store), kind)
    return split_frames(
        store, every, kind, seed=seed, train_fraction=train_fraction, max_gap_s=max_gap_s, place_m=place_m
    )


def split_frames(
    store: FrameStore,
    frames: Indices,
    kind: str,
    *,
    seed: int,
    train_fraction: float,
    max_gap_s: float = 1.0,
    place_m: float | None = None,
) -> Split:
    """Split the given frames of a store; where a kind names values, by all values of their attribute."""
    if named := HeldOut.parse(kind):
        kind = named.groups
    if not 0 < train_fraction < 1:
        raise ConfigError(f"train_fraction must lie between 0 and 1, found {train_fraction}")
    rng = np.random.default_rng([seed, 0x5B117])
    if kind == BY_TIME:
        return _split_by_time(store, frames, rng, train_fraction, max_gap_s)
    if kind == BY_PLACE:
        apart_m = usual_place_m(store, max_gap_s) if place_m is None else place_m
        return Split(*divide_places(store, frames, rng, train_fraction, apart_m), kind, apart_m)
    units = _units(store, frames, kind, max_gap_s)
    distinct = np.unique(units)
    if len(distinct) < 2:
        is_rig = kind == BY_RECORDING and len(np.unique(store.recording[frames])) > 1
        as_one = "; recordings that ran at the same time, or with the same times and poses, are one" if is_rig else ""
        raise DataError(
            f"split {kind!r} needs at least two groups to divide, {store.place} has {len(distinct)}{as_one}"
        )
    if kind == BY_RECORDING:
        strata = _strata(store, frames, units, distinct)
        chosen = np.concatenate([_share(rng.permutation(stratum), units, train_fraction) for stratum in strata])
    else:
        cut = min(max(round(train_fraction * len(distinct)), 1), len(distinct) - 1)
        chosen = rng.permutation(distinct)[:cut]
    in_train = np.isin(units, chosen)
    return Split(frames[in_train], frames[~in_train], kind)


def first_fitting(
    store: FrameStore,
    frames: Indices,
    *,
    classes: NDArray[np.int64] | None = None,
    per_class: int = 1,
    seed: int = 0,
    train_fraction: float = TRAIN_FRACTION,
    max_gap_s: float = 1.0,
    place_m: float | None = None,
) -> Split:
    """The split of these frames with the least leakage that leaves enough in both parts.

    Parts that came with the data, whole recordings, blocks of time, places, and frames at random if nothing else is
    possible.
    With `classes` (N,), the training part must have `per_class` frames of every class.
    """
    whole = len(frames) == len(store)
    kinds = [GIVEN] if whole and "part" in store.attributes else []
    cut = partial(
        split_frames, store, frames, seed=seed, train_fraction=train_fraction, max_gap_s=max_gap_s, place_m=place_m
    )
    for kind in (*kinds, BY_RECORDING, BY_TIME, BY_PLACE):
        try:
            split = make_split(store, kind) if kind == GIVEN else cut(kind)
        except DataError:  # the store does not allow it
            continue
        if kind == GIVEN or _leaves_enough(split, frames, classes, per_class):
            return split
    return cut(PAPER)


def _leaves_enough(split: Split, frames: Indices, classes: NDArray[np.int64] | None, per_class: int) -> bool:
    """Whether both parts have a tenth of the frames, and the training part enough of every class."""
    if min(len(split.train), len(split.validation)) < 0.1 * len(frames):
        return False
    if classes is None:
        return True
    wanted = np.unique(classes[frames][classes[frames] >= 0])
    counts = np.array([(classes[split.train] == number).sum() for number in wanted])
    return bool((counts >= per_class).all() and (classes[split.validation] >= 0).any())


def _split_by_time(
    store: FrameStore, frames: Indices, rng: np.random.Generator, train_fraction: float, max_gap_s: float
) -> Split:
    """Blocks of time of each recording; validation frames within `max_gap_s` of a training frame are left out.

    Long recordings have several blocks, so that both parts see all of the way; the seed shifts them.
    """
    if store.times_s is None:
        raise DataError(f"split 'by-time' needs times, {store.place} has none: choose by-recording or paper")
    train, validation = [], []
    group, times_s = clocks_of(store, max_gap_s)
    ordered = np.sort(frames)
    for code in np.unique(group[ordered]):
        rows = ordered[group[ordered] == code]
        rows = rows[np.argsort(times_s[rows], kind="stable")]
        times = times_s[rows]
        blocks = int(np.clip((1 - train_fraction) * (times[-1] - times[0]) / (GAPS * max_gap_s), 1, MOST_BLOCKS))
        shift = rng.random() if blocks > 1 else train_fraction * rng.integers(2)  # a single cut needs one gap only
        in_train = (np.arange(len(rows)) / len(rows) * blocks + shift) % 1 < train_fraction
        train.append(rows[in_train])
        validation.append(rows[~in_train & (time_to_nearest(times, times[in_train]) > max_gap_s)])
    split = Split(np.sort(np.concatenate(train)), np.sort(np.concatenate(validation)), BY_TIME)
    if not len(split.train) or not len(split.validation):
        raise DataError(
            f"split 'by-time': the recordings of {store.place} are too short for a gap of {max_gap_s:g} s between "
            "training and validation: lower max_gap_s, or choose another split"
        )
    return split


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


def _units(store: FrameStore, frames: Indices, kind: str, max_gap_s: float) -> NDArray[np.int64]:
    """What each frame is divided by: itself, its recording with those of the same time, or an attribute."""
    if kind in (PAPER, GIVEN):  # the training part of a given split is cut again at random
        return frames
    if kind == BY_RECORDING:
        return groups_of_recordings(store, max_gap_s)[frames]
    if kind.startswith("by-"):
        codes, _ = store.classes(kind.removeprefix("by-"))
        return codes[frames]
    have = ", ".join(f"by-{name}" for name in ("recording", "time", "place", *store.attributes))
    raise ConfigError(f"split {kind!r} is not known; choose auto, paper, given, {have}, or by-ATTRIBUTE:VALUE")


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
                f"class {name!r} has {len(of_class)} training frames, per_class needs {per_class}: "
                "lower per_class, or choose a split that keeps every class in the training part"
            )
        drawn.append(rng.choice(of_class, per_class, replace=False))
    return np.concatenate(drawn)
