"""What compiled code computes with: vectors and colours, noise and stripes, and what a pixel sees of a surface.

Patterns are averaged over a footprint, so that nothing flickers.
"""

from typing import NamedTuple

import numpy as np

from egoequiv.compiled import inlined
from egoequiv_worlds.render import Array, Vector
from egoequiv_worlds.render import solids as s
from egoequiv_worlds.render.noise import LEVELS, SIDE, Texture


@inlined
def triple(table: Array, k: int, first: int = 0) -> Vector:
    """Three numbers of a row of a table."""
    return table[k, first], table[k, first + 1], table[k, first + 2]


@inlined
def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def difference(a: Vector, b: Vector) -> Vector:
    """From b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def scaled(a: Vector, by: float) -> Vector:
    """A vector made longer or shorter."""
    return a[0] * by, a[1] * by, a[2] * by


@inlined
def plus(a: Vector, b: Vector, times: float) -> Vector:
    """A vector and some times another one."""
    return a[0] + times * b[0], a[1] + times * b[1], a[2] + times * b[2]


@inlined
def blend(weights: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """What lies between three corners."""
    return dot(weights, (a[0], b[0], c[0])), dot(weights, (a[1], b[1], c[1])), dot(weights, (a[2], b[2], c[2]))


@inlined
def mixed(a: Vector, b: Vector, share: float) -> Vector:
    """From one colour to another."""
    return plus(a, difference(b, a), share)


@inlined
def product(a: Vector, b: Vector, share: float) -> Vector:
    """The product of two colours and a share."""
    return share * a[0] * b[0], share * a[1] * b[1], share * a[2] * b[2]


@inlined
def pulse_sum(x: float, low: float, high: float) -> float:
    """The integral from 0 to x of a train of pulses of period 1 that are on from `low` to `high`."""
    whole = np.floor(x)
    return float(whole * (high - low) + min(max(x - whole - low, 0.0), high - low))


@inlined
def pulses(x: float, low: float, high: float, width: float) -> float:
    """The share of a footprint around x that lies on pulses of period 1."""
    width = max(width, 1e-4)
    return (pulse_sum(x + width / 2, low, high) - pulse_sum(x - width / 2, low, high)) / width


@inlined
def stripe(x: float, middle: float, half: float, width: float) -> float:
    """The share of a footprint around x that lies on one stripe."""
    width = max(width, 1e-4)
    low, high = max(x - width / 2, middle - half), min(x + width / 2, middle + half)
    return max(0.0, high - low) / width


@inlined
def step(x: float, width: float) -> float:
    """From 0 to 1 where x passes 0, over a width."""
    return min(1.0, max(0.0, x / max(width, 1e-4) + 0.5))


@inlined
def ramp(value: float, low: float, high: float) -> float:
    """From 0 at `low` to 1 at `high`, smoothly."""
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


@inlined
def chance(i: float, j: float, seed: float) -> float:
    """A number from 0 to 1 that looks random and depends only on its arguments."""
    mess = np.sin(i * 12.9898 + j * 78.233 + seed * 37.719) * 43758.5453
    return float(mess - np.floor(mess))


@inlined
def sample(texture: Texture, u: float, v: float, reach: float) -> float:
    """A noise texture at a place in texels, blurred over `reach` texels and smooth between its texels."""
    level = 0
    while level < LEVELS - 1 and reach > 1.0:
        level, reach = level + 1, 0.5 * reach
    mask = SIDE - 1  # a constant, so that no index is checked for being negative
    low_u, low_v = np.floor(u), np.floor(v)
    a, b = u - low_u, v - low_v
    i, k = int(low_u) & mask, int(low_v) & mask
    i2, k2 = (i + 1) & mask, (k + 1) & mask
    near = (1.0 - a) * texture[level, k, i] + a * texture[level, k, i2]
    far = (1.0 - a) * texture[level, k2, i] + a * texture[level, k2, i2]
    return float((1.0 - b) * near + b * far)


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
