"""Land: heights from noise, and where on them things stand."""

from __future__ import annotations

from functools import cache

import numpy as np

from egoequiv.worlds.place.dice import Dice
from egoequiv.worlds.place.noise import noise
from egoequiv.worlds.place.solids import Array

CELLS = 224


def hills(dice: Dice, stride: int = 1, rough: bool = False) -> Array:
    """A random square of noise, (CELLS, CELLS) from 0 to 1; a larger stride makes it vary faster."""
    texture = noise().cloud[1] if rough else noise().land
    side = len(texture)
    rows, columns = ((dice.count(0, side - 1) + stride * np.arange(CELLS)) % side for _ in range(2))
    land: Array = texture.take(rows, 0).take(columns, 1).astype(np.float64)
    return land if dice.chance(0.5) else land.T


def ridges(dice: Dice, stride: int) -> Array:
    """A random square with sharp crests, (CELLS, CELLS) from 0 to 1."""
    crest = 1.0 - 2.0 * np.abs(hills(dice, stride) - 0.5)
    return crest * crest


def around(cell_m: float) -> tuple[Array, Array]:
    """The x and z of the cells of a land relative to its middle."""
    x, z = _numbers()
    return cell_m * x, cell_m * z


@cache
def _numbers() -> tuple[Array, Array]:
    own = np.arange(CELLS) - CELLS / 2
    x, z = np.meshgrid(own, own)
    return x, z


def height_at(heights_m: Array, cell_m: float, x: float, z: float) -> float:
    """The height of the land at a place relative to its middle."""
    last = len(heights_m) - 2
    gx, gz = (min(max(value / cell_m + len(heights_m) / 2, 0.0), float(last)) for value in (x, z))
    i, k = int(gx), int(gz)
    near = heights_m[k, i] * (1 - gx + i) + heights_m[k, i + 1] * (gx - i)
    far = heights_m[k + 1, i] * (1 - gx + i) + heights_m[k + 1, i + 1] * (gx - i)
    return float(near * (1 - gz + k) + far * (gz - k))
