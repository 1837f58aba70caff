"""All pairs of frames of one recording that are close enough in time to be worth looking at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from egoequiv.store import FrameStore

Indices = NDArray[np.int64]


def recordings_of(store: FrameStore, frames: Indices) -> Iterator[Indices]:
    """The given frames (store rows), one array a recording, in frame order."""
    ordered = np.sort(frames)
    codes = store.recording[ordered]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for rows in np.split(ordered[order], starts[1:]):
        if len(rows):
            yield rows


def close_pairs(store: FrameStore, frames: Indices, max_gap_s: float) -> Iterator[tuple[Indices, Indices]]:
    """Pairs (i, j) with i before j of each recording, at most `max_gap_s` apart where frames have times.

    One recording at a time, so memory is bounded by the longest recording.
    """
    for rows in recordings_of(store, frames):
        if store.times_s is None:
            first, second = np.triu_indices(len(rows), k=1)
        else:
            times = store.times_s[rows]
            rows, times = rows[np.argsort(times, kind="stable")], np.sort(times)
            last = np.searchsorted(times, times + max_gap_s, side="right")
            reach = last - np.arange(len(rows)) - 1
            first = np.repeat(np.arange(len(rows)), reach)
            second = first + 1 + _counting(reach)
        yield rows[first], rows[second]


def _counting(lengths: Indices) -> Indices:
    """0..n-1 for each n, concatenated."""
    ends = np.cumsum(lengths)
    counted: Indices = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return counted
