"""What is exported, as modules that a tracer can follow: the encoder, the maps of motions, and both together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import factorial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from egoequiv.models import EgoNet
from egoequiv.models.head import BackboneHead
from egoequiv.models.motion_maps import GeneratorMaps, MotionMaps, NetworkMaps
from egoequiv.user_code import is_built_in

SQUARINGS = 13
ORDER = 12  # of the series: with a norm of at most 1, the rest is below 2 / 13!, 3e-10, before it is squared
LARGEST_ANGLE = float(2**SQUARINGS)  # rad: the norm of the exponent up to which the exponential is right


class EncoderGraph(nn.Module):
    """Features (N, D) of uint8 images (N, H, W, C), normalised inside."""

    def __init__(self, net: EgoNet) -> None:
        super().__init__()
        alone = replace(net.spec, patterns=(), class_names=(), motion_maps="", motion_dim=0, layers={})
        self.net = EgoNet(alone, net.encoder)  # without the weights of maps and head
        self.net.set_normalisation(net.input_mean.tolist(), net.input_std.tolist())

    def forward(self, images: Tensor) -> Tensor:
        pixels = self.net.normalised(images).permute(0, 3, 1, 2)
        if not is_built_in(self.net.encoder):  # as the network itself does it
            pixels = pixels.clone(memory_format=torch.contiguous_format)
        return self.net.in_parts(self.net.encoder(pixels).float())


class PreparedGraph(nn.Module):
    """What a backbone takes, of uint8 images (N, H, W, C)."""

    def __init__(self, net: EgoNet) -> None:
        super().__init__()
        assert isinstance(net.encoder, BackboneHead)
        self._preprocessing = net.encoder.backbone.preprocessing

    def forward(self, images: Tensor) -> Tensor:
        return self._preprocessing.prepare(images.permute(0, 3, 1, 2).float() / 255)


class HeadGraph(nn.Module):
    """Features (N, D) of what a layer of a backbone gives."""

    def __init__(self, net: EgoNet) -> None:
        super().__init__()
        self.net = EncoderGraph(net).net

    def forward(self, values: Tensor) -> Tensor:
        encoder = self.net.encoder
        assert isinstance(encoder, BackboneHead)
        return self.net.in_parts(encoder.from_cells(encoder.backbone.from_values(values)).float())


class PatternGraph(nn.Module):
    """The forward map of a motion by its number, (N,) -> (N, E + 1, E), the bias last: z @ map[:-1] + map[-1]."""

    maps: Tensor

    def __init__(self, maps: NDArray[np.float64]) -> None:
        super().__init__()
        self.register_buffer("maps", torch.from_numpy(np.array(maps, np.float64)))

    def forward(self, motion: Tensor) -> Tensor:
        return self.maps[motion]


class GeneratorGraph(nn.Module):
    """exp(sum_k y_k A_k) of any motion, (N, M) -> (N, E + 1, E), by scaling and squaring in double precision.

    ONNX has no exponential of matrices, and no loop whose length follows the data is needed: the exponent is divided
    by 2^13, its series summed, and the sum squared 13 times. Beyond an angle of 8192 rad, the map is NaN and not wrong.
    """

    generators: Tensor  # (M, E, E)
    norms: Tensor  # (M,)
    scale: Tensor  # (M,)

    def __init__(self, maps: GeneratorMaps) -> None:
        super().__init__()
        generators = maps.generators().detach().double()
        self.register_buffer("generators", generators)
        self.register_buffer("norms", torch.linalg.matrix_norm(generators, 2))
        self.register_buffer("scale", maps.scale.detach().double())

    def forward(self, motion: Tensor) -> Tensor:
        scaled = motion.double() / self.scale
        count, dim = self.generators.shape[:2]
        # The rows of features are multiplied from the left, so the exponent is that of the transposed matrix.
        exponent = (scaled @ self.generators.mT.reshape(count, dim * dim)).reshape(-1, dim, dim)
        matrix = _series(exponent / LARGEST_ANGLE)
        for _ in range(SQUARINGS):
            matrix = matrix @ matrix
        angle = (scaled.abs() * self.norms).sum(dim=1)[:, None, None]
        matrix = torch.where(angle <= LARGEST_ANGLE, matrix, torch.nan)
        return torch.cat([matrix, torch.zeros_like(matrix[:, :1])], dim=1)


def _series(small: Tensor) -> Tensor:
    """The series of the exponential of matrices (N, E, E), in blocks of four powers: five products, not eleven."""
    one = torch.eye(small.shape[-1], dtype=small.dtype)
    square = small @ small
    powers = [one, small, square, square @ small]
    fourth = square @ square
    total = one / factorial(ORDER)
    for start in range(ORDER - 4, -1, -4):
        block = sum((power / factorial(start + k) for k, power in enumerate(powers)), torch.zeros_like(small))
        total = total @ fourth + block
    return total


class NetworkGraph(nn.Module):
    """I + N(y) of any motion, (N, M) -> (N, E + 1, E)."""

    def __init__(self, maps: NetworkMaps) -> None:
        super().__init__()
        self.maps = maps

    def forward(self, motion: Tensor) -> Tensor:
        maps = self.maps
        change = maps.matrix(maps.hidden(motion / maps.scale).relu())
        matrix = (change.reshape(-1, maps.feature_dim, maps.feature_dim).mT + torch.eye(maps.feature_dim)).double()
        return torch.cat([matrix, torch.zeros_like(matrix[:, :1])], dim=1)


class MovedGraph(nn.Module):
    """The mapped features after a motion, (N, E), and all features before it, (N, D); of images and motions."""

    def __init__(self, encoder: nn.Module, maps: nn.Module, mapped: slice) -> None:
        super().__init__()
        self.encoder, self.maps = encoder, maps
        self.start, self.stop = mapped.start, mapped.stop

    def forward(self, images: Tensor, motion: Tensor) -> tuple[Tensor, Tensor]:
        features = self.encoder(images)
        affine = self.maps(motion)
        before = features[:, self.start : self.stop].double()
        after = (before[:, None] @ affine[:, :-1])[:, 0] + affine[:, -1]
        return after.float(), features


def maps_graph(net: EgoNet, affine: Mapping[str, NDArray[np.float64]]) -> nn.Module | None:
    """The maps of a network as a graph; `affine` holds the forward maps of patterns, in the order of their numbers."""
    maps: MotionMaps | None = net.motion_maps
    if isinstance(maps, GeneratorMaps):
        return GeneratorGraph(maps)
    if isinstance(maps, NetworkMaps):
        return NetworkGraph(maps)
    return PatternGraph(np.stack(list(affine.values()))) if affine else None
