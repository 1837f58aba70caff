"""How much of the validation frames is nearly repeated in the training frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.pairs.candidates import Indices, close_pairs
from egoequiv.pairs.neighbours import are_neighbours
from egoequiv.pairs.places import distance_m, positions_of, usual_place_m
from egoequiv.pairs.shared import clocks_of, comparable_places, maps_of, time_to_nearest
from egoequiv.pairs.splits import BY_PLACE, Split
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def count_leaked(store: FrameStore, split: Split, max_gap_s: float = 1.0) -> int:
    """How many validation frames have a training frame close by (`leaked_frames`)."""
    return int(leaked_frames(store, split, max_gap_s).sum())


def leaked_frames(store: FrameStore, split: Split, max_gap_s: float = 1.0) -> Mask:
    """Which validation frames have a training frame close by, (V,).

    That is one of their recording, or of one that ran at the same time, within `max_gap_s` or one grid step. If frames
    have neither times nor steps, one at the same place of the same map. Where several recordings share a map (attribute
    `world`), one at the same place there as well. With the split by place, one at the same place of any recording.
    """
    positions = positions_of(store)
    if positions is not None and split.kind == BY_PLACE:
        return _at_place(store, split, positions, max_gap_s, comparable_places(store))
    leaked = np.zeros(len(split.validation), bool)
    has_steps = bool(store.space.named_motions())
    if store.times_s is not None:
        leaked = _at_one_time(store, split, max_gap_s)
    elif has_steps or positions is None:
        leaked = _one_step_away(store, split, max_gap_s)
    if positions is not None:
        maps, is_said = maps_of(store)
        if store.times_s is not None or has_steps:
            maps = np.where(is_said & _has_several(store, maps), maps, np.iinfo(np.int64).min)
        leaked |= _at_place(store, split, positions, max_gap_s, maps)
    return leaked


def count_revisited(store: FrameStore, split: Split, max_gap_s: float = 1.0) -> int:
    """How many validation frames are at a place where the same recording comes by at another time, while training.

    `count_leaked` counts what is close in time. A route that comes back to a place shows it again, minutes later; a
    split into blocks of time does not keep these apart. 0 if frames have no times, or poses no positions.
    """
    positions = positions_of(store)
    if positions is None or store.times_s is None or split.kind == BY_PLACE:
        return 0
    again = _at_place(store, split, positions, max_gap_s, store.recording)
    return int((again & ~_at_one_time(store, split, max_gap_s)).sum())


def _at_one_time(store: FrameStore, split: Split, max_gap_s: float) -> Mask:
    """Which validation frames have a training frame of their clock within `max_gap_s`."""
    group, times_s = clocks_of(store, max_gap_s)
    leaked = np.zeros(len(split.validation), bool)
    for code in np.unique(group[split.validation]):
        own = group[split.validation] == code
        train = split.train[group[split.train] == code]
        leaked[own] = time_to_nearest(times_s[split.validation[own]], np.sort(times_s[train])) <= max_gap_s
    return leaked


def _one_step_away(store: FrameStore, split: Split, max_gap_s: float) -> Mask:
    """Which validation frames have a training frame of their recording one step away."""
    in_train = np.zeros(len(store), bool)
    in_train[split.train] = True
    leaked = np.zeros(len(store), bool)
    for i, j in close_pairs(store, np.concatenate([split.train, split.validation]), max_gap_s):
        crossing = in_train[i] != in_train[j]
        i, j = i[crossing], j[crossing]
        near = are_neighbours(store, i, j, max_gap_s)
        leaked[i[near]] = True
        leaked[j[near]] = True
    found: Mask = leaked[split.validation]
    return found


def _has_several(store: FrameStore, maps: Indices) -> Mask:
    """Which frames are in a map of two or more recordings."""
    pairs = np.unique(np.stack([maps, store.recording], axis=1), axis=0)[:, 0]
    codes, counts = np.unique(pairs, return_counts=True)
    several: Mask = np.isin(maps, codes[counts > 1])
    return several


def _at_place(store: FrameStore, split: Split, positions: Array, max_gap_s: float, maps: Indices) -> Mask:
    """Which validation frames have a training frame at their place of their map; the least code is no map."""
    place_m = split.place_m
    leaked = np.zeros(len(split.validation), bool)
    for code in np.unique(maps[split.validation]):
        if code == np.iinfo(np.int64).min:
            continue
        if place_m is None:
            place_m = usual_place_m(store, max_gap_s)
        own = maps[split.validation] == code
        train = positions[split.train[maps[split.train] == code]]
        leaked[own] = distance_m(positions[split.validation[own]], train) <= place_m
    return leaked


def closeness(kind: str, gap: str = "second") -> str:
    """What a leaked validation frame of a split of this kind has, in words."""
    if kind == BY_PLACE:
        return "a training frame at the same place (within place_m)"
    return f"a training frame near them (within one step or {gap}, or at the same place of a map)"
