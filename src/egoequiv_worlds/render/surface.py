"""A toy ready to be drawn: parts put on the ground at unit size, with normals, paint and the open share of the sky."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.mesh import Part, Triangles, corner_normals, joined
from egoequiv_worlds.render.raster import project, rasterise
from egoequiv_worlds.render.scene import from_light

DIRECTIONS, MAP_SIZE, GROUND_SIZE = 40, 96, 64
GROUND_REACH = 2.0  # the ground's map covers [-reach, reach] in x and y
LIFT = 0.05


class Surface(NamedTuple):
    """All that is drawn of a toy; a named tuple, because compiled code accepts those."""

    vertices: Array  # (V, 3), standing on z = 0, within distance 1 of the centre
    triangles: Triangles  # (T, 3)
    normals: Array  # (3 * T, 3), for each corner of each triangle
    albedo: Array  # (T,)
    openness: Array  # (T, 3), the share of the sky each corner sees
    centre: Array  # (3,)
    ground: NDArray[np.float32]  # (G, G), the share of the sky the ground sees
    ground_reach: float  # `ground` covers [-reach, reach] in x and y


def surface(parts: Sequence[Part]) -> Surface:
    """Put the parts of a toy together; they may be given in any unit, with x ahead and z up."""
    whole = joined([part.mesh for part in parts])
    low, high = whole.vertices.min(axis=0), whole.vertices.max(axis=0)
    middle = (low + high) / 2
    radius = np.linalg.norm(whole.vertices - middle, axis=1).max()
    foot = np.array([middle[0], middle[1], low[2]])
    vertices, centre = np.ascontiguousarray((whole.vertices - foot) / radius), (middle - foot) / radius
    normals = np.concatenate([corner_normals(part.mesh) for part in parts])
    albedo = np.concatenate([np.full(len(part.mesh.triangles), part.albedo) for part in parts])
    corners, ground = openness(vertices, whole.triangles, normals, centre)
    return Surface(vertices, whole.triangles, normals.reshape(-1, 3), albedo, corners, centre, ground, GROUND_REACH)


def openness(vertices: Array, triangles: Triangles, normals: Array, centre: Array) -> tuple[Array, NDArray[np.float32]]:
    """The open share of the sky at each corner, (T, 3), and on the ground, (G, G) with rows along y."""
    corners = (vertices[triangles] + LIFT * normals).reshape(-1, 3)
    step = (np.arange(GROUND_SIZE) + 0.5) / GROUND_SIZE * 2 * GROUND_REACH - GROUND_REACH
    ground = np.stack([*np.meshgrid(step, step), np.zeros((GROUND_SIZE, GROUND_SIZE))], axis=-1).reshape(-1, 3)
    places = np.concatenate([corners, ground])
    facing = np.concatenate([normals.reshape(-1, 3), np.broadcast_to((0.0, 0.0, 1.0), ground.shape)])
    seen_sky, all_sky = np.zeros(len(places)), np.zeros(len(places))
    height, around = (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS, np.arange(DIRECTIONS) * np.pi * (3.0 - np.sqrt(5.0))
    level = np.sqrt(1.0 - height**2)
    for towards in np.stack([level * np.cos(around), level * np.sin(around), height], axis=1):  # evenly over the sky
        weight = np.maximum(0.0, np.einsum("ij,j->i", facing, towards))
        seen_sky += weight * _unblocked(places, vertices, triangles, centre, towards)
        all_sky += weight
    # Faces that look down see no sky, but the pale ground, which reflects about half of its light.
    share = np.where(all_sky > 1e-6, seen_sky / np.maximum(all_sky, 1e-6), 0.5)
    corner_share, below = 0.25 + 0.75 * share[: len(corners)].reshape(-1, 3), share[len(corners) :]
    below = below.reshape(GROUND_SIZE, GROUND_SIZE)
    for axis in (0, 1, 0, 1):  # smooths the streaks that a limited number of directions leaves
        below = (np.roll(below, 1, axis) + below + np.roll(below, -1, axis)) / 3
    return corner_share, below.astype(np.float32)


def _unblocked(
    places: Array, vertices: Array, triangles: Triangles, centre: Array, towards: Array
) -> NDArray[np.bool_]:
    """Whether each place sees the sky in one direction; what lies outside the map does."""
    view = from_light(towards, centre, MAP_SIZE / 2.1, MAP_SIZE)
    nearness, _ = rasterise(project(vertices, view), triangles, MAP_SIZE)
    seen = project(places, view)
    pixels = np.floor(seen[:, :2]).astype(np.int64)
    inside = ((pixels >= 0) & (pixels < MAP_SIZE)).all(axis=1)
    column, row = np.clip(pixels, 0, MAP_SIZE - 1).T
    return np.asarray(~inside | (nearness[row, column] <= seen[:, 2] + LIFT / 2))
