"""From what each fine pixel sees to the light in each pixel: every surface in a pixel is computed once."""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render import paints as p
from egoequiv_worlds.render import solids as s
from egoequiv_worlds.render.arrays import Array, Numbers, Singles, Vector
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.fragments import Fragment, land_fragment, solid_fragment
from egoequiv_worlds.render.light import hazed, received, sky_light, sunlit
from egoequiv_worlds.render.noise import Texture
from egoequiv_worlds.render.painting import painted
from egoequiv_worlds.render.scene import Light, Sky
from egoequiv_worlds.render.vectors import add_light, blend, dot, mixed, product, scaled

FINENESS = 2  # finer pixels to a pixel, each way


@inlined
def mirrored(here: Fragment, material: float, strength: float) -> float:
    """The share of the sky that water, glass or car paint mirrors: more at a lower viewing angle."""
    graze = 1.0 - min(abs(dot(here.ray, here.normal)), 1.0)
    if material == p.WATER:
        return float((0.85 - 0.5 * strength) * graze**4)
    return float(min(0.7, (0.08 + 0.5 * graze**3) * (0.35 + 0.65 * max(0.0, here.normal[2]))))


@inlined
def leaving(
    here: Fragment, rows: Array, k: int, fine: Texture, cloud: Texture, sky: Sky, light: Light, lamps: Array,
    sun_view: View, sun_map: Singles,
) -> Vector:  # fmt: skip
    """The light that leaves a surface towards the eye."""
    color, glow = painted(here, rows, k, fine, cloud)
    material, leafy = rows[k, s.MATERIAL], rows[k, s.RAGGED] > 0.5
    sunshine = 0.0
    if light.sunlight[0] > 0.0 and (leafy or dot(here.normal, light.sun) > 0.0):
        sunshine = sunlit(sun_view, sun_map, here.at, here.normal, light.softness)
    falling = received(here, light, lamps, sunshine, leafy)
    out = product(color, (falling[0] + glow, falling[1] + glow, falling[2] + glow), 1.0)
    if material in (p.WATER, p.GLOSS, p.PANES):
        around = mixed(sky.horizon, sky.zenith, 0.5 if material == p.WATER else 0.0)
        out = mixed(out, around, mirrored(here, material, rows[k, s.SHARE_U]))
    return hazed(out, light, here.distance_m)


@compiled
def shade(
    view: View, rows: Array, nearness: Singles, codes: Numbers, heights_m: Array, cell_m: float, fine: Texture,
    cloud: Texture, sky: Sky, light: Light, lamps: Array, sun_view: View, sun_map: Singles,
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
                    found = sky_light(sky, light, cloud, ray)
                else:
                    t, k = count / near, own // s.FACES
                    at = (view.eye[0] + t * along[0], view.eye[1] + t * along[1], view.eye[2] + t * along[2])
                    wide = t * FINENESS * pixel
                    if rows[k, s.KIND] == s.LAND:
                        here = land_fragment(heights_m, cell_m, view.eye, at, ray, t * length, wide)
                    else:
                        here = solid_fragment(rows, k, own % s.FACES, at, ray, t * length, wide)
                    found = leaving(here, rows, k, fine, cloud, sky, light, lamps, sun_view, sun_map)
                add_light(picture, row, column, found, 0.25 * count)
    return picture
