"""Sky and light: what a surface receives and sends on, what haze takes away, and the light in each pixel."""

import numpy as np

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render import Array, Numbers, Singles, Vector
from egoequiv_worlds.render import solids as s
from egoequiv_worlds.render.fragments import Fragment, land_fragment, solid_fragment
from egoequiv_worlds.render.noise import Textures
from egoequiv_worlds.render.painting import WHITE, painted
from egoequiv_worlds.render.patterns import blend, difference, dot, mixed, plus, product, sample, scaled, triple
from egoequiv_worlds.render.raster import pixel_of, seen_from
from egoequiv_worlds.render.scene import Light, Sky, View

FINENESS = 2  # finer pixels to a pixel, each way


@inlined
def sunlit(view: View, nearness: Singles, at: Vector, normal: Vector, wide: float) -> float:
    """The share of the sun that nothing hides; the edge of a shadow is `wide` cells of the sun's map wide."""
    cell = 1.0 / view.focal_px
    u, v, near = pixel_of(view, seen_from(view, plus(at, normal, cell)))
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
    total = plus(around, light.sunlight, direct)
    for k in range(len(lamps)):
        to = difference(triple(lamps, k), here.at)
        square = dot(to, to)
        strength = (0.25 + 0.75 * max(0.0, dot(to, here.normal)) / np.sqrt(square + 1e-9)) / (square + 0.3)
        total = plus(total, triple(lamps, k, 3), strength)
    return total


@inlined
def sky_light(sky: Sky, light: Light, noise: Textures, ray: Vector) -> Vector:
    """The light from a direction of length 1: a gradient, the halo of the sun, clouds, and a far ridge."""
    x, y, z = ray[0], ray[1], ray[2]
    clear = mixed(sky.horizon, sky.zenith, np.sqrt(min(max(z, 0.0) * 2.2, 1.0)))
    glow = max(0.0, dot(ray, light.sun))
    for _ in range(3):
        glow *= glow
    halo = 0.25 * glow + (1.5 * glow**50 if glow > 0.8 else 0.0)
    clear = plus(clear, light.sunlight, halo)
    if sky.cover > 0.0:
        plane = 56.0 / (max(z, 0.0) + 0.12)  # clouds crowd together towards the horizon
        thick = sample(noise.cloud, plane * x + sky.offset, plane * y + 3.0 * sky.offset, 1.5)
        over = thick - 0.92 + 0.84 * sky.cover
        veil = min(max(over / sky.softness + 0.5, 0.0), 1.0) * min(1.0, 0.35 + 6.0 * max(z, 0.0))
        body = 0.55 + 0.45 * min(max(1.0 - over / 0.35, 0.0), 1.0)  # thick clouds are darker below
        clear = mixed(clear, scaled(sky.cloud, body * (1.0 + 0.4 * halo)), veil)
    if sky.ridge_height > 0.0 and z < 2.0 * sky.ridge_height:
        turn = np.arctan2(y, x)
        crest = 0.35 + 1.1 * sample(noise.cloud, 90.0 * turn + sky.offset, 17.0, 1.5)
        crest += 0.35 * sky.ridge_roughness * (sample(noise.cloud, 500.0 * turn + sky.offset, 90.0, 1.5) - 0.5)
        if z < sky.ridge_height * crest:
            return scaled(sky.ridge, 0.8 + 0.4 * sample(noise.cloud, 400.0 * turn, 1600.0 * z + sky.offset, 1.5))
    return clear


@inlined
def mirrored(here: Fragment, material: float, strength: float) -> float:
    """The share of the sky that water, glass or car paint mirrors: more at a lower viewing angle."""
    graze = 1.0 - min(abs(dot(here.ray, here.normal)), 1.0)
    if material == s.WATER:
        return float((0.85 - 0.5 * strength) * graze**4)
    return float(min(0.7, (0.08 + 0.5 * graze**3) * (0.35 + 0.65 * max(0.0, here.normal[2]))))


@inlined
def leaving(
    here: Fragment, rows: Array, k: int, noise: Textures, sky: Sky, light: Light, lamps: Array,
    sun_view: View, sun_map: Singles,
) -> Vector:  # fmt: skip
    """The light that leaves a surface and passes through haze to the eye."""
    color, glow = painted(here, rows, k, noise)
    material, leafy = rows[k, s.MATERIAL], rows[k, s.RAGGED] > 0.5
    sunshine = 0.0
    if light.sunlight[0] > 0.0 and (leafy or dot(here.normal, light.sun) > 0.0):
        sunshine = sunlit(sun_view, sun_map, here.at, here.normal, light.softness)
    falling = received(here, light, lamps, sunshine, leafy)
    out = product(color, plus(falling, WHITE, glow), 1.0)
    if material in (s.WATER, s.GLOSS, s.PANES):
        around = mixed(sky.horizon, sky.zenith, 0.5 if material == s.WATER else 0.0)
        out = mixed(out, around, mirrored(here, material, rows[k, s.SHARE_U]))
    return mixed(light.haze, out, np.exp(-here.distance_m / light.haze_m))


@compiled
def shade(
    view: View, rows: Array, nearness: Singles, codes: Numbers, heights_m: Array, cell_m: float, noise: Textures,
    sky: Sky, light: Light, lamps: Array, sun_view: View, sun_map: Singles,
) -> Singles:  # fmt: skip
    """The light (H, W, 3) in each pixel, from 2 x 2 finer ones that see `codes`."""
    height, width = codes.shape[0] // FINENESS, codes.shape[1] // FINENESS
    picture = np.zeros((height, width, 3), np.float32)
    shares, pixel = (0.0, 1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0), 1.0 / view.focal_px
    for row in range(height):
        for column in range(width):
            taken, top, left = 0, FINENESS * row, FINENESS * column
            for first in range(4):
                if taken & (1 << first):
                    continue
                i, j = top + (first >> 1), left + (first & 1)
                own, deep = codes[i, j], nearness[i, j]
                count, x, y, near = 0, 0.0, 0.0, 0.0
                for k in range(first, 4):
                    i, j = top + (k >> 1), left + (k & 1)
                    # the same surface much further away is another hill, and a point between the two is on neither
                    close = own < 0 or (nearness[i, j] < 1.4 * deep and deep < 1.4 * nearness[i, j])
                    if codes[i, j] == own and close:
                        taken |= 1 << k
                        count, x, y, near = count + 1, x + j + 0.5, y + i + 0.5, near + nearness[i, j]
                share = shares[count]
                side, rise = (x * share - view.middle[0]) * pixel, (view.middle[1] - y * share) * pixel
                along = blend((1.0, side, rise), view.forward, view.right, view.up)
                length = np.sqrt(dot(along, along))
                ray = scaled(along, 1.0 / length)
                if own < 0:
                    found = sky_light(sky, light, noise, ray)
                else:
                    t, k = count / near, own // s.FACES
                    at, wide = plus(view.eye, along, t), t * FINENESS * pixel
                    if rows[k, s.KIND] == s.LAND:
                        here = land_fragment(heights_m, cell_m, view.eye, at, ray, t * length, wide)
                    else:
                        here = solid_fragment(rows, k, own % s.FACES, at, ray, t * length, wide)
                    found = leaving(here, rows, k, noise, sky, light, lamps, sun_view, sun_map)
                for c in range(3):
                    picture[row, column, c] += 0.25 * count * found[c]
    return picture
