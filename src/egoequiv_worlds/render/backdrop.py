"""Light from the sky and from the ground: what a pixel sees if no object is in front of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled, inlined
from egoequiv_worlds.render.arrays import Array, Numbers, Singles, Vector
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.faces import SHADE, Faces, Sky
from egoequiv_worlds.render.ground import Ground, Paving, ground_light
from egoequiv_worlds.render.noise import Noise
from egoequiv_worlds.render.patterns import noise_at, step
from egoequiv_worlds.render.vectors import add_light, blend, hazed, mixed


@inlined
def sky_light(sky: Sky, skyline: Array, noise: Noise, x: float, y: float, z: float) -> Vector:
    """The light from a direction of length 1 at or above the horizon, with clouds and a far skyline."""
    light = mixed(sky.horizon, sky.zenith, np.sqrt(min(1.0, z * 1.6)))
    glow = max(0.0, x * sky.sun[0] + y * sky.sun[1] + z * sky.sun[2])
    glow = glow * glow
    glow = 0.5 * (1.0 - 0.7 * sky.cover) * glow * glow * glow
    light = (light[0] + glow, light[1] + glow, light[2] + 0.8 * glow)
    if z > 0.01:
        u, v = 6.0 * x / (z + 0.09), 6.0 * y / (z + 0.09)
        puff = noise_at(noise, u * 0.3, v * 0.3, 0.0) + 0.5 * noise_at(noise, u, v, 0.0)
        puff += 0.25 * noise_at(noise, 2.7 * u, 2.7 * v, 0.0)
        cloud = min(1.0, max(0.0, 0.9 * puff + 1.6 * sky.cover - 0.55)) * min(1.0, z * 8.0)
        white = 1.05 - 0.25 * sky.cover
        light = mixed(light, (white, white, white + 0.02), cloud)
    slope = z / (np.sqrt(x * x + y * y) + 1e-9)
    if slope < 0.2:
        turn = (np.arctan2(y, x) / (2 * np.pi) + 1.0) * len(skyline)
        k = int(turn)
        between = turn - k
        k = k % len(skyline)
        top = (1.0 - between) * skyline[k] + between * skyline[(k + 1) % len(skyline)]
        light = mixed(light, sky.skyline, step(top - slope, 0.004))
    return light


@inlined
def shade_of(faces: Faces, f: int, x: float, y: float) -> float:
    """How dark the soft shadow beneath something is at a place: strongest in its middle."""
    dx, dy = x - faces.corners[f, 0, 0], y - faces.corners[f, 0, 1]
    u = dx * faces.frames[f, 1, 0] + dy * faces.frames[f, 1, 1]
    v = dx * faces.frames[f, 2, 0] + dy * faces.frames[f, 2, 1]
    rim = min(min(u, faces.params[f, 0] - u), min(v, faces.params[f, 1] - v))
    dark: float = faces.params[f, 2] * min(1.0, max(0.0, rim / faces.params[f, 3]))
    return dark


@inlined
def bare(seen: NDArray[np.int32], materials: Numbers, row: int, column: int, fineness: int) -> tuple[int, int, int]:
    """How many fine pixels of a pixel see sky or ground, how many of them in a shadow, and the face of that shadow."""
    count, shaded, shadow = 0, 0, -1
    for j in range(row * fineness, (row + 1) * fineness):
        for i in range(column * fineness, (column + 1) * fineness):
            f = seen[j, i]
            if f < 0:
                count += 1
            elif f < len(materials) and materials[f] == SHADE:
                count, shaded, shadow = count + 1, shaded + 1, f
    return count, shaded, shadow


@compiled
def shade_backdrop(
    view: View,
    faces: Faces,
    sky: Sky,
    ground: Ground,
    paving: Paving,
    noise: Noise,
    seen: NDArray[np.int32],
    light: Singles,
) -> None:
    """Add to `light` (H, W, 3) the sky and the ground, by the share of finer pixels in `seen` that see it.

    Each pixel is computed once, because its textures are averaged over its footprint anyway.
    """
    fineness = seen.shape[0] // light.shape[0]
    eye, pixel = view.eye, fineness / view.focal_px
    for row in range(light.shape[0]):
        rise = (light.shape[0] / 2 - row - 0.5) * pixel
        for column in range(light.shape[1]):
            count, shaded, shadow = bare(seen, faces.materials, row, column, fineness)
            if count == 0:
                continue
            side = (column + 0.5 - light.shape[1] / 2) * pixel
            x, y, z = blend((1.0, side, rise), view.forward, view.right, view.up)
            if z > -0.0005:
                length = np.sqrt(x * x + y * y + z * z)
                found = sky_light(sky, ground.skyline, noise, x / length, y / length, max(0.0, z / length))
            else:
                t = -eye[2] / z
                found = ground_light(ground, paving, sky, noise, eye, t, (x, y, z), pixel)
                if shaded > 0:
                    dark = shade_of(faces, shadow, eye[0] + t * x, eye[1] + t * y)
                    found = mixed(found, (0.0, 0.0, 0.0), dark * shaded / count)
                found = hazed(found, sky.horizon, t / sky.fog_m)
            add_light(light, row, column, found, count / (fineness * fineness))
