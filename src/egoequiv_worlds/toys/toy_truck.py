"""Toy trucks: box, tanker, dump, timber and fire engine."""

from __future__ import annotations

from numpy.random import Generator

from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.render.primitives import box, capsule, cylinder, ellipsoid, extrusion, tube
from egoequiv_worlds.toys.parts import Paint, axles, front_and_rear, mixed, pair, vary

TRACK, WHEEL, FRAME = 0.34, 0.16, 0.24  # half the width over the wheels, wheel radius, height of the frame


def _cab(front: float, length: float, height: float, nose: float, albedo: float, paint: Paint) -> list[Part]:
    """A cab that ends at `front`, with an engine hood of length `nose` before the windscreen (0 for a flat face)."""
    back, floor, top = front - length, FRAME - 0.06, FRAME + height
    hood = FRAME + 0.5 * height
    screen = front - max(nose, 0.04)
    if nose > 0:
        outline = [
            (back, floor),
            (front, floor),
            (front, hood - 0.05),
            (front - 0.05, hood),
            (screen, hood + 0.03),
            (screen - 0.12, top),
            (back, top),
        ]
    else:
        outline = [
            (back, floor),
            (front, floor),
            (front, hood),
            (screen, top - 0.05),
            (screen - 0.05, top),
            (back, top),
        ]
    glass_low, glass_high = hood + 0.06, top - 0.07
    lean = 0.09 if nose > 0 else 0.03
    pane = [
        (screen - 0.03, glass_low),
        (screen + 0.015, glass_low),
        (screen + 0.015 - lean, glass_high),
        (screen - 0.03 - lean, glass_high),
    ]
    return [
        Part(extrusion(outline, 2 * TRACK - 0.02, 0.035), albedo),
        Part(extrusion(pane, 2 * TRACK - 0.12, 0.01), paint.black),
        *pair(
            box(
                ((back + screen - lean) / 2 + 0.01, TRACK - 0.01, (glass_low + glass_high) / 2),
                (screen - back - lean - 0.12, 0.02, glass_high - glass_low),
                0.008,
            ),
            paint.black,
        ),
        Part(box((front + 0.005, 0, FRAME + 0.14), (0.02, 0.32, 0.16), 0.008), paint.dark),
        *front_and_rear(front, back, TRACK, FRAME + 0.1, paint)[:2],
        Part(box((front + 0.02, 0, FRAME - 0.04), (0.08, 2 * TRACK, 0.1), 0.025), paint.light),
    ]


def _frame(rear: float, front: float, paint: Paint) -> Part:
    return Part(box(((rear + front) / 2, 0, FRAME - 0.02), (front - rear, 0.42, 0.1), 0.02), paint.dark)


def box_truck(rng: Generator) -> list[Part]:
    """A flat-faced cab before a tall closed box."""
    paint, length, tall = mixed(rng), vary(rng, 1.25), vary(rng, 0.8)
    front, rear = length / 2 + 0.3, -length / 2 - 0.25
    cargo = front - 0.52 - rear
    middle = rear + cargo / 2
    return [
        _frame(rear, front - 0.1, paint),
        *_cab(front, 0.48, vary(rng, 0.58, 0.06), 0.0, paint.base, paint),
        Part(box((middle, 0, FRAME + 0.05 + tall / 2), (cargo, 2 * TRACK + 0.06, tall), 0.03), paint.light),
        *pair(
            box((middle, TRACK + 0.03, FRAME + 0.05 + tall * 0.5), (cargo * 0.7, 0.02, tall * 0.28), 0.008), paint.base
        ),
        *axles((front - 0.26, rear + 0.32), TRACK, WHEEL, 0.13, paint),
    ]


def tanker(rng: Generator) -> list[Part]:
    """A cab with a hood drawing a long round tank."""
    paint, length, radius = mixed(rng), vary(rng, 1.35), vary(rng, 0.33, 0.08)
    front, rear = 1.05, -length / 2 - 0.5
    z = FRAME + 0.06 + radius
    start, end = rear + 0.12, 0.3
    hatches = [
        Part(cylinder((x, 0, z + radius), "z", 0.12, 0.09, 12), paint.dark)
        for x in (start + 0.3, (start + end) / 2, end - 0.3)
    ]
    return [
        _frame(rear + 0.08, front - 0.1, paint),
        *_cab(front, 0.66, vary(rng, 0.56, 0.06), vary(rng, 0.3), paint.base, paint),
        Part(
            tube(
                [(start + 0.05, 0, z), (start + 0.1, 0, z), (end - 0.1, 0, z), (end - 0.05, 0, z)],
                [radius * 0.93, radius, radius, radius * 0.93],
                18,
            ),
            paint.light,
        ),
        *[Part(cylinder((x, 0, z), "x", 0.04, radius * 1.03, 18), paint.dark) for x in (start + 0.3, end - 0.3)],
        *hatches,
        *pair(cylinder((0.36, 0.26, FRAME + 0.42), "z", 0.75, 0.035, 8), paint.light),
        *axles((front - 0.22, 0.25, rear + 0.62, rear + 0.28), TRACK, WHEEL, 0.13, paint),
    ]


def dump_truck(rng: Generator) -> list[Part]:
    """A tilting bed with high sides and a shield over the cab, on large wheels."""
    paint, tilt = mixed(rng), float(rng.uniform(4.0, 16.0))
    front, wheel, tall = 0.8, 0.21, vary(rng, 0.4)
    bed_length, wide, floor = vary(rng, 1.1, 0.08), 2 * TRACK + 0.08, 0.05
    side_view = [
        (0, floor),
        (0, floor + tall * 0.8),
        (bed_length, floor + tall),
        (bed_length + 0.3, floor + tall + 0.1),
        (bed_length + 0.3, floor + tall + 0.05),
        (bed_length, floor + tall - 0.1),
        (bed_length, floor),
    ]
    wall = extrusion(side_view, 0.06, 0.015).moved((0, wide / 2 - 0.03, 0))
    bed = [
        *pair(wall, paint.light),
        Part(box((bed_length / 2, 0, floor), (bed_length, wide, 0.08), 0.02), paint.light),
        Part(box((bed_length - 0.02, 0, floor + tall / 2), (0.06, wide, tall), 0.015), paint.light),
        Part(box((0.02, 0, floor + tall * 0.35), (0.05, wide, tall * 0.7), 0.015), paint.light),
        Part(box((bed_length + 0.15, 0, floor + tall + 0.06), (0.32, wide, 0.04), 0.015), paint.light),
        Part(
            ellipsoid((bed_length * 0.5, 0, floor + tall * 0.45), (bed_length * 0.42, wide * 0.4, tall * 0.55)),
            paint.dark,
        ),
    ]
    placed = [Part(part.mesh.turned("y", -tilt).moved((-0.85, 0, FRAME + 0.12)), part.albedo) for part in bed]
    ram = capsule((-0.1, 0, FRAME), (0.1, 0, FRAME + 0.35), 0.05, 0.04, 8)
    return [
        _frame(-0.75, front - 0.1, paint),
        *_cab(front, 0.5, 0.52, vary(rng, 0.16), paint.base, paint),
        *placed,
        Part(ram, paint.dark),
        *axles((front - 0.2, -0.45), TRACK + 0.05, wheel, 0.18, paint),
    ]


def timber_truck(rng: Generator) -> list[Part]:
    """An open bed between posts, loaded with logs."""
    paint, length, thick = mixed(rng), vary(rng, 1.3), vary(rng, 0.115, 0.08)
    front, rear = 0.85, 0.25 - length
    bed = FRAME + 0.08
    middle = (rear + 0.28) / 2
    logs = []
    for level, count in enumerate((3, 2, 1)):
        for k in range(count):
            y, slide = (k - (count - 1) / 2) * 2 * thick, float(rng.uniform(-0.06, 0.06))
            z = bed + 0.03 + thick * (1 + 1.75 * level)
            logs.append(
                Part(
                    cylinder((middle + slide, y, z), "x", length * 0.98, thick * float(rng.uniform(0.9, 1.0)), 12),
                    paint.light,
                )
            )
    posts = []
    for x in (rear + 0.15, middle, 0.15):
        posts += pair(box((x, TRACK - 0.02, bed + 0.22), (0.06, 0.05, 0.46), 0.015), paint.dark)
    return [
        _frame(rear, front - 0.1, paint),
        *_cab(front, 0.55, vary(rng, 0.6, 0.06), 0.0 if rng.random() < 0.5 else 0.2, paint.base, paint),
        Part(box((middle, 0, bed - 0.02), (0.3 - rear, 2 * TRACK, 0.06), 0.02), paint.base),
        *logs,
        *posts,
        *axles((front - 0.27, rear + 0.5, rear + 0.17), TRACK, WHEEL, 0.13, paint),
    ]


def fire_engine(rng: Generator) -> list[Part]:
    """A long low body with shutters, a ladder on top and a beacon."""
    paint, length, lift = mixed(rng), vary(rng, 1.7, 0.08), float(rng.uniform(4.0, 14.0))
    front, rear, tall = length / 2, -length / 2, vary(rng, 0.42)
    cargo = length - 0.5
    middle = rear + cargo / 2
    rungs = [Part(box((x, 0, 0), (0.035, 0.26, 0.035), 0.01), 0.8) for x in [0.1 + 0.15 * k for k in range(9)]]
    rails = pair(box((0.7, 0.14, 0), (1.5, 0.04, 0.06), 0.012), 0.8)
    ladder = [
        Part(part.mesh.turned("y", -lift).moved((rear + 0.05, 0, FRAME + tall + 0.14)), part.albedo)
        for part in (*rungs, *rails)
    ]
    shutters = []
    for share in (-0.3, 0.0, 0.3):
        shutters += pair(
            box((middle + share * cargo, TRACK + 0.005, FRAME + tall * 0.55), (cargo * 0.25, 0.02, tall * 0.6), 0.008),
            0.75,
        )
    return [
        _frame(rear, front - 0.1, paint),
        *_cab(front, 0.5, tall + 0.16, 0.0, paint.base, paint),
        Part(box((middle, 0, FRAME + 0.03 + tall / 2), (cargo, 2 * TRACK, tall), 0.03), paint.base),
        *shutters,
        *ladder,
        Part(cylinder((rear + 0.25, 0, FRAME + tall + 0.08), "z", 0.14, 0.15, 14), paint.dark),
        Part(cylinder((front - 0.22, 0, FRAME + tall + 0.2), "y", 0.45, 0.05, 10), paint.light),
        *axles((front - 0.26, rear + 0.35), TRACK, WHEEL, 0.13, paint),
    ]


DESIGNS = (box_truck, tanker, dump_truck, timber_truck, fire_engine)
