"""The candidates for the map behind rho."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge

from egoequiv.auditing import fits
from egoequiv.auditing.fits import CANDIDATES, LEAST_SQUARES, Fit, choose_map, decompose, fit_back
from egoequiv.evaluation.equivariance import apply_map, fit_map

Pairs = tuple[np.ndarray, np.ndarray]


def some_pairs(seed: int, count: int, dim: int, noise: float = 0.3, rank: int | None = None) -> Pairs:
    """Features (z_j, z_i) of pairs that an affine map explains in part."""
    rng = np.random.default_rng(seed)
    z_j = rng.normal(size=(count, rank or dim)) @ np.random.default_rng(1).normal(size=(rank or dim, dim)) + 3
    turn = np.random.default_rng(2).normal(size=(dim, dim)) / np.sqrt(dim)
    return z_j, z_j @ turn - 1 + noise * rng.normal(size=(count, dim))


def rho(z_i: np.ndarray, z_j: np.ndarray, mapped: np.ndarray) -> float:
    ratios = [np.linalg.norm(a - c) / np.linalg.norm(a - b) for a, b, c in zip(z_i, z_j, mapped, strict=True)]
    return float(np.mean(ratios))


def test_a_map_by_hand() -> None:
    # The line through (0, 1), (1, 3), (2, 8) with least squares has slope 3.5 and meets 0 at 0.5.
    z_j, z_i = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [8.0]])
    expected = [[7.5], [-3.0]]
    for of_change in (False, True):
        back = fit_back(z_j, z_i, Fit("least squares", of_change=of_change))
        np.testing.assert_allclose(back(np.array([[2.0], [-1.0]])), expected)
    # Ridge of strength 1 adds the one squared singular value, 2, to itself: half the slope about the means, 1 and 4.
    np.testing.assert_allclose(fit_back(z_j, z_i, Fit("ridge", 1.0))(np.array([[2.0]])), [[4 + 3.5 / 2]])
    # Of the change, the slope 2.5 is halved and the copy added.
    np.testing.assert_allclose(fit_back(z_j, z_i, Fit("ridge", 1.0, True))(np.array([[2.0]])), [[2 + 3 + 2.5 / 2]])


@given(st.integers(0, 99), st.sampled_from([(60, 5, None), (60, 12, 7), (20, 50, None), (30, 200, 9)]))
def test_least_squares_as_evaluate_has_them(seed: int, shape: tuple[int, int, int | None]) -> None:
    count, dim, rank = shape
    z_j, z_i = some_pairs(seed, count, dim, rank=rank)
    fresh, _ = some_pairs(seed + 100, 10, dim, rank=rank)
    expected = apply_map(fit_map(z_j, z_i), fresh)
    np.testing.assert_allclose(fit_back(z_j, z_i, LEAST_SQUARES)(fresh), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("count", "dim"), [(60, 8), (25, 70)])
@pytest.mark.parametrize("of_change", [False, True])
def test_ridge_against_scikit_learn(count: int, dim: int, of_change: bool) -> None:
    z_j, z_i = some_pairs(0, count, dim)
    fresh, _ = some_pairs(1, 10, dim)
    strengths = np.linalg.svd(z_j - z_j.mean(axis=0), compute_uv=False)
    strengths = strengths[strengths > 1e-6 * strengths[0]]
    ridge = Ridge(alpha=0.01 * np.mean(strengths**2)).fit(z_j, z_i - z_j if of_change else z_i)
    expected = ridge.predict(fresh) + (fresh if of_change else 0)
    np.testing.assert_allclose(fit_back(z_j, z_i, Fit("ridge", 0.01, of_change))(fresh), expected, atol=1e-8)


@pytest.mark.parametrize(("count", "dim"), [(60, 12), (25, 70)])
def test_pca_against_scikit_learn(count: int, dim: int) -> None:
    z_j, z_i = some_pairs(0, count, dim)
    fresh, _ = some_pairs(1, 10, dim)
    pca = PCA(4, svd_solver="full").fit(z_j)
    expected = LinearRegression().fit(pca.transform(z_j), z_i).predict(pca.transform(fresh))
    np.testing.assert_allclose(fit_back(z_j, z_i, Fit("PCA", 4))(fresh), expected, atol=1e-8)


@pytest.mark.parametrize(("count", "dim"), [(60, 8), (40, 90)])
def test_the_choice_is_the_best_on_the_second_part(count: int, dim: int) -> None:
    fitted, chosen_on = some_pairs(0, count, dim, noise=1.0), some_pairs(1, 30, dim, noise=1.0)
    rank = len(decompose(fitted[0]).strength)
    scores = {
        fit: rho(chosen_on[1], chosen_on[0], fit_back(*fitted, fit)(chosen_on[0]))
        for fit in CANDIDATES
        if fit.how != "PCA" or fit.value < rank
    }
    told = fits._rhos(decompose(fitted[0]), fitted, chosen_on, list(scores))
    assert told == pytest.approx(scores, abs=1e-9)
    assert choose_map(fitted, chosen_on).fit == min(scores, key=lambda fit: scores[fit])


def test_of_equally_good_fits_the_first_is_taken() -> None:
    fitted, chosen_on = some_pairs(0, 60, 6, noise=0.0), some_pairs(1, 30, 6, noise=0.0)
    assert choose_map(fitted, chosen_on).fit == LEAST_SQUARES


def test_ten_thousand_dimensions() -> None:
    rng = np.random.default_rng(0)
    basis, turn = rng.normal(size=(5, 10_000)), np.linalg.qr(rng.normal(size=(5, 5)))[0]
    inside = [rng.normal(size=(count, 5)) for count in (60, 30, 30)]
    fitted, chosen_on, held = ((z @ basis, z @ turn @ basis) for z in inside)
    back = choose_map(fitted, chosen_on)
    assert rho(held[1], held[0], back(held[0])) < 1e-6


def test_features_that_cannot_be_foretold_are_left_nearly_as_they_are() -> None:
    rng = np.random.default_rng(0)
    place = rng.normal(size=(200, 300)) * 10  # every pair at a place of its own, moved at random
    z_j, z_i = place + rng.normal(size=place.shape), place + rng.normal(size=place.shape)
    back = choose_map((z_j[:100], z_i[:100]), (z_j[100:150], z_i[100:150]))
    assert back.fit.of_change
    assert 0.7 < rho(z_i[150:], z_j[150:], back(z_j[150:])) < 1.1


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (LEAST_SQUARES, "least squares"),
        (Fit("PCA", 16), "PCA 16"),
        (Fit("ridge", 0.01, True), "ridge 0.01 of the change"),
    ],
)
def test_a_fit_in_words(fit: Fit, words: str) -> None:
    assert fit.in_words() == words
