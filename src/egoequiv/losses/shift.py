"""Changes of place: images as they might look from a little beside, so that features of a place do not depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class ShiftJitter:
    """Random shifts and changes of size of images, drawn for each image; what comes in at an edge is mirrored.

    Args:
        across: The image is shifted to a side by at most this share of its width.
        down: The same up or down, as a share of its height.
        zoom: It is made larger or smaller by at most this share.
        mirror: Whether left and right are exchanged in one image of two.
    """

    across: float = 0.15
    down: float = 0.075
    zoom: float = 0.1
    mirror: bool = False

    def __call__(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        """Changed images, (B, H, W, C) -> (B, H, W, C); the generator, of the CPU, draws the changes."""
        count = len(pixels)

        def between(most: float) -> Tensor:
            return (torch.rand(count, generator=generator) * 2 - 1) * most

        size = between(log(1 + self.zoom)).exp()
        transform = torch.zeros(count, 2, 3)
        transform[:, 0, 0], transform[:, 1, 1] = size, size
        # Coordinates of an image go from -1 to 1, so that its width is 2.
        transform[:, 0, 2], transform[:, 1, 2] = between(2 * self.across), between(2 * self.down)
        if self.mirror:
            transform[:, 0, 0] *= torch.where(between(1) < 0, -1.0, 1.0)
        images = pixels.permute(0, 3, 1, 2)
        grid = functional.affine_grid(transform, list(images.shape), align_corners=False).to(pixels)
        moved = functional.grid_sample(images, grid, padding_mode="reflection", align_corners=False)
        return moved.permute(0, 2, 3, 1).contiguous()
