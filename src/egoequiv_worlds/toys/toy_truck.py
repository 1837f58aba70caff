"""Toy trucks: box, tanker, dump, timber and fire engine."""

from egoequiv_worlds.render.mesh import Mesh, box, capsule, cylinder, ellipsoid, extrusion, tube
from egoequiv_worlds.toys import Category, Model, pair

TRACK, WHEEL, FRAME = 0.34, 0.16, 0.24  # half the width over the wheels, wheel radius, height of the frame


def _cab(toy: Model, rear: float, front: float, length: float, height: float, nose: float) -> None:
    """A frame and a cab that ends at `front`, with a hood of length `nose` before its windscreen (0 if it is flat)."""
    back, floor, top, hood, screen = front - length, FRAME - 0.06, FRAME + height, FRAME + 0.5 * height, front - nose
    if nose > 0:
        lean, face = 0.09, [(front, hood - 0.05), (front - 0.05, hood), (screen, hood + 0.03), (screen - 0.12, top)]
    else:
        screen = front - 0.04
        lean, face = 0.03, [(front, hood), (screen, top - 0.05), (screen - 0.05, top)]
    low, high = hood + 0.06, top - 0.07
    pane = [(screen - 0.03, low), (screen + 0.015, low), (screen + 0.015 - lean, high), (screen - 0.03 - lean, high)]
    window = ((back + screen - lean) / 2 + 0.01, TRACK - 0.01, (low + high) / 2)
    toy.dark(box(((rear + (front - 0.1)) / 2, 0, FRAME - 0.02), (front - 0.1 - rear, 0.42, 0.1), 0.02))
    toy.base(extrusion([(back, floor), (front, floor), *face, (back, top)], 2 * TRACK - 0.02, 0.035))
    toy.black(extrusion(pane, 2 * TRACK - 0.12, 0.01))
    toy.black(*pair(box(window, (screen - back - lean - 0.12, 0.02, high - low), 0.008)))
    toy.dark(box((front + 0.005, 0, FRAME + 0.14), (0.02, 0.32, 0.16), 0.008))
    toy.headlamps(front, TRACK, FRAME + 0.1)
    toy.light(box((front + 0.02, 0, FRAME - 0.04), (0.08, 2 * TRACK, 0.1), 0.025))


def box_truck(toy: Model) -> None:
    """A flat-faced cab before a tall closed box."""
    length, tall = toy.vary(1.25), toy.vary(0.8)
    front, rear = length / 2 + 0.3, -length / 2 - 0.25
    cargo = front - 0.52 - rear
    middle = rear + cargo / 2
    _cab(toy, rear, front, 0.48, toy.vary(0.58, 0.06), 0.0)
    toy.light(box((middle, 0, FRAME + 0.05 + tall / 2), (cargo, 2 * TRACK + 0.06, tall), 0.03))
    toy.base(*pair(box((middle, TRACK + 0.03, FRAME + 0.05 + tall * 0.5), (cargo * 0.7, 0.02, tall * 0.28), 0.008)))
    toy.axles((front - 0.26, rear + 0.32), TRACK, WHEEL, 0.13)


def tanker(toy: Model) -> None:
    """A cab with a hood drawing a long round tank."""
    length, r = toy.vary(1.35), toy.vary(0.33, 0.08)
    front, rear, z = 1.05, -length / 2 - 0.5, FRAME + 0.06 + r
    start, end = rear + 0.12, 0.3
    line = [(x, 0, z) for x in (start + 0.05, start + 0.1, end - 0.1, end - 0.05)]
    _cab(toy, rear + 0.08, front, 0.66, toy.vary(0.56, 0.06), toy.vary(0.3))
    toy.light(tube(line, [r * 0.93, r, r, r * 0.93], 18))
    toy.dark(*(cylinder((x, 0, z), "x", 0.04, r * 1.03, 18) for x in (start + 0.3, end - 0.3)))
    hatches = (start + 0.3, (start + end) / 2, end - 0.3)
    toy.dark(*(cylinder((x, 0, z + r), "z", 0.12, 0.09, 12) for x in hatches))
    toy.light(*pair(cylinder((0.36, 0.26, FRAME + 0.42), "z", 0.75, 0.035, 8)))
    toy.axles((front - 0.22, 0.25, rear + 0.62, rear + 0.28), TRACK, WHEEL, 0.13)


def dump_truck(toy: Model) -> None:
    """A tilting bed with high sides and a shield over the cab, on large wheels."""
    tilt, front, tall, long = toy.between(4.0, 16.0), 0.8, toy.vary(0.4), toy.vary(1.1, 0.08)
    wide, low, high = 2 * TRACK + 0.08, 0.05, 0.05 + tall
    side_view = [(0, low), (0, low + tall * 0.8), (long, high), (long + 0.3, high + 0.1), (long + 0.3, high + 0.05)]
    wall = extrusion([*side_view, (long, high - 0.1), (long, low)], 0.06, 0.015).moved((0, wide / 2 - 0.03, 0))
    bed = [
        *pair(wall),
        box((long / 2, 0, low), (long, wide, 0.08), 0.02),
        box((long - 0.02, 0, low + tall / 2), (0.06, wide, tall), 0.015),
        box((0.02, 0, low + tall * 0.35), (0.05, wide, tall * 0.7), 0.015),
        box((long + 0.15, 0, high + 0.06), (0.32, wide, 0.04), 0.015),
    ]
    load = ellipsoid((long * 0.5, 0, low + tall * 0.45), (long * 0.42, wide * 0.4, tall * 0.55))

    def tilted(mesh: Mesh) -> Mesh:
        return mesh.turned("y", -tilt).moved((-0.85, 0, FRAME + 0.12))

    _cab(toy, -0.75, front, 0.5, 0.52, toy.vary(0.16))
    toy.light(*map(tilted, bed))
    toy.dark(tilted(load), capsule((-0.1, 0, FRAME), (0.1, 0, FRAME + 0.35), 0.05, 0.04, 8))
    toy.axles((front - 0.2, -0.45), TRACK + 0.05, 0.21, 0.18)


def timber_truck(toy: Model) -> None:
    """An open bed between posts, loaded with logs."""
    length, thick = toy.vary(1.3), toy.vary(0.115, 0.08)
    front, rear, bed = 0.85, 0.25 - length, FRAME + 0.08
    middle, logs = (rear + 0.28) / 2, []
    for level, row in enumerate(((-1.0, 0.0, 1.0), (-0.5, 0.5), (0.0,))):
        for y in row:
            place = (middle + toy.between(-0.06, 0.06), y * 2 * thick, bed + 0.03 + thick * (1 + 1.75 * level))
            logs.append(cylinder(place, "x", length * 0.98, thick * toy.between(0.9, 1.0), 12))
    _cab(toy, rear, front, 0.55, toy.vary(0.6, 0.06), 0.0 if toy.rng.random() < 0.5 else 0.2)
    toy.base(box((middle, 0, bed - 0.02), (0.3 - rear, 2 * TRACK, 0.06), 0.02))
    toy.light(*logs)
    for x in (rear + 0.15, middle, 0.15):
        toy.dark(*pair(box((x, TRACK - 0.02, bed + 0.22), (0.06, 0.05, 0.46), 0.015)))
    toy.axles((front - 0.27, rear + 0.5, rear + 0.17), TRACK, WHEEL, 0.13)


def fire_engine(toy: Model) -> None:
    """A long low body with shutters, a ladder on top and a beacon."""
    length, lift, tall = toy.vary(1.7, 0.08), toy.between(4.0, 14.0), toy.vary(0.42)
    front, rear, cargo = length / 2, -length / 2, length - 0.5
    middle, foot = rear + cargo / 2, (rear + 0.05, 0, FRAME + tall + 0.14)
    rungs = [box((0.1 + 0.15 * k, 0, 0), (0.035, 0.26, 0.035), 0.01) for k in range(9)]
    rails = pair(box((0.7, 0.14, 0), (1.5, 0.04, 0.06), 0.012))
    _cab(toy, rear, front, 0.5, tall + 0.16, 0.0)
    toy.base(box((middle, 0, FRAME + 0.03 + tall / 2), (cargo, 2 * TRACK, tall), 0.03))
    for share in (-0.3, 0.0, 0.3):
        shutter = (middle + share * cargo, TRACK + 0.005, FRAME + tall * 0.55)
        toy.paint(0.75, *pair(box(shutter, (cargo * 0.25, 0.02, tall * 0.6), 0.008)))
    toy.paint(0.8, *(mesh.turned("y", -lift).moved(foot) for mesh in (*rungs, *rails)))
    toy.dark(cylinder((rear + 0.25, 0, FRAME + tall + 0.08), "z", 0.14, 0.15, 14))
    toy.light(cylinder((front - 0.22, 0, FRAME + tall + 0.2), "y", 0.45, 0.05, 10))
    toy.axles((front - 0.26, rear + 0.35), TRACK, WHEEL, 0.13)


CATEGORY = Category(3, (box_truck, tanker, dump_truck, timber_truck, fire_engine))
