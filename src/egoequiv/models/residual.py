"""A small residual network, the encoder to begin with where images are not tiny."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, gcd
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from egoequiv.errors import ConfigError
from egoequiv.models.encoder import Count, Encoder, ImageShape, channels_last, check_sides

GROUPS = 8  # of channels that GroupNorm brings to mean 0 and variance 1 together
STAGES = 3  # each with twice the channels of the one before
LARGEST_MAP = 6  # cells along the shorter side of the last map: larger images are halved once more at the start
SHORT_CELLS, LONG_CELLS = 4, 6  # along the shorter and the longer side, that the full layer reads at most
Stages = Annotated[int, Field(ge=0, le=STAGES)]


class ResidualEncoder(Encoder):
    """One or more convolutions that halve the image, three stages of residual blocks, and a full layer.

    At 32 x 32: conv 3x3/2; blocks of 32 channels at 16 x 16, of 64 at 8 x 8, of 128 at 4 x 4; 128 features. Larger
    images are halved by further convolutions at the start, and the last map is averaged to at most 4 x 6 cells, so
    that the number of weights hardly depends on the size of the images.

    Args:
        image_shape: height, width and channels of the images.
        width: channels of the first stage.
        blocks: residual blocks in each stage.
        feature_dim: number of features.
        own_stages: so many of the last stages, and the full layer, are there twice, once for each half of the features.

    """

    def __init__(
        self,
        image_shape: ImageShape,
        width: Count = 32,
        blocks: Count = 1,
        feature_dim: Count = 128,
        own_stages: Stages = 0,
    ) -> None:
        super().__init__()
        check_sides("residual", image_shape)
        if own_stages and feature_dim % 2:
            raise ConfigError(
                f"encoder.own_stages={own_stages} gives each half of the features stages of its own, and "
                f"encoder.feature_dim={feature_dim} has no half: choose an even number"
            )
        self.feature_dim = feature_dim
        height, wide, channels = image_shape
        halvings = 1
        while min(height, wide) / 2 ** (halvings + STAGES - 1) > LARGEST_MAP:
            halvings += 1
        sizes = [channels] + [width] * halvings
        self.stem = nn.Sequential(*(Stem(before, after) for before, after in pairwise(sizes)))
        shared = STAGES - own_stages
        self.stages = _stages(width, blocks, range(shared))
        last = [ceil(side / 2 ** (halvings + STAGES - 1)) for side in (height, wide)]
        read = [min(cells, most) for cells, most in zip(last, _cells_read(height, wide), strict=True)]
        self.pool = nn.Identity() if read == last else nn.AdaptiveAvgPool2d((read[0], read[1]))
        inputs = width * 2 ** (STAGES - 1) * read[0] * read[1]
        if own_stages:
            own = range(shared, STAGES)
            self.part_sizes = (feature_dim // 2, feature_dim // 2)
            self.halves = nn.ModuleList(
                nn.Sequential(_stages(width, blocks, own), self.pool, nn.Flatten(), nn.Linear(inputs, feature_dim // 2))
                for _ in range(2)
            )
        else:
            self.features = nn.Linear(inputs, feature_dim)
        channels_last(self)

    def forward(self, images: Tensor) -> Tensor:
        maps = self.stages(self.stem(images))
        if self.part_sizes:
            return torch.cat([half(maps) for half in self.halves], dim=1)
        features: Tensor = self.features(self.pool(maps).flatten(1))
        return features


class Stem(nn.Module):
    """A convolution that halves the image."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False)
        self.norm = _norm(after)

    def forward(self, maps: Tensor) -> Tensor:
        normed: Tensor = self.norm(self.conv(maps))
        return normed.relu()


class Block(nn.Module):
    """Two convolutions beside a shortcut; where the number of channels changes, the shortcut is a 1 x 1 convolution."""

    def __init__(self, before: int, after: int, halve: bool) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride=2 if halve else 1, padding=1, bias=False)
        self.norm1 = _norm(after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.norm2 = _norm(after)
        self.shortcut = nn.Sequential()
        if halve:  # averaged and not strided: a strided 1 x 1 convolution would read one pixel of four
            self.shortcut.append(nn.AvgPool2d(2, ceil_mode=True))
        if before != after:
            self.shortcut.append(nn.Conv2d(before, after, 1, bias=False))

    def forward(self, maps: Tensor) -> Tensor:
        inner: Tensor = self.norm1(self.conv1(maps)).relu()
        summed: Tensor = self.norm2(self.conv2(inner)) + self.shortcut(maps)
        return summed.relu()


def _stages(width: int, blocks: int, numbers: range) -> nn.Sequential:
    """The blocks of these stages of an encoder with so many channels in its first stage, counted from 0."""
    made = nn.Sequential()
    for stage in numbers:
        before, after = width * 2 ** max(stage - 1, 0), width * 2**stage
        for block in range(blocks):
            made.append(Block(before, after, halve=stage > 0 and block == 0))
            before = after
    return made


def _cells_read(height: int, width: int) -> tuple[int, int]:
    """How many cells of the last map the full layer reads at most, down and across: square for square images."""
    long = min(round(SHORT_CELLS * max(height, width) / min(height, width)), LONG_CELLS)
    return (SHORT_CELLS, long) if height <= width else (long, SHORT_CELLS)


def _norm(channels: int) -> nn.GroupNorm:
    """GroupNorm and not BatchNorm: features of an image do not depend on the others, and there is nothing to save."""
    return nn.GroupNorm(gcd(GROUPS, channels), channels)
