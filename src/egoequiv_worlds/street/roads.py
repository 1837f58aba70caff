"""Roads as solids: asphalt with lines, kerbs, pavements, crossings, and the ground beyond.

Everything is flat and lies in layers a little above each other, so that where roads meet asphalt covers pavements.
"""

from collections.abc import Iterator
from math import atan2, hypot, pi

import numpy as np

from egoequiv_worlds.render.solids import Paint, Rgb, Solids, Spot, grid, mottled, plain, road, scaled, stripes
from egoequiv_worlds.street import MEDIAN_M, Drive
from egoequiv_worlds.street.route import EASE_M, Line, Route
from egoequiv_worlds.things import Dice

LAWN_Z, FIELD_Z, WALK_Z, KERB_Z, STREET_Z, LINES_Z = -0.06, -0.05, -0.04, -0.02, -0.004, 0.004  # asphalt is at 0
WHITE = (0.66, 0.66, 0.63)
CROPS = ((0.42, 0.36, 0.18), (0.30, 0.24, 0.17), (0.2, 0.24, 0.08), (0.15, 0.2, 0.06))
LONGEST_M, SHARPEST_RAD = 40.0, 0.03  # of a straight piece, and of the bend in it
PLAIN_M = 16_000.0
Piece = tuple[Spot, float, float]  # a spot with its y axis along the road, its length, and where it begins


def lay(solids: Solids, drive: Drive, way: Route) -> None:
    """Put down the ground and all roads of a drive."""
    dice, style = Dice(drive.generator(61)), drive.style
    asphalt = scaled((0.155, 0.155, 0.16), dice.between(0.75, 1.35))
    walk = scaled((0.34, 0.33, 0.31), dice.between(0.8, 1.15))
    grass = scaled((0.15, 0.2, 0.06), dice.between(0.8, 1.2))
    lawn = mottled(scaled(grass, 1.3), scaled(grass, 0.5), 2.5, 1.6)
    plaza = grid(dice.near((0.32, 0.31, 0.29)), (0.2, 0.2, 0.19), 0.8, 0.8, 0.06, 0.1)
    middle, beyond = way.middle.points[len(way.middle.points) // 2], plaza if drive.area == "city" else lawn
    _slab(Spot(solids, *middle), PLAIN_M, PLAIN_M, LAWN_Z, beyond)
    slabs, kerb = grid(walk, scaled(walk, 0.6), 1.2, 1.2, 0.05, 0.1), plain((0.42, 0.41, 0.40), 0.2)
    bare, half = road(asphalt, WHITE, style.lane_m, 9.0, -1.0), style.half_width_m
    for line in (way.middle, *way.streets):
        z = 0.0 if line is way.middle else STREET_Z
        for spot, long, _ in pieces(solids, line, half + style.pavement_m):
            _slab(spot, 2 * half, long, z, bare)
            if style.pavement_m > 0.0:
                _slab(spot, 2 * half + 0.4, long, KERB_Z, kerb)
                _slab(spot, 2 * (half + style.pavement_m), long, WALK_Z, slabs)
    centre = 1.0 if drive.area == "city" else dice.one_of((0.0, 0.0, 0.8))
    if style.lanes_each_way > 1:
        _highway(solids, dice, drive, way, asphalt, lawn)
        return
    parked = 0.8 if half > 1.76 * style.lane_m else 0.0
    for spot, long, start_m in pieces(solids, way.middle, 0.0, _painted(drive, way)):
        lines = road(asphalt, WHITE, 99.0, 9.0, centre, start_m, parked)
        _slab(spot, 2 * (style.lane_m + 0.4 if parked else half), long, LINES_Z, lines)
    if drive.area == "city":
        zebra = stripes(WHITE, asphalt, 1.1, 0.5)
        for at_m in _crossings(drive, way):
            (x, y), heading = way.middle.at(np.asarray(at_m + 1.6))
            _slab(Spot(solids, float(x), float(y), float(heading) - pi / 2), 2 * half, 3.2, LINES_Z, zebra)


def _slab(spot: Spot, wide: float, long: float, top_z: float, paint: Paint) -> None:
    spot.box(0, 0, top_z - 0.2, (wide, long, 0.2), paint, casts=False)


def pieces(solids: Solids, line: Line, half_m: float, wanted: np.ndarray | None = None) -> Iterator[Piece]:
    """Straight pieces of a line, overlapping in bends."""
    k, last = 0, len(line.points) - 1
    while k < last:
        n = k + 1
        while n < last and line.lengths_m[n] - line.lengths_m[k] < LONGEST_M and (wanted is None or wanted[n]):
            if abs(line.headings_rad[n + 1] - line.headings_rad[k]) > SHARPEST_RAD:
                break
            n += 1
        if wanted is None or wanted[k]:
            (x, y), (to_x, to_y) = line.points[k], line.points[n]
            bend = abs(float(line.headings_rad[n] - line.headings_rad[k]))
            spot = Spot(solids, (x + to_x) / 2, (y + to_y) / 2, atan2(to_y - y, to_x - x) - pi / 2)
            yield spot, hypot(to_x - x, to_y - y) + bend * half_m + 0.02, float(line.lengths_m[k])
        k = n


def _painted(drive: Drive, way: Route) -> np.ndarray:
    """Which points of the route have lines: those away from junctions and crossings."""
    lengths = way.middle.lengths_m
    painted = np.ones(len(lengths), bool)
    for junction in way.junctions:
        if junction.has_streets:
            painted[(lengths > junction.begin_m - EASE_M - 2.0) & (lengths < junction.end_m + EASE_M + 2.0)] = False
    for at_m in _crossings(drive, way) if drive.area == "city" else ():
        painted[(lengths > at_m - 1.0) & (lengths < at_m + 4.0)] = False
    return painted


def _crossings(drive: Drive, way: Route) -> Iterator[float]:
    """Where zebra crossings begin: before and behind each junction."""
    walk = drive.style.pavement_m
    for junction in way.junctions:
        margin = 1.0 if junction.turns else 0.0
        yield junction.begin_m + margin - 5.0 - walk / 2
        yield junction.end_m - margin + 1.5 + walk / 2


def _highway(solids: Solids, dice: Dice, drive: Drive, way: Route, asphalt: Rgb, lawn: Paint) -> None:
    """The lanes of both directions, grass between them, and crops in strips along the road."""
    style, lanes_m = drive.style, drive.style.lanes_each_way * drive.style.lane_m
    for side in (-1.0, 1.0):
        lanes = way.middle.beside(side * (MEDIAN_M + lanes_m / 2))
        for spot, long, start_m in pieces(solids, lanes, (lanes_m + 0.7) / 2):
            _slab(spot, lanes_m + 0.7, long, LINES_Z, road(asphalt, WHITE, style.lane_m, 18.0, 1.0, start_m))
    for spot, long, _ in pieces(solids, way.middle, MEDIAN_M):
        _slab(spot, 2 * MEDIAN_M - 0.6, long, 0.05, lawn)
    for side in (-1.0, 1.0):
        for at_m in np.arange(0.0, way.middle.lengths_m[-1], 90.0):
            (x, y), heading = way.middle.at(np.asarray(at_m + 45.0))
            ripe = dice.near(dice.one_of(CROPS), 0.2)
            drilled, broadcast = stripes(ripe, scaled(ripe, 0.75), 1.6, 0.4), mottled(ripe, scaled(ripe, 0.6), 4.0)
            spot = Spot(solids, float(x), float(y), float(heading) - pi / 2)
            spot = spot.at(side * (style.half_width_m + 8.0 + 80.0), 0)
            _slab(spot, 160.0, 90.0, FIELD_Z, drilled if dice.chance(0.4) else broadcast)
