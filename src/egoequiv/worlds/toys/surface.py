"""A toy ready to be rendered: put on the ground, brought to unit size, with normals, paint and openness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.toys.mesh import Array, Triangles, corner_normals, joined
from egoequiv.worlds.toys.occlusion import GROUND_REACH, openness
from egoequiv.worlds.toys.parts import Part


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
    vertices = np.ascontiguousarray((whole.vertices - foot) / radius)
    centre = (middle - foot) / radius
    normals = np.concatenate([corner_normals(part.mesh) for part in parts])
    albedo = np.concatenate([np.full(len(part.mesh.triangles), part.albedo) for part in parts])
    corners, ground = openness(vertices, whole.triangles, normals, centre)
    return Surface(vertices, whole.triangles, normals.reshape(-1, 3), albedo, corners, centre, ground, GROUND_REACH)
