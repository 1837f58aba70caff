"""Light from objects on the ground: facades, roofs, cars, signs and leaves.

Textures are computed where a ray meets a face, averaged over the pixel's footprint there. The compiled functions pass
numbers, not small arrays.
"""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render.arrays import Numbers, Singles, Vector
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.faces import (
    FACADE,
    GLASS,
    GLOW,
    LEAVES,
    PAINT,
    PAVING,
    ROOF,
    SHADE,
    SLATS,
    Blobs,
    Faces,
    Sky,
)
from egoequiv_worlds.render.noise import Noise
from egoequiv_worlds.render.patterns import chance, noise_at, pulses
from egoequiv_worlds.render.vectors import add_light, blend, dot, hazed, mixed, product, triple

Params = tuple[float, float, float, float, float, float]


@inlined
def window_light(sky: Sky, i: float, j: float, seed: float, blur: float) -> Vector:
    """What a window shows: a dark room, a curtain or the sky; where many fall on a pixel, their mean."""
    pick = chance(i, j, seed)
    bright = 0.05 + 0.22 * pick * pick + (0.3 if pick > 0.85 else 0.0)
    bright = bright + (0.17 - bright) * min(1.0, blur)
    return mixed((0.4 * bright, 0.4 * bright, 0.4 * bright), sky.horizon, 0.6 * bright)


@inlined
def facade(
    sky: Sky, wall: Vector, light: Vector, params: Params, u: float, v: float, fine_u: float, fine_v: float
) -> Vector:
    """A wall with rows of windows, over shops or a plinth.

    The parameters are the height of a floor, the width of a bay, the shares of both that a window takes, the height
    of the ground floor or plinth, and a seed.
    """
    floor_m, bay_m, wide, tall, base_m, seed = params
    lit = product(wall, light, 1.0)
    if v < base_m:
        if base_m < 2.0:
            return product(mixed(wall, (0.12, 0.12, 0.12), 0.6), light, 1.0)
        return shop(sky, lit, light, u / (2.0 * bay_m), v / base_m, fine_u / (2.0 * bay_m), fine_v / base_m, seed)
    x, y = u / bay_m, (v - base_m) / floor_m
    fine_x, fine_y = fine_u / bay_m, fine_v / floor_m
    low = 0.5 - tall * 0.42
    inner = pulses(x, 0.5 - wide / 2, 0.5 + wide / 2, fine_x) * pulses(y, low, low + tall, fine_y)
    rim_x, rim_y = min(0.07 / bay_m * 2, 0.06), min(0.14 / floor_m, 0.06)
    outer = pulses(x, 0.5 - wide / 2 - rim_x, 0.5 + wide / 2 + rim_x, fine_x)
    outer *= pulses(y, low - rim_y, low + tall + rim_y, fine_y)
    ledge = pulses(y, 0.0, 0.05, fine_y)
    pane = window_light(sky, np.floor(x), np.floor(y), seed, max(fine_x, fine_y))
    bar = pulses(x * 2.0, 0.46, 0.54, fine_x * 2.0) if wide * bay_m > 0.8 else 0.0
    frame = product((0.75, 0.75, 0.74), light, 1.0)
    result = mixed(lit, frame, max(0.0, outer - inner) * 0.8 + 0.35 * ledge)
    return mixed(result, mixed(pane, frame, 0.7 * bar), inner)


@inlined
def shop(
    sky: Sky, wall: Vector, light: Vector, x: float, y: float, fine_x: float, fine_y: float, seed: float
) -> Vector:
    """A ground floor of shop windows under sign boards."""
    k = np.floor(x)
    hue = chance(k, 3.0, seed)
    glass = window_light(sky, k, 1.0, seed + 0.5, fine_x)
    inside = pulses(x, 0.07, 0.93, fine_x) * pulses(y, 0.1, 0.72, fine_y)
    board = pulses(x, 0.04, 0.96, fine_x) * pulses(y, 0.76, 0.92, fine_y)
    paint = mixed((0.5, 0.12, 0.1), (0.1, 0.22, 0.4), hue) if hue < 0.6 else (0.65, 0.6, 0.4)
    sign = product(paint, light, 1.0)
    bar = 0.5 * pulses(x * 3.0, 0.47, 0.53, fine_x * 3.0)
    return mixed(mixed(wall, mixed(glass, wall, bar), inside), sign, board)


@inlined
def lit_by(sky: Sky, normal: Vector, sunshine: float) -> Vector:
    """The light that falls on a surface: less from the sky the more it looks down, and the sun's where it faces it."""
    open_sky = 0.62 + 0.38 * normal[2]
    sun = sunshine * max(0.0, dot(normal, sky.sun))
    return (
        open_sky * sky.ambient[0] + sun * sky.sunlight[0],
        open_sky * sky.ambient[1] + sun * sky.sunlight[1],
        open_sky * sky.ambient[2] + sun * sky.sunlight[2],
    )


@inlined
def wall_light(
    noise: Noise,
    sky: Sky,
    colour: Vector,
    light: Vector,
    params: Params,
    u: float,
    v: float,
    fine_u: float,
    fine_v: float,
) -> Vector:
    """The light from a facade, its plaster a little uneven."""
    grit = 1.0 + 0.10 * noise_at(noise, u / 0.25, v / 0.25, fine_u / 0.25)
    grit += 0.08 * noise_at(noise, u / 2.0, v / 1.1, fine_u / 2.0)
    wall = (colour[0] * grit, colour[1] * grit, colour[2] * grit)
    return facade(sky, wall, light, params, u, v, fine_u, fine_v)


@inlined
def grain(noise: Noise, material: int, params: Params, u: float, v: float, fine_u: float, fine_v: float) -> float:
    """How much brighter or darker a rough material is at a place of its texture."""
    fine = max(fine_u, fine_v)
    if material == ROOF:
        rows = 0.85 + 0.3 * pulses(v / 0.4, 0.3, 1.0, fine_v / 0.4)
        return rows + 0.16 * noise_at(noise, u / 0.3, v / 0.4, fine / 0.3)
    if material == LEAVES:
        spot = noise_at(noise, u / 0.12, v / 0.12, fine / 0.12) + noise_at(noise, u / 0.4, v / 0.4, fine / 0.4)
        return max(0.2, 0.95 + 0.55 * spot)
    if material == SLATS:
        return 1.0 - 0.75 * pulses(u / params[0], 0.0, params[1], fine_u / params[0])
    if material == PAVING:
        return 1.0 + 0.2 * noise_at(noise, u / 0.1, v / 0.1, fine / 0.1)
    return 1.0 + 0.06 * noise_at(noise, u / 0.2, v / 0.2, fine / 0.2)


@inlined
def face_light(view: View, faces: Faces, sky: Sky, noise: Noise, f: int, t: float, ray: Vector, pixel: float) -> Vector:
    """The light from a face that a ray of depth 1 meets at depth t."""
    colour, material = triple(faces.colours, f), faces.materials[f]
    if material == GLOW:
        return colour
    frames, corners, eye = faces.frames, faces.corners, view.eye
    normal = (frames[f, 0, 0], frames[f, 0, 1], frames[f, 0, 2])
    along = (frames[f, 1, 0], frames[f, 1, 1], frames[f, 1, 2])
    across = (frames[f, 2, 0], frames[f, 2, 1], frames[f, 2, 2])
    height = eye[2] + t * ray[2]
    off = (eye[0] + t * ray[0] - corners[f, 0, 0], eye[1] + t * ray[1] - corners[f, 0, 1], height - corners[f, 0, 2])
    u, v = dot(off, along), dot(off, across)
    length = np.sqrt(dot(ray, ray))
    facing = abs(dot(ray, normal)) / length
    trace = t * pixel
    stretch = trace * (1.0 / max(facing, 0.02) - 1.0) / length
    fine_u, fine_v = trace + abs(dot(ray, along)) * stretch, trace + abs(dot(ray, across)) * stretch
    is_car = material in (PAINT, GLASS)
    light = lit_by(sky, normal, 1.0 - faces.params[f, 0] if is_car else 1.0)
    dusk = 0.78 + 0.22 * min(1.0, height / 1.5)  # less sky is seen near the ground
    light = (light[0] * dusk, light[1] * dusk, light[2] * dusk)
    if is_car:
        graze = 1.0 - facing
        mirror = (0.08 + 0.5 * graze * graze * graze) * (1.0 if material == PAINT else 1.5)
        mirror *= 0.35 + 0.65 * max(0.0, normal[2])
        return mixed(product(colour, light, 1.0), sky.horizon, min(0.7, mirror))
    values = faces.params
    params = (values[f, 0], values[f, 1], values[f, 2], values[f, 3], values[f, 4], values[f, 5])
    if material == FACADE:
        return wall_light(noise, sky, colour, light, params, u, v, fine_u, fine_v)
    return product(colour, light, grain(noise, material, params, u, v, fine_u, fine_v))


@inlined
def blob_light(view: View, blobs: Blobs, sky: Sky, noise: Noise, b: int, t: float, ray: Vector, pixel: float) -> Vector:
    """The light from a ball of leaves: bright towards the sun, dark in its depths."""
    level, upright, middle = blobs.radii[b, 0], blobs.radii[b, 1], triple(blobs.centres, b)
    off = (
        view.eye[0] + t * ray[0] - middle[0],
        view.eye[1] + t * ray[1] - middle[1],
        view.eye[2] + t * ray[2] - middle[2],
    )
    light = lit_by(sky, (off[0] / level, off[1] / level, off[2] / upright), 1.0)
    u, v = dot(off, view.right) + 7.3 * middle[0], dot(off, view.up) + 5.7 * middle[1]
    fine = t * pixel
    spot = noise_at(noise, 9.0 * u, 9.0 * v, 9.0 * fine) + 0.9 * noise_at(noise, 3.0 * u, 3.0 * v, 3.0 * fine)
    shade = (0.72 + 0.28 * off[2] / upright) * max(0.15, 1.0 + 0.75 * blobs.ragged[b] * spot)
    return product(triple(blobs.colours, b), light, shade)


@inlined
def add_thing(
    view: View, faces: Faces, blobs: Blobs, sky: Sky, noise: Noise, nearness: Singles, seen: Numbers, light: Singles,
    row: int, column: int, thing: int,
) -> None:  # fmt: skip
    """Add the light of one face or blob to a pixel."""
    fineness = seen.shape[0] // light.shape[0]
    count, near, x, y = 0, 0.0, 0.0, 0.0
    for j in range(row * fineness, (row + 1) * fineness):
        for i in range(column * fineness, (column + 1) * fineness):
            if seen[j, i] == thing:
                count, near, x, y = count + 1, near + nearness[j, i], x + i + 0.5, y + j + 0.5
    pixel = fineness / view.focal_px
    side, rise = (x / count - view.middle[0]) / view.focal_px, (view.middle[1] - y / count) / view.focal_px
    ray = blend((1.0, side, rise), view.forward, view.right, view.up)
    t = count / near
    if thing < len(faces.materials):
        colour = face_light(view, faces, sky, noise, thing, t, ray, pixel)
    else:
        colour = blob_light(view, blobs, sky, noise, thing - len(faces.materials), t, ray, pixel)
    colour = hazed(colour, sky.horizon, t / sky.fog_m)
    add_light(light, row, column, colour, count / (fineness * fineness))


@compiled
def shade_objects(
    view: View, faces: Faces, blobs: Blobs, sky: Sky, noise: Noise, nearness: Singles, seen: Numbers, light: Singles
) -> None:
    """Add to `light` (H, W, 3) what stands on the ground, by the share of finer pixels in `seen` that see it.

    Each object in a pixel is computed once, because its texture is averaged over its footprint anyway.
    """
    fineness, count = seen.shape[0] // light.shape[0], len(faces.materials)
    found = np.empty(fineness * fineness, np.int32)
    for row in range(light.shape[0]):
        for column in range(light.shape[1]):
            things = 0
            for j in range(row * fineness, (row + 1) * fineness):
                for i in range(column * fineness, (column + 1) * fineness):
                    f = seen[j, i]
                    known = f < 0 or (f < count and faces.materials[f] == SHADE)
                    for k in range(things):
                        known = known or found[k] == f
                    if not known:
                        found[things] = f
                        things += 1
            for k in range(things):
                add_thing(view, faces, blobs, sky, noise, nearness, seen, light, row, column, found[k])
