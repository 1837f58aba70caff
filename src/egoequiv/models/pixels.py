"""The pixels themselves as features: the baseline that every network has to beat."""

from __future__ import annotations

from torch import Tensor, nn

from egoequiv.models.encoder import Count, Encoder, ImageShape


class PixelEncoder(Encoder):
    """The image averaged to at most `side` x `side` pixels; it has no weights.

    Args:
        image_shape: height, width and channels of the images.
        side: pixels of the averaged image along each side, at most.

    """

    def __init__(self, image_shape: ImageShape, side: Count = 16) -> None:
        super().__init__()
        height, width, channels = image_shape
        cells = min(height, side), min(width, side)
        self.feature_dim = cells[0] * cells[1] * channels
        self.average = nn.AdaptiveAvgPool2d(cells)

    def forward(self, images: Tensor) -> Tensor:
        averaged: Tensor = self.average(images)
        return averaged.flatten(1)
