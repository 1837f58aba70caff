"""From fragments to colours: the patterns of all paints, smoothed over the width of a pixel."""

from __future__ import annotations

import numpy as np

from egoequiv.compiled import compiled
from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.fragments import AT_Y, FACE, NORMAL_Y, PRINT_U, PRINT_V, SOLID, Fragments, U, V
from egoequiv_worlds.render.noise import Texture
from egoequiv_worlds.render.patterns import band, chance, ramp, sample
from egoequiv_worlds.render.solids import (
    BLOTCHES,
    BLUE,
    BLUE_B,
    FACADE,
    GLOW,
    GOODS,
    GREEN,
    GREEN_B,
    GRID,
    HALF_X,
    HALF_Y,
    HALF_Z,
    HILLSIDE,
    MATERIAL,
    MOTTLED,
    OUTSIDE,
    PLAIN,
    RED,
    RED_B,
    ROAD,
    SCALE_U,
    SCALE_V,
    SEED,
    SHARE_U,
    SHARE_V,
    STRIPES,
    WATER,
)

TEXELS = 24.0  # of a noise texture in the size that a paint names


@compiled
def paint(found: Fragments, solids: Array, fine: Texture, cloud: Texture) -> Array:
    """Red, green, blue and glow of all fragments, (N, 4); those of the sky stay empty."""
    colors = np.zeros((len(found), 4))
    for k in range(len(found)):
        if found[k, SOLID] >= 0.0:
            pattern(found[k], solids[int(found[k, SOLID])], fine, cloud, colors[k])
    return colors


@compiled
def pattern(fragment: Fragments, solid: Array, fine: Texture, cloud: Texture, color: Array) -> None:
    """Set the colour of one fragment."""
    material = solid[MATERIAL]
    u, v, seed = fragment[U], fragment[V], solid[SEED]
    print_u, print_v = fragment[PRINT_U], fragment[PRINT_V]
    color[3] = solid[GLOW]
    width = 1.4 * min(print_u, print_v)
    shade, dirt = 0.0, 1.0
    if width < 0.5 and material != HILLSIDE and material != MOTTLED and material != ROAD:
        grain = sample(fine, 60.0 * u + seed, 60.0 * v + 2.0 * seed, 60.0 * width)
        dirt += (solid[SHARE_U] if material == PLAIN else 0.1) * (grain - 0.5)
    if material == MOTTLED:
        shade = mottle(fragment, solid, fine, cloud)
    elif material == STRIPES:
        along, reach = (v, print_v) if solid[SHARE_V] > 0.5 else (u + 0.5 * solid[SCALE_U], print_u)
        shade = band(along / solid[SCALE_U], reach / solid[SCALE_U], solid[SHARE_U])
    elif material == GRID:
        shade, dirt = cells(fragment, solid, dirt)
    elif material == BLOTCHES:
        near = sample(
            cloud, TEXELS * u / solid[SCALE_U] + seed, TEXELS * v / solid[SCALE_U], TEXELS * width / solid[SCALE_U]
        )
        shade = ramp(near, 0.5 - solid[SHARE_U], 0.5 + solid[SHARE_U])
    elif material == HILLSIDE:
        shade, dirt = hillside(fragment, solid, fine, cloud)
    elif material == ROAD:
        shade, dirt = lanes(fragment, solid, fine, cloud)
    elif material == WATER:
        waves = sample(fine, TEXELS * u / solid[SCALE_U], TEXELS * v / solid[SCALE_V], TEXELS * width / solid[SCALE_V])
        shade = ramp(waves, 0.95 - 0.4 * solid[SHARE_U], 1.1 - 0.3 * solid[SHARE_U])
        dirt = 0.6 + 0.8 * waves
    color[0] = (solid[RED] + shade * (solid[RED_B] - solid[RED])) * dirt
    color[1] = (solid[GREEN] + shade * (solid[GREEN_B] - solid[GREEN])) * dirt
    color[2] = (solid[BLUE] + shade * (solid[BLUE_B] - solid[BLUE])) * dirt
    if fragment[FACE] not in (2.0, 3.0):
        if material == FACADE:
            windows(fragment, solid, color)
        elif material == GOODS:
            shelves(fragment, solid, color)
        elif material == OUTSIDE:
            view_out(fragment, solid, cloud, color)


@compiled
def mottle(fragment: Fragments, solid: Array, fine: Texture, cloud: Texture) -> float:
    """Two octaves of noise, stretched by the paint's contrast."""
    scale = TEXELS / solid[SCALE_U]
    width = 1.4 * min(fragment[PRINT_U], fragment[PRINT_V])
    u, v = fragment[U] * scale + solid[SEED], fragment[V] * scale
    wide = sample(cloud, u, v, width * scale)
    small = sample(fine, 2.7 * u, 2.7 * v, 2.7 * width * scale)
    shade = 0.5 + solid[SHARE_U] * (1.2 * (wide - 0.5) + 1.0 * (small - 0.5))
    return float(min(max(shade, 0.0), 1.0))


@compiled
def cells(fragment: Fragments, solid: Array, dirt: float) -> tuple[float, float]:
    """Lines between cells, and a brightness for each cell."""
    u, v = fragment[U] / solid[SCALE_U] + 0.5, fragment[V] / solid[SCALE_V]
    reach_u, reach_v = fragment[PRINT_U] / solid[SCALE_U], fragment[PRINT_V] / solid[SCALE_V]
    line = solid[SHARE_U]
    line_v = min(0.5, line * solid[SCALE_U] / solid[SCALE_V])
    lines = 1.0 - (1.0 - band(u, reach_u, line)) * (1.0 - band(v, reach_v, line_v))
    vary = solid[SHARE_V] * min(max(1.5 - reach_u, 0.0), 1.0) * min(max(1.5 - reach_v, 0.0), 1.0)
    own = chance(np.floor(u), np.floor(v), solid[SEED])
    return lines, dirt * (1.0 + vary * (2.0 * own - 1.0))


@compiled
def hillside(fragment: Fragments, solid: Array, fine: Texture, cloud: Texture) -> tuple[float, float]:
    """The second colour above a height, where the slope is not too steep."""
    scale = TEXELS / solid[SCALE_U]
    width = 1.4 * min(fragment[PRINT_U], fragment[PRINT_V])
    u, v = fragment[U] * scale, fragment[V] * scale
    wide, small = sample(cloud, u, v, width * scale), sample(fine, 3.1 * u, 3.1 * v, 3.1 * width * scale)
    blend = solid[SHARE_U]
    high = ramp(fragment[AT_Y] + 2.5 * blend * (wide - 0.5), solid[SCALE_V] - blend, solid[SCALE_V] + blend)
    gentle = ramp(fragment[NORMAL_Y] + 0.35 * (small - 0.5), 0.55, 0.75)
    near = sample(fine, 4.0 * fragment[U], 4.0 * fragment[V], 4.0 * width) if width < 16.0 else 0.5
    return high * gentle, (0.35 + 0.75 * wide + 0.55 * small) * (0.75 + 0.5 * near)


@compiled
def lanes(fragment: Fragments, solid: Array, fine: Texture, cloud: Texture) -> tuple[float, float]:
    """Solid lines along both edges of a road and dashed ones between its lanes, on worn asphalt."""
    u, v, lane = fragment[U], fragment[V], solid[SCALE_U]
    edge = solid[HALF_X] - 0.4
    reach = max(fragment[PRINT_U], 1e-3)
    side = min(max((0.09 - abs(abs(u) - edge)) / reach + 0.5, 0.0), 1.0) * min(1.0, 0.18 / reach)
    near = abs(u / lane - np.round(u / lane)) * lane
    between = min(max((0.09 - near) / reach + 0.5, 0.0), 1.0) * min(1.0, 0.18 / reach)
    if abs(u) > edge - 0.6 * lane:
        between = 0.0
    dashes = band(v / solid[SCALE_V], fragment[PRINT_V] / solid[SCALE_V], 0.4)
    width = 1.4 * min(fragment[PRINT_U], fragment[PRINT_V])
    wear = sample(cloud, 8.0 * u + solid[SEED], 2.0 * v, 6.0 * width)
    small = sample(fine, 30.0 * u, 30.0 * v, 30.0 * width)
    tracks = 0.5 + 0.5 * np.cos(4.0 * np.pi * u / lane)
    dirt = 1.0 + solid[SHARE_U] * (1.2 * (wear - 0.5) + 0.5 * (small - 0.5) + 0.25 * (tracks - 0.5))
    return max(side, between * dashes), dirt


@compiled
def windows(fragment: Fragments, solid: Array, color: Array) -> None:
    """Windows in a wall, each with its own brightness; larger ones at the street."""
    u, v = fragment[U] / solid[SCALE_U], fragment[V] / solid[SCALE_V]
    reach_u, reach_v = fragment[PRINT_U] / solid[SCALE_U], fragment[PRINT_V] / solid[SCALE_V]
    share_u, share_v, shift = solid[SHARE_U], solid[SHARE_V], 0.0
    if v < 1.0:
        share_u, share_v, shift = min(0.92, 1.25 * share_u), min(0.85, 1.2 * share_v), 0.1
    inside = band(u + 0.5 * share_u, reach_u, share_u) * band(v - 0.5 * (1.0 - share_v) + shift, reach_v, share_v)
    own = chance(np.floor(u + 0.5 * share_u), np.floor(v), solid[SEED])
    sharp = min(max(1.6 - max(reach_u, reach_v), 0.0), 1.0)
    own = own * sharp + 0.5 * (1.0 - sharp)
    glass = 0.45 + 1.1 * own + (1.2 if 0.82 < own < 0.92 else 0.0)
    lit = (1.0 if own < solid[GLOW] else 0.0) * sharp + solid[GLOW] * (1.0 - sharp)
    ledge = 0.12 * band(v, reach_v, 0.06)
    for axis in range(3):
        wall = color[axis] * (1.0 - ledge)
        warm = 1.0 - 0.22 * axis * own
        pane = solid[RED_B + axis] * glass * (1.0 - lit) + 0.9 * warm * lit
        color[axis] = wall + inside * (pane - wall)
    color[3] = inside * lit * (0.1 + 1.1 * (own / max(solid[GLOW], 0.05)) ** 2)


@compiled
def shelves(fragment: Fragments, solid: Array, color: Array) -> None:
    """Items side by side on shelves, each with its own height and colour."""
    row = np.floor(fragment[V] / solid[SCALE_V])
    above = fragment[V] / solid[SCALE_V] - row
    pack = 1.0 + np.floor(3.0 * chance(row, 0.0, solid[SEED]))  # items of one kind stand together
    u = fragment[U] / solid[SCALE_U] * (0.7 + 0.6 * chance(row, 1.0, solid[SEED])) + 50.0
    item, group = np.floor(u), np.floor(u / pack)
    tall = solid[SHARE_U] * (0.7 + 0.3 * chance(group, row, 3.0 + solid[SEED]))
    there = chance(item, row, 9.0 + solid[SEED]) < 0.4 + 0.6 * solid[SHARE_U]
    reach = max(fragment[PRINT_V] / solid[SCALE_V], 1e-3)
    board = min(1.0, max(0.0, (0.07 - above) / reach + 0.5))
    filled = min(1.0, max(0.0, (tall - above) / reach + 0.5)) if there else 0.0
    gap = band(u, fragment[PRINT_U] / solid[SCALE_U], 0.14)
    bright = 0.35 + 1.2 * chance(group, row, 5.0 + solid[SEED])
    label = 1.0 + 0.7 * (band(above * 3.0, 3.0 * reach, 0.35) - 0.35) * solid[SHARE_V]
    for axis in range(3):
        hue = 1.0 - solid[SHARE_V] * chance(group, row + 31.0 * axis, 7.0 + solid[SEED])
        ware = solid[RED + axis] * bright * hue * label * (1.0 - 0.7 * gap)
        value = solid[RED_B + axis] * 0.35 + filled * (ware - solid[RED_B + axis] * 0.35)
        color[axis] = value + board * (solid[RED_B + axis] - value)


@compiled
def view_out(fragment: Fragments, solid: Array, cloud: Texture, color: Array) -> None:
    """Sky above a dark line of trees or houses, behind the bars of a window."""
    u, v = fragment[U], fragment[V]
    high = v / (2.0 * solid[HALF_Y])
    scale = 30.0
    edge = sample(cloud, scale * u + solid[SEED], 3.0, scale * fragment[PRINT_U])
    depth = sample(cloud, 2.0 * scale * u, 2.0 * scale * v + solid[SEED], 2.0 * scale * fragment[PRINT_U])
    sky = ramp(high, solid[SHARE_U] + 0.6 * (edge - 0.5) - 0.03, solid[SHARE_U] + 0.6 * (edge - 0.5) + 0.03)
    half = solid[HALF_X] if fragment[FACE] >= 4.0 else solid[HALF_Z]
    rim = min(half - abs(u), v, 2.0 * solid[HALF_Y] - v)
    bars = max(1.0 if rim < 0.05 else 0.0, band(u / solid[SCALE_U] + 0.03, fragment[PRINT_U] / solid[SCALE_U], 0.06))
    bars = max(bars, band(v / solid[SCALE_V] + 0.03, fragment[PRINT_V] / solid[SCALE_V], 0.06))
    for axis in range(3):
        seen = solid[RED_B + axis] * (0.5 + depth) + sky * (solid[RED + axis] - solid[RED_B + axis] * (0.5 + depth))
        color[axis] = seen + bars * (0.75 - seen)
    color[3] = solid[GLOW] * (1.0 - 0.92 * bars)
