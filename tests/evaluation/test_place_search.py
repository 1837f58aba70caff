"""Distances of places, ranks and the area below precision over recall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.evaluation.place_search import (
    cosine_distances,
    mean_differences,
    patch_normalised,
    precision_recall_area,
    search,
)

DISTANCE = np.array([[0.1, 0.5, 0.9], [0.4, 0.3, 0.2], [0.5, 0.5, 0.5], [0.7, 0.1, 0.6]])
TRUTH = np.array([[True, False, False], [False, True, False], [True, False, False], [False, False, False]])


def test_ranks_by_hand() -> None:
    found = search(DISTANCE, TRUTH)
    assert found.queries.tolist() == [0, 1, 2]
    assert found.rank.tolist() == [0, 1, 2]  # equal distances count as nearer: nothing is known from them
    assert [found.hits(k).tolist() for k in (1, 2)] == [[True, False, False], [True, True, False]]
    assert found.best.tolist() == [0, 2, 0, 1]
    assert found.correct.tolist() == [True, False, False, False]
    np.testing.assert_allclose(found.distance, [0.1, 0.2, 0.5, 0.1])


def test_only_allowed_references_count() -> None:
    allowed = np.array([[False, True, True], [True, True, False], [False, False, False], [True, True, True]])
    found = search(DISTANCE, TRUTH, allowed)
    assert found.queries.tolist() == [1]
    assert found.rank.tolist() == [0]
    assert found.best.tolist() == [1, 1, -1, 1]
    assert np.isinf(found.distance[2])


def test_a_best_match_may_be_accepted_by_other_distances() -> None:
    found = search(DISTANCE, TRUTH, accepted_by=10 * DISTANCE)
    np.testing.assert_allclose(found.distance, [1, 2, 5, 1])


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_ranks_are_those_of_a_sorted_list(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    distance, truth = rng.random((4, count)), rng.random((4, count)) < 0.3
    found = search(distance, truth)
    for query, rank in zip(found.queries, found.rank, strict=True):
        ordered = [bool(truth[query, k]) for k in np.argsort(distance[query])]
        assert rank == ordered.index(True)
    better = search(np.where(truth, distance - 2, distance), truth)
    assert (better.rank == 0).all()


def test_the_area_by_hand() -> None:
    # Accepted one after another: right, wrong, right; four places in all. Recall 1/4 at precision 1, 2/4 at 2/3.
    area = precision_recall_area(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), 4)
    assert area == pytest.approx(1 / 4 * 1 + 1 / 4 * 2 / 3)
    assert precision_recall_area(np.array([1.0, 2.0]), np.array([False, False]), 2) == 0
    assert precision_recall_area(np.array([1.0, 2.0]), np.array([True, True]), 2) == 1


@given(st.integers(0, 10_000))
def test_the_area_is_at_most_the_recall_and_matches_without_a_place_lower_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distance, correct = rng.random(20), rng.random(20) < 0.5
    area = precision_recall_area(distance, correct, 20)
    assert 0 <= area <= correct.mean() + 1e-12
    with_strangers = precision_recall_area(np.append(distance, [0.0, 0.0]), np.append(correct, [False, False]), 20)
    assert with_strangers <= area
    assert with_strangers < area or not correct.any()


def test_patches_have_mean_0_and_standard_deviation_1() -> None:
    images = np.random.default_rng(0).integers(0, 256, (3, 64, 128, 1), np.uint8)
    found = patch_normalised(images)
    assert found.shape == (3, 32 * 64)
    patches = found.reshape(3, 4, 8, 8, 8)
    np.testing.assert_allclose(patches.mean(axis=(2, 4)), 0, atol=1e-5)
    np.testing.assert_allclose(patches.std(axis=(2, 4)), 1, atol=1e-5)


def test_patches_by_hand() -> None:
    image = np.zeros((1, 8, 16, 1), np.uint8)
    image[0, :4, :8] = 100  # the left patch is half bright; the right one is flat
    found = patch_normalised(image).reshape(8, 16)
    np.testing.assert_allclose(found[:4, :8], 1)
    np.testing.assert_allclose(found[4:, :8], -1)
    np.testing.assert_allclose(found[:, 8:], 0)


def test_light_that_changes_evenly_over_a_patch_does_not_count() -> None:
    image = np.random.default_rng(0).integers(20, 100, (1, 32, 64, 1)).astype(np.uint8)
    brighter = (image * 2 + 10).astype(np.uint8)
    np.testing.assert_allclose(patch_normalised(image), patch_normalised(brighter), atol=1e-5)
    assert patch_normalised(np.repeat(image, 3, axis=3)).shape == patch_normalised(image).shape
    assert patch_normalised(image[:, :5, :21]).shape == (1, 8 * 16)


def test_distances_by_hand() -> None:
    one, other = np.array([[1, 0]], np.float32), np.array([[0, 2], [3, 0], [0, 0]], np.float32)
    np.testing.assert_allclose(cosine_distances(one, other), [[1, 0, 1]])
    np.testing.assert_allclose(mean_differences(one, other), [[1.5, 1, 0.5]])


def test_images_of_two_sizes_are_compared_at_the_smaller_one() -> None:
    large = np.random.default_rng(0).integers(0, 255, (3, 64, 64, 1), np.uint8)
    small = np.random.default_rng(1).integers(0, 255, (2, 16, 24, 1), np.uint8)
    assert patch_normalised(large, (16, 24)).shape == (3, 16 * 24)
    assert mean_differences(patch_normalised(large, (16, 24)), patch_normalised(small)).shape == (3, 2)
    np.testing.assert_array_equal(patch_normalised(small, (16, 24)), patch_normalised(small))
