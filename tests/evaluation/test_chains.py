"""Chains of frames, and the pairs that sequences of motions connect."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.chains import (
    GridChains,
    TrackChains,
    find_chains,
    find_motion_chains,
    first_successors,
    name_of,
)
from egoequiv.pairs import MotionPairs
from egoequiv.pose import ColumnsSpace, NoMotion
from evaluation.task_worlds import MadeData, made_data
from helpers import bare_store, grid_poses

seeds = st.integers(0, 999)


def pairs_of(**edges: list[tuple[int, int]]) -> MotionPairs:
    """Pairs by motion, such as a=[(0, 1), (1, 2)]."""
    rows = [(i, j, number) for number, own in enumerate(edges.values()) for i, j in own]
    i, j, pattern = np.array(rows, np.int64).reshape(-1, 3).T
    return MotionPairs(i, j, pattern, tuple(edges))


def test_chains_by_hand() -> None:
    pairs = pairs_of(a=[(0, 1), (0, 2), (5, 1)], b=[(1, 3), (2, 3), (2, 4), (7, 8)])
    assert find_chains(pairs, ["a"]).tolist() == [[0, 1], [0, 2], [5, 1]]
    assert find_chains(pairs, ["a", "b"]).tolist() == [[0, 1, 3], [0, 2, 3], [0, 2, 4], [5, 1, 3]]
    assert find_chains(pairs, ["b", "a"]).shape == (0, 3)
    assert first_successors(pairs, "b", 9).tolist() == [-1, 3, 3, -1, -1, -1, -1, 8, -1]


@given(seeds)
def test_chains_against_plain_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = {name: [(int(i), int(j)) for i, j in rng.integers(0, 8, (10, 2))] for name in "abc"}
    found = find_chains(pairs_of(**edges), ["a", "b", "c"]).tolist()
    looped = [[i, j, k, m] for i, j in edges["a"] for x, k in edges["b"] if x == j for y, m in edges["c"] if y == k]
    assert sorted(found) == sorted(looped)


def test_too_many_chains_are_thinned_alike_each_time() -> None:
    pairs = pairs_of(a=[(0, k) for k in range(1, 21)], b=[(k, 30 + n) for k in range(1, 21) for n in range(20)])
    whole, some = find_chains(pairs, ["a", "b"]), find_chains(pairs, ["a", "b"], most=50)
    assert len(whole) == 400
    assert len(some) == 50
    assert {tuple(row) for row in some} <= {tuple(row) for row in whole}
    np.testing.assert_array_equal(some, find_chains(pairs, ["a", "b"], most=50))


def whole_grid() -> MadeData:
    return made_data(bare_store(grid_poses(), [0] * 24), np.zeros((24, 1)), np.arange(24))


def test_ends_on_a_grid_need_no_frames_between() -> None:
    store = bare_store(grid_poses(), [0] * 24)
    corners = np.array([0, 2, 12, 14])  # elevations 30 and 50, azimuths 0 and 120
    chains = GridChains(made_data(store, np.zeros((24, 1)), corners))
    twice_up, twice_right, both, nowhere = chains.ends(
        [("up", "up"), ("right", "right"), ("right", "up", "right", "up"), ("up",)]
    )
    assert list(zip(*twice_up, strict=True)) == [(0, 12), (2, 14)]
    assert list(zip(*twice_right, strict=True)) == [(0, 2), (12, 14)]
    assert list(zip(*both, strict=True)) == [(0, 14)]
    assert len(nowhere[0]) == 0


def test_sequences_that_come_to_the_same_have_the_same_ends() -> None:
    chains = GridChains(whole_grid())
    one, other, round_about = chains.ends([("up", "right"), ("right", "up"), ("left",) * 5])
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(round_about, chains.ends([("right",)])[0])  # six steps go all the way round
    assert chains.elementary == ("up", "right")
    assert chains.composites == (("up", "right"), ("up", "left"), ("down", "right"))
    assert chains.there_and_back("left") == "left, then right"


def test_ends_on_a_track_are_pairs_once_each() -> None:
    chains = TrackChains(pairs_of(a=[(0, 1), (0, 2)], b=[(1, 3), (2, 3), (2, 4)]))
    ((i, j),) = chains.ends([("a", "b")])
    assert list(zip(i, j, strict=True)) == [(0, 3), (0, 4)]  # two ways lead from 0 to 3
    assert chains.composites == (("a", "b"), ("b", "a"))
    assert chains.there_and_back("a") == "a, and back"


def test_names_of_sequences() -> None:
    assert [name_of(motions) for motions in (("up",), ("up", "up", "up"), ("up", "left"))] == [
        "up",
        "up x 3",
        "up+left",
    ]


def test_what_has_no_motions_is_told() -> None:
    pictures = bare_store(np.empty((2, 0)), [0, 0], space=NoMotion())
    with pytest.raises(DataError, match="has no poses"):
        find_motion_chains(made_data(pictures, np.zeros((2, 1)), np.arange(2)))
    bare = bare_store(np.zeros((2, 1)), [0, 0], space=ColumnsSpace(("steering",)))
    with pytest.raises(DataError, match="neither times nor named motions"):
        find_motion_chains(made_data(bare, np.zeros((2, 1)), np.arange(2)))
    with pytest.raises(ConfigError, match="'sideways' is not known here; choose from up, down, right, left"):
        GridChains(whole_grid()).parse("up+sideways")
