"""Shadows: cast on the ground of a street, or looked up in the map that a lamp or the sun sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array, Singles, Vector
from egoequiv_worlds.render.fragments import AT_X, AT_Y, AT_Z, Fragments
from egoequiv_worlds.render.ground import LIGHT_CELLS, TILE_M

SOFTNESS_PX = 2  # half the width of the box that softens the shadow on the ground, in pixels of the light's map


@compiled
def cast_face_shadows(
    corners: Array, sun: Vector, origin: Array, tile_of: NDArray[np.int32], sunshine: NDArray[np.float32]
) -> None:
    """Take the sun from the ground behind each face (F, 4, 3)."""
    cell = TILE_M / LIGHT_CELLS
    xs, ys = np.empty(4), np.empty(4)
    for f in range(len(corners)):
        for k in range(4):
            drop = corners[f, k, 2] / sun[2]
            xs[k] = (corners[f, k, 0] - drop * sun[0] - origin[0]) / cell
            ys[k] = (corners[f, k, 1] - drop * sun[1] - origin[1]) / cell
        area = 0.0
        for k in range(4):
            n = (k + 1) % 4
            area += xs[k] * ys[n] - xs[n] * ys[k]
        turn = 1.0 if area > 0 else -1.0
        for j in range(max(0, int(ys.min())), min(tile_of.shape[0] * LIGHT_CELLS - 1, int(ys.max())) + 1):
            for i in range(max(0, int(xs.min())), min(tile_of.shape[1] * LIGHT_CELLS - 1, int(xs.max())) + 1):
                tile = tile_of[j // LIGHT_CELLS, i // LIGHT_CELLS]
                inside = tile >= 0
                for k in range(4):
                    n = (k + 1) % 4
                    side = (xs[n] - xs[k]) * (j + 0.5 - ys[k]) - (ys[n] - ys[k]) * (i + 0.5 - xs[k])
                    inside = inside and turn * side >= 0.0
                if inside:
                    sunshine[tile, j % LIGHT_CELLS, i % LIGHT_CELLS] = 0.0


@compiled
def cast_blob_shadows(
    centres: Array,
    radii: Array,
    sun: Vector,
    dapple: Array,
    origin: Array,
    tile_of: NDArray[np.int32],
    sunshine: NDArray[np.float32],
) -> None:
    """Take most of the sun from the ground behind each blob of leaves, patchily."""
    cell = TILE_M / LIGHT_CELLS
    flat = np.sqrt(sun[0] * sun[0] + sun[1] * sun[1]) + 1e-9
    for b in range(len(centres)):
        level, upright, drop = radii[b, 0], radii[b, 1], centres[b, 2] / sun[2]
        x, y = centres[b, 0] - drop * sun[0], centres[b, 1] - drop * sun[1]
        long = np.sqrt(level * level + (upright * flat / sun[2]) ** 2)
        left, low = int((x - long - origin[0]) / cell), int((y - long - origin[1]) / cell)
        count = int(2 * long / cell) + 1
        for j in range(max(0, low), min(tile_of.shape[0] * LIGHT_CELLS, low + count)):
            for i in range(max(0, left), min(tile_of.shape[1] * LIGHT_CELLS, left + count)):
                tile = tile_of[j // LIGHT_CELLS, i // LIGHT_CELLS]
                dx, dy = origin[0] + (i + 0.5) * cell - x, origin[1] + (j + 0.5) * cell - y
                along, across = (dx * sun[0] + dy * sun[1]) / flat, (dy * sun[0] - dx * sun[1]) / flat
                if tile >= 0 and (along / long) ** 2 + (across / level) ** 2 < 1.0:
                    light = np.float32(dapple[j % 64, i % 64])
                    here = sunshine[tile, j % LIGHT_CELLS, i % LIGHT_CELLS]
                    sunshine[tile, j % LIGHT_CELLS, i % LIGHT_CELLS] = min(here, light)


@compiled
def soft_mask(nearness: Singles) -> Singles:
    """The share of the light's rays that meet the toy, around each pixel of the light's map."""
    size, reach = len(nearness), SOFTNESS_PX
    rows = np.zeros((size, size), np.float32)
    mask = np.zeros((size, size), np.float32)
    share = np.float32(1.0 / (2 * reach + 1))
    for y in range(size):
        for x in range(reach, size - reach):
            for k in range(-reach, reach + 1):
                if nearness[y, x + k] > -1e8:
                    rows[y, x] += share
    for y in range(reach, size - reach):
        for k in range(-reach, reach + 1):
            for x in range(size):
                mask[y, x] += share * rows[y + k, x]
    return mask


@compiled
def open_share(nearness: Singles, x: float, y: float, near: float) -> float:
    """The share of the nine pixels around a place in the light's map that leave it lit."""
    column, line = int(np.floor(x)), int(np.floor(y))
    if column < 1 or line < 1 or column > nearness.shape[1] - 2 or line > nearness.shape[0] - 2:
        return 1.0
    lit = 0
    for j in range(-1, 2):
        for i in range(-1, 2):
            lit += nearness[line + j, column + i] <= near
    return lit / 9.0


@compiled
def sunlit(fragment: Fragments, view: Array, shadows: Array, wide: float) -> float:
    """The share of the sun that no solid hides; the edge of a shadow is `wide` cells of the map wide."""
    cells = len(shadows)
    x, y, z = fragment[AT_X] - view[0, 0], fragment[AT_Y] - view[0, 1], fragment[AT_Z] - view[0, 2]
    u = view[6, 0] * x + view[6, 1] * y + view[6, 2] * z
    v = view[7, 0] * x + view[7, 1] * y + view[7, 2] * z
    t = view[8, 0] * x + view[8, 1] * y + view[8, 2] * z
    cell = np.sqrt(view[1, 0] ** 2 + view[1, 1] ** 2 + view[1, 2] ** 2)
    if u < wide + 1.0 or v < wide + 1.0 or u > cells - wide - 2.0 or v > cells - wide - 2.0:
        return 1.0
    bias = cell * (1.2 + wide)
    corners = 0
    for i in (-wide, wide):
        for k in (-wide, wide):
            corners += 1 if shadows[int(v + i), int(u + k)] >= t - bias else 0
    if corners == 0 or corners == 4:  # nowhere near the edge of a shadow
        return corners / 4.0
    between = 0
    for i, k in ((0.0, 0.0), (-wide, 0.0), (wide, 0.0), (0.0, -wide), (0.0, wide)):
        between += 1 if shadows[int(v + i), int(u + k)] >= t - bias else 0
    return (corners + between) / 9.0
