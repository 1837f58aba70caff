"""Clips: stretches of recordings that show the same surroundings, and pairs of frames within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pairs.candidates import Indices, count_motion_candidates, motion_candidates
from egoequiv.pairs.motion import find_motion_pairs
from egoequiv.pairs.patterns import MotionPatterns
from egoequiv.store import FrameStore

SPARE = 4  # times the pairs that are wanted are looked at, so that every clip can keep its share


@dataclass(frozen=True, eq=False)
class ClipPairs:
    """Pairs of frames of one recording, clip by clip.

    Clips that follow each other in one recording have numbers that differ by one; those of other recordings differ by
    more. So frames of neighbouring clips, which may show the same things, can be told from others.
    """

    i: Indices  # (N,) store rows
    j: Indices  # (N,)
    clip: Indices  # (N,) of frame i, in ascending order
    motion: NDArray[np.float32]  # (N, M) from i to j, in the units of the motion space

    def __len__(self) -> int:
        return len(self.i)


def clip_numbers(store: FrameStore, clip_s: float) -> Indices:
    """The clip of every frame, (N,): a stretch of `clip_s` seconds; without times, the whole recording."""
    recording = np.asarray(store.recording, np.int64)
    if store.times_s is None:
        return 2 * recording
    times = np.asarray(store.times_s)
    begin = np.full(int(recording.max()) + 1, np.inf)
    np.minimum.at(begin, recording, times)
    within = ((times - begin[recording]) // clip_s).astype(np.int64)
    count = np.zeros(len(begin), np.int64)
    np.maximum.at(count, recording, within + 1)
    first = np.cumsum(count + 1) - (count + 1)
    return np.asarray(first[recording] + within)


def find_clip_pairs(
    store: FrameStore,
    frames: Indices,
    *,
    clip_s: float,
    max_gap_s: float,
    most: int,
    seed: int,
    patterns: MotionPatterns | None = None,
    maps: Indices | None = None,
) -> ClipPairs:
    """Pairs of frames that are close to each other, with their motions, about as many from each clip.

    Args:
        store: The frames, in their motion space; without poses, motions have no components.
        frames: The store rows to take pairs from.
        clip_s: How long a clip is, where frames have times; else a recording is one clip.
        max_gap_s: How far apart the two frames are at most, where frames have times.
        most: How many pairs there are at most.
        seed: Draws them, and which frame of a pair is the first.
        patterns: Only pairs with these motions; by default with any.
        maps: The map of each frame, (N,), if recordings share maps. All recordings in one map are then one clip, and
            the second frame of a pair is replaced by any that has its pose in its map, at random.

    Returns:
        The pairs, in the order of their clips.

    """
    rng = np.random.default_rng([seed, len(frames)])
    clips = clip_numbers(store, clip_s) if maps is None else 2 * maps
    if patterns is None:
        pairs = _drawn(store, frames, max_gap_s, most, rng)
    else:
        related = find_motion_pairs(store, frames, patterns, max_gap_s)
        pairs = np.stack([related.i, related.j], axis=1)
    if not len(pairs):
        what = (
            "ingest recordings of several frames" if store.times_s is None else f"raise max_gap_s (now {max_gap_s:g})"
        )
        raise DataError(f"{store.place}: no two frames of one recording and one part of the split are close: {what}")
    pairs = pairs[rng.permutation(len(pairs))]
    is_swapped = rng.random(len(pairs)) < 0.5
    pairs[is_swapped] = pairs[is_swapped, ::-1]
    pairs = _evenly(pairs, clips[pairs[:, 0]], most)
    i, j = pairs.T
    if maps is not None:
        j = _at_same_pose(store, maps, frames, j, rng)
    motion = store.space.difference(store.poses[i], store.poses[j]) if store.space.axes else np.empty((len(i), 0))
    return ClipPairs(i, j, clips[i], np.asarray(motion, np.float32))


def _at_same_pose(
    store: FrameStore, maps: Indices, frames: Indices, rows: Indices, rng: np.random.Generator
) -> Indices:
    """For each of the rows any of the frames with its pose in its map, at random, perhaps itself; (N,) -> (N,)."""
    place = np.unique(np.column_stack([maps, np.round(store.poses, 6)]), axis=0, return_inverse=True)[1].ravel()
    ordered = frames[np.argsort(place[frames], kind="stable")]
    first, after = (np.searchsorted(place[ordered], place[rows], side) for side in ("left", "right"))
    return ordered[rng.integers(first, after)]


def _drawn(
    store: FrameStore, frames: Indices, max_gap_s: float, most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Pairs of frames that are close in time, or in order, (N, 2): all, or more than are wanted at random."""
    share = SPARE * most / max(count_motion_candidates(store, frames, max_gap_s), 1)
    found = [np.empty((0, 2), np.int64)]
    for i, j in motion_candidates(store, frames, max_gap_s):
        pairs = np.stack([i, j], axis=1)
        found.append(pairs if share >= 1 else pairs[rng.random(len(pairs)) < share])
    return np.concatenate(found)


def _evenly(pairs: NDArray[np.int64], clip: Indices, most: int) -> NDArray[np.int64]:
    """At most `most` of the pairs, the first of each clip, so many that all clips have about as many; clip by clip."""
    order = np.argsort(clip, kind="stable")
    _, starts, counts = np.unique(clip[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, counts)
    ascending = np.sort(counts)
    # With a limit for each clip, so many pairs are left; the largest limit that `most` allows is looked for.
    below = np.concatenate([[0], np.cumsum(ascending)])
    limits = np.arange(1, int(ascending[-1]) + 1)
    smaller = np.searchsorted(ascending, limits)
    left = below[smaller] + limits * (len(ascending) - smaller)
    limit = max(int(np.searchsorted(left, most, side="right")), 1)
    kept = order[rank < limit]
    if len(kept) > most:  # more clips than pairs
        kept = kept[np.linspace(0, len(kept) - 1, most).astype(np.int64)]
    return pairs[kept]
