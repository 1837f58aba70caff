"""Pairs close in time, against looking at all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.pairs import candidates
from egoequiv.pairs.candidates import close_pairs, count_close_pairs, half_a_step_s, recordings_of
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


@given(
    st.one_of(grid_stores(), timed_stores()), seeds, st.integers(0, 24).map(lambda n: n / 8), st.sampled_from([1, 2, 7])
)
def test_blocks_hold_the_same_pairs_in_the_same_order(store: FrameStore, seed: int, gap: float, block: int) -> None:
    frames = some_frames(store, seed)
    at_once = all_close(store, frames, gap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "BLOCK", block)
        blocks = [len(i) for i, _ in close_pairs(store, frames, gap)]
        assert all_close(store, frames, gap) == at_once
        assert count_close_pairs(store, frames, gap) == len(at_once) == sum(blocks)
    reach = max(np.bincount([i for i, _ in at_once]), default=0)
    assert max(blocks) < block + max(reach, 1)  # a frame's pairs are never torn apart
    assert len(blocks) <= len(at_once) // block + 1 + len(set(store.recording[frames].tolist()))


def test_a_frame_with_more_partners_than_a_block_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "BLOCK", 2)
    store = bare_store(np.zeros((5, 2)), [0] * 5)
    blocks = [list(zip(i.tolist(), j.tolist(), strict=True)) for i, j in close_pairs(store, np.arange(5), 1.0)]
    assert [block for block in blocks if block] == [
        [(0, 1), (0, 2), (0, 3), (0, 4)],
        [(1, 2), (1, 3), (1, 4)],
        [(2, 3), (2, 4), (3, 4)],  # the tenth pair is where the next block would begin
    ]


def test_large_recordings_come_in_blocks_of_the_usual_size() -> None:
    store = bare_store(np.zeros((1_500, 2)), [0] * 1_500)
    lengths = [len(i) for i, _ in close_pairs(store, np.arange(1_500), 1.0)]
    assert sum(lengths) == 1_500 * 1_499 // 2
    assert len(lengths) == -(-sum(lengths) // candidates.BLOCK)
    assert max(lengths) < candidates.BLOCK + 1_500


def test_half_a_step_by_hand() -> None:
    # Steps of 0.1, 0.1, 0.3 in one recording and 0.2 in the other; from one to the other there is none.
    store = bare_store(np.zeros((6, 2)), [0, 0, 0, 0, 1, 1], times_s=[0, 0.1, 0.2, 0.5, 90, 90.2])
    assert half_a_step_s(store) == pytest.approx(0.15 / 2)
    assert half_a_step_s(bare_store(np.zeros((3, 2)), [0, 0, 0], times_s=[0, 2, 4])) == 1.0


def test_half_a_step_is_nothing_where_there_are_no_steps() -> None:
    for times, recording in ((None, [0, 0]), ([1.0, 1.0], [0, 0]), ([0.0, 1.0], [0, 1]), ([2.0, 1.0], [0, 0])):
        assert half_a_step_s(bare_store(np.zeros((2, 2)), recording, times_s=times)) == 0.0


def test_a_clock_that_jitters_loses_no_pair() -> None:
    rng = np.random.default_rng(0)
    times = np.arange(100) / 10 + rng.uniform(-0.01, 0.01, 100)
    store = bare_store(np.zeros((100, 2)), [0] * 100, times_s=times.tolist())
    gap = 1.0 + half_a_step_s(store)
    assert count_close_pairs(store, np.arange(100), gap) == sum(100 - k for k in range(1, 11))
    assert count_close_pairs(store, np.arange(100), 1.0) < sum(100 - k for k in range(1, 11))
