"""Light on what the z-buffer found: the toy, the ground it stands on, and the shadow between them.

The compiled functions pass numbers, not small arrays: an array made for each pixel would cost more than the light.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.toys.camera import Camera
from egoequiv.worlds.toys.lighting import Lamps
from egoequiv.worlds.toys.mesh import Array
from egoequiv.worlds.toys.rasteriser import Faces, Nearness
from egoequiv.worlds.toys.surface import Surface

GROUND_ALBEDO = 0.62
GLOSS = 0.10  # how much of the key light a toy's paint mirrors
LIFT = 0.03  # how far above its surface a point looks up its shadow, against speckles from the coarse map
SOFTNESS_PX = 2  # half the width of the box that softens the shadow on the ground, in pixels of the light's map

Map = NDArray[np.float32]
Vector = tuple[float, float, float]


@compiled
def soft_mask(nearness: Nearness) -> Map:
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
def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def row(matrix: Array, k: int) -> Vector:
    """A row of a matrix (R, 3), as numbers."""
    return matrix[k, 0], matrix[k, 1], matrix[k, 2]


@compiled
def scaled(a: Vector, by: float) -> Vector:
    """A vector made longer or shorter."""
    return a[0] * by, a[1] * by, a[2] * by


@compiled
def blend(weights: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """What lies between three corners."""
    wa, wb, wc = weights
    return (
        wa * a[0] + wb * b[0] + wc * c[0],
        wa * a[1] + wb * b[1] + wc * c[1],
        wa * a[2] + wb * b[2] + wc * c[2],
    )


@compiled
def sample(texture: Map, x: float, y: float, outside: float) -> float:
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
def open_share(nearness: Nearness, x: float, y: float, near: float) -> float:
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
def shade_ground(camera: Camera, surface: Surface, lamps: Lamps, mask: Map, faces: Faces, fineness: int) -> Array:
    """The light from the ground in each pixel, (S, S), by the share of the pixel's finer ones that see it."""
    basis, eye, ground, key = camera.basis, camera.eye, surface.ground, lamps.basis[2, 2] * lamps.key
    ground_middle, map_middle, inverse = len(ground) / 2.0, len(mask) / 2.0, fineness / camera.focal
    ground_scale = ground_middle / surface.ground_reach
    indirect = lamps.ambient + lamps.fill * lamps.fill_towards[2]
    map_right, map_up, centre = row(lamps.basis, 0), row(lamps.basis, 1), surface.centre
    middle_x, middle_y = camera.middle[0] / fineness, camera.middle[1] / fineness
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
            ray = blend(weights, row(basis, 2), row(basis, 0), row(basis, 1))
            x, y = eye[0] - eye[2] / ray[2] * ray[0], eye[1] - eye[2] / ray[2] * ray[1]
            off = (x - centre[0], y - centre[1], -centre[2])
            u, v = map_middle + lamps.scale * dot(off, map_right), map_middle - lamps.scale * dot(off, map_up)
            sky = sample(ground, ground_middle + ground_scale * x, ground_middle + ground_scale * y, 1.0)
            light = GROUND_ALBEDO * (key * (1.0 - sample(mask, u, v, 0.0)) + indirect * sky)
            picture[line, column] = light * bare / (fineness * fineness)
    return picture


@compiled
def shade_toy(camera: Camera, surface: Surface, lamps: Lamps, seen: Array, shadow: Nearness, faces: Faces) -> Array:
    """The light from the toy in each pixel, (F, F), zero beside it; `seen` are its vertices as projected."""
    vertices, triangles, normals, openness = surface.vertices, surface.triangles, surface.normals, surface.openness
    basis, centre, middle, inverse = camera.basis, surface.centre, camera.middle, 1.0 / camera.focal
    map_right, map_up, key = row(lamps.basis, 0), row(lamps.basis, 1), row(lamps.basis, 2)
    fill = (lamps.fill_towards[0], lamps.fill_towards[1], lamps.fill_towards[2])
    half_map = len(shadow) / 2.0
    picture = np.zeros(faces.shape)
    for line in range(faces.shape[0]):
        for column in range(faces.shape[1]):
            t = faces[line, column]
            if t < 0:
                continue
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            weights = corner_weights(row(seen, a), row(seen, b), row(seen, c), column + 0.5, line + 0.5)
            bent = blend(weights, row(normals, 3 * t), row(normals, 3 * t + 1), row(normals, 3 * t + 2))
            normal = scaled(bent, 1.0 / np.sqrt(dot(bent, bent)))
            sky = dot(weights, row(openness, t))
            indirect = lamps.ambient * (0.7 + 0.3 * normal[2]) + lamps.fill * max(0.0, dot(normal, fill))
            light = surface.albedo[t] * sky * indirect
            facing = dot(normal, key)
            if facing > 0.0:
                point = blend(weights, row(vertices, a), row(vertices, b), row(vertices, c))
                off = (
                    point[0] - centre[0] + LIFT * normal[0],
                    point[1] - centre[1] + LIFT * normal[1],
                    point[2] - centre[2] + LIFT * normal[2],
                )
                u, v = half_map + lamps.scale * dot(off, map_right), half_map - lamps.scale * dot(off, map_up)
                direct = lamps.key * open_share(shadow, u, v, dot(off, key) + LIFT / 2)
                along = (1.0, (column + 0.5 - middle[0]) * inverse, (middle[1] - line - 0.5) * inverse)
                ray = blend(along, row(basis, 2), row(basis, 0), row(basis, 1))
                light += direct * (surface.albedo[t] * facing + GLOSS * highlight(normal, key, ray))
            picture[line, column] = light
    return picture
