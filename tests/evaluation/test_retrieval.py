"""Retrieval of pairs with the same motion."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from egoequiv.evaluation import group_interval
from egoequiv.evaluation.metric import BEST
from egoequiv.evaluation.pair_search import Neighbours
from egoequiv.evaluation.retrieval import MotionPrecision, precision_of, precision_values, retrieve_pairs
from egoequiv.pairs import MotionPairs
from egoequiv.store import FrameStore
from evaluation.grid_features import MOTIONS, features_of, grid_store, pairs_of
from helpers import bare_store, data_error


def test_precision_by_hand() -> None:
    store = bare_store(np.zeros((8, 2)), [0, 0, 1, 1, 2, 2, 3, 3])
    pairs = MotionPairs(np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7]), np.array([0, 0, 1, -1]), ("up", "right"))
    neighbours = Neighbours(
        query=np.array([0, 1, 2]),
        nearest=np.array([[1, 2], [3, 0], [0, 1]]),
        distance=np.zeros((3, 2)),
        allowed=np.array([3, 3, 3]),
        same_motion=np.array([1, 1, 0]),
    )
    everything, up, right = precision_of(store.recording, pairs, neighbours)
    assert (everything.motion, everything.queries) == ("all", 3)
    assert (everything.at_1, everything.at_k) == (pytest.approx(1 / 3), pytest.approx((1 / 2 + 1 / 2 + 0) / 3))
    assert everything.chance == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)
    assert (up.motion, up.at_1, up.at_k, up.chance) == ("up", 0.5, 0.5, pytest.approx(1 / 3))
    assert (right.motion, right.at_1, right.at_k) == ("right", 0.0, 0.0)
    assert all(np.isnan(right.at_1_interval))  # of one recording


def test_an_interval_of_precision_goes_over_recordings() -> None:
    store = bare_store(np.zeros((12, 2)), np.repeat(np.arange(6), 2).tolist())
    pairs = MotionPairs(np.arange(0, 12, 2), np.arange(1, 12, 2), np.array([0, 0, 0, 0, 1, 1]), ("up", "right"))
    nearest = np.array([[1], [0], [3], [4], [5], [0]])  # right, right, right, wrong, right, wrong
    neighbours = Neighbours(np.arange(6), nearest, np.zeros((6, 1)), np.full(6, 5), np.full(6, 3))
    everything, up, _ = precision_of(store.recording, pairs, neighbours)
    right = np.array([1.0, 1, 1, 0, 1, 0])
    assert everything.at_1_interval == group_interval(right, np.arange(6), within=(0.0, 1.0))
    assert 0 <= everything.at_1_interval[0] < everything.at_1 < everything.at_1_interval[1] <= 1
    assert all(np.isnan(up.at_1_interval))  # of four recordings


def test_features_whose_differences_are_the_motion_find_it_always(small_store: FrameStore) -> None:
    steps = np.column_stack([small_store.poses[:, 0] / 10, small_store.poses[:, 1] / 60])
    pairs = pairs_of(small_store)
    wraps = np.abs(small_store.poses[pairs.j, 1] - small_store.poses[pairs.i, 1]) > 60
    pairs = MotionPairs(pairs.i[~wraps], pairs.j[~wraps], pairs.pattern[~wraps], pairs.names)
    result = retrieve_pairs(features_of(small_store, steps), pairs, most_queries=100)
    assert all(row.at_1 == row.at_k == 1.0 for row in result.precision["features"])
    assert [row.motion for row in result.precision["pixels"]] == ["all", *MOTIONS]
    shares = np.bincount(pairs.pattern) / len(pairs)
    for row, share in zip(result.precision["pixels"][1:], shares, strict=True):
        assert row.chance == pytest.approx(share)  # every recording has the same pairs
    assert [row.queries for row in result.precision["features"]] == [row.queries for row in result.precision["pixels"]]
    finding = result.finding(small_store)
    (table,) = finding.tables
    assert [(row[0].text, row[1].text) for row in table.rows[:4]] == [
        ("all", "features"),
        ("all", "pixels"),
        ("up", "features"),
        ("up", "pixels"),
    ]
    described = json.loads(json.dumps(finding.details, allow_nan=False))
    assert described["norm"] == "l2"
    assert described["pairs"] == len(pairs)
    assert [value.name for value in finding.values] == ["precision@1, features", "precision@10, features"]
    pixels = result.precision["pixels"][0]
    assert finding.values[1].baselines == {"chance": pixels.chance, "pixels": pixels.at_k}
    assert finding.arrays["gallery_images"].shape == (12, 3, 2, 12, 12, 1)
    assert finding.arrays["gallery_right"][:, :2].all()  # by features the motion is always found


def test_pixels_are_searched_once_for_all_features(small_store: FrameStore) -> None:
    kept: list[Neighbours] = []

    def once(make: Callable[[], Neighbours]) -> Neighbours:
        if not kept:
            kept.append(make())
        return kept[0]

    first, second = (
        retrieve_pairs(features_of(small_store, z), pairs_of(small_store), most_queries=30, once=once)
        for z in (None, np.random.default_rng(0).normal(size=(len(small_store), 3)))
    )
    assert first.neighbours["pixels"] is second.neighbours["pixels"]
    assert first.precision["pixels"] == second.precision["pixels"]
    assert first.precision["features"] != second.precision["features"]


def test_features_that_say_nothing_find_what_chance_would() -> None:
    store = grid_store(12)
    noise = features_of(store, np.random.default_rng(0).normal(size=(len(store), 4)))
    (row, *_) = retrieve_pairs(noise, pairs_of(store), with_pixels=False).precision["features"]
    assert row.at_k == pytest.approx(row.chance, abs=0.03)


def test_nothing_found_is_of_the_same_recording_or_attribute(small_store: FrameStore) -> None:
    pairs = pairs_of(small_store)
    features = features_of(small_store)
    near = retrieve_pairs(features, pairs, most_queries=50).neighbours
    for found in near.values():
        there, here = (small_store.recording[pairs.i[rows]] for rows in (found.nearest, found.query))
        assert (there != here[:, None]).all()
    shape = small_store.attribute("shape")
    result = retrieve_pairs(features, pairs, most_queries=50, hold_out="shape")
    found = result.neighbours["pixels"]
    assert (shape[pairs.i[found.nearest]] != shape[pairs.i[found.query]][:, None]).all()
    assert "own shape" in result.exclusion.describe()


def test_pairs_of_no_motion_are_searched_but_not_asked_about() -> None:
    store = grid_store()
    pairs = pairs_of(store)
    unknown = np.where(pairs.pattern == 1, -1, pairs.pattern)
    result = retrieve_pairs(features_of(store), MotionPairs(pairs.i, pairs.j, unknown, pairs.names), with_pixels=False)
    assert [row.motion for row in result.precision["features"]] == ["all", "up", "up+left"]
    assert result.neighbours["features"].allowed[0] == len(pairs) * 5 / 6


def test_of_too_many_pairs_some_are_drawn() -> None:
    store = grid_store()
    pairs = pairs_of(store)
    few = retrieve_pairs(features_of(store), pairs, most_pairs=100, with_pixels=False, seed=1).pairs
    assert len(few) == 100
    everything = set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))
    assert set(zip(few.i.tolist(), few.j.tolist(), strict=True)) < everything
    everywhere = retrieve_pairs(features_of(store), pairs, with_pixels=False).pairs
    assert everywhere.i.tolist() == pairs.i.tolist()


def test_what_cannot_be_measured_is_said_in_one_line() -> None:
    store = grid_store(1)
    with data_error("bare-store", "one recording"):
        retrieve_pairs(features_of(store), pairs_of(store))
    store = grid_store(2)
    pairs = pairs_of(store, ("up",))
    with data_error("bare-store", "no query has 10 pairs", "at most 9"):
        kept = np.arange(0, len(pairs), 2)
        retrieve_pairs(features_of(store), MotionPairs(pairs.i[kept], pairs.j[kept], pairs.pattern[kept], pairs.names))


def test_all_motions_together_are_marked_where_each_of_them_is() -> None:
    """Up is no better than pixels and right no better than chance; together they are better than each of these."""

    def precision(motion: str, number: float, chance: float, queries: int = 1) -> MotionPrecision:
        ends = (number, number)
        return MotionPrecision(motion, queries, 6, number, ends, number, ends, chance)

    features = (precision("all", 0.5, 0.45, 2), precision("up", 0.4, 0.3), precision("right", 0.6, 0.6))
    pixels = (precision("all", 0.4, 0.45, 2), precision("up", 0.4, 0.3), precision("right", 0.4, 0.6))
    values = precision_values(features, pixels, "recording")
    assert all(value.is_marked for row in values for value in row)
    assert values[0][0].baselines[BEST] == pytest.approx(0.5)
    better = (replace(features[0], at_1=0.55), features[1], replace(features[2], at_1=0.7))
    assert not precision_values(better, pixels, "recording")[0][0].is_marked
