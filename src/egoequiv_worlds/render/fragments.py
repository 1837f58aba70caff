"""What a pixel sees of a surface: where it is, how it is turned, and which piece of its pattern shows."""

from typing import NamedTuple

import numpy as np

from egoequiv.compiled import inlined
from egoequiv_worlds.render import Array, Vector
from egoequiv_worlds.render import solids as s
from egoequiv_worlds.render.patterns import difference, dot, triple


class Fragment(NamedTuple):
    """A piece of a surface in a pixel."""

    at: Vector
    normal: Vector
    ray: Vector  # of length 1, from the eye
    distance_m: float
    u: float  # the two coordinates of the pattern, in metres
    v: float
    print_u: float  # how far the pixel reaches along them
    print_v: float
    long_u: float  # how far the face reaches along them
    long_v: float
    face: int


@inlined
def turned(rows: Array, k: int, way: Vector) -> Vector:
    """A vector of the world along the axes of a solid."""
    c, n = rows[k, s.COS], rows[k, s.SIN]
    return c * way[0] + n * way[1], c * way[1] - n * way[0], way[2]


@inlined
def solid_fragment(rows: Array, k: int, face: int, at: Vector, ray: Vector, distance_m: float, wide: float) -> Fragment:
    """The piece of a solid's face at a place; `wide` is the width of a pixel there."""
    x, y, z = turned(rows, k, difference(at, triple(rows, k, s.X)))
    hx, hy, hz = rows[k, s.HALF_X], rows[k, s.HALF_Y], rows[k, s.HALF_Z]
    sign = 1.0 if face % 2 else -1.0
    nx, ny, nz, u, v, long_u, long_v = 0.0, 0.0, 0.0, x, z + hz, 2.0 * hx, 2.0 * hz
    if face < 2:
        nx, nz = sign, ((1.0 - rows[k, s.TOP_X]) * hx - sign * rows[k, s.LEAN]) / (2.0 * hz)
        u, long_u = sign * y, 2.0 * hy
    elif face < 4:
        ny, nz, u = sign, (1.0 - rows[k, s.TOP_Y]) * hy / (2.0 * hz), -sign * (x - rows[k, s.LEAN] * v / long_v)
    elif face < 6:
        nz, v, long_v = sign, y, 2.0 * hy
    elif face == s.BALL_FACE:
        nx, ny, nz = x / (hx * hx), y / (hy * hy), z / (hz * hz)
        if abs(nz) > max(abs(nx), abs(ny)):
            v = y
        elif abs(nx) > abs(ny):
            u = y
    else:
        nx, ny, nz = x / (hx * hx), y / (hy * hy), (1.0 - rows[k, s.TOP_X]) / (2.0 * hz)
        u, long_u = np.arctan2(x, -y) * 0.5 * (hx + hy), np.pi * (hx + hy)
    length = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx * length, ny * length, nz * length
    print_u, print_v = wide, wide
    if face < s.BALL_FACE:
        sx, sy, sz = turned(rows, k, ray)
        shown = abs(nx * sx + ny * sy + nz * sz) + 1e-3
        print_u *= max(1.0, abs(sy if face < 2 else sx) / shown)
        print_v *= max(1.0, abs(sy if face >= s.BOTTOM else sz) / shown)
    c, n = rows[k, s.COS], rows[k, s.SIN]
    normal = (c * nx - n * ny, n * nx + c * ny, nz)
    return Fragment(at, normal, ray, distance_m, u, v, print_u, print_v, long_u, long_v, face)


@inlined
def land_fragment(
    heights_m: Array, cell_m: float, eye: Vector, at: Vector, ray: Vector, distance_m: float, wide: float
) -> Fragment:
    """The piece of the land at a place."""
    cells = len(heights_m)
    gx, gy = (at[0] - eye[0]) / cell_m + cells / 2, (at[1] - eye[1]) / cell_m + cells / 2
    i, j = min(max(int(gx), 1), cells - 3), min(max(int(gy), 1), cells - 3)
    fx, fy = min(max(gx - i, 0.0), 1.0), min(max(gy - j, 0.0), 1.0)
    slope_x, slope_y = 0.0, 0.0
    for di in range(2):
        for dj in range(2):
            weight = (fx if di else 1.0 - fx) * (fy if dj else 1.0 - fy) / (2.0 * cell_m)
            slope_x += weight * (heights_m[j + dj, i + di + 1] - heights_m[j + dj, i + di - 1])
            slope_y += weight * (heights_m[j + dj + 1, i + di] - heights_m[j + dj - 1, i + di])
    length = np.sqrt(slope_x * slope_x + slope_y * slope_y + 1.0)
    normal = (-slope_x / length, -slope_y / length, 1.0 / length)
    shown = abs(dot(normal, ray)) + 1e-3
    print_u, print_v = wide * max(1.0, abs(ray[0]) / shown), wide * max(1.0, abs(ray[1]) / shown)
    return Fragment(at, normal, ray, distance_m, at[0], at[1], print_u, print_v, 1e6, 1e6, s.TOP)
