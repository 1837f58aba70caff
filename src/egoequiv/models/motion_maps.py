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
BLOCK, LEAST_BLOCK = 32, 8  # features that a motion mixes with each other, where generators have blocks
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

    def _blocks(self) -> Tensor:
        """What the generators are made of, (..., S, S)."""
        return self.generators()

    def _by_each(self, blocks: Tensor, vectors: Tensor) -> Tensor:
        """Vectors multiplied by each generator, in one multiplication; (..., D) -> (..., M, D)."""
        table = blocks.flatten(0, 1).T  # (D, M D)
        return (vectors @ table).view(*vectors.shape[:-1], self.motion_dim, self.feature_dim)

    def forward(self, features: Tensor, motion: Tensor) -> Tensor:
        """exp(B) z as a Chebyshev series on the vector: the matrix itself is not needed, and would be slow.

        The spectrum of an antisymmetric B is in i [-R, R]. So exp(B) = J_0(R) + 2 sum_k J_k(R) P_k with Bessel
        functions J_k, P_0 = 1, P_1 = B / R and P_{k+1} = 2 (B / R) P_k + P_{k-1}: little more than R terms.
        """
        if not self.motion_dim:
            return features
        blocks, scaled = self._blocks(), motion / self.scale
        reach = self._reach(blocks, scaled)
        if reach.size and float(reach.max()) > MOST_REACH:
            matrix = torch.matrix_exp(torch.einsum("...k,kij->...ij", scaled, self.generators()))
            return (matrix @ features.unsqueeze(-1)).squeeze(-1)
        weights = torch.from_numpy(_bessel(reach)).to(features)  # (K, ..., 1)
        step = (scaled / torch.from_numpy(reach).to(scaled)).unsqueeze(-2)  # (..., 1, M)

        def times_b(vectors: Tensor) -> Tensor:
            product: Tensor = (step @ self._by_each(blocks, vectors)).squeeze(-2)
            return product

        before, term = features, times_b(features)
        result = weights[0] * before + weights[1] * term
        for weight in weights[2:]:
            before, term = term, 2 * times_b(term) + before
            result = result + weight * term
        return result

    @torch.no_grad()
    def _reach(self, blocks: Tensor, scaled: Tensor) -> NDArray[np.float64]:
        """For each motion, (..., 1), a number above the norm of B: the sum over its components."""
        if not scaled.numel() or not bool(blocks.isfinite().all()):  # training says what is not finite
            return np.full((*scaled.shape[:-1], 1), LEAST_REACH)
        norms = _norms(blocks.flatten(0, -3)).view(self.motion_dim, -1).amax(1)
        reach = (scaled.abs() * norms).sum(-1, keepdim=True).clamp_min(LEAST_REACH)
        numbers: NDArray[np.float64] = reach.nan_to_num(LEAST_REACH).double().cpu().numpy()
        return numbers


class BlockMaps(GeneratorMaps):
    """The same with blocks on the diagonal of each generator: a step takes a part of the time.

    A motion then mixes features of one block alone. With fewer weights the maps also overfit less.
    """

    def __init__(self, motion_dim: int, feature_dim: int) -> None:
        super().__init__(motion_dim, feature_dim)
        sizes = (size for size in range(BLOCK, LEAST_BLOCK - 1, -1) if feature_dim % size == 0)
        self.size = next(sizes, feature_dim)
        self.weight = nn.Parameter(torch.zeros(motion_dim, feature_dim // self.size, self.size, self.size))

    def generators(self) -> Tensor:
        """The generators A_k, (M, D, D)."""
        blocks = self._blocks()
        count, size = blocks.shape[1:3]
        whole = blocks.new_zeros(self.motion_dim, count, size, count, size)
        each = torch.arange(count, device=blocks.device)
        whole[:, each, :, each] = blocks.transpose(0, 1)
        return whole.view(self.motion_dim, self.feature_dim, self.feature_dim)

    def _blocks(self) -> Tensor:
        """The blocks of the generators, (M, N, S, S)."""
        return self.weight - self.weight.mT

    def _by_each(self, blocks: Tensor, vectors: Tensor) -> Tensor:
        table = blocks.permute(1, 3, 0, 2).flatten(2)  # (N, S, M S)
        parts = vectors.reshape(-1, len(table), self.size).transpose(0, 1)  # (N, B, S)
        moved = (parts @ table).view(len(table), -1, self.motion_dim, self.size)  # (N, B, M, S)
        return moved.permute(1, 2, 0, 3).reshape(*vectors.shape[:-1], self.motion_dim, self.feature_dim)


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
    "blocks": BlockMaps,
    "network": NetworkMaps,
}
