"""The march along each column of the picture that shows the land, from near to far."""

from __future__ import annotations

import numpy as np

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.place.caster import Codes, Depths
from egoequiv.worlds.place.solids import Array

GROWTH = 1.024  # each step of the march is this much longer than the last


@compiled
def march(heights_m: Array, cell_m: float, view: Array, start_m: float, depth: Depths, code: Codes, own: int) -> None:
    """Draw the land into `depth` and `code` (H, W); the camera must not pitch."""
    rows, columns = depth.shape
    cells = len(heights_m)
    reach = (cells / 2 - 2) * cell_m
    eye = view[0]
    for column in range(columns):
        u = column + 0.5
        dx, dz = view[3, 0] + u * view[4, 0], view[3, 2] + u * view[4, 2]
        slope, per_row = view[3, 1] + u * view[4, 1], view[5, 1]
        length = np.sqrt(dx * dx + dz * dz)
        t, before, lowest = start_m, start_m, rows  # rows below `lowest` are drawn already
        while t * length < reach and lowest > 0:
            gx, gz = t * dx / cell_m + cells / 2, t * dz / cell_m + cells / 2
            i, k = int(gx), int(gz)
            fx, fz = gx - i, gz - k
            near = heights_m[k, i] * (1.0 - fx) + heights_m[k, i + 1] * fx
            far = heights_m[k + 1, i] * (1.0 - fx) + heights_m[k + 1, i + 1] * fx
            height = near * (1.0 - fz) + far * fz
            top = max(0, int(np.ceil(((height - eye[1]) / t - slope) / per_row - 0.5)))
            if top < lowest:
                for row in range(top, lowest):
                    share = (row - top + 0.5) / (lowest - top)
                    here = t + (before - t) * share
                    if here < depth[row, column]:
                        depth[row, column] = here
                        code[row, column] = own
                lowest = top
            before = t
            t = t * GROWTH + 0.02
