"""Simple solids for street furniture, cars and houses, in local metres: x along, y across, z up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.faces import NO_PARAMS, PLAIN, Faces, faces

Rgb = tuple[float, float, float]
Rectangle = tuple[float, float, float, float]  # from and to along x, from and to along y

RIGHT, FRONT, LEFT, REAR, TOP = range(5)


def frustum_corners(low: Rectangle, low_z: float, high: Rectangle, high_z: float) -> Array:
    """The corners (5, 4, 3) of the sides and the top between two level rectangles."""
    below = [(low[0], low[2]), (low[1], low[2]), (low[1], low[3]), (low[0], low[3])]
    above = [(high[0], high[2]), (high[1], high[2]), (high[1], high[3]), (high[0], high[3])]
    sides = []
    for k in range(4):
        n = (k + 1) % 4
        sides.append([(*below[k], low_z), (*below[n], low_z), (*above[n], high_z), (*above[k], high_z)])
    return np.array([*sides, [(*corner, high_z) for corner in above]])


def frustum(
    low: Rectangle,
    low_z: float,
    high: Rectangle,
    high_z: float,
    colour: Rgb,
    material: int = PLAIN,
    params: Sequence[float] = NO_PARAMS,
) -> Faces:
    """The sides and the top between two level rectangles."""
    return faces(frustum_corners(low, low_z, high, high_z), colour, material, params)


def block(
    rectangle: Rectangle,
    low_z: float,
    high_z: float,
    colour: Rgb,
    material: int = PLAIN,
    params: Sequence[float] = NO_PARAMS,
) -> Faces:
    """A box without a bottom."""
    return frustum(rectangle, low_z, rectangle, high_z, colour, material, params)


def inset(corners: Array, left: float, right: float, low: float, high: float, out_m: float = 0.012) -> Array:
    """A part (4, 3) of a four-sided face, in shares of its width and height, lifted off it a little."""
    a, b, c, d = corners
    normal = np.cross(b - a, d - a) if np.any(d != a) else np.cross(b - a, c - a)
    lift = out_m * normal / np.linalg.norm(normal)

    def at(u: float, v: float) -> Array:
        return np.asarray((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c) + lift)

    return np.array([at(left, low), at(right, low), at(right, high), at(left, high)])


def pole(x: float, y: float, height_m: float, half_m: float, colour: Rgb, low_z: float = 0.0) -> Faces:
    """A thin upright of four sides."""
    return block((x - half_m, x + half_m, y - half_m, y + half_m), low_z, height_m, colour)


def plate(x: float, y: float, z: float, width_m: float, height_m: float, colour: Rgb, back: Rgb) -> Faces:
    """A thin upright plate that looks along x, with a back; x, y and z are its middle."""
    low, high = z - height_m / 2, z + height_m / 2
    near, far = y - width_m / 2, y + width_m / 2
    front = [(x, near, low), (x, far, low), (x, far, high), (x, near, high)]
    rear = [(x, far, low), (x, near, low), (x, near, high), (x, far, high)]
    return faces([front, rear], [colour, back])
