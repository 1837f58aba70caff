"""The ground of a street: asphalt, lines, kerb, pavement, grass or fields, and the light from it.

It is not made of faces: the distance of each pixel from the middle of the nearest road decides what it is, averaged
over its footprint so that nothing flickers far away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import inlined
from egoequiv_worlds.render.arrays import Array, Numbers, Singles, Vector
from egoequiv_worlds.render.faces import Sky
from egoequiv_worlds.render.noise import Noise
from egoequiv_worlds.render.patterns import noise_at, pulses, step, stripe
from egoequiv_worlds.render.vectors import mixed

Trace = tuple[float, float, float, float]  # the horizontal direction of a ray, and a pixel's depth and width in m

TILE_M, CELLS, LIGHT_CELLS = 32.0, 8, 64  # a tile of ground, and its resolution for roads and shadows
ROAD_STEP_M = 0.5
CORNER_M = 5.0  # how far back the kerbs begin to bend at a junction
LAWN, PLAZA, FIELDS = range(3)


class Ground(NamedTuple):
    """Where the roads are; only tiles near a road have details."""

    origin: Array  # (2,), the south-west corner of the tiles
    tile_of: Numbers  # (rows, columns), -1 far from every road
    cells: NDArray[np.int32]  # (T, CELLS, CELLS, 3), the nearest point of the route and up to two streets, or -1
    sunshine: Singles  # (T, LIGHT_CELLS, LIGHT_CELLS), the share of the sun that reaches the ground
    middle: Array  # (M, 6), points of the route: x, y, cos, sin, how much it is a crossing, how much it has lines
    streets: Array  # (S, 5), begin x, y, direction x, y, length
    skyline: Array  # (512,), the slope of what stands on the horizon, by azimuth


class Paving(NamedTuple):
    """What roads are made of and how they are divided; colours are red, green and blue."""

    asphalt: Vector
    lines: Vector
    kerb: Vector
    pavement: Vector
    first: Vector  # the two colours of the ground beyond
    second: Vector
    half_width_m: float
    pavement_m: float
    lane_m: float
    lanes: int  # in each direction
    median_m: float
    centre_line: float  # how much of a line there is in the middle
    kind: int  # of the ground beyond: LAWN, PLAZA or FIELDS
    grain: tuple[float, float]  # the direction of the fields


@inlined
def sunshine_at(sunshine: Singles, tile: int, u: float, v: float) -> float:
    """The share of the sun that reaches a place on a tile."""
    u, v = max(0.0, u * LIGHT_CELLS - 0.5), max(0.0, v * LIGHT_CELLS - 0.5)
    i, j = min(int(u), LIGHT_CELLS - 2), min(int(v), LIGHT_CELLS - 2)
    a, b = min(u - i, 1.0), min(v - j, 1.0)
    share: float = (1 - b) * ((1 - a) * sunshine[tile, j, i] + a * sunshine[tile, j, i + 1])
    share += b * ((1 - a) * sunshine[tile, j + 1, i] + a * sunshine[tile, j + 1, i + 1])
    return share


@inlined
def beside_route(middle: Array, x: float, y: float, k: int) -> tuple[float, float, int]:
    """How far left of the route a place lies, how far along, and the nearest of its points, from a first guess."""
    best, along, left, nearest = 1e18, 0.0, 0.0, k
    for _ in range(6):
        dx, dy = x - middle[k, 0], y - middle[k, 1]
        square = dx * dx + dy * dy
        if square >= best:
            break
        best, nearest = square, k
        along, left = dx * middle[k, 2] + dy * middle[k, 3], dy * middle[k, 2] - dx * middle[k, 3]
        k = min(max(k + int(np.rint(along / ROAD_STEP_M)), 0), len(middle) - 1)
    if abs(along) > 2.0 * ROAD_STEP_M:  # beyond an end of the route
        left = np.sqrt(best) * (1.0 if left >= 0.0 else -1.0)
    return left, nearest * ROAD_STEP_M + along, nearest


@inlined
def beside_street(streets: Array, k: int, x: float, y: float) -> float:
    """How far a place lies from the middle of a side street; far away for no street."""
    if k < 0:
        return 1e9
    dx, dy = x - streets[k, 0], y - streets[k, 1]
    along = dx * streets[k, 2] + dy * streets[k, 3]
    past = along - min(max(along, 0.0), streets[k, 4])
    left = dy * streets[k, 2] - dx * streets[k, 3]
    distance: float = np.sqrt(left * left + past * past)
    return distance


@inlined
def open_ground(paving: Paving, noise: Noise, x: float, y: float, fine_m: float, verge: bool) -> Vector:
    """The ground beyond the roads: lawn, paving, or fields in long strips; a verge is always grass."""
    first, second = paving.first, paving.second
    coarse = noise_at(noise, x / 3.1, y / 3.1, fine_m / 3.1)
    fine = noise_at(noise, x / 0.14, y / 0.14, fine_m / 0.14)
    if paving.kind == PLAZA:
        joints = pulses(x / 0.8, 0.0, 0.06, fine_m / 0.8) + pulses(y / 0.8, 0.0, 0.06, fine_m / 0.8)
        return mixed(first, second, 0.4 * coarse + 0.5 * joints + 0.3 * fine)
    share = 0.4 + 0.35 * coarse + 0.5 * fine + 0.5 * noise_at(noise, x / 0.55, y / 0.55, fine_m / 0.55)
    if paving.kind == FIELDS and not verge:
        u, v = paving.grain[0] * x + paving.grain[1] * y, paving.grain[0] * y - paving.grain[1] * x
        crop = noise_at(noise, np.floor(u / 90.0) + 0.5, np.floor(v / 160.0) + 0.5, 0.0)
        rows = pulses(v / 1.6, 0.0, 0.4, fine_m / 1.6)
        ripe = (0.46, 0.40, 0.20) if crop > 0.0 else (0.30, 0.24, 0.17)
        first = mixed(first, ripe, 0.0 if abs(crop) < 0.25 else 0.75)
        share = 0.1 + 0.5 * share + 0.15 * rows
    return mixed(first, second, min(1.2, max(-0.3, share)))


@inlined
def lines_at(paving: Paving, left: float, along: float, across_m: float, run_m: float) -> float:
    """The share of a place on the road that is painted with lines, for a footprint across and along it."""
    lane, away = paving.lane_m, abs(left)
    if paving.lanes == 1:
        dash = pulses(along / 9.0, 0.0, 0.4, run_m / 9.0)
        painted = paving.centre_line * dash * stripe(left, 0.0, 0.07, across_m)
        if paving.half_width_m > 1.76 * lane:  # there is a lane to park in
            painted += 0.8 * stripe(away, lane + 0.15, 0.06, across_m)
        return painted
    painted = stripe(away, paving.median_m + 0.1, 0.1, across_m)
    painted += stripe(away, paving.median_m + paving.lanes * lane + 0.1, 0.12, across_m)
    dash = pulses(along / 18.0, 0.0, 0.34, run_m / 18.0)
    for k in range(1, paving.lanes):
        painted += dash * stripe(away, paving.median_m + k * lane, 0.09, across_m)
    return painted


@inlined
def road_at(paving: Paving, noise: Noise, x: float, y: float, fine_m: float, left: float) -> Vector:
    """Bare asphalt: grain, patches, and the darker tracks of wheels."""
    grain = noise_at(noise, x / 0.07, y / 0.07, fine_m / 0.07)
    patch = noise_at(noise, x / 2.3, y / 5.1, fine_m / 2.3) + 0.6 * noise_at(noise, x / 0.6, y / 0.6, fine_m / 0.6)
    shade = 1.0 + 0.22 * grain + 0.12 * patch
    lane = (abs(left) - paving.median_m) / paving.lane_m
    off_middle = abs(lane - np.floor(lane) - 0.5)
    shade -= 0.07 * max(0.0, 1.0 - abs(off_middle - 0.22) / 0.1)
    return paving.asphalt[0] * shade, paving.asphalt[1] * shade, paving.asphalt[2] * shade


@inlined
def roadside(
    paving: Paving, noise: Noise, x: float, y: float, fine_m: float, kerb_m: float, soft_m: float, joints: float
) -> Vector:
    """The ground beside a road: its kerb, a pavement of slabs, and what lies beyond."""
    base = paving.pavement
    if kerb_m > paving.pavement_m - soft_m:
        base = open_ground(paving, noise, x, y, fine_m, kerb_m < 6.0)
    if kerb_m < paving.pavement_m + soft_m:
        grit = noise_at(noise, x / 0.12, y / 0.12, fine_m / 0.12)
        walk = mixed(paving.pavement, (0.08, 0.08, 0.08), 0.4 * joints + 0.15 * grit + 0.05)
        base = mixed(walk, base, step(kerb_m - paving.pavement_m, soft_m))
    return mixed(paving.kerb, base, step(kerb_m - 0.2, soft_m))


@inlined
def paving_at(
    ground: Ground, paving: Paving, noise: Noise, tile: int, u: float, v: float, x: float, y: float, trace: Trace
) -> Vector:
    """The colour of the ground on a tile near a road."""
    row, column = min(int(v * CELLS), CELLS - 1), min(int(u * CELLS), CELLS - 1)
    look_x, look_y, deep_m, wide_m = trace
    fine_m = np.sqrt(deep_m * wide_m)
    edge, left, along, k = 1e9, 1e9, 0.0, ground.cells[tile, row, column, 0]
    across_m, run_m, crossing, painted = deep_m, deep_m, 0.0, 0.0
    if k >= 0:
        left, along, k = beside_route(ground.middle, x, y, k)
        cos, sin = ground.middle[k, 2], ground.middle[k, 3]
        ahead, aside = abs(look_x * cos + look_y * sin), abs(look_y * cos - look_x * sin)
        across_m, run_m = aside * deep_m + ahead * wide_m, ahead * deep_m + aside * wide_m
        crossing, painted = ground.middle[k, 4], ground.middle[k, 5]
        edge = abs(left) - paving.half_width_m
    other = beside_street(ground.streets, ground.cells[tile, row, column, 1], x, y)
    other = min(other, beside_street(ground.streets, ground.cells[tile, row, column, 2], x, y)) - paving.half_width_m
    blend = max(0.0, CORNER_M - abs(edge - other)) / CORNER_M
    kerb_m = min(edge, other) - 0.25 * CORNER_M * blend * blend  # how far the kerb is, around corners too
    soft_m = max(0.03, across_m if other > 3.0 else fine_m)
    if kerb_m > soft_m:
        joints = pulses(along / 1.2, 0.0, 0.05, run_m / 1.2)
        return roadside(paving, noise, x, y, fine_m, kerb_m, soft_m, joints)
    asphalt = road_at(paving, noise, x, y, fine_m, left if edge < other else 0.0)
    if edge < 0.0:
        paint = painted * lines_at(paving, left, along, across_m, run_m)
        paint += crossing * pulses(left / 1.1, 0.0, 0.5, across_m / 1.1)
        worn = 0.9 + 0.3 * noise_at(noise, x / 0.2, y / 0.2, fine_m / 0.2)
        asphalt = mixed(asphalt, paving.lines, min(1.0, paint * worn))
    if paving.median_m > 0.0 and abs(left) < paving.median_m + soft_m:
        lawn = open_ground(paving, noise, x, y, fine_m, True)
        asphalt = mixed(lawn, asphalt, step(abs(left) - paving.median_m, soft_m))
    if kerb_m < -soft_m:
        return asphalt
    return mixed(asphalt, roadside(paving, noise, x, y, fine_m, kerb_m, soft_m, 0.0), step(kerb_m, soft_m))


@inlined
def ground_light(
    ground: Ground, paving: Paving, sky: Sky, noise: Noise, eye: Vector, t: float, ray: Vector, pixel: float
) -> Vector:
    """The light from where a ray of depth 1 meets the ground at depth t."""
    x, y = eye[0] + t * ray[0], eye[1] + t * ray[1]
    u, v = (x - ground.origin[0]) / TILE_M, (y - ground.origin[1]) / TILE_M
    tile = -1
    if u >= 0.0 and v >= 0.0 and u < ground.tile_of.shape[1] and v < ground.tile_of.shape[0]:
        tile = ground.tile_of[int(v), int(u)]
    level = np.sqrt(ray[0] * ray[0] + ray[1] * ray[1])
    wide_m = t * pixel
    deep_m = wide_m * t * level / eye[2]
    share = 1.0
    if tile < 0:
        colour = open_ground(paving, noise, x, y, np.sqrt(deep_m * wide_m), False)
    else:
        u, v = u - int(u), v - int(v)
        trace = (ray[0] / level, ray[1] / level, deep_m, wide_m)
        colour = paving_at(ground, paving, noise, tile, u, v, x, y, trace)
        share = sunshine_at(ground.sunshine, tile, u, v)
    up = sky.sun[2] * share
    return (
        colour[0] * (sky.ambient[0] + up * sky.sunlight[0]),
        colour[1] * (sky.ambient[1] + up * sky.sunlight[1]),
        colour[2] * (sky.ambient[2] + up * sky.sunlight[2]),
    )
