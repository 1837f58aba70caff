"""What each pixel sees of the land and the solids: fragments, one row for each surface in a pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array, Numbers
from egoequiv_worlds.render.caster import BALL_FACE, FACES, SKY
from egoequiv_worlds.render.solids import COS, HALF_X, HALF_Y, HALF_Z, KIND, LAND, SIN, TOP_X, TOP_Z, X, Y, Z

# The columns of a fragment. The sky's normal is the direction of view; the prints are how far a pixel reaches along the
# two coordinates of the pattern, in metres.
PIXEL, WEIGHT, SOLID, AT_X, AT_Y, AT_Z, NORMAL_X, NORMAL_Y, NORMAL_Z, U, V, PRINT_U, PRINT_V, DISTANCE, FACE = range(15)
COLUMNS = 15

Fragments = NDArray[np.float32]

GROWTH = 1.024  # each step of the march is this much longer than the last


@compiled
def fragments(depth: Array, code: Numbers, view: Array, solids: Array, heights_m: Array, cell_m: float) -> Fragments:
    """The fragments of a picture from 2 x 2 samples a pixel, (N, COLUMNS)."""
    rows, columns = depth.shape[0] // 2, depth.shape[1] // 2
    found = np.empty((4 * rows * columns, COLUMNS), np.float32)
    width = 2.0 * np.sqrt(view[4, 0] ** 2 + view[4, 1] ** 2 + view[4, 2] ** 2)
    count = 0
    for row in range(rows):
        for column in range(columns):
            taken = 0
            for k in range(4):
                if taken & (1 << k):
                    continue
                own, deep = code[2 * row + k // 2, 2 * column + k % 2], depth[2 * row + k // 2, 2 * column + k % 2]
                same, u, v, nearness = 0, 0.0, 0.0, 0.0
                for j in range(k, 4):
                    y, x = 2 * row + j // 2, 2 * column + j % 2
                    # the same surface much further away is another hill, and a point between the two is on neither
                    if code[y, x] == own and deep < 1.4 * depth[y, x] and depth[y, x] < 1.4 * deep:
                        taken |= 1 << j
                        same, u, v, nearness = same + 1, u + x + 0.5, v + y + 0.5, nearness + 1.0 / depth[y, x]
                fragment = found[count]
                fragment[PIXEL], fragment[WEIGHT] = row * columns + column, same / 4.0
                place(fragment, view, u / same, v / same, same / nearness)
                fragment[PRINT_U] = fragment[PRINT_V] = width * same / nearness
                if own == SKY:
                    fragment[SOLID] = -1
                else:
                    fragment[SOLID], fragment[FACE] = own // FACES, own % FACES
                    if solids[own // FACES, KIND] == LAND:
                        land_surface(fragment, view, heights_m, cell_m)
                    else:
                        surface(fragment, solids[own // FACES])
                count += 1
    return found[:count]


@compiled
def place(fragment: Fragments, view: Array, u: float, v: float, t: float) -> None:
    """Set where a fragment is and, for the sky, its direction."""
    length = 0.0
    for axis in range(3):
        direction = view[3, axis] + u * view[4, axis] + v * view[5, axis]
        fragment[AT_X + axis] = view[0, axis] + t * direction
        fragment[NORMAL_X + axis] = direction
        length += direction * direction
    length = np.sqrt(length)
    for axis in range(3):
        fragment[NORMAL_X + axis] /= length
    fragment[DISTANCE] = t * length


@compiled
def surface(fragment: Fragments, solid: Array) -> None:
    """Set the normal of a solid's surface and the coordinates of its pattern, both in metres."""
    c, s = solid[COS], solid[SIN]
    dx, y, dz = fragment[AT_X] - solid[X], fragment[AT_Y] - solid[Y], fragment[AT_Z] - solid[Z]
    x, z = c * dx - s * dz, s * dx + c * dz
    hx, hy, hz = solid[HALF_X], solid[HALF_Y], solid[HALF_Z]
    face = int(fragment[FACE])
    sign = 1.0 if face % 2 else -1.0
    nx, ny, nz, u, v = 0.0, 0.0, 0.0, x, y + hy
    if face < 2:
        nx, ny, u = sign, (1.0 - solid[TOP_X]) * hx / (2.0 * hy), z
    elif face < 4:
        ny, u, v = sign, x, z
    elif face < 6:
        nz, ny, u = sign, (1.0 - solid[TOP_Z]) * hz / (2.0 * hy), x
    elif face == BALL_FACE:
        nx, ny, nz = x / (hx * hx), y / (hy * hy), z / (hz * hz)
        if abs(ny) > max(abs(nx), abs(nz)):
            v = z
        elif abs(nx) > abs(nz):
            u = z
    else:
        nx, ny, nz = x / (hx * hx), (1.0 - solid[TOP_X]) / (2.0 * hy), z / (hz * hz)
        u = np.arctan2(x, z) * 0.5 * (hx + hz)
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / length, ny / length, nz / length
    if face < BALL_FACE:
        sx = c * fragment[NORMAL_X] - s * fragment[NORMAL_Z]
        sy, sz = fragment[NORMAL_Y], s * fragment[NORMAL_X] + c * fragment[NORMAL_Z]
        facing = abs(nx * sx + ny * sy + nz * sz) + 1e-3
        fragment[PRINT_U] *= max(1.0, abs(sz if face < 2 else sx) / facing)
        fragment[PRINT_V] *= max(1.0, abs(sz if face in (2, 3) else sy) / facing)
    fragment[NORMAL_X], fragment[NORMAL_Y], fragment[NORMAL_Z] = c * nx + s * nz, ny, -s * nx + c * nz
    fragment[U], fragment[V] = u, v


@compiled
def land_surface(fragment: Fragments, view: Array, heights_m: Array, cell_m: float) -> None:
    """Set the normal of the land and the coordinates of its pattern."""
    cells = len(heights_m)
    gx = (fragment[AT_X] - view[0, 0]) / cell_m + cells / 2
    gz = (fragment[AT_Z] - view[0, 2]) / cell_m + cells / 2
    i, k = min(max(int(gx), 1), cells - 3), min(max(int(gz), 1), cells - 3)
    fx, fz = min(max(gx - i, 0.0), 1.0), min(max(gz - k, 0.0), 1.0)
    slope_x, slope_z = 0.0, 0.0
    for di in range(2):
        for dk in range(2):
            weight = (fx if di else 1.0 - fx) * (fz if dk else 1.0 - fz)
            slope_x += weight * (heights_m[k + dk, i + di + 1] - heights_m[k + dk, i + di - 1]) / (2.0 * cell_m)
            slope_z += weight * (heights_m[k + dk + 1, i + di] - heights_m[k + dk - 1, i + di]) / (2.0 * cell_m)
    length = np.sqrt(slope_x * slope_x + 1.0 + slope_z * slope_z)
    facing = abs(fragment[NORMAL_Y] - slope_x * fragment[NORMAL_X] - slope_z * fragment[NORMAL_Z]) / length + 1e-3
    fragment[PRINT_U] *= max(1.0, abs(fragment[NORMAL_X]) / facing)
    fragment[PRINT_V] *= max(1.0, abs(fragment[NORMAL_Z]) / facing)
    fragment[NORMAL_X], fragment[NORMAL_Y], fragment[NORMAL_Z] = -slope_x / length, 1.0 / length, -slope_z / length
    fragment[U], fragment[V] = fragment[AT_X], fragment[AT_Z]
    fragment[FACE] = 3


@compiled
def march(heights_m: Array, cell_m: float, view: Array, start_m: float, depth: Array, code: Numbers, own: int) -> None:
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
