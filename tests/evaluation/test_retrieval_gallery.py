"""What the figure of retrieval shows."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.evaluation.retrieval import RetrievalResult, retrieve_pairs
from egoequiv.evaluation.retrieval_gallery import (
    arrow_of,
    choose_queries,
    motion_scale,
    motion_words,
    retrieval_gallery,
)
from egoequiv.pairs import MotionPairs
from egoequiv.pose import ColumnsSpace, PlanarSpace, SE3Space
from egoequiv.store import FrameStore
from evaluation.grid_features import features_of, pairs_of
from helpers import GRID


@pytest.fixture(scope="module")
def result(small_store: FrameStore) -> RetrievalResult:
    """Of features that say nothing, which are wrong now and then."""
    noise = np.random.default_rng(0).normal(size=(len(small_store), 4))
    return retrieve_pairs(features_of(small_store, noise), pairs_of(small_store), most_queries=60)


def test_arrows_point_where_the_motion_goes() -> None:
    scale = np.array([10.0, 60.0])
    assert arrow_of(GRID, np.array([10.0, 0.0]), scale) == (0.0, 1.0)
    assert arrow_of(GRID, np.array([0.0, -60.0]), scale) == (-1.0, 0.0)
    across, up = arrow_of(GRID, np.array([-10.0, 60.0]), scale)
    assert across == pytest.approx(np.sqrt(0.5))
    assert up == pytest.approx(-np.sqrt(0.5))
    assert arrow_of(GRID, np.array([5.0, 0.0]), scale) == (0.0, 0.5)  # half as far, half as long
    driving = np.array([10.0, 20.0])
    assert arrow_of(PlanarSpace(), np.array([0.0, 20.0]), driving) == (-1.0, 0.0)  # a left turn
    assert arrow_of(PlanarSpace(), np.array([5.0, 0.0]), driving) == (0.0, 0.5)
    assert arrow_of(ColumnsSpace(("throttle",)), np.array([1.0]), np.ones(1)) == (0.0, 0.0)


def test_motions_are_said_in_words() -> None:
    scale = np.array([10.0, 60.0])
    assert motion_words(GRID, np.array([10.0, -60.0]), scale) == "up 10°, left 60°"
    assert motion_words(GRID, np.array([0.0, 60.0]), scale) == "right 60°"
    assert motion_words(GRID, np.zeros(2), scale) == "standing still"
    assert motion_words(PlanarSpace(), np.array([12.0, 0.1]), np.array([10.0, 20.0])) == "forward 12.0 m"


def test_motions_in_space_are_said_by_their_main_parts() -> None:
    scale = np.array([0.2, 0.3, 0.2, 5.0, 9.0, 9.0])
    motion = np.array([0.02, -0.25, 0.01, 0.5, -1.0, 8.0])
    assert motion_words(SE3Space(), motion, scale) == "shift right 0.25 m, pan left 8°"
    assert motion_words(SE3Space(), np.zeros(6), scale) == "standing still"
    assert arrow_of(SE3Space(), np.array([0, 0, 0, 0, 0, 9.0]), scale) == (-1.0, 0.0)


def test_queries_of_every_motion_are_shown(result: RetrievalResult) -> None:
    neighbours = result.neighbours["features"]
    chosen = choose_queries(result.pairs, neighbours, 7, seed=0)
    pattern = result.pairs.pattern[neighbours.query[chosen]]
    assert np.bincount(pattern).tolist() == [3, 2, 2]
    assert (np.diff(pattern) >= 0).all()
    assert len(set(chosen.tolist())) == 7
    assert chosen.tolist() == choose_queries(result.pairs, neighbours, 7, seed=0).tolist()
    assert len(choose_queries(result.pairs, neighbours, 1_000, seed=0)) == 60


def test_the_gallery_holds_what_was_found(result: RetrievalResult, small_store: FrameStore) -> None:
    details, arrays = retrieval_gallery(small_store, result.pairs, result.neighbours)
    assert details["gallery_spaces"] == ["features", "pixels"]
    chosen = choose_queries(result.pairs, result.neighbours["features"], 12, 0)
    wrong = 0
    for place, row in enumerate(chosen):
        columns = [result.neighbours["features"].query[row], *(n.nearest[row, 0] for n in result.neighbours.values())]
        for column, pair in enumerate(columns):
            images = small_store.images[[result.pairs.i[pair], result.pairs.j[pair]]]
            np.testing.assert_array_equal(arrays["gallery_images"][place, column], images)
            is_right = result.pairs.pattern[pair] == result.pairs.pattern[columns[0]]
            assert arrays["gallery_right"][place, column] == is_right
            wrong += not is_right
    assert wrong > 0
    assert arrays["gallery_arrows"].shape == (12, 3, 2)
    assert details["gallery_words"][0][0] == "up 10°"


def test_the_scale_is_that_of_the_motions(small_store: FrameStore) -> None:
    pairs = pairs_of(small_store)
    assert motion_scale(small_store, pairs).tolist() == [10.0, 60.0]
    none = MotionPairs(pairs.i, pairs.j, np.full(len(pairs), -1), pairs.names)
    assert motion_scale(small_store, none).tolist() == [1.0, 1.0]
