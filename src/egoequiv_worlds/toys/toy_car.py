"""Toy cars: saloon, hatchback, sports car, pickup and beetle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.render.primitives import box, capsule, ellipsoid, extrusion, tube
from egoequiv_worlds.toys.parts import Paint, axles, front_and_rear, mixed, pair, vary

Outline = Sequence[tuple[float, float]]


def _arched(
    front: float, rear: float, floor: float, upper: Outline, wheels: tuple[float, float], radius: float
) -> Outline:
    """The side view of a body: the upper line from front to rear, and wheel arches cut in from below."""
    lower: list[tuple[float, float]] = [(rear, floor)]
    for x in wheels:
        turn = np.radians([170.0, 135.0, 90.0, 45.0, 10.0])
        lower += [(x + radius * float(np.cos(t)), floor + radius * 0.95 * float(np.sin(t))) for t in turn]
    return [*lower, (front, floor), *upper]


def _cabin(outline: Outline, width: float, narrowing: float, paint: Paint, albedo: float) -> list[Part]:
    """A cabin (front foot, front top, rear top, rear foot) of dark glass, with a roof and pillars in paint."""
    (x0, low), (x1, high), (x2, _), (x3, _) = outline
    glass = extrusion(outline, width, 0.03).narrowed(low, high, narrowing)
    top = width * (1 - narrowing)
    roof = box(((x1 + x2) / 2, 0, high), (x1 - x2 + 0.07, top + 0.02, 0.06), 0.028)
    pillars = []
    inset = 0.012
    for foot, head in ((x0, x1), (x3, x2), ((x0 + x3) / 2, (x1 + x2) / 2)):
        bar = capsule((foot, width / 2 - inset, low), (head, top / 2 - inset, high), 0.03, 0.028, 6)
        pillars += pair(bar, albedo)
    return [Part(glass, paint.black), Part(roof, albedo), *pillars]


def saloon(rng: Generator) -> list[Part]:
    """Three boxes: hood, cabin and boot."""
    paint, half, tall = mixed(rng), vary(rng, 0.95, 0.08), vary(rng, 0.27)
    wide, floor, waist, r = 0.74, 0.13, 0.43, 0.17
    wheels = (-half * 0.6, half * 0.6)
    upper = [
        (half, 0.33),
        (half - 0.05, 0.39),
        (0.4, waist),
        (-half + 0.35, waist),
        (-half + 0.03, waist - 0.03),
        (-half, 0.33),
    ]
    return [
        Part(extrusion(_arched(half, -half, floor, upper, wheels, 0.21), wide, 0.05), paint.base),
        *_cabin(
            [(0.45, waist - 0.02), (0.18, waist + tall), (-0.33, waist + tall), (-0.6, waist - 0.02)],
            wide - 0.06,
            0.16,
            paint,
            paint.base,
        ),
        *front_and_rear(half, -half, wide / 2, 0.32, paint),
        *axles(wheels, wide / 2 + 0.005, r, 0.13, paint),
    ]


def hatchback(rng: Generator) -> list[Part]:
    """Short and tall, its roof running to the very end."""
    paint, half, tall = mixed(rng), vary(rng, 0.72, 0.08), vary(rng, 0.34)
    wide, floor, waist, r = 0.74, 0.14, 0.47, 0.17
    wheels = (-half * 0.62, half * 0.62)
    upper = [(half, 0.34), (half - 0.05, 0.42), (0.3, waist), (-half + 0.05, waist + 0.02), (-half, 0.4)]
    return [
        Part(extrusion(_arched(half, -half, floor, upper, wheels, 0.21), wide, 0.06), paint.base),
        *_cabin(
            [(0.42, waist - 0.02), (0.14, waist + tall), (-half + 0.22, waist + tall), (-half + 0.05, waist)],
            wide - 0.05,
            0.15,
            paint,
            paint.light,
        ),
        *front_and_rear(half, -half, wide / 2, 0.34, paint),
        *pair(box(((0.36 - half) / 2, 0.2, waist + tall + 0.04), (0.75 * half - 0.05, 0.035, 0.04), 0.012), paint.dark),
        *axles(wheels, wide / 2 + 0.005, r, 0.13, paint),
    ]


def sports_car(rng: Generator) -> list[Part]:
    """A low wedge with an open cockpit, a stripe and a wing on its tail."""
    paint, half = mixed(rng), vary(rng, 0.95, 0.06)
    wide, floor, r = 0.8, 0.1, 0.145
    wheels = (-half * 0.6, half * 0.6)
    waist = vary(rng, 0.37, 0.04)
    upper = [
        (half, 0.22),
        (half - 0.06, 0.27),
        (half * 0.72, waist - 0.03),
        (0.25, waist),
        (-half + 0.1, waist + 0.04),
        (-half, 0.3),
    ]
    screen = [(0.3, waist - 0.03), (0.34, waist - 0.03), (0.14, waist + 0.16), (0.1, waist + 0.16)]
    return [
        Part(extrusion(_arched(half, -half, floor, upper, wheels, 0.19), wide, 0.05), paint.base),
        Part(extrusion(screen, wide - 0.14, 0.012).narrowed(waist, waist + 0.16, 0.15), paint.black),
        Part(box((-0.08, 0, waist + 0.01), (0.5, wide - 0.24, 0.05), 0.02), paint.black),
        *pair(ellipsoid((-0.2, 0.15, waist + 0.07), (0.07, 0.1, 0.12), 10), paint.light),
        Part(ellipsoid((-0.55, 0, waist + 0.03), (0.3, 0.27, 0.09)), paint.base),
        Part(box((-half + 0.08, 0, waist + 0.2), (0.2, wide, 0.03), 0.012), paint.dark),
        *pair(box((-half + 0.1, 0.25, waist + 0.1), (0.1, 0.03, 0.2), 0.01), paint.dark),
        *front_and_rear(half - 0.02, -half, wide / 2, 0.24, paint)[:4],
        *axles(wheels, wide / 2 + 0.01, r, 0.16, paint),
    ]


def pickup(rng: Generator) -> list[Part]:
    """A cabin in the middle and an open bed behind it."""
    paint, half, tall = mixed(rng), vary(rng, 0.98, 0.06), vary(rng, 0.3)
    wide, floor, waist, r = 0.76, 0.18, 0.5, 0.2
    wheels = (-half * 0.6, half * 0.6)
    bed_floor, bed_start = 0.36, -0.18
    upper = [
        (half, 0.4),
        (half - 0.05, 0.47),
        (0.4, waist),
        (bed_start, waist),
        (bed_start - 0.01, bed_floor),
        (-half, bed_floor),
    ]
    sides = box(((bed_start - half) / 2, wide / 2 - 0.035, waist - 0.07), (half + bed_start, 0.07, 0.16), 0.025)
    return [
        Part(extrusion(_arched(half, -half, floor, upper, wheels, 0.23), wide, 0.05), paint.base),
        *_cabin(
            [(0.48, waist - 0.02), (0.27, waist + tall), (-0.1, waist + tall), (-0.16, waist - 0.02)],
            wide - 0.05,
            0.13,
            paint,
            paint.base,
        ),
        *pair(sides, paint.base),
        Part(box((-half + 0.035, 0, waist - 0.07), (0.07, wide, 0.16), 0.025), paint.base),
        Part(
            box(((bed_start - half) / 2, 0, bed_floor + 0.01), (half + bed_start - 0.1, wide - 0.15, 0.03), 0.01),
            paint.dark,
        ),
        *front_and_rear(half, -half, wide / 2, 0.38, paint),
        *axles(wheels, wide / 2 + 0.01, r, 0.15, paint),
    ]


def beetle(rng: Generator) -> list[Part]:
    """All curves: a domed cabin, a round hood and wings over the wheels."""
    paint, half = mixed(rng), vary(rng, 0.8, 0.06)
    wide, r = 0.6, 0.16
    wheels = (-half * 0.6, half * 0.6)
    tall = vary(rng, 0.36, 0.08)
    hull = [
        (half - 0.12, 0, 0.26),
        (half * 0.5, 0, 0.32),
        (0.0, 0, 0.33),
        (-half * 0.5, 0, 0.34),
        (-half + 0.14, 0, 0.26),
    ]
    girth = [(0.16, 0.12), (0.26, 0.18), (0.3, 0.2), (0.28, 0.19), (0.17, 0.13)]
    wings = []
    for x in wheels:
        wings += pair(ellipsoid((x, wide / 2 + 0.03, 0.24), (0.26, 0.12, 0.17), 14), paint.base)
    lamps = pair(ellipsoid((half * 0.6 + 0.22, wide / 2 - 0.01, 0.31), (0.05, 0.065, 0.065), 10), 0.85)
    dome = ellipsoid((-0.08, 0, 0.42), (0.52, 0.3, tall), 18)
    band = ellipsoid((-0.08, 0, 0.5), (0.53, 0.308, tall * 0.52), 18)
    return [
        Part(tube(hull, girth, 16), paint.base),
        Part(dome, paint.base),
        Part(band, paint.black),
        *wings,
        *lamps,
        *pair(box((0.0, wide / 2 + 0.05, 0.13), (half * 0.8, 0.12, 0.05), 0.02), paint.dark),
        Part(
            tube([(half + 0.04, -0.3, 0.18), (half + 0.08, 0, 0.18), (half + 0.04, 0.3, 0.18)], [0.03, 0.035, 0.03], 8),
            paint.light,
        ),
        Part(
            tube(
                [(-half - 0.02, -0.3, 0.18), (-half - 0.06, 0, 0.18), (-half - 0.02, 0.3, 0.18)], [0.03, 0.035, 0.03], 8
            ),
            paint.light,
        ),
        *axles(wheels, wide / 2 + 0.13, r, 0.13, paint),
    ]


DESIGNS = (saloon, hatchback, sports_car, pickup, beetle)
