"""Light from the sky and from the ground: what a pixel sees if no object is in front of it.

The ground is not made of faces: the distance of each pixel from the middle of the nearest road decides if it is
asphalt, line, kerb, pavement or grass, averaged over its footprint so that nothing flickers far away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.street.inlined import inlined
from egoequiv.worlds.street.shapes import NOISE_SIZE, SHADE, Array, Faces, Noise, Numbers, Sky, Vector, View

Light = NDArray[np.float32]
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
    sunshine: Light  # (T, LIGHT_CELLS, LIGHT_CELLS), the share of the sun that reaches the ground
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
def noise_at(noise: Noise, u: float, v: float, footprint: float) -> float:
    """Noise at a place, its finest grain one unit wide, smooth between grains and averaged over its footprint."""
    if footprint > 24.0:  # so many grains are gray
        return 0.0
    level, scale = 0, 1.0
    while footprint * scale > 1.0:
        level, scale = level + 1, 0.5 * scale
    size = NOISE_SIZE >> level
    start = 4 * (NOISE_SIZE * NOISE_SIZE - size * size) // 3  # the finer levels lie before
    u, v = u * scale - 0.5, v * scale - 0.5
    column, row = np.floor(u), np.floor(v)
    a, b = u - column, v - row
    i, j = int(column) & (size - 1), int(row) & (size - 1)
    i2 = (i + 1) & (size - 1)
    upper, lower = start + j * size, start + ((j + 1) & (size - 1)) * size
    above = (1.0 - a) * noise[upper + i] + a * noise[upper + i2]
    below = (1.0 - a) * noise[lower + i] + a * noise[lower + i2]
    value: float = (1.0 - b) * above + b * below
    return value


@inlined
def pulse_sum(x: float, low: float, high: float) -> float:
    """The integral from 0 to x of a train of pulses of period 1 that are on from `low` to `high`."""
    whole = np.floor(x)
    total: float = whole * (high - low) + min(max(x - whole - low, 0.0), high - low)
    return total


@inlined
def pulses(x: float, low: float, high: float, width: float) -> float:
    """The share of a footprint around x that lies on pulses of period 1."""
    width = max(width, 1e-4)
    return (pulse_sum(x + width / 2, low, high) - pulse_sum(x - width / 2, low, high)) / width


@inlined
def step(x: float, width: float) -> float:
    """From 0 to 1 where x passes 0, over a width."""
    return min(1.0, max(0.0, x / max(width, 1e-4) + 0.5))


@inlined
def stripe(x: float, middle: float, half: float, width: float) -> float:
    """The share of a footprint around x that lies on one stripe."""
    low, high = max(x - width / 2, middle - half), min(x + width / 2, middle + half)
    return max(0.0, high - low) / max(width, 1e-4)


@inlined
def mixed(a: Vector, b: Vector, share: float) -> Vector:
    """From one colour to another."""
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))


@inlined
def sky_light(sky: Sky, skyline: Array, noise: Noise, x: float, y: float, z: float) -> Vector:
    """The light from a direction of length 1 at or above the horizon, with clouds and a far skyline."""
    light = mixed(sky.horizon, sky.zenith, np.sqrt(min(1.0, z * 1.6)))
    glow = max(0.0, x * sky.sun[0] + y * sky.sun[1] + z * sky.sun[2])
    glow = glow * glow
    glow = 0.5 * (1.0 - 0.7 * sky.cover) * glow * glow * glow
    light = (light[0] + glow, light[1] + glow, light[2] + 0.8 * glow)
    if z > 0.01:
        u, v = 6.0 * x / (z + 0.09), 6.0 * y / (z + 0.09)
        puff = noise_at(noise, u * 0.3, v * 0.3, 0.0) + 0.5 * noise_at(noise, u, v, 0.0)
        puff += 0.25 * noise_at(noise, 2.7 * u, 2.7 * v, 0.0)
        cloud = min(1.0, max(0.0, 0.9 * puff + 1.6 * sky.cover - 0.55)) * min(1.0, z * 8.0)
        white = 1.05 - 0.25 * sky.cover
        light = mixed(light, (white, white, white + 0.02), cloud)
    slope = z / (np.sqrt(x * x + y * y) + 1e-9)
    if slope < 0.2:
        turn = (np.arctan2(y, x) / (2 * np.pi) + 1.0) * len(skyline)
        k = int(turn)
        between = turn - k
        k = k % len(skyline)
        top = (1.0 - between) * skyline[k] + between * skyline[(k + 1) % len(skyline)]
        light = mixed(light, sky.skyline, step(top - slope, 0.004))
    return light


@inlined
def sunshine_at(sunshine: Light, tile: int, u: float, v: float) -> float:
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


@inlined
def shade_of(faces: Faces, f: int, x: float, y: float) -> float:
    """How dark the soft shadow beneath something is at a place: strongest in its middle."""
    dx, dy = x - faces.corners[f, 0, 0], y - faces.corners[f, 0, 1]
    u = dx * faces.frames[f, 1, 0] + dy * faces.frames[f, 1, 1]
    v = dx * faces.frames[f, 2, 0] + dy * faces.frames[f, 2, 1]
    rim = min(min(u, faces.params[f, 0] - u), min(v, faces.params[f, 1] - v))
    dark: float = faces.params[f, 2] * min(1.0, max(0.0, rim / faces.params[f, 3]))
    return dark


@inlined
def bare(seen: NDArray[np.int32], materials: Numbers, row: int, column: int, fineness: int) -> tuple[int, int, int]:
    """How many fine pixels of a pixel see sky or ground, how many of them in a shadow, and the face of that shadow."""
    count, shaded, shadow = 0, 0, -1
    for j in range(row * fineness, (row + 1) * fineness):
        for i in range(column * fineness, (column + 1) * fineness):
            f = seen[j, i]
            if f < 0:
                count += 1
            elif f < len(materials) and materials[f] == SHADE:
                count, shaded, shadow = count + 1, shaded + 1, f
    return count, shaded, shadow


@compiled
def shade_backdrop(
    view: View,
    faces: Faces,
    sky: Sky,
    ground: Ground,
    paving: Paving,
    noise: Noise,
    seen: NDArray[np.int32],
    light: Light,
) -> None:
    """Add to `light` (H, W, 3) the sky and the ground, by the share of finer pixels in `seen` that see it.

    Each pixel is computed once, because its textures are averaged over its footprint anyway.
    """
    fineness = seen.shape[0] // light.shape[0]
    eye, ahead, right, up, pixel = view.eye, view.forward, view.right, view.up, fineness / view.focal_px
    for row in range(light.shape[0]):
        rise = (light.shape[0] / 2 - row - 0.5) * pixel
        for column in range(light.shape[1]):
            count, shaded, shadow = bare(seen, faces.materials, row, column, fineness)
            if count == 0:
                continue
            side = (column + 0.5 - light.shape[1] / 2) * pixel
            x = ahead[0] + side * right[0] + rise * up[0]
            y = ahead[1] + side * right[1] + rise * up[1]
            z = ahead[2] + side * right[2] + rise * up[2]
            if z > -0.0005:
                length = np.sqrt(x * x + y * y + z * z)
                found = sky_light(sky, ground.skyline, noise, x / length, y / length, max(0.0, z / length))
            else:
                t = -eye[2] / z
                found = ground_light(ground, paving, sky, noise, eye, t, (x, y, z), pixel)
                if shaded > 0:
                    dark = shade_of(faces, shadow, eye[0] + t * x, eye[1] + t * y)
                    found = mixed(found, (0.0, 0.0, 0.0), dark * shaded / count)
                far = t / sky.fog_m
                found = mixed(found, sky.horizon, far * far / (1.0 + far * far))
            share = count / (fineness * fineness)
            light[row, column, 0] += share * found[0]
            light[row, column, 1] += share * found[1]
            light[row, column, 2] += share * found[2]
