"""Which recordings show the same thing: those that ran at the same time, and those that share one map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore
from egoequiv.store.starts import starts_s

Array = NDArray[np.float64]

WORLD = "world"  # the attribute: recordings of one value have poses in one map
PART_OF = "part_of"  # the attribute: parts of one recording, each with its `start` on the clock of the whole
_EPOCH_S = 1e8  # a smaller start does not count from 1970, and says nothing about other recordings
_FEWEST_SAME = 10  # frames of two recordings whose times and poses are all the same: cameras of one rig


def clocks_of(store: FrameStore, max_gap_s: float = 1.0) -> tuple[Indices, Array]:
    """The group of each frame and its time in that group, (N,) each; recordings that ran at the same time are one.

    They are cameras of one rig, or parts of one drive: their dates (attribute `start`) say that they overlap or follow
    each other within `max_gap_s`, they were cut from one recording, or all their times and poses are the same. The
    code of a group is that of its first recording. Frames need times.
    """
    if store.times_s is None:
        raise ValueError("frames without times have no clocks")
    codes, first, of = np.unique(store.recording, return_index=True, return_inverse=True)
    told = starts_s(store)[first]
    starts = told.copy()
    starts[starts < _EPOCH_S] = np.nan
    begin, end = np.full(len(codes), np.inf), np.full(len(codes), -np.inf)
    np.minimum.at(begin, of, store.times_s)
    np.maximum.at(end, of, store.times_s)
    group, shift = np.arange(len(codes)), np.zeros(len(codes))
    for together in _parts_of_one(store, first, told):
        group[together] = together.min()
        shift[together] = told[together] - told[together].min()
    for together in _at_one_time(starts + begin, starts + end, max_gap_s):
        group[together] = together.min()
        shift[together] = starts[together] - starts[together].min()
    for together in _same_tracks(store, of, np.isnan(starts)):
        group[together] = together.min()
    return codes[group][of], store.times_s + shift[of]


def _at_one_time(begin: Array, end: Array, max_gap_s: float) -> list[Indices]:
    """Sets of two or more intervals of time that overlap or are at most so far apart; unknown ones are in none."""
    order = np.argsort(begin, kind="stable")
    order = order[np.isfinite(begin[order])]
    latest = np.maximum.accumulate(end[order])
    cuts = np.flatnonzero(begin[order][1:] > latest[:-1] + max_gap_s) + 1
    return [part for part in np.split(order, cuts) if len(part) > 1]


def _parts_of_one(store: FrameStore, first: Indices, starts: Array) -> list[Indices]:
    """Sets of two or more recordings that were cut from one, by the first frame of each."""
    if PART_OF not in store.attributes:
        return []
    wholes = store.attributes[PART_OF][first]
    known = (wholes != "") & np.isfinite(starts)
    sets = [np.flatnonzero(known & (wholes == whole)) for whole in np.unique(wholes[known])]
    return [together for together in sets if len(together) > 1]


def _same_tracks(store: FrameStore, of: Indices, asked: NDArray[np.bool_]) -> list[Indices]:
    """Sets of two or more recordings whose times and poses are all the same, and whose camera moves."""
    found: dict[bytes, list[int]] = {}
    order = np.argsort(of, kind="stable")
    for number, rows in enumerate(np.split(order, np.flatnonzero(np.diff(of[order])) + 1)):
        poses = store.poses[rows]
        if len(rows) >= _FEWEST_SAME and asked[number] and poses.size and np.ptp(poses, axis=0).any():
            track = np.column_stack([store.times_s[rows], poses])  # type: ignore[index]
            found.setdefault(track.tobytes(), []).append(number)
    return [np.array(same) for same in found.values() if len(same) > 1]


def groups_of_recordings(store: FrameStore, max_gap_s: float = 1.0) -> Indices:
    """The recording of each frame, (N,), those that ran at the same time as one."""
    return store.recording if store.times_s is None else clocks_of(store, max_gap_s)[0]


def maps_of(store: FrameStore) -> tuple[Indices, NDArray[np.bool_]]:
    """The map that each frame has its pose in, and whether the data says so, (N,) each.

    Recordings of one `world` share a map. Where nothing is said, the map of a recording is its own.
    """
    if WORLD not in store.attributes:
        return store.recording, np.zeros(len(store), bool)
    worlds = store.attributes[WORLD]
    codes: Indices = np.unique(worlds, return_inverse=True)[1]
    is_said: NDArray[np.bool_] = worlds != ""
    return np.where(is_said, -1 - codes, store.recording), is_said


def maps_by(store: FrameStore, attribute: str) -> Indices:
    """The map of each frame, (N,): one for each value of an attribute; a recording without a value has its own."""
    values = store.classes(attribute)[0]
    own = values.max(initial=-1) + 1 + store.recording
    found: Indices = np.where(values >= 0, values, own)
    return found


def comparable_places(store: FrameStore) -> Indices:
    """Codes (N,): frames of one code may be at one place. Only maps that are all said to differ are kept apart."""
    maps, is_said = maps_of(store)
    return maps if is_said.all() else np.zeros_like(maps)


def time_to_nearest(times: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each time is from the nearest of the others, which are in order; (N,), (M,) -> (N,)."""
    padded = np.concatenate([[-np.inf], others, [np.inf]])
    after = np.searchsorted(padded, times).clip(1)
    nearest: NDArray[np.float64] = np.minimum(padded[after] - times, times - padded[after - 1])
    return nearest
