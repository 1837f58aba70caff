"""Toy cars: saloon, hatchback, sports car, pickup and beetle."""

from collections.abc import Sequence

import numpy as np

from egoequiv_worlds.render.mesh import box, capsule, ellipsoid, extrusion, tube
from egoequiv_worlds.toys import Brush, Category, Model, pair

Outline = Sequence[tuple[float, float]]


def _body(
    toy: Model, half: float, floor: float, upper: Outline, r: float, wide: float, bevel: float = 0.05, at: float = 0.6
) -> None:
    """A body by its side view: the upper line from front to rear, and wheel arches cut in from below."""
    turn = np.radians([170.0, 135.0, 90.0, 45.0, 10.0])
    lower = [(x + r * np.cos(t), floor + r * 0.95 * np.sin(t)) for x in (-half * at, half * at) for t in turn]
    toy.base(extrusion([(-half, floor), *lower, (half, floor), *upper], wide, bevel))


def _cabin(toy: Model, outline: Outline, width: float, narrowing: float, roof: Brush) -> None:
    """A cabin (front foot, front top, rear top, rear foot) of dark glass, with a roof and pillars in paint."""
    (x0, low), (x1, high), (x2, _), (x3, _) = outline
    top, inset = width * (1 - narrowing), 0.012
    toy.black(extrusion(outline, width, 0.03).narrowed(low, high, narrowing))
    roof(box(((x1 + x2) / 2, 0, high), (x1 - x2 + 0.07, top + 0.02, 0.06), 0.028))
    for foot, head in ((x0, x1), (x3, x2), ((x0 + x3) / 2, (x1 + x2) / 2)):
        roof(*pair(capsule((foot, width / 2 - inset, low), (head, top / 2 - inset, high), 0.03, 0.028, 6)))


def saloon(toy: Model) -> None:
    """Three boxes: hood, cabin and boot."""
    half, tall, wide, waist = toy.vary(0.95, 0.08), toy.vary(0.27), 0.74, 0.43
    boot = [(-half + 0.35, waist), (-half + 0.03, waist - 0.03), (-half, 0.33)]
    cabin = [(0.45, waist - 0.02), (0.18, waist + tall), (-0.33, waist + tall), (-0.6, waist - 0.02)]
    _body(toy, half, 0.13, [(half, 0.33), (half - 0.05, 0.39), (0.4, waist), *boot], 0.21, wide)
    _cabin(toy, cabin, wide - 0.06, 0.16, toy.base)
    toy.ends(half, -half, wide / 2, 0.32)
    toy.axles((-half * 0.6, half * 0.6), wide / 2 + 0.005, 0.17, 0.13)


def hatchback(toy: Model) -> None:
    """Short and tall, its roof running to the very end."""
    half, tall, wide, waist = toy.vary(0.72, 0.08), toy.vary(0.34), 0.74, 0.47
    upper = [(half, 0.34), (half - 0.05, 0.42), (0.3, waist), (-half + 0.05, waist + 0.02), (-half, 0.4)]
    cabin = [(0.42, waist - 0.02), (0.14, waist + tall), (-half + 0.22, waist + tall), (-half + 0.05, waist)]
    _body(toy, half, 0.14, upper, 0.21, wide, 0.06, at=0.62)
    _cabin(toy, cabin, wide - 0.05, 0.15, toy.light)
    toy.ends(half, -half, wide / 2, 0.34)
    toy.dark(*pair(box(((0.36 - half) / 2, 0.2, waist + tall + 0.04), (0.75 * half - 0.05, 0.035, 0.04), 0.012)))
    toy.axles((-half * 0.62, half * 0.62), wide / 2 + 0.005, 0.17, 0.13)


def sports_car(toy: Model) -> None:
    """A low wedge with an open cockpit, a stripe and a wing on its tail."""
    half, waist, wide = toy.vary(0.95, 0.06), toy.vary(0.37, 0.04), 0.8
    nose = [(half, 0.22), (half - 0.06, 0.27), (half * 0.72, waist - 0.03)]
    screen = [(0.3, waist - 0.03), (0.34, waist - 0.03), (0.14, waist + 0.16), (0.1, waist + 0.16)]
    _body(toy, half, 0.1, [*nose, (0.25, waist), (-half + 0.1, waist + 0.04), (-half, 0.3)], 0.19, wide)
    toy.black(extrusion(screen, wide - 0.14, 0.012).narrowed(waist, waist + 0.16, 0.15))
    toy.black(box((-0.08, 0, waist + 0.01), (0.5, wide - 0.24, 0.05), 0.02))
    toy.light(*pair(ellipsoid((-0.2, 0.15, waist + 0.07), (0.07, 0.1, 0.12), 10)))
    toy.base(ellipsoid((-0.55, 0, waist + 0.03), (0.3, 0.27, 0.09)))
    toy.dark(box((-half + 0.08, 0, waist + 0.2), (0.2, wide, 0.03), 0.012))
    toy.dark(*pair(box((-half + 0.1, 0.25, waist + 0.1), (0.1, 0.03, 0.2), 0.01)))
    toy.ends(half - 0.02, -half, wide / 2, 0.24, bumpers=False)
    toy.axles((-half * 0.6, half * 0.6), wide / 2 + 0.01, 0.145, 0.16)


def pickup(toy: Model) -> None:
    """A cabin in the middle and an open bed behind it."""
    half, tall, wide, waist = toy.vary(0.98, 0.06), toy.vary(0.3), 0.76, 0.5
    floor, start = 0.36, -0.18  # of the bed
    bed = [(start, waist), (start - 0.01, floor), (-half, floor)]
    cabin = [(0.48, waist - 0.02), (0.27, waist + tall), (-0.1, waist + tall), (-0.16, waist - 0.02)]
    _body(toy, half, 0.18, [(half, 0.4), (half - 0.05, 0.47), (0.4, waist), *bed], 0.23, wide)
    _cabin(toy, cabin, wide - 0.05, 0.13, toy.base)
    toy.base(*pair(box(((start - half) / 2, wide / 2 - 0.035, waist - 0.07), (half + start, 0.07, 0.16), 0.025)))
    toy.base(box((-half + 0.035, 0, waist - 0.07), (0.07, wide, 0.16), 0.025))
    toy.dark(box(((start - half) / 2, 0, floor + 0.01), (half + start - 0.1, wide - 0.15, 0.03), 0.01))
    toy.ends(half, -half, wide / 2, 0.38)
    toy.axles((-half * 0.6, half * 0.6), wide / 2 + 0.01, 0.2, 0.15)


def beetle(toy: Model) -> None:
    """All curves: a domed cabin, a round hood and wings over the wheels."""
    half, tall, wide = toy.vary(0.8, 0.06), toy.vary(0.36, 0.08), 0.6
    line = [(half - 0.12, 0.26), (half * 0.5, 0.32), (0.0, 0.33), (-half * 0.5, 0.34), (-half + 0.14, 0.26)]
    girth = [(0.16, 0.12), (0.26, 0.18), (0.3, 0.2), (0.28, 0.19), (0.17, 0.13)]
    toy.base(tube([(x, 0, z) for x, z in line], girth, 16), ellipsoid((-0.08, 0, 0.42), (0.52, 0.3, tall), 18))
    toy.black(ellipsoid((-0.08, 0, 0.5), (0.53, 0.308, tall * 0.52), 18))
    toy.base(*pair(*(ellipsoid((x, wide / 2 + 0.03, 0.24), (0.26, 0.12, 0.17), 14) for x in (-half * 0.6, half * 0.6))))
    toy.paint(0.85, *pair(ellipsoid((half * 0.6 + 0.22, wide / 2 - 0.01, 0.31), (0.05, 0.065, 0.065), 10)))
    toy.dark(*pair(box((0.0, wide / 2 + 0.05, 0.13), (half * 0.8, 0.12, 0.05), 0.02)))
    for x, middle in ((half + 0.04, half + 0.08), (-half - 0.02, -half - 0.06)):  # bumpers
        toy.light(tube([(x, -0.3, 0.18), (middle, 0, 0.18), (x, 0.3, 0.18)], [0.03, 0.035, 0.03], 8))
    toy.axles((-half * 0.6, half * 0.6), wide / 2 + 0.13, 0.16, 0.13)


CATEGORY = Category(4, (saloon, hatchback, sports_car, pickup, beetle))
