"""One picture of a class of places: composed, drawn, and drawn again if it shows almost nothing."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.place import COMPOSITIONS
from egoequiv_worlds.render.pictures import draw_scene
from egoequiv_worlds.render.sensor import luminance
from egoequiv_worlds.things.dice import Dice

_ATTEMPTS = 5
_LEAST_DEVIATION = 15.0  # gray levels; a camera inside a wall or a bush sees less


def picture(place: str, number: tuple[int, int], width: int, height: int, color: bool) -> NDArray[np.uint8]:
    """Draw picture `number` (seed, index) of a class, (height, width) or (height, width, 3)."""
    for attempt in range(_ATTEMPTS):
        generator = np.random.default_rng((zlib.crc32(place.encode()), *number, attempt))
        scene = COMPOSITIONS[place](Dice(generator))
        drawn = draw_scene(scene, width, height, generator)
        gray = luminance(drawn)
        if gray.std() >= _LEAST_DEVIATION:
            break
    return drawn if color else gray
