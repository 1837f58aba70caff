"""Exact search for pairs with nearly the same difference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import TooFewPairsError
from egoequiv.evaluation import pair_search
from egoequiv.evaluation.pair_search import (
    Exclusion,
    draw_queries,
    feature_differences,
    nearest_pairs,
    pixel_differences,
)
from egoequiv.pairs import MotionPairs
from egoequiv.pose import PlanarSpace
from egoequiv.store import FrameStore
from evaluation.grid_features import features_of, grid_store, pairs_of
from helpers import bare_store

seeds = st.integers(0, 2**32 - 1)


def filmed(seed: int = 0, count: int = 60) -> tuple[FrameStore, MotionPairs]:
    """Two recordings with times, and random pairs within each."""
    rng = np.random.default_rng(seed)
    recording = np.repeat([0, 1], count // 2)
    times = np.concatenate([np.sort(rng.uniform(0, 20, count // 2)) for _ in range(2)])
    store = bare_store(np.zeros((count, 2)), recording.tolist(), times.tolist(), PlanarSpace())
    i = rng.integers(0, count // 2 - 1, 80) + np.repeat([0, count // 2], 40)
    pattern = np.sort(rng.integers(-1, 2, 80))
    return store, MotionPairs(i, i + 1, pattern, ("forward", "left turn"))


@given(seeds)
def test_the_nearest_are_those_of_plain_loops(seed: int) -> None:
    store, pairs = filmed(seed)
    z = np.random.default_rng(seed).normal(size=(len(store), 3))
    queries = draw_queries(pairs, 7, seed)
    exclusion = Exclusion(store.recording, "recording", 2.0)
    found = nearest_pairs(store, pairs, feature_differences(features_of(store, z), pairs), queries, exclusion, k=4)
    difference = z[pairs.j] - z[pairs.i]
    assert store.times_s is not None
    for row, query in enumerate(queries):
        allowed = []
        for other in range(len(pairs)):
            same = store.recording[pairs.i[query]] == store.recording[pairs.i[other]]
            spans = [sorted([store.times_s[pairs.i[k]], store.times_s[pairs.j[k]]]) for k in (query, other)]
            near = same and spans[0][0] - spans[1][1] <= 2.0 and spans[1][0] - spans[0][1] <= 2.0
            if not near and other != query:
                allowed.append(other)
        distance = [float(np.linalg.norm(difference[query] - difference[other])) for other in allowed]
        expected = [allowed[k] for k in np.argsort(distance)[:4]]
        np.testing.assert_allclose(found.distance[row], np.sort(distance)[:4], atol=1e-7)
        if len(set(np.round(distance, 9))) == len(distance):  # a pair may have been drawn twice
            assert found.nearest[row].tolist() == expected
        assert found.allowed[row] == len(allowed)
        assert found.same_motion[row] == sum(pairs.pattern[other] == pairs.pattern[query] for other in allowed)


def test_without_a_gap_the_whole_group_is_left_out() -> None:
    store, pairs = filmed()
    mask = Exclusion(store.recording, "recording", None).mask(store, pairs, np.arange(3), np.arange(80))
    assert mask[:, :40].all()
    assert not mask[:, 40:].any()
    lone = Exclusion(np.arange(len(store)), "frame", None).mask(store, pairs, np.array([5]), np.array([5]))
    assert lone.all()  # a pair is never found by itself
    assert Exclusion(store.recording, "toy", None).describe() == "pairs of the query's own toy are left out"
    assert "unless more than 2 s lie between" in Exclusion(store.recording, "recording", 2.0).describe()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    store = grid_store()
    pairs = pairs_of(store)
    z = np.random.default_rng(0).normal(size=(len(store), 5))
    differences = feature_differences(features_of(store, z), pairs)
    exclusion = Exclusion(store.recording, "recording", None)
    heard: list[tuple[str, int, int]] = []
    whole = nearest_pairs(store, pairs, differences, np.arange(50), exclusion)
    monkeypatch.setattr(pair_search, "MOST_AT_ONCE", 17)
    pieces = nearest_pairs(
        store, pairs, differences, np.arange(50), exclusion, on_progress=lambda *step: heard.append(step)
    )
    assert pieces.nearest.tolist() == whole.nearest.tolist()
    np.testing.assert_allclose(pieces.distance, whole.distance)
    assert pieces.allowed.tolist() == whole.allowed.tolist()
    assert heard[-1] == ("pairs", len(pairs), len(pairs))


def test_no_more_differences_are_held_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = grid_store()
    pairs = pairs_of(store)
    asked: list[int] = []
    plain = feature_differences(features_of(store), pairs)

    def watched(rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return plain(rows)

    monkeypatch.setattr(pair_search, "WIDEST", 5 * 20)
    nearest_pairs(store, pairs, watched, np.arange(50), Exclusion(store.recording, "recording", None))
    assert max(asked) == 20


def test_equal_differences_are_found_in_random_order() -> None:
    store = grid_store()
    pairs = pairs_of(store)
    collapsed = feature_differences(features_of(store, np.ones((len(store), 2))), pairs)
    found = nearest_pairs(
        store, pairs, collapsed, draw_queries(pairs, 300), Exclusion(store.recording, "recording", None), k=10
    )
    assert (found.distance == 0).all()
    assert len(np.unique(pairs.pattern[found.nearest])) == 3  # not only the first motion


def test_pixel_differences_are_those_of_the_images(small_store: FrameStore) -> None:
    pairs = pairs_of(small_store)
    got = pixel_differences(small_store, pairs)(np.array([3, 0]))
    expected = small_store.images[pairs.j[3]].astype(int) - small_store.images[pairs.i[3]].astype(int)
    assert got[0].tolist() == expected.ravel().tolist()
    assert got.shape == (2, 144)
    assert got.min() < 0 < got.max()


def test_queries_have_a_motion_and_the_seed_decides_which() -> None:
    _, pairs = filmed()
    assert (pairs.pattern[draw_queries(pairs, 1000)] >= 0).all()
    a, b, c = (draw_queries(pairs, 10, seed).tolist() for seed in (0, 0, 1))
    assert a == b != c
    assert len(a) == 10


def test_too_few_pairs_of_other_recordings_are_refused() -> None:
    store = grid_store(2)
    pairs = pairs_of(store, ("up",))
    with pytest.raises(TooFewPairsError, match=r"no query has 19 pairs to be compared with, at most 18: .*recording"):
        nearest_pairs(
            store,
            pairs,
            feature_differences(features_of(store), pairs),
            np.arange(3),
            Exclusion(store.recording, "recording", None),
            k=19,
        )


def test_a_pair_that_encloses_the_query_is_no_find() -> None:
    times = [0.0, 10.0, 11.0, 30.0, 50.0, 51.0]
    store = bare_store(np.zeros((6, 2)), [0] * 6, times, PlanarSpace())
    pairs = MotionPairs(np.array([1, 0, 4]), np.array([2, 3, 5]), np.zeros(3, np.int64), ("forward",))
    mask = Exclusion(store.recording, "recording", 2.0).mask(store, pairs, np.array([0]), np.arange(3))
    assert mask.tolist() == [[True, True, False]]  # itself, the one from 0 to 30 s around it, one long after


def test_queries_with_too_few_to_choose_from_are_dropped_and_counted() -> None:
    store = grid_store(3)
    pairs = pairs_of(store, ("up",))
    recording = store.recording[pairs.i]
    some = np.flatnonzero((recording == 0) | (np.cumsum(recording > 0) <= 5))  # 18 of one, 5 of others
    few = MotionPairs(pairs.i[some], pairs.j[some], pairs.pattern[some], pairs.names)
    found = nearest_pairs(
        store,
        few,
        feature_differences(features_of(store), few),
        np.arange(len(few)),
        Exclusion(store.recording, "recording", None),
        k=10,
    )
    assert found.dropped == 18
    assert (store.recording[few.i[found.query]] > 0).all()
    assert found.allowed.tolist() == [18] * 5
    assert found.nearest.shape == (5, 10)
