"""All pairs of frames of one recording that are close in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.store import FrameStore

Indices = NDArray[np.int64]

BLOCK = 250_000  # pairs processed together
# How many frames apart is close, if there are neither times nor steps: a share of the recording, within limits. Ten
# frames are a second of the paper's drives; photographs are few, and ten of them may be half the way round a thing.
SHARE, FEWEST, MOST = 0.05, 3, 10


def recordings_of(store: FrameStore, frames: Indices) -> Iterator[Indices]:
    """The given frames (store rows), one array a recording, in frame order."""
    ordered = np.sort(frames)
    codes = store.recording[ordered]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for rows in np.split(ordered[order], starts[1:]):
        if len(rows):
            yield rows


def close_pairs(
    store: FrameStore, frames: Indices, max_gap_s: float, by_order: bool = False
) -> Iterator[tuple[Indices, Indices]]:
    """Pairs (i, j) with i before j of each recording, at most `max_gap_s` apart if frames have times.

    If they have none, all pairs, or those that are close in order. They come in blocks of about `BLOCK` pairs, so
    memory does not grow with the number of frames.
    """
    for rows, reach in _reaches(store, frames, max_gap_s, by_order):
        ends = np.cumsum(reach)
        cuts = np.searchsorted(ends, np.arange(BLOCK, int(ends[-1]), BLOCK), side="right")
        for part in np.split(np.arange(len(rows)), np.unique(cuts)):
            first = np.repeat(part, reach[part])
            second = first + 1 + _counting(reach[part])
            yield rows[first], rows[second]


def motion_candidates(store: FrameStore, frames: Indices, max_gap_s: float) -> Iterator[tuple[Indices, Indices]]:
    """The pairs (i, j) whose motions count: forwards in time, or both ways round where frames have no times.

    Without times, all pairs of a grid; else those that are close in order, because photographs from opposite sides have
    nothing in common that a motion could predict.
    """
    for i, j in close_pairs(store, frames, max_gap_s, not store.space.named_motions()):
        if store.times_s is None:
            i, j = np.stack([i, j], axis=1).ravel(), np.stack([j, i], axis=1).ravel()
        yield i, j


def count_motion_candidates(store: FrameStore, frames: Indices, max_gap_s: float) -> int:
    """The number of pairs that `motion_candidates` gives."""
    count = count_close_pairs(store, frames, max_gap_s, not store.space.named_motions())
    return count * (2 if store.times_s is None else 1)


def count_close_pairs(store: FrameStore, frames: Indices, max_gap_s: float, by_order: bool = False) -> int:
    """The number of pairs that `close_pairs` gives."""
    return sum(int(reach.sum()) for _, reach in _reaches(store, frames, max_gap_s, by_order))


def _reaches(store: FrameStore, frames: Indices, max_gap_s: float, by_order: bool) -> Iterator[tuple[Indices, Indices]]:
    """The frames of each recording in order, and for each frame the number of following frames close to it."""
    lengths = np.bincount(store.recording)
    for rows in recordings_of(store, frames):
        reach = np.arange(len(rows))[::-1]
        if store.times_s is not None:
            times = store.times_s[rows]
            rows, times = rows[np.argsort(times, kind="stable")], np.sort(times)
            reach = np.searchsorted(times, times + max_gap_s, side="right") - np.arange(len(rows)) - 1
        elif by_order:
            rows = rows[np.argsort(store.frame[rows], kind="stable")]
            number, most = store.frame[rows], np.clip(SHARE * lengths[store.recording[rows[0]]], FEWEST, MOST)
            reach = np.searchsorted(number, number + int(most), side="right") - np.arange(len(rows)) - 1
        yield rows, reach


def half_a_step_s(store: FrameStore) -> float:
    """Half of the usual time between two frames: a gap is rounded to the nearest frame, because clocks jitter."""
    if store.times_s is None:
        return 0.0
    steps = np.diff(store.times_s)[np.diff(store.recording) == 0]
    steps = steps[steps > 0]
    return float(np.median(steps)) / 2 if len(steps) else 0.0


def _counting(lengths: Indices) -> Indices:
    """0..n-1 for each n, concatenated."""
    ends = np.cumsum(lengths)
    counted: Indices = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return counted


def thinned(rows: NDArray[np.int64], most: int, seed: int | Sequence[int]) -> NDArray[np.int64]:
    """At most `most` of the rows (N, ...), drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    kept: NDArray[np.int64] = rows[np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))]
    return kept
