"""The camera that moves around the toy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from egoequiv.worlds.toys.lighting import towards
from egoequiv.worlds.toys.mesh import Array

DISTANCE = 7.0  # in radii of the toy
FILL = 0.88  # the share of the picture's width that the ball around a toy takes up


class Camera(NamedTuple):
    """A pinhole camera; a named tuple, because compiled code accepts those."""

    eye: Array
    basis: Array  # rows right, up and forward
    focal: float  # in pixels
    middle: Array  # column and row of the principal point


def orbit(centre: Array, elevation_deg: float, azimuth_deg: float, size: int, shift: Array) -> Camera:
    """Look at a toy of radius 1 from a position on the sphere around it.

    A higher elevation raises the camera; a higher azimuth moves it to its own right. A camera that does not move sees
    the same when the table turns clockwise. `shift` moves the picture, in shares of its width.
    """
    outwards = towards(azimuth_deg, elevation_deg)
    azimuth = np.radians(azimuth_deg)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    basis = np.stack([right, np.cross(outwards, right), -outwards])
    focal = FILL * size / 2 * np.sqrt(DISTANCE**2 - 1.0)
    return Camera(centre + DISTANCE * outwards, basis, float(focal), size * (0.5 + shift))
