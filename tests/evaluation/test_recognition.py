"""Recognition accuracy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, top_k_accuracy_score

from egoequiv.errors import ConfigError
from egoequiv.evaluation import class_mean_accuracy, nearest_pixel_accuracy, top_k_accuracy
from egoequiv.store import FrameStore

SCORES = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.1, 0.5]], np.float32)
CLASSES = np.array([1, 1, 0, 2])


def test_by_hand() -> None:
    assert top_k_accuracy(SCORES, CLASSES) == 0.5
    assert top_k_accuracy(SCORES, CLASSES, 2) == 0.75
    assert top_k_accuracy(SCORES, CLASSES, 3) == 1.0


def test_ties_are_no_success() -> None:
    equal = np.zeros((4, 3), np.float32)
    assert top_k_accuracy(equal, CLASSES, 1) == 0.0
    assert top_k_accuracy(equal, CLASSES, 2) == 0.0
    assert top_k_accuracy(equal, CLASSES, 3) == 1.0
    shared = np.array([[0.5, 0.5, 0.1]], np.float32)
    assert [top_k_accuracy(shared, np.array([0]), k) for k in (1, 2, 3)] == [0.0, 1.0, 1.0]


def test_scores_that_are_no_numbers_are_no_success() -> None:
    assert top_k_accuracy(np.full((4, 3), np.nan, np.float32), CLASSES) == 0.0
    partly = SCORES.copy()
    partly[0, 1] = np.nan
    assert top_k_accuracy(partly, CLASSES) == 0.25


@given(st.integers(1, 12), st.integers(3, 6), st.integers(0, 999))
def test_against_scikit_learn(count: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.arange(count * classes, dtype=np.float32)).reshape(count, classes)  # no ties
    own = rng.integers(classes, size=count)
    for k in range(1, classes):
        expected = top_k_accuracy_score(own, scores, k=k, labels=np.arange(classes))
        assert top_k_accuracy(scores, own, k) == pytest.approx(expected)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 999))
def test_more_guesses_never_hurt(count: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (count, classes)).astype(np.float32)  # with ties
    own = rng.integers(classes, size=count)
    accuracies = [top_k_accuracy(scores, own, k) for k in range(1, classes + 1)]
    assert accuracies == sorted(accuracies)
    assert accuracies[-1] == 1.0
    order = rng.permutation(count)
    assert top_k_accuracy(scores[order], own[order]) == accuracies[0]


@pytest.mark.parametrize("k", [0, 4, -1])
def test_an_impossible_k_is_named(k: int) -> None:
    with pytest.raises(ConfigError, match=f"top-{k} of 3 classes"):
        top_k_accuracy(SCORES, CLASSES, k)


def test_the_nearest_image_against_plain_loops(small_store: FrameStore) -> None:
    labelled, frames = np.arange(0, 144, 11), np.arange(5, 144, 4)
    classes = small_store.labels
    images = np.asarray(small_store.images).astype(float)
    right = 0
    for frame in frames:
        distances = [np.square(images[frame] - images[other]).sum() for other in labelled]
        right += int(classes[labelled[int(np.argmin(distances))]] == classes[frame])
    expected = right / len(frames)
    assert nearest_pixel_accuracy(small_store, labelled, frames, classes) == expected
    assert nearest_pixel_accuracy(small_store, labelled, frames, classes, batch=5) == expected
    assert 0 < expected < 1


def test_the_nearest_image_of_a_labelled_image_is_itself(small_store: FrameStore) -> None:
    frames = np.arange(0, 144, 7)
    assert nearest_pixel_accuracy(small_store, frames, frames, small_store.labels) == 1.0


def test_one_wrong_neighbour_by_hand(small_store: FrameStore) -> None:
    # With one labelled image, everything is taken for its class.
    accuracy = nearest_pixel_accuracy(small_store, np.array([0]), np.array([1, 2, 50, 100]), small_store.labels)
    assert accuracy == 0.5


def test_the_mean_of_classes_by_hand() -> None:
    # Class 1: one of two is right; class 0: none of one; class 2: one of one.
    assert class_mean_accuracy(SCORES, CLASSES) == pytest.approx((1 / 2 + 0 + 1) / 3)
    # A large class that is always right does not drown a small one that is always wrong.
    scores = np.repeat([[1.0, 0.0], [1.0, 0.0]], [99, 1], axis=0).astype(np.float32)
    classes = np.repeat([0, 1], [99, 1])
    assert top_k_accuracy(scores, classes) == pytest.approx(0.99)
    assert class_mean_accuracy(scores, classes) == 0.5


def test_classes_that_do_not_occur_do_not_count() -> None:
    assert class_mean_accuracy(SCORES[:2], CLASSES[:2]) == 0.5  # class 1 alone


def test_ties_are_no_success_in_the_mean_of_classes() -> None:
    assert class_mean_accuracy(np.zeros((4, 3), np.float32), CLASSES) == 0.0


@given(st.integers(1, 30), st.integers(2, 6), st.integers(0, 999))
def test_the_mean_of_classes_against_scikit_learn(count: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.arange(count * classes, dtype=np.float32)).reshape(count, classes)  # no ties
    own = rng.integers(classes, size=count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes that are guessed but do not occur
        expected = balanced_accuracy_score(own, scores.argmax(axis=1))
    assert class_mean_accuracy(scores, own) == pytest.approx(expected)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_with_classes_of_one_size_both_accuracies_agree(each: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (each * classes, classes)).astype(np.float32)
    own = np.repeat(np.arange(classes), each)
    assert class_mean_accuracy(scores, own) == pytest.approx(top_k_accuracy(scores, own))
    # Saying everything of one class twice changes the accuracy over frames, not that over classes.
    twice = np.concatenate([np.arange(len(own)), np.flatnonzero(own == 0)])
    assert class_mean_accuracy(scores[twice], own[twice]) == pytest.approx(class_mean_accuracy(scores, own))
