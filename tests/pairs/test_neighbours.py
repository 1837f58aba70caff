"""Neighbour pairs, against looking at all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from egoequiv.errors import DataError
from egoequiv.pairs import are_neighbours, sample_neighbour_pairs
from egoequiv.store import FrameStore
from helpers import bare_store, grid_poses
from pairs.stores import grid_stores, slow_neighbours, some_frames, timed_stores

stores = st.one_of(grid_stores(), timed_stores())


def test_neighbours_on_a_grid_by_hand() -> None:
    # The place in the middle, a step up, a step right over the seam, the diagonal, two steps up, another recording.
    poses = np.array([[30, 300], [40, 300], [30, 0], [40, 0], [50, 300], [40, 300]], float)
    store = bare_store(poses, [0, 0, 0, 0, 0, 1])
    first = np.zeros(6, np.int64)
    assert are_neighbours(store, first, np.arange(6)).tolist() == [False, True, True, True, False, False]


def test_neighbours_in_time_by_hand() -> None:
    store = bare_store(np.zeros((5, 2)), [0, 0, 0, 0, 1], times_s=[10, 12, 12.5, 8, 10])
    first = np.zeros(5, np.int64)
    assert are_neighbours(store, first, np.arange(5)).tolist() == [False, True, False, True, False]
    assert are_neighbours(store, first, np.arange(5), 1.0).tolist() == [False] * 5
    assert are_neighbours(store, first, np.arange(5), 2.5).tolist() == [False, True, True, True, False]


@given(stores, st.sampled_from([0.0, 0.5, 2.0]))
def test_neighbours_are_those_of_a_slow_search(store: FrameStore, gap: float) -> None:
    expected = slow_neighbours(store, np.arange(len(store)), gap)
    i, j = (side.ravel() for side in np.indices((len(store), len(store))))
    near = are_neighbours(store, i, j, gap)
    assert near.tolist() == [frozenset(pair) in expected for pair in zip(i.tolist(), j.tolist(), strict=True)]


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(stores, st.integers(0, 1_000))
def test_sampled_pairs_are_what_they_say(store: FrameStore, seed: int) -> None:
    frames = some_frames(store, seed)
    expected = slow_neighbours(store, frames, 2.0)
    strangers = len(frames) * (len(frames) - 1) // 2 - len(expected)
    assume(expected and strangers >= len(expected))  # what happens otherwise is tested below
    pairs = sample_neighbour_pairs(store, frames, count=40, seed=seed)
    assert set(pairs.i.tolist()) | set(pairs.j.tolist()) <= set(frames.tolist())
    drawn = [frozenset(pair) for pair in zip(pairs.i.tolist(), pairs.j.tolist(), strict=True)]
    positives = [pair for pair, near in zip(drawn, pairs.is_neighbour, strict=True) if near]
    negatives = [pair for pair, near in zip(drawn, pairs.is_neighbour, strict=True) if not near]
    assert set(positives) <= expected
    assert len(set(positives)) == len(positives) == min(10, len(expected))
    assert not set(negatives) & expected
    assert all(len(pair) == 2 for pair in negatives)
    assert len(negatives) == 3 * len(positives)


def test_all_neighbours_are_found_when_all_are_wanted(small_store: FrameStore) -> None:
    frames = np.arange(48)
    expected = slow_neighbours(small_store, frames, 2.0)
    # Two grids of 4 x 6: 24 rightward, 18 upward and 2 x 18 diagonal neighbours each.
    assert len(expected) == 2 * (24 + 18 + 36)
    pairs = sample_neighbour_pairs(small_store, frames, count=100_000)
    near = pairs.is_neighbour
    found = {frozenset(pair) for pair in zip(pairs.i[near].tolist(), pairs.j[near].tolist(), strict=True)}
    assert found == expected
    assert len(pairs) == 4 * len(expected)


def test_the_ratio_may_be_chosen(small_store: FrameStore) -> None:
    pairs = sample_neighbour_pairs(small_store, np.arange(144), count=100, positive_fraction=0.5)
    assert (int(pairs.is_neighbour.sum()), len(pairs)) == (50, 100)
    only = sample_neighbour_pairs(small_store, np.arange(144), count=100, positive_fraction=1.0)
    assert only.is_neighbour.tolist() == [True] * 100


def test_the_paper_draws_one_to_three(small_store: FrameStore) -> None:
    pairs = sample_neighbour_pairs(small_store, np.arange(144), count=400)
    assert (int(pairs.is_neighbour.sum()), len(pairs)) == (100, 400)
    assert 10 < int(pairs.is_neighbour[:100].sum()) < 50  # shuffled


def test_the_seed_decides(small_store: FrameStore) -> None:
    a, b, c = (sample_neighbour_pairs(small_store, np.arange(144), count=100, seed=seed) for seed in (1, 1, 2))
    assert a.i.tolist() == b.i.tolist()
    assert a.j.tolist() == b.j.tolist()
    assert a.is_neighbour.tolist() == b.is_neighbour.tolist()
    assert a.i.tolist() != c.i.tolist()


def test_frames_without_neighbours_are_refused() -> None:
    store = bare_store(grid_poses(), [0] * 24)
    with pytest.raises(DataError, match="no two of 2 frames are neighbours"):
        sample_neighbour_pairs(store, np.array([0, 3]))


def test_frames_that_are_all_neighbours_are_refused() -> None:
    store = bare_store(grid_poses(), [0] * 24)
    with pytest.raises(DataError, match="slowness needs others too"):
        sample_neighbour_pairs(store, np.array([0, 1, 6, 7]))
