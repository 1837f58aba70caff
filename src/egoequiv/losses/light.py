"""Changes of light: images as they might look under other lamps, so that features do not depend on the lamps."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import torch
from torch import Tensor
from torch.nn import functional

WAVES = (1.0, 2.0, 3.5)  # of the curve of brightness, in radians for each standard deviation of the pixels


@dataclass(frozen=True)
class LightJitter:
    """Random changes of brightness of normalised images, drawn for each image.

    Args:
        gain: The contrast is multiplied by a factor between these two.
        offset: The brightness is shifted by at most this, in standard deviations of the pixels.
        slope: A linear gradient of at most this much light from the centre to a side, in any direction.
        field: A smooth field multiplies the image; this is the standard deviation of its logarithm.
        noise: The standard deviation of the noise of each pixel.
        knots: How many of a side the smooth fields have.
        shade: A smooth field is added to the image; this is its standard deviation.
        curve: Brightness is changed by a random curve, one for each image: sines are added, and this is the standard
            deviation of their heights.
    """

    gain: tuple[float, float] = (0.5, 1.6)
    offset: float = 0.5
    slope: float = 1.0
    field: float = 0.7
    noise: float = 0.05
    knots: int = 4
    shade: float = 0.0
    curve: float = 0.0

    def __call__(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        """Changed images, (B, H, W, C) -> (B, H, W, C); the generator, of the CPU, draws the changes."""
        count, height, width, _ = pixels.shape

        def between(low: float, high: float) -> Tensor:
            return torch.rand(count, 1, 1, generator=generator) * (high - low) + low

        gain = between(log(self.gain[0]), log(self.gain[1])).exp()
        offset, angle, slope = between(-self.offset, self.offset), between(0, 2 * pi), between(0, self.slope)
        field = self._smooth(pixels, self.field, generator).exp_()
        down, right = torch.linspace(-1, 1, height).view(-1, 1), torch.linspace(-1, 1, width)
        light = offset + slope * (angle.cos() * right + angle.sin() * down)
        if self.shade:
            light = light + self._smooth(pixels, self.shade, generator)
        if self.curve:
            pixels = self._curved(pixels, generator)
        noise = torch.randn(pixels.shape, generator=generator) * self.noise
        changed = pixels * (gain * field).unsqueeze(-1).to(pixels.device)
        return changed.add_(light.unsqueeze(-1).to(pixels.device)).add_(noise.to(pixels.device))

    def _smooth(self, pixels: Tensor, size: float, generator: torch.Generator) -> Tensor:
        """A smooth random field for each image, (B, H, W); `size` is its standard deviation at the knots."""
        count, height, width, _ = pixels.shape
        drawn = torch.randn(count, 1, self.knots, self.knots, generator=generator) * size
        return (_cubic(height, self.knots) @ drawn @ _cubic(width, self.knots).T)[:, 0]

    def _curved(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        """Images with other brightness: x + the sum of h sin(w x + p), with h and p drawn for each image."""
        changed = pixels
        for wave in WAVES:
            height = torch.randn(len(pixels), 1, 1, 1, generator=generator) * self.curve
            phase = torch.rand(len(pixels), 1, 1, 1, generator=generator) * 2 * pi
            changed = changed + height.to(pixels.device) * torch.sin(wave * pixels + phase.to(pixels.device))
        return changed


STRONG = LightJitter(knots=6, shade=1.0, curve=0.5)


def _cubic(side: int, knots: int) -> Tensor:
    """How much each knot along a side counts for each pixel, (side, knots), by cubic interpolation.

    A multiplication by it takes a tenth of the time of an interpolation of all images.
    """
    return functional.interpolate(torch.eye(knots)[None, None], (side, knots), mode="bicubic", align_corners=True)[0, 0]
