"""A z-buffer: which triangle each pixel sees, from a camera or from a light."""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array, Numbers, Singles
from egoequiv_worlds.render.camera import View
from egoequiv_worlds.render.mesh import Triangles
from egoequiv_worlds.render.vectors import dot

NOTHING = -1e9  # the nearness of a pixel that sees no triangle


@compiled
def project(vertices: Array, view: View) -> Array:
    """Perspective pixels and inverse depths of vertices (V, 3)."""
    seen, eye = np.empty_like(vertices), view.eye
    for k in range(len(vertices)):
        to = (vertices[k, 0] - eye[0], vertices[k, 1] - eye[1], vertices[k, 2] - eye[2])
        inverse = 1.0 / dot(view.forward, to)
        seen[k, 0] = view.middle[0] + view.focal_px * inverse * dot(view.right, to)
        seen[k, 1] = view.middle[1] - view.focal_px * inverse * dot(view.up, to)
        seen[k, 2] = inverse
    return seen


@compiled
def project_parallel(vertices: Array, centre: Array, basis: Array, scale: float, middle: float) -> Array:
    """Parallel pixels and nearness of vertices (V, 3); the rows of `basis` are right, up and towards the light."""
    seen = np.empty_like(vertices)
    for k in range(len(vertices)):
        x, y, z = vertices[k, 0] - centre[0], vertices[k, 1] - centre[1], vertices[k, 2] - centre[2]
        seen[k, 0] = middle + scale * (basis[0, 0] * x + basis[0, 1] * y + basis[0, 2] * z)
        seen[k, 1] = middle - scale * (basis[1, 0] * x + basis[1, 1] * y + basis[1, 2] * z)
        seen[k, 2] = basis[2, 0] * x + basis[2, 1] * y + basis[2, 2] * z
    return seen


@compiled
def rasterise(seen: Array, triangles: Triangles, size: int) -> tuple[Singles, Numbers]:
    """The nearness and the triangle seen by each pixel centre of a square image; -1 where there is none.

    Nearness (the third column of `seen`) must be linear across the image and larger for what is in front.
    Triangles that face away are left out.
    """
    nearness = np.full((size, size), NOTHING, np.float32)
    faces = np.full((size, size), -1, np.int32)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, bx, by, cx, cy = seen[a, 0], seen[a, 1], seen[b, 0], seen[b, 1], seen[c, 0], seen[c, 1]
        area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)  # positive in front, because the rows of an image run down
        if area <= 1e-12:
            continue
        left, right = max(0, int(np.ceil(min(ax, bx, cx) - 0.5))), min(size - 1, int(np.floor(max(ax, bx, cx) - 0.5)))
        top, bottom = max(0, int(np.ceil(min(ay, by, cy) - 0.5))), min(size - 1, int(np.floor(max(ay, by, cy) - 0.5)))
        za, zb, zc = seen[a, 2] / area, seen[b, 2] / area, seen[c, 2] / area
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                wa = (x - bx) * (cy - by) - (cx - bx) * (y - by)
                wb = (x - cx) * (ay - cy) - (ax - cx) * (y - cy)
                wc = area - wa - wb
                if wa >= 0.0 and wb >= 0.0 and wc >= 0.0:
                    near = np.float32(wa * za + wb * zb + wc * zc)
                    if near > nearness[row, column]:
                        nearness[row, column] = near
                        faces[row, column] = t
    return nearness, faces
