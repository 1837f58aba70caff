"""Light on what the z-buffer found: the toy, the ground it stands on, and the shadow between them.

The compiled functions pass numbers, not small arrays: an array made for each pixel would cost more than the light.
"""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array, Numbers, Singles, Vector
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.lamps import Lamps
from egoequiv_worlds.render.shadows import open_share
from egoequiv_worlds.render.surface import Surface
from egoequiv_worlds.render.vectors import blend, dot, scaled, triple

GROUND_ALBEDO = 0.62
GLOSS = 0.10  # how much of the key light a toy's paint mirrors
LIFT = 0.03  # how far above its surface a point looks up its shadow, against speckles from the coarse map


@compiled
def sample(texture: Singles, x: float, y: float, outside: float) -> float:
    """A texture between its pixel centres."""
    column, line = int(np.floor(x - 0.5)), int(np.floor(y - 0.5))
    if column < 0 or line < 0 or column >= texture.shape[1] - 1 or line >= texture.shape[0] - 1:
        return outside
    u, v = x - 0.5 - column, y - 0.5 - line
    upper = (1.0 - u) * texture[line, column] + u * texture[line, column + 1]
    lower = (1.0 - u) * texture[line + 1, column] + u * texture[line + 1, column + 1]
    between: float = (1.0 - v) * upper + v * lower
    return between


@compiled
def corner_weights(a: Vector, b: Vector, c: Vector, x: float, y: float) -> Vector:
    """What each corner contributes at a pixel; the inverse depths undo the perspective."""
    wa = ((x - b[0]) * (c[1] - b[1]) - (c[0] - b[0]) * (y - b[1])) * a[2]
    wb = ((x - c[0]) * (a[1] - c[1]) - (a[0] - c[0]) * (y - c[1])) * b[2]
    wc = ((x - a[0]) * (b[1] - a[1]) - (b[0] - a[0]) * (y - a[1])) * c[2]
    total = wa + wb + wc
    return wa / total, wb / total, wc / total


@compiled
def highlight(normal: Vector, key: Vector, ray: Vector) -> float:
    """How much of the key light a surface mirrors into the eye (Blinn and Phong), with an exponent of 16."""
    away = scaled(ray, -1.0 / np.sqrt(dot(ray, ray)))
    half = (key[0] + away[0], key[1] + away[1], key[2] + away[2])
    shine: float = max(0.0, dot(normal, half)) / np.sqrt(dot(half, half))
    shine *= shine
    shine *= shine
    shine *= shine
    return shine * shine


@compiled
def shade_ground(view: View, surface: Surface, lamps: Lamps, mask: Singles, faces: Numbers, fineness: int) -> Array:
    """The light from the ground in each pixel, (S, S), by the share of the pixel's finer ones that see it."""
    eye, ground, key = view.eye, surface.ground, lamps.basis[2, 2] * lamps.key
    ground_middle, map_middle, inverse = len(ground) / 2.0, len(mask) / 2.0, fineness / view.focal_px
    ground_scale = ground_middle / surface.ground_reach
    indirect = lamps.ambient + lamps.fill * lamps.fill_towards[2]
    map_right, map_up, centre = triple(lamps.basis, 0), triple(lamps.basis, 1), surface.centre
    middle_x, middle_y = view.middle[0] / fineness, view.middle[1] / fineness
    size = len(faces) // fineness
    picture = np.zeros((size, size))
    for line in range(size):
        for column in range(size):
            bare = 0
            for j in range(fineness):
                for i in range(fineness):
                    bare += faces[line * fineness + j, column * fineness + i] < 0
            if bare == 0:
                continue
            weights = (1.0, (column + 0.5 - middle_x) * inverse, (middle_y - line - 0.5) * inverse)
            ray = blend(weights, view.forward, view.right, view.up)
            x, y = eye[0] - eye[2] / ray[2] * ray[0], eye[1] - eye[2] / ray[2] * ray[1]
            off = (x - centre[0], y - centre[1], -centre[2])
            u, v = map_middle + lamps.scale * dot(off, map_right), map_middle - lamps.scale * dot(off, map_up)
            sky = sample(ground, ground_middle + ground_scale * x, ground_middle + ground_scale * y, 1.0)
            light = GROUND_ALBEDO * (key * (1.0 - sample(mask, u, v, 0.0)) + indirect * sky)
            picture[line, column] = light * bare / (fineness * fineness)
    return picture


@compiled
def shade_toy(view: View, surface: Surface, lamps: Lamps, seen: Array, shadow: Singles, faces: Numbers) -> Array:
    """The light from the toy in each pixel, (F, F), zero beside it; `seen` are its vertices as projected."""
    vertices, triangles, normals, openness = surface.vertices, surface.triangles, surface.normals, surface.openness
    centre, middle, inverse = surface.centre, view.middle, 1.0 / view.focal_px
    map_right, map_up, key = triple(lamps.basis, 0), triple(lamps.basis, 1), triple(lamps.basis, 2)
    fill = (lamps.fill_towards[0], lamps.fill_towards[1], lamps.fill_towards[2])
    half_map = len(shadow) / 2.0
    picture = np.zeros(faces.shape)
    for line in range(faces.shape[0]):
        for column in range(faces.shape[1]):
            t = faces[line, column]
            if t < 0:
                continue
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            weights = corner_weights(triple(seen, a), triple(seen, b), triple(seen, c), column + 0.5, line + 0.5)
            bent = blend(weights, triple(normals, 3 * t), triple(normals, 3 * t + 1), triple(normals, 3 * t + 2))
            normal = scaled(bent, 1.0 / np.sqrt(dot(bent, bent)))
            sky = dot(weights, triple(openness, t))
            indirect = lamps.ambient * (0.7 + 0.3 * normal[2]) + lamps.fill * max(0.0, dot(normal, fill))
            light = surface.albedo[t] * sky * indirect
            facing = dot(normal, key)
            if facing > 0.0:
                point = blend(weights, triple(vertices, a), triple(vertices, b), triple(vertices, c))
                off = (
                    point[0] - centre[0] + LIFT * normal[0],
                    point[1] - centre[1] + LIFT * normal[1],
                    point[2] - centre[2] + LIFT * normal[2],
                )
                u, v = half_map + lamps.scale * dot(off, map_right), half_map - lamps.scale * dot(off, map_up)
                direct = lamps.key * open_share(shadow, u, v, dot(off, key) + LIFT / 2)
                along = (1.0, (column + 0.5 - middle[0]) * inverse, (middle[1] - line - 0.5) * inverse)
                ray = blend(along, view.forward, view.right, view.up)
                light += direct * (surface.albedo[t] * facing + GLOSS * highlight(normal, key, ray))
            picture[line, column] = light
    return picture
