"""Light on the surfaces of a place, and from its sky: sun with shadows, lamps, corners of rooms, haze and clouds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.fragments import (
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
from egoequiv_worlds.render.patterns import between
from egoequiv_worlds.render.scene import Light, Sky
from egoequiv_worlds.render.shadows import sunlit
from egoequiv_worlds.render.solids import LEAVES, MATERIAL, SHARE_U, WATER

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
    found: Fragments, colors: Array, solids: Array, light: Array, shadow_view: Array, shadows: Array, pixels: int
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
        open_sky = sunlit(fragment, shadow_view, shadows, light[AIR, 1]) if light[SUN, 0] > 0.0 else 0.0
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


def sky_values(sky: Sky) -> Array:
    """The settings of a sky as one row of numbers."""
    shape = (sky.cover, sky.softness, sky.offset, sky.ridge_height, sky.ridge_roughness)
    return np.array([*sky.zenith, *sky.horizon, *sky.cloud, *sky.ridge, *shape])


@compiled
def paint_sky(
    found: Fragments, values: Array, to_sun: Array, sun: Array, cloud: NDArray[np.float32], colors: Array
) -> None:
    """Set the colours of the fragments that see the sky."""
    cover, softness, offset, ridge, roughness = values[12], values[13], values[14], values[15], values[16]
    for k in range(len(found)):
        if found[k, SOLID] >= 0.0:
            continue
        x, y, z = found[k, NORMAL_X], found[k, NORMAL_Y], found[k, NORMAL_Z]
        high = min(max(y, 0.0) * 2.2, 1.0) ** 0.6
        towards = max(0.0, x * to_sun[0] + y * to_sun[1] + z * to_sun[2])
        halo = 0.25 * towards**8 + 1.5 * towards**400
        plane = 160.0 / (max(y, 0.0) + 0.12)  # clouds crowd together towards the horizon
        thick = between(cloud, 1, plane * x * 0.35 + offset, plane * z * 0.35 + 3.0 * offset)
        edge = 0.5 + 0.42 * (1.0 - 2.0 * cover)
        veil = min(max((thick - edge) / softness + 0.5, 0.0), 1.0) if cover > 0.0 else 0.0
        body = 0.55 + 0.45 * min(max(1.0 - (thick - edge) / 0.35, 0.0), 1.0)  # thick clouds are darker below
        veil *= min(1.0, 0.35 + 6.0 * max(y, 0.0))
        bearing = np.arctan2(x, z)
        crest = ridge * (
            0.35
            + 1.1 * between(cloud, 1, 90.0 * bearing + offset, 17.0)
            + 0.35 * roughness * (between(cloud, 1, 500.0 * bearing + offset, 90.0) - 0.5)
        )
        far = 1.0 if ridge > 0.0 and y < crest else 0.0
        for axis in range(3):
            clear = values[3 + axis] + high * (values[axis] - values[3 + axis]) + halo * sun[axis]
            shown = clear + veil * (values[6 + axis] * body * (1.0 + 0.4 * halo) - clear)
            low = values[9 + axis] * (0.8 + 0.4 * between(cloud, 1, 400.0 * bearing, 1600.0 * y + offset))
            colors[k, axis] = shown + far * (low - shown)
