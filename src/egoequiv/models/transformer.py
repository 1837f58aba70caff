"""A small vision transformer: patches as tokens, attention between them, and the mean over tokens."""

from __future__ import annotations

from math import log, sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.models.encoder import Count, Encoder, ImageShape, channels_last, check_sides

TOKENS = 8  # a side of a square image, where the size of patches is not given
EXPANSION = 4  # hidden units of a full layer between tokens, as a multiple of the width
LONGEST_WAVE = 10_000.0  # of the sines that say where a token is, in tokens


class VisionTransformer(Encoder):
    """Patches, blocks of attention and two full layers with norms before them, and the mean over tokens.

    Images whose sides are no multiple of the patch are padded with the mean pixel on all sides.

    Args:
        image_shape: height, width and channels of the images.
        width: numbers that describe a token, a multiple of 4 and of heads.
        depth: number of blocks.
        heads: of attention in each block.
        patch_px: side of a patch in pixels; None: about 8 x 8 patches for a square image.
        feature_dim: number of features.

    """

    def __init__(
        self,
        image_shape: ImageShape,
        width: Count = 96,
        depth: Count = 4,
        heads: Count = 4,
        patch_px: Count | None = None,
        feature_dim: Count = 128,
    ) -> None:
        super().__init__()
        check_sides("vit", image_shape)
        if width % heads or width % 4:
            raise ConfigError(
                f"encoder vit: width {width} must be a multiple of 4 and of heads ({heads}): choose encoder.width="
                f"{4 * heads * max(round(width / (4 * heads)), 1)}"
            )
        self.feature_dim = feature_dim
        height, wide, channels = image_shape
        side = patch_px or max(round(sqrt(height * wide) / TOKENS), 1)
        down, across = -(-height // side), -(-wide // side)
        self.padding = _padding(wide, across * side) + _padding(height, down * side)
        self.patches = nn.Conv2d(channels, width, side, stride=side)
        self.register_buffer("positions", sine_positions(down, across, width), persistent=False)
        self.blocks = nn.Sequential(*(AttentionBlock(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.features = nn.Linear(width, feature_dim)
        channels_last(self)

    positions: Tensor  # (T, width)

    def forward(self, images: Tensor) -> Tensor:
        if any(self.padding):
            images = functional.pad(images, self.padding)
        tokens = self.patches(images).flatten(2).mT + self.positions  # (B, T, width)
        features: Tensor = self.features(self.norm(self.blocks(tokens)).mean(dim=1))
        return features


class AttentionBlock(nn.Module):
    """Attention between all tokens and a full layer of each, both added to what came in: (B, T, D) -> (B, T, D)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.hidden = nn.Linear(width, EXPANSION * width)
        self.out = nn.Linear(EXPANSION * width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = tokens + self.attended(self._attention(self.norm1(tokens)))
        added: Tensor = self.out(functional.gelu(self.hidden(self.norm2(tokens))))
        return tokens + added

    def _attention(self, tokens: Tensor) -> Tensor:
        parts = self.query_key_value(tokens).unflatten(2, (3, self.heads, -1))  # (B, T, 3, heads, D / heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        return functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)


def sine_positions(down: int, across: int, width: int) -> Tensor:
    """Sines and cosines of the row and of the column of each token, (down * across, width)."""
    count = width // 4
    waves = torch.exp(torch.arange(count) * (-log(LONGEST_WAVE) / max(count - 1, 1)))
    rows = (torch.arange(down)[:, None] * waves).repeat_interleave(across, dim=0)
    columns = (torch.arange(across)[:, None] * waves).repeat(down, 1)
    return torch.cat([rows.sin(), rows.cos(), columns.sin(), columns.cos()], dim=1)


def _padding(side: int, wanted: int) -> tuple[int, int]:
    """Pixels to add before and after a side."""
    missing = wanted - side
    return missing // 2, missing - missing // 2
