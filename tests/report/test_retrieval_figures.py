"""The figure of retrieved pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from egoequiv.evaluation.retrieval import RetrievalResult, retrieve_pairs
from egoequiv.pairs import MotionPairs
from egoequiv.pose import ColumnsSpace, PlanarSpace
from egoequiv.report.figures import save_figure
from egoequiv.report.retrieval_figures import (
    WRONG,
    arrow_of,
    choose_queries,
    motion_scale,
    motion_words,
    retrieval_figure,
)
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


def test_queries_of_every_motion_are_shown(result: RetrievalResult) -> None:
    neighbours = result.neighbours["features"]
    chosen = choose_queries(result.pairs, neighbours, 7, seed=0)
    pattern = result.pairs.pattern[neighbours.query[chosen]]
    assert np.bincount(pattern).tolist() == [3, 2, 2]
    assert (np.diff(pattern) >= 0).all()
    assert len(set(chosen.tolist())) == 7
    assert chosen.tolist() == choose_queries(result.pairs, neighbours, 7, seed=0).tolist()
    assert len(choose_queries(result.pairs, neighbours, 1_000, seed=0)) == 60


def test_failures_have_a_red_frame(result: RetrievalResult, small_store: FrameStore, tmp_path: Path) -> None:
    figure = retrieval_figure(result, small_store, "a title", queries=5)
    (axes,) = figure.axes
    assert len(axes.images) == 5 * 3 * 2
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert all(patch.get_edgecolor() == to_rgba(WRONG) for patch in frames)
    chosen = choose_queries(result.pairs, result.neighbours["features"], 5, 0)
    wrong = sum(
        int(result.pairs.pattern[near.nearest[row, 0]] != result.pairs.pattern[near.query[row]])
        for near in result.neighbours.values()
        for row in chosen
    )
    assert len(frames) == 2 * wrong > 0
    said = [text.get_text() for text in axes.texts]
    assert said.count("nearest by features") == said.count("nearest by pixels") == 2  # over both columns
    first = small_store.images[result.pairs.i[result.neighbours["features"].query[chosen[0]]], :, :, 0]
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), first)
    save_figure(figure, tmp_path / "retrieval.png")
    assert (tmp_path / "retrieval.png").stat().st_size > 10_000


def test_colour_and_a_single_query_can_be_drawn(result: RetrievalResult, small_store: FrameStore) -> None:
    coloured = replace(small_store, images=np.repeat(small_store.images, 3, axis=-1))
    figure = retrieval_figure(result, coloured, "one", queries=1)
    assert len(figure.axes[0].images) == 6
    plt.close(figure)


def test_the_scale_is_that_of_the_motions(small_store: FrameStore) -> None:
    pairs = pairs_of(small_store)
    assert motion_scale(small_store, pairs).tolist() == [10.0, 60.0]
    none = MotionPairs(pairs.i, pairs.j, np.full(len(pairs), -1), pairs.names)
    assert motion_scale(small_store, none).tolist() == [1.0, 1.0]
