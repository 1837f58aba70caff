"""Maps of feature space for any motion: a function of the motion vector, with no patterns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

NEGLIGIBLE = 1e-8  # a term of the series that counts less
LEAST_REACH, MOST_REACH = 1e-2, 150.0  # beyond, the matrix is computed: its cost grows with the logarithm of the motion
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
        """exp(B) z as a Chebyshev series on the vector: the matrix itself is not needed, and would be slow.

        The spectrum of an antisymmetric B is in i [-R, R]. So exp(B) = J_0(R) + 2 sum_k J_k(R) P_k with Bessel
        functions J_k, P_0 = 1, P_1 = B / R and P_{k+1} = 2 (B / R) P_k + P_{k-1}: little more than R terms.
        """
        if not self.motion_dim:
            return features
        generators, scaled = self.generators(), motion / self.scale
        reach = self._reach(generators, scaled)
        if reach.size and float(reach.max()) > MOST_REACH:
            matrix = torch.matrix_exp(torch.einsum("...k,kij->...ij", scaled, generators))
            return (matrix @ features.unsqueeze(-1)).squeeze(-1)
        table = generators.flatten(0, 1).T  # (D, M D): all generators in one multiplication
        weights = torch.from_numpy(_bessel(reach)).to(features)  # (K, ..., 1)
        step = (scaled / torch.from_numpy(reach).to(scaled)).unsqueeze(-2)  # (..., 1, M)

        def times_b(vectors: Tensor) -> Tensor:
            moved = (vectors @ table).view(*vectors.shape[:-1], self.motion_dim, self.feature_dim)
            product: Tensor = (step @ moved).squeeze(-2)
            return product

        before, term = features, times_b(features)
        result = weights[0] * before + weights[1] * term
        for weight in weights[2:]:
            before, term = term, 2 * times_b(term) + before
            result = result + weight * term
        return result

    @torch.no_grad()
    def _reach(self, generators: Tensor, scaled: Tensor) -> NDArray[np.float64]:
        """For each motion, (..., 1), a number above the norm of B: the sum over its components."""
        if not scaled.numel() or not bool(generators.isfinite().all()):  # training says what is not finite
            return np.full((*scaled.shape[:-1], 1), LEAST_REACH)
        reach = (scaled.abs() * _norms(generators)).sum(-1, keepdim=True).clamp_min(LEAST_REACH)
        numbers: NDArray[np.float64] = reach.nan_to_num(LEAST_REACH).double().cpu().numpy()
        return numbers


def _bessel(reach: NDArray[np.float64]) -> NDArray[np.float64]:
    """J_0 and 2 J_k of each number, (K, ...): as many as count for the largest of them, and at least two."""
    from scipy.special import jv

    most = float(reach.max(initial=LEAST_REACH))
    orders = np.arange(int(most + 8 * most ** (1 / 3)) + 8)
    count = max(int(np.flatnonzero(np.abs(jv(orders, most)) > NEGLIGIBLE).max(initial=1)) + 1, 2)
    weights = 2 * jv(orders[:count].reshape(-1, *(1,) * reach.ndim), reach)
    weights[0] /= 2
    return np.asarray(weights, np.float64)


def _norms(generators: Tensor) -> Tensor:
    """The largest factor by which each generator lengthens a vector, (M, D, D) -> (M,): by power iteration.

    It is a little too small, which the factor makes up for; the exact norm takes much longer.
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
