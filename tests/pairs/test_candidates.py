"""Pairs close in time, against looking at all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.pairs.candidates import close_pairs, recordings_of
from egoequiv.store import FrameStore
from helpers import bare_store
from pairs.stores import grid_stores, some_frames, timed_stores

seeds = st.integers(0, 1_000)


def all_close(store: FrameStore, frames: np.ndarray, gap: float) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for i, j in close_pairs(store, frames, gap) for a, b in zip(i, j, strict=True)]


def test_by_hand() -> None:
    store = bare_store(np.zeros((6, 2)), [0, 1, 0, 0, 1, 0], times_s=[0, 0, 1, 2.5, 1, 2])
    assert set(all_close(store, np.arange(6), 1.0)) == {(0, 2), (2, 5), (5, 3), (1, 4)}
    assert set(all_close(store, np.arange(6), 0.5)) == {(5, 3)}
    assert set(all_close(store, np.array([0, 5, 3]), 10)) == {(0, 5), (5, 3), (0, 3)}


@given(timed_stores(), seeds, st.integers(0, 24).map(lambda n: n / 8))
def test_timed_pairs_are_those_of_a_slow_search(store: FrameStore, seed: int, gap: float) -> None:
    assert store.times_s is not None
    frames = some_frames(store, seed)
    found = all_close(store, frames, gap)
    expected = set()
    for i in frames.tolist():
        for j in frames.tolist():
            before = (store.times_s[i], i) < (store.times_s[j], j)
            if before and store.recording[i] == store.recording[j] and store.times_s[j] - store.times_s[i] <= gap:
                expected.add((i, j))
    assert set(found) == expected
    assert len(found) == len(expected)


@given(grid_stores(), seeds)
def test_without_times_all_pairs_of_a_recording_are_candidates(store: FrameStore, seed: int) -> None:
    frames = some_frames(store, seed)
    found = all_close(store, frames, 1.0)
    expected = {
        (i, j) for i in frames.tolist() for j in frames.tolist() if i < j and store.recording[i] == store.recording[j]
    }
    assert set(found) == expected
    assert len(found) == len(expected)


@given(grid_stores(), seeds)
def test_recordings_divide_the_frames(store: FrameStore, seed: int) -> None:
    frames = some_frames(store, seed)
    parts = list(recordings_of(store, frames))
    assert sorted(np.concatenate(parts).tolist()) == sorted(frames.tolist())
    for rows in parts:
        assert len(set(store.recording[rows].tolist())) == 1
        assert rows.tolist() == sorted(rows.tolist())
    assert len(parts) == len(set(store.recording[frames].tolist()))


def test_no_frames_give_no_pairs() -> None:
    for times in (None, [0.0, 1.0]):
        store = bare_store(np.zeros((2, 2)), [0, 0], times_s=times)
        assert all_close(store, np.empty(0, np.int64), 1.0) == []
