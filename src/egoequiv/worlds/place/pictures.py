"""One picture of a class of places: composed, drawn, and drawn again if it shows almost nothing."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.place.classes import COMPOSITIONS
from egoequiv.worlds.place.dice import Dice
from egoequiv.worlds.place.renderer import render

_ATTEMPTS = 5
_LEAST_DEVIATION = 15.0  # gray levels; a camera inside a wall or a bush sees less
_RED, _GREEN, _BLUE = (np.uint32(share) for share in (19595, 38470, 7471))  # in 65536ths, ITU-R 601 as in Pillow


def picture(place: str, number: tuple[int, int], width: int, height: int, color: bool) -> NDArray[np.uint8]:
    """Draw picture `number` (seed, index) of a class, (height, width) or (height, width, 3)."""
    for attempt in range(_ATTEMPTS):
        generator = np.random.default_rng((zlib.crc32(place.encode()), *number, attempt))
        scene = COMPOSITIONS[place](Dice(generator))
        drawn = render(scene, width, height, generator)
        gray = luminance(drawn)
        if gray.std() >= _LEAST_DEVIATION:
            break
    return drawn if color else gray


def luminance(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The gray of a coloured picture, (H, W) from (H, W, 3), equal to Pillow's."""
    total = picture[:, :, 0] * _RED + picture[:, :, 1] * _GREEN + picture[:, :, 2] * _BLUE
    gray: NDArray[np.uint8] = ((total + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint8)
    return gray
