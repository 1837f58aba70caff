"""The map behind rho for features of any dimension: candidates from least squares to strongly regularised ones.

All of them are affine maps found in one decomposition of the features they map from. They differ in how much each of
its directions counts, and in what is regressed: the features themselves, or their change, where nothing means a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.equivariance import SAME, Features
from egoequiv.models.maps import RANK_TOLERANCE

Array = NDArray[np.float64]
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
DIMENSIONS = (4, 16, 64, 256)


@dataclass(frozen=True)
class Fit:
    """One way to fit an affine map."""

    how: Literal["least squares", "ridge", "PCA"]
    value: float = 0.0  # the strength of ridge, in mean squared singular values; the number of dimensions of PCA
    of_change: bool = False  # whether z_i - z_j is regressed on z_j, so that shrinking leads to a copy, not to the mean

    def in_words(self) -> str:
        """Such as "ridge 0.01 of the change"."""
        value = f" {self.value:g}" if self.how != "least squares" else ""
        return f"{self.how}{value}{' of the change' if self.of_change else ''}"

    def gains(self, strength: Array) -> Array:
        """What each direction counts, by its singular value; (R,) -> (R,)."""
        if self.how == "ridge":
            gains: Array = strength / (strength**2 + self.value * np.mean(strength**2))
            return gains
        kept = np.arange(len(strength)) < (self.value if self.how == "PCA" else len(strength))
        return np.where(kept, 1 / strength, 0.0)


LEAST_SQUARES = Fit("least squares")  # as `egoequiv evaluate` fits it

# In this order: of two that do equally well the first is taken.
CANDIDATES: tuple[Fit, ...] = (
    LEAST_SQUARES,
    Fit("least squares", of_change=True),
    *(Fit("PCA", k, of_change) for of_change in (False, True) for k in DIMENSIONS),
    *(Fit("ridge", strength, of_change) for of_change in (False, True) for strength in STRENGTHS),
)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The centred features that maps start from, decomposed: left * strength @ right."""

    mean: Array  # (D,)
    left: Array  # (N, R)
    strength: Array  # (R,), falling
    right: Array  # (R, D)

    def coordinates(self, z: Features) -> Array:
        """Features along the directions, (M, D) -> (M, R)."""
        along: Array = (np.asarray(z, np.float64) - self.mean) @ self.right.T
        return along


@dataclass(frozen=True, eq=False)
class FittedMap:
    """An affine map that takes z_j to z_i."""

    fit: Fit
    spectrum: Spectrum
    image: Array  # (R, D): where the map sends each direction, before gains
    bias: Array  # (D,)

    def __call__(self, z_j: Features) -> Array:
        """Features (M, D) moved back by the motion."""
        weights = self.spectrum.coordinates(z_j) * self.fit.gains(self.spectrum.strength)
        moved: Array = weights @ self.image + self.bias
        return moved + z_j if self.fit.of_change else moved


def decompose(z: Features) -> Spectrum:
    """Decompose centred features (N, D); directions below the cut-off of `egoequiv evaluate` are rounding.

    With fewer rows than dimensions this uses the matrix of their inner products, which is some ten times as fast,
    and exact to about 1e-8 of the largest singular value: far below the cut-off.
    """
    mean = np.asarray(z, np.float64).mean(axis=0)
    centred = np.asarray(z, np.float64) - mean
    if len(centred) >= centred.shape[1]:
        left, strength, right = np.linalg.svd(centred, full_matrices=False)
    else:
        squares, left = np.linalg.eigh(centred @ centred.T)
        strength, left = np.sqrt(np.maximum(squares[::-1], 0.0)), left[:, ::-1]
        right = np.empty((0, 0))
    kept = strength > RANK_TOLERANCE * strength[0]
    left, strength = left[:, kept], strength[kept]
    right = right[kept] if right.size else (left / strength).T @ centred
    return Spectrum(mean, left, strength, right)


def fit_back(z_j: Features, z_i: Features, fit: Fit, spectrum: Spectrum | None = None) -> FittedMap:
    """The map of one candidate; (N, D), (N, D)."""
    spectrum = spectrum or decompose(z_j)
    target = _target(z_j, z_i, fit.of_change)
    bias = target.mean(axis=0)
    return FittedMap(fit, spectrum, spectrum.left.T @ (target - bias), bias)


def choose_map(
    fit_pairs: tuple[Features, Features],
    choose_pairs: tuple[Features, Features],
    candidates: Sequence[Fit] = CANDIDATES,
) -> FittedMap:
    """Fit all candidates on some pairs (z_j, z_i) and take the one with the least rho on others."""
    spectrum = decompose(fit_pairs[0])
    possible = [fit for fit in candidates if fit.how != "PCA" or fit.value < len(spectrum.strength)]
    scores = _rhos(spectrum, fit_pairs, choose_pairs, possible or list(candidates))
    best = min(scores, key=lambda fit: (round(scores[fit], 9), list(scores).index(fit)))
    return fit_back(*fit_pairs, best, spectrum)


def _rhos(
    spectrum: Spectrum,
    fit_pairs: tuple[Features, Features],
    choose_pairs: tuple[Features, Features],
    candidates: Sequence[Fit],
) -> dict[Fit, float]:
    """Rho of each candidate on the pairs to choose by.

    |t - wA|^2 is taken apart into |t|^2 - 2 w(At) + w(AA')w', so that a further candidate costs nothing that grows with
    the dimension of the features.
    """
    z_j, z_i = choose_pairs
    moved = np.linalg.norm(np.asarray(z_i, np.float64) - z_j, axis=1)
    distinct = moved > SAME * moved.mean()
    along = spectrum.coordinates(z_j)
    rhos = {}
    for of_change in (False, True):
        own = [fit for fit in candidates if fit.of_change == of_change]
        if not own:
            continue
        fitted = fit_back(*fit_pairs, own[0], spectrum)
        target = _target(z_j, z_i, of_change) - fitted.bias
        squared, cross, inner = (target**2).sum(axis=1), target @ fitted.image.T, fitted.image @ fitted.image.T
        for fit in own:
            weights = along * fit.gains(spectrum.strength)
            errors = squared - 2 * (weights * cross).sum(axis=1) + ((weights @ inner) * weights).sum(axis=1)
            relative = np.sqrt(np.maximum(errors, 0.0))[distinct] / moved[distinct]
            rhos[fit] = float(relative.mean()) if len(relative) else 0.0
    return {fit: rhos[fit] for fit in candidates}


def _target(z_j: Features, z_i: Features, of_change: bool) -> Array:
    target = np.asarray(z_i, np.float64)
    return target - z_j if of_change else target
