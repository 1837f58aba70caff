"""From colours of surfaces to light in the picture: sun with shadows, sky, lamps, corners of rooms and haze."""

from __future__ import annotations

import numpy as np

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.place.caster import Depths
from egoequiv.worlds.place.fragments import (
    AT_X,
    AT_Y,
    AT_Z,
    DISTANCE,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    PIXEL,
    SOLID,
    WEIGHT,
    Fragments,
)
from egoequiv.worlds.place.paints import WATER
from egoequiv.worlds.place.scene import Light, Sky
from egoequiv.worlds.place.solids import LEAVES, MATERIAL, SHARE_U, Array

# The rows of the light's numbers.
SUN_DIRECTION, SUN, ABOVE, BELOW, HAZE, AIR, ROOM_LOW, ROOM_HIGH, EYE, ZENITH, HORIZON = range(11)
FIRST_LAMP = 11  # from here on two rows a lamp: where it is, then its colour times the square of its reach


def light_values(light: Light, sky: Sky, to_sun: Array, eye: Array) -> Array:
    """The settings of a light as rows of three numbers."""
    room = light.room or (-1e6, -1e6, -1e6, 1e6, 1e6, 1e6)
    air = (light.haze_m, light.softness, float(light.room is not None))
    rows = [
        to_sun,
        light.sun,
        light.above,
        light.below,
        light.haze,
        air,
        room[:3],
        room[3:],
        eye,
        sky.zenith,
        sky.horizon,
    ]
    for lamp in light.lamps:
        rows += [(lamp.x, lamp.y, lamp.z), tuple(value * lamp.reach_m**2 for value in lamp.color)]
    return np.array(rows, np.float64)


@compiled
def illuminate(
    found: Fragments, colors: Array, solids: Array, light: Array, shadow_view: Array, shadows: Depths, pixels: int
) -> Array:
    """The light that reaches each pixel, (pixels, 3)."""
    picture = np.zeros((pixels, 3))
    for k in range(len(found)):
        fragment, color = found[k], colors[k]
        pixel, weight = int(fragment[PIXEL]), fragment[WEIGHT]
        if fragment[SOLID] < 0.0:
            for axis in range(3):
                picture[pixel, axis] += weight * color[axis]
            continue
        solid = solids[int(fragment[SOLID])]
        wet = solid[SHARE_U] if solid[MATERIAL] == WATER else -1.0
        open_sky = sunlit(fragment, light, shadow_view, shadows) if light[SUN, 0] > 0.0 else 0.0
        shine(fragment, color, light, open_sky, solid[LEAVES], wet)
        clear = np.exp(-fragment[DISTANCE] / light[AIR, 0])
        for axis in range(3):
            picture[pixel, axis] += weight * (light[HAZE, axis] + clear * (color[axis] - light[HAZE, axis]))
    return picture


@compiled
def shine(fragment: Fragments, color: Array, light: Array, open_sky: float, leafy: float, wet: float) -> None:
    """Replace the colour of a surface by the light it sends out."""
    nx, ny, nz = fragment[NORMAL_X], fragment[NORMAL_Y], fragment[NORMAL_Z]
    facing = nx * light[SUN_DIRECTION, 0] + ny * light[SUN_DIRECTION, 1] + nz * light[SUN_DIRECTION, 2]
    if leafy > 0.0:
        facing = 0.35 + 0.65 * facing  # light passes through leaves
    direct = max(0.0, facing) * open_sky
    upward = 0.5 + 0.5 * ny
    corner = 1.0
    for axis in range(3 if light[AIR, 2] > 0.0 else 0):
        below = fragment[AT_X + axis] - light[ROOM_LOW, axis]
        above = light[ROOM_HIGH, axis] - fragment[AT_X + axis]
        if below > 0.02:
            corner *= 1.0 - 0.35 / (1.0 + 9.0 * below * below)
        if above > 0.02:
            corner *= 1.0 - 0.35 / (1.0 + 9.0 * above * above)
    mirror = mirrored(fragment, light, wet) if wet >= 0.0 else 0.0
    for axis in range(3):
        around = light[BELOW, axis] + upward * (light[ABOVE, axis] - light[BELOW, axis])
        total = corner * around + direct * light[SUN, axis] + lamps(fragment, light, axis)
        out = color[axis] * (total + color[3])
        if wet >= 0.0:
            sky = light[HORIZON, axis] + 0.5 * (light[ZENITH, axis] - light[HORIZON, axis])
            out += mirror * (sky * (0.5 + color[3] + 0.5) - out)
        color[axis] = out


@compiled
def mirrored(fragment: Fragments, light: Array, wet: float) -> float:
    """The share of the sky that water mirrors: more at a lower viewing angle."""
    down = (light[EYE, 1] - fragment[AT_Y]) / max(fragment[DISTANCE], 1e-6)
    return float((0.85 - 0.5 * wet) * (1.0 - min(max(down, 0.0), 1.0)) ** 4)


@compiled
def lamps(fragment: Fragments, light: Array, axis: int) -> float:
    """The light of all lamps in one colour."""
    total = 0.0
    for k in range(FIRST_LAMP, len(light), 2):
        dx, dy, dz = light[k, 0] - fragment[AT_X], light[k, 1] - fragment[AT_Y], light[k, 2] - fragment[AT_Z]
        square = dx * dx + dy * dy + dz * dz
        facing = (dx * fragment[NORMAL_X] + dy * fragment[NORMAL_Y] + dz * fragment[NORMAL_Z]) / np.sqrt(square + 1e-9)
        total += light[k + 1, axis] * (0.25 + 0.75 * max(0.0, facing)) / (square + 0.3)
    return float(total)


@compiled
def sunlit(fragment: Fragments, light: Array, view: Array, shadows: Depths) -> float:
    """The share of the sun that no solid hides."""
    cells = len(shadows)
    x, y, z = fragment[AT_X] - view[0, 0], fragment[AT_Y] - view[0, 1], fragment[AT_Z] - view[0, 2]
    u = view[6, 0] * x + view[6, 1] * y + view[6, 2] * z
    v = view[7, 0] * x + view[7, 1] * y + view[7, 2] * z
    t = view[8, 0] * x + view[8, 1] * y + view[8, 2] * z
    wide = light[AIR, 1]
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
