"""Class votes of the nearest neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from egoequiv.errors import DataError
from egoequiv.evaluation.votes import NeighbourVotes, Votes

seeds = st.integers(0, 999)


def some_vectors(seed: int, count: int = 60, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (offset + rng.normal(size=(count, 3))).astype(np.float32), rng.integers(0, 4, count)


def test_votes_by_hand() -> None:
    line = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]], np.float32)
    votes = NeighbourVotes(line, np.array([0, 1, 1, 2, 2]), class_count=4, k=3)(np.array([[0.2], [9.0]], np.float32))
    np.testing.assert_array_equal(votes.counts, [[1, 2, 0, 0], [0, 1, 2, 0]])
    np.testing.assert_array_equal(votes.guess, [1, 2])


def test_entropy_by_hand() -> None:
    bits = Votes(np.array([[4, 0, 0], [2, 2, 0], [2, 1, 1]]), np.zeros(3, np.int64)).uncertainty_bits
    np.testing.assert_allclose(bits, [0.0, 1.0, 1.5])
    assert not np.signbit(bits).any()


def test_among_equals_the_nearer_voters_win() -> None:
    line = np.array([[1.0], [2.0], [-1.5], [-1.6]], np.float32)
    near = NeighbourVotes(line, np.array([1, 1, 0, 0]), class_count=2, k=4)
    assert near(np.array([[0.5]], np.float32)).guess.tolist() == [1]
    assert near(np.array([[-0.5]], np.float32)).guess.tolist() == [0]


@given(seeds)
def test_counts_against_scikit_learn_and_sorted_distances(seed: int) -> None:
    vectors, classes = some_vectors(seed)
    queries, _ = some_vectors(seed + 1_000, 20)
    votes = NeighbourVotes(vectors, classes, class_count=4, k=7)(queries)
    shares = KNeighborsClassifier(7).fit(vectors, classes).predict_proba(queries)
    present = np.unique(classes)
    np.testing.assert_allclose(votes.counts[:, present] / 7, shares)
    distance = np.linalg.norm(queries[:, None].astype(np.float64) - vectors[None], axis=2)
    nearest = np.argsort(distance, axis=1)[:, :7]
    np.testing.assert_array_equal(votes.counts, [np.bincount(classes[row], minlength=4) for row in nearest])


@given(seeds)
def test_every_neighbour_votes_once_and_the_guess_has_most_votes(seed: int) -> None:
    vectors, classes = some_vectors(seed)
    votes = NeighbourVotes(vectors, classes, class_count=4, k=9)(vectors)
    assert (votes.counts.sum(axis=1) == 9).all()
    assert (votes.counts[np.arange(60), votes.guess] == votes.counts.max(axis=1)).all()
    assert ((votes.uncertainty_bits >= 0) & (votes.uncertainty_bits <= 2)).all()


def test_features_far_from_zero_are_told_apart_exactly() -> None:
    vectors, classes = some_vectors(1, 400, offset=1_000.0)
    queries, _ = some_vectors(2, 40, offset=1_000.0)
    votes = NeighbourVotes(vectors, classes, class_count=4, k=5)(queries)
    distance = np.linalg.norm(queries[:, None].astype(np.float64) - vectors[None], axis=2)
    nearest = np.argsort(distance, axis=1)[:, :5]
    np.testing.assert_array_equal(votes.counts, [np.bincount(classes[row], minlength=4) for row in nearest])


def test_features_that_are_not_finite_are_refused() -> None:
    with pytest.raises(DataError, match="diverged"):
        NeighbourVotes(np.array([[np.nan]], np.float32), np.array([0]), class_count=1, k=1)
