"""Sky and light: what a surface receives from sun, sky and lamps, what haze takes away, and the sky itself."""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import inlined
from egoequiv_worlds.render.arrays import Array, Singles, Vector
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.fragments import Fragment
from egoequiv_worlds.render.noise import Texture
from egoequiv_worlds.render.patterns import sample
from egoequiv_worlds.render.raster import pixel_of, seen_from
from egoequiv_worlds.render.scene import Light, Sky
from egoequiv_worlds.render.vectors import dot, mixed, scaled


@inlined
def sunlit(view: View, nearness: Singles, at: Vector, normal: Vector, wide: float) -> float:
    """The share of the sun that nothing hides; the edge of a shadow is `wide` cells of the sun's map wide."""
    cell = 1.0 / view.focal_px
    lifted = (at[0] + cell * normal[0], at[1] + cell * normal[1], at[2] + cell * normal[2])
    u, v, near = pixel_of(view, seen_from(view, lifted))
    if u < wide + 1.0 or v < wide + 1.0 or u > view.width - wide - 2.0 or v > view.height - wide - 2.0:
        return 1.0
    near += cell * (0.3 + wide)
    corners = 0
    for i in (-wide, wide):
        for j in (-wide, wide):
            corners += 1 if nearness[int(v + i), int(u + j)] <= near else 0
    if corners == 0 or corners == 4:  # nowhere near the edge of a shadow
        return corners / 4.0
    between = 0
    for i, j in ((0.0, 0.0), (-wide, 0.0), (wide, 0.0), (0.0, -wide), (0.0, wide)):
        between += 1 if nearness[int(v + i), int(u + j)] <= near else 0
    return (corners + between) / 9.0


@inlined
def beside(distance_m: float, dark: float) -> float:
    """The share of the light that reaches a place so far from a wall; the wall itself has it all."""
    return 1.0 - dark / (1.0 + 9.0 * distance_m * distance_m) if distance_m > 0.02 else 1.0


@inlined
def corner_share(light: Light, at: Vector) -> float:
    """How much of the light from everywhere reaches a place near the walls of a room, or near the ground outdoors."""
    share, low, high = beside(at[2] - light.low[2], light.corners), light.low, light.high
    if high[2] < 1e5:  # a room
        share *= beside(high[2] - at[2], light.corners) * beside(high[1] - at[1], light.corners)
        share *= beside(at[0] - low[0], light.corners) * beside(high[0] - at[0], light.corners)
    return share


@inlined
def received(here: Fragment, light: Light, lamps: Array, sunshine: float, leafy: bool) -> Vector:
    """The light that falls on a surface; some passes through leaves."""
    facing = dot(here.normal, light.sun)
    direct = sunshine * max(0.0, 0.3 + 0.7 * facing if leafy else facing)
    around = scaled(mixed(light.below, light.above, 0.5 + 0.5 * here.normal[2]), corner_share(light, here.at))
    red, green, blue = light.sunlight
    total = (around[0] + direct * red, around[1] + direct * green, around[2] + direct * blue)
    for k in range(len(lamps)):
        to = (lamps[k, 0] - here.at[0], lamps[k, 1] - here.at[1], lamps[k, 2] - here.at[2])
        square = dot(to, to)
        strength = (0.25 + 0.75 * max(0.0, dot(to, here.normal)) / np.sqrt(square + 1e-9)) / (square + 0.3)
        total = (
            total[0] + strength * lamps[k, 3],
            total[1] + strength * lamps[k, 4],
            total[2] + strength * lamps[k, 5],
        )
    return total


@inlined
def sky_light(sky: Sky, light: Light, cloud: Texture, ray: Vector) -> Vector:
    """The light from a direction of length 1: a gradient, the halo of the sun, clouds, and a far ridge."""
    x, y, z = ray[0], ray[1], ray[2]
    clear = mixed(sky.horizon, sky.zenith, np.sqrt(min(max(z, 0.0) * 2.2, 1.0)))
    towards = max(0.0, dot(ray, light.sun))
    glow = towards * towards
    glow *= glow
    glow *= glow
    halo = 0.25 * glow + (1.5 * glow**50 if glow > 0.8 else 0.0)
    clear = (
        clear[0] + halo * light.sunlight[0], clear[1] + halo * light.sunlight[1], clear[2] + halo * light.sunlight[2],
    )  # fmt: skip
    if sky.cover > 0.0:
        plane = 56.0 / (max(z, 0.0) + 0.12)  # clouds crowd together towards the horizon
        thick = sample(cloud, plane * x + sky.offset, plane * y + 3.0 * sky.offset, 1.5)
        over = thick - 0.92 + 0.84 * sky.cover
        veil = min(max(over / sky.softness + 0.5, 0.0), 1.0) * min(1.0, 0.35 + 6.0 * max(z, 0.0))
        body = 0.55 + 0.45 * min(max(1.0 - over / 0.35, 0.0), 1.0)  # thick clouds are darker below
        clear = mixed(clear, scaled(sky.cloud, body * (1.0 + 0.4 * halo)), veil)
    if sky.ridge_height > 0.0 and z < 2.0 * sky.ridge_height:
        turn = np.arctan2(y, x)
        crest = 0.35 + 1.1 * sample(cloud, 90.0 * turn + sky.offset, 17.0, 1.5)
        crest += 0.35 * sky.ridge_roughness * (sample(cloud, 500.0 * turn + sky.offset, 90.0, 1.5) - 0.5)
        if z < sky.ridge_height * crest:
            return scaled(sky.ridge, 0.8 + 0.4 * sample(cloud, 400.0 * turn, 1600.0 * z + sky.offset, 1.5))
    return clear


@inlined
def hazed(colour: Vector, light: Light, distance_m: float) -> Vector:
    """A colour seen through haze."""
    return mixed(light.haze, colour, np.exp(-distance_m / light.haze_m))
