"""Equivariance maps: one affine map of feature space for each motion pattern."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


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
