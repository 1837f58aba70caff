"""Equivariance maps: one affine map of feature space for each motion pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

RANK_TOLERANCE = 1e-6  # of the largest singular value


class EquivarianceMaps(nn.Module):
    """G affine maps of D-dimensional features, applied in one multiplication (the M_g of Eq. 5).

    The maps point back: M_g takes z(g x) to z(x).
    """

    def __init__(self, patterns: int, feature_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(patterns, feature_dim, feature_dim))
        self.bias = nn.Parameter(torch.empty(patterns, feature_dim))

    def forward(self, features: Tensor) -> Tensor:
        """Every map on every feature vector: (..., D) -> (..., G, D)."""
        return apply_maps(self.weight, self.bias, features)


def apply_maps(weight: Tensor, bias: Tensor, features: Tensor) -> Tensor:
    """Affine maps (G, D, D) and (G, D) on every feature vector: (..., D) -> (..., G, D)."""
    patterns, dim = bias.shape
    mapped = functional.linear(features, weight.view(patterns * dim, dim), bias.view(-1))
    return mapped.view(*features.shape[:-1], patterns, dim)


FEWEST_SCORED = 20  # pairs that a map is measured on, where it was fitted on others


def fewest_pairs(z: NDArray[Any]) -> int:
    """How many pairs it takes to fit a map of such features, (N, D), and to measure it."""
    return 4 * (rank_of(z) + 1) if len(z) else 4


def rank_of(z: NDArray[Any]) -> int:
    """How many dimensions features really have, (N, D); a map has as many free values in each row, and one more."""
    if not len(z):
        return 0
    sample = z[:: max(1, len(z) // 2_000)]
    strength = np.linalg.svd(np.asarray(sample, np.float64) - sample.mean(axis=0), compute_uv=False)
    return int((strength > RANK_TOLERANCE * strength[0]).sum())
