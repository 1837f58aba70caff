"""Maps of feature space for any motion: a function of the motion vector, with no patterns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import ceil, isfinite

import torch
from torch import Tensor, nn

LARGEST_STEP = 2.0  # of the norm of a generator in one piece of the series
ORDER = 12  # of the series: the rest is below 2^13 / 13!, about 1e-6
MOST_PIECES = 32  # beyond, the matrix itself is computed: its cost grows with the logarithm of the motion alone
POWER_STEPS, NOT_TOO_SMALL = 12, 1.1
HIDDEN = 32  # units of the network that makes a map from a motion


class MotionMaps(nn.Module, ABC):
    """A linear map M(y) of D features for every motion y of M components.

    Motions come in the units of the motion space. `scale` divides them, so that each component has about the same size
    for the map; a component that never varies in the training part has the scale infinity and changes nothing.
    """

    scale: Tensor  # (M,)

    def __init__(self, motion_dim: int, feature_dim: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(motion_dim))
        self.motion_dim, self.feature_dim = motion_dim, feature_dim

    def set_scale(self, scale: Sequence[float]) -> None:
        """Set the size that each component of a motion has."""
        self.scale.copy_(torch.tensor(scale))

    @abstractmethod
    def reset(self, generator: torch.Generator) -> None:
        """Draw the initial weights; the maps begin near the identity."""

    @abstractmethod
    def forward(self, features: Tensor, motion: Tensor) -> Tensor:
        """The features after the motion, z(gx), from those before it, z(x); (..., D), (..., M) -> (..., D)."""

    def back(self, features: Tensor, motion: Tensor) -> Tensor:
        """The features before the motion, z(x), from those after it, z(gx); (..., D), (..., M) -> (..., D)."""
        return self.forward(features, -motion)


class GeneratorMaps(MotionMaps):
    """M(y) = exp(sum_k y_k A_k), with a generator A_k for each component of the motion.

    Generators are antisymmetric, so the maps are rotations: they keep lengths, M(-y) is the inverse of M(y), and
    M(s y) M(t y) = M((s + t) y), by construction.
    """

    def __init__(self, motion_dim: int, feature_dim: int) -> None:
        super().__init__(motion_dim, feature_dim)
        self.weight = nn.Parameter(torch.zeros(motion_dim, feature_dim, feature_dim))

    def reset(self, generator: torch.Generator) -> None:
        nn.init.normal_(self.weight, std=0.01, generator=generator)

    def generators(self) -> Tensor:
        """The generators A_k, (M, D, D)."""
        return self.weight - self.weight.mT

    def forward(self, features: Tensor, motion: Tensor) -> Tensor:
        """exp(B) z as pieces of a Taylor series on the vector: the matrix itself is not needed, and would be slow."""
        generators, scaled = self.generators(), motion / self.scale
        pieces = self._pieces(generators, scaled)
        if pieces > MOST_PIECES:
            matrix = torch.matrix_exp(torch.einsum("...k,kij->...ij", scaled, generators))
            return (matrix @ features.unsqueeze(-1)).squeeze(-1)
        table = generators.flatten(0, 1).T  # (D, M D): all generators in one multiplication
        scaled = (scaled / pieces).unsqueeze(-2)  # (..., 1, M)
        for _ in range(pieces):
            term = features
            for order in range(1, ORDER + 1):
                moved = (term @ table).view(*term.shape[:-1], self.motion_dim, self.feature_dim)
                term = (scaled @ moved).squeeze(-2) / order
                features = features + term
        return features

    @torch.no_grad()
    def _pieces(self, generators: Tensor, scaled: Tensor) -> int:
        """Into how many equal steps the largest motion is divided, so that the series converges."""
        if not scaled.numel() or not bool(generators.isfinite().all()):  # training says what is not finite
            return 1
        largest = float((scaled.abs() * _norms(generators)).sum(-1).max())
        return max(1, ceil(largest / LARGEST_STEP)) if isfinite(largest) else 1


def _norms(generators: Tensor) -> Tensor:
    """The largest factor by which each generator lengthens a vector, (M, D, D) -> (M,): by power iteration.

    It is a little too large or too small, which changes the number of pieces and nothing else; the exact norm takes
    as long as half of a step of training.
    """
    size = generators.shape[-1]
    start = torch.randn(size, generator=torch.Generator().manual_seed(0)).to(generators)
    vectors, norms = start.expand(len(generators), size), start.new_zeros(len(generators))
    for _ in range(POWER_STEPS):
        vectors = (generators @ vectors.unsqueeze(-1)).squeeze(-1)
        norms = torch.linalg.vector_norm(vectors, dim=-1)
        vectors = vectors / norms.clamp_min(1e-30).unsqueeze(-1)
    return NOT_TOO_SMALL * norms


class NetworkMaps(MotionMaps):
    """M(y) = I + N(y), where a small network N makes a matrix from the motion (the form of SIE)."""

    def __init__(self, motion_dim: int, feature_dim: int) -> None:
        super().__init__(motion_dim, feature_dim)
        self.hidden = nn.Linear(motion_dim, HIDDEN)
        self.matrix = nn.Linear(HIDDEN, feature_dim * feature_dim)

    def reset(self, generator: torch.Generator) -> None:
        nn.init.normal_(self.hidden.weight, std=1.0, generator=generator)
        nn.init.normal_(self.hidden.bias, std=1.0, generator=generator)
        nn.init.normal_(self.matrix.weight, std=0.1 / (HIDDEN * self.feature_dim) ** 0.5, generator=generator)
        nn.init.zeros_(self.matrix.bias)

    def forward(self, features: Tensor, motion: Tensor) -> Tensor:
        change: Tensor = self.matrix(self.hidden(motion / self.scale).relu())
        change = change.view(*change.shape[:-1], self.feature_dim, self.feature_dim)
        return features + (change @ features.unsqueeze(-1)).squeeze(-1)


MOTION_MAPS: dict[str, Callable[[int, int], MotionMaps]] = {
    "generators": GeneratorMaps,
    "network": NetworkMaps,
}
