"""One picture of a toy: from a lighting and a viewpoint to gray levels, with the errors of a camera."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.sensor import digital
from egoequiv_worlds.render.studio import draw_surface
from egoequiv_worlds.render.studio import lighting as lighting_by_number
from egoequiv_worlds.render.surface import Surface, surface
from egoequiv_worlds.toys import Toy, parts

SHIFT = 0.015  # how far from the middle the toy may be in a recording's pictures, in shares of their width
EXPOSURE = 0.04  # how far a recording's exposure may differ from 1
NOISE_LEVELS = 1.5  # standard deviation of the sensor's noise, in gray levels


@lru_cache(maxsize=64)
def built(toy: Toy) -> Surface:
    """The surface of a toy, built once in each process."""
    return surface(parts(toy))


def picture(toy: Toy, lighting: int, frame: int, pose_deg: Array, size: int) -> NDArray[np.uint8]:
    """The picture (size, size) of frame number `frame`, seen from an (elevation, azimuth) under a lighting."""
    errors = toy.generator(1, lighting)
    shift, exposure = errors.uniform(-SHIFT, SHIFT, 2), 1.0 + errors.uniform(-EXPOSURE, EXPOSURE)
    levels = draw_surface(built(toy), lighting_by_number(lighting), pose_deg, size, shift, exposure)
    noise = toy.generator(2, lighting, frame).standard_normal(levels.shape)
    return digital(levels + NOISE_LEVELS * noise)
