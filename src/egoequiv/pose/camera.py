"""The lens of a camera: where a point of space falls in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError


@dataclass(frozen=True)
class Lens:
    """A pinhole camera in fractions of the picture, so that a smaller picture has the same lens.

    Distortion is that of OpenCV: k1, k2, p1, p2 (radial and tangential), then k3 if there is a fifth.
    """

    focal_x: float  # focal length in widths of the picture
    focal_y: float  # focal length in heights of the picture
    center_x: float = 0.5  # where the axis of the lens meets the picture: 0 is the left edge, 1 the right one
    center_y: float = 0.5
    distortion: tuple[float, ...] = ()
    origin: str = ""  # the file or setting it comes from, in words

    def __post_init__(self) -> None:
        numbers = (self.focal_x, self.focal_y, self.center_x, self.center_y, *self.distortion)
        if not np.isfinite(numbers).all() or min(self.focal_x, self.focal_y) <= 0:
            raise ConfigError(f"{self.origin or 'a lens'}: focal lengths must be above 0 and all numbers finite")

    @classmethod
    def of_pixels(
        cls,
        focal: tuple[float, float],
        center: tuple[float, float] | None,
        size: tuple[int, int],
        distortion: tuple[float, ...] = (),
        origin: str = "",
    ) -> Lens:
        """A lens from focal lengths (x, y) and centre (x, y) in pixels of a picture of `size` (height, width)."""
        height, width = size
        x, y = ((width - 1) / 2, (height - 1) / 2) if center is None else center
        return cls(
            focal[0] / width, focal[1] / height, (x + 0.5) / width, (y + 0.5) / height, tuple(distortion), origin
        )

    @classmethod
    def of_view(cls, degrees: float, size: tuple[int, int], origin: str = "field of view") -> Lens:
        """A lens with square pixels from the horizontal field of view, for pictures of `size` (height, width)."""
        if not 1 <= degrees < 179:
            raise ConfigError(f"field of view {degrees:g}: expected degrees from 1 to 179")
        focal = 0.5 / np.tan(np.deg2rad(degrees) / 2)
        return cls(float(focal), float(focal) * size[1] / size[0], origin=origin)

    def matrix(self, size: tuple[int, int]) -> NDArray[np.float64]:
        """The 3 x 3 matrix in pixels of a picture of `size` (height, width); the centre of the first pixel is 0."""
        height, width = size
        return np.array(
            [
                [self.focal_x * width, 0.0, self.center_x * width - 0.5],
                [0.0, self.focal_y * height, self.center_y * height - 0.5],
                [0.0, 0.0, 1.0],
            ]
        )

    @property
    def view_deg(self) -> float:
        """The horizontal field of view."""
        return float(np.rad2deg(2 * np.arctan(0.5 / self.focal_x)))
