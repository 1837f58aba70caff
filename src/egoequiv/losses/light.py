"""Changes of light: images as they might look under other lamps, so that features do not depend on the lamps."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import torch
from torch import Tensor
from torch.nn import functional

GRID = 4  # knots a side of the field of light


@dataclass(frozen=True)
class LightJitter:
    """Random changes of brightness of normalised images, drawn for each image.

    Args:
        gain: The contrast is multiplied by a factor between these two.
        offset: The brightness is shifted by at most this, in standard deviations of the pixels.
        slope: A linear gradient of at most this much light from the centre to a side, in any direction.
        field: A smooth field multiplies the image; this is the standard deviation of its logarithm.
        noise: The standard deviation of the noise of each pixel.
    """

    gain: tuple[float, float] = (0.5, 1.6)
    offset: float = 0.5
    slope: float = 1.0
    field: float = 0.7
    noise: float = 0.05

    def __call__(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        """Changed images, (B, H, W, C) -> (B, H, W, C); the generator, of the CPU, draws the changes."""
        count, height, width, _ = pixels.shape

        def between(low: float, high: float) -> Tensor:
            return torch.rand(count, 1, 1, generator=generator) * (high - low) + low

        gain = between(log(self.gain[0]), log(self.gain[1])).exp()
        offset, angle, slope = between(-self.offset, self.offset), between(0, 2 * pi), between(0, self.slope)
        knots = torch.randn(count, 1, GRID, GRID, generator=generator) * self.field
        field = (_cubic(height) @ knots @ _cubic(width).T)[:, 0].exp_()
        down, right = torch.linspace(-1, 1, height).view(-1, 1), torch.linspace(-1, 1, width)
        light = offset + slope * (angle.cos() * right + angle.sin() * down)
        noise = torch.randn(pixels.shape, generator=generator) * self.noise
        changed = pixels * (gain * field).unsqueeze(-1).to(pixels.device)
        return changed.add_(light.unsqueeze(-1).to(pixels.device)).add_(noise.to(pixels.device))


def _cubic(side: int) -> Tensor:
    """How much each knot along a side counts for each pixel, (side, GRID), by cubic interpolation.

    A multiplication by it takes a tenth of the time of an interpolation of all images.
    """
    return functional.interpolate(torch.eye(GRID)[None, None], (side, GRID), mode="bicubic", align_corners=True)[0, 0]
