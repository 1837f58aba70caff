"""The motion prior over places."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.evaluation.place_filter import LOST, SLACK, filter_places
from egoequiv.evaluation.place_search import search


def dense(distance: np.ndarray, travelled: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The same hidden Markov model with whole matrices, as a text book writes it."""
    count = len(along)
    step = float(np.median(np.diff(along)))
    belief, found = np.full(count, 1 / count), []
    for query, d in enumerate(distance):
        way = travelled[query] - travelled[max(query - 1, 0)]
        std = SLACK * abs(way) + step / 2
        move = np.exp(-0.5 * ((along[None] - along[:, None] - way) / std) ** 2)
        move[np.abs(along[None] - along[:, None] - way) > 4 * std] = 0
        move /= np.maximum(move.sum(axis=1, keepdims=True), 1e-300)
        belief = ((1 - LOST) * belief @ move + LOST / count) * np.exp(-(d - d.min()) / d.std())
        belief /= belief.sum()
        found.append(-np.log(belief))
    return np.array(found)


def test_the_belief_is_that_of_an_independent_computation() -> None:
    rng = np.random.default_rng(0)
    along = np.cumsum(rng.uniform(0.5, 1.5, 30))
    travelled = np.cumsum(rng.uniform(0.5, 3, 12))
    distance = rng.random((12, 30))
    np.testing.assert_allclose(filter_places(distance, travelled, along), dense(distance, travelled, along), rtol=1e-6)


def test_two_places_that_look_alike_are_told_apart_by_the_way() -> None:
    """Frames 5 and 15 look the same; the camera has just been at frame 14."""
    along = np.arange(20.0)
    distance = np.ones((2, 20))
    distance[0, 14] = 0
    distance[1, [5, 15]] = 0
    found = filter_places(distance, np.array([14.0, 15.0]), along)
    assert found[1].argmin() == 15
    assert found[1, 15] < found[1, 5] - 1
    gone = filter_places(distance, np.array([14.0, 5.0]), along)  # the camera went back
    assert gone[1].argmin() == 5


def test_noisy_pictures_are_found_more_often_with_the_prior() -> None:
    rng = np.random.default_rng(1)
    count = 100
    truth = np.abs(np.arange(count)[:, None] - np.arange(count)) <= 1
    distance = rng.normal(0, 1, (count, count)) - 2.0 * truth
    plain = search(distance, truth).hits(1).mean()
    with_prior = search(filter_places(distance, np.arange(100.0), np.arange(100.0)), truth).hits(1).mean()
    assert with_prior > plain + 0.2


def test_equal_distances_leave_the_belief_as_it_is() -> None:
    found = filter_places(np.ones((3, 10)), np.zeros(3), np.arange(10.0))
    assert np.isfinite(found).all()
    assert np.ptp(found) < 0.5


def test_references_that_are_not_allowed_have_no_belief() -> None:
    allowed = np.array([[False] * 4, [True, False, False, False], [True, True, False, False]])
    distance = np.random.default_rng(2).random((3, 4))
    found = filter_places(distance, np.arange(3.0), np.arange(4.0), allowed)
    assert (np.isfinite(found) == allowed).all()
    assert np.exp(-found[2]).sum() == pytest.approx(1)
