"""Four-legged toy animals: elephant, giraffe, dog, cow and dinosaur."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.render.primitives import blade, capsule, ellipsoid, tube
from egoequiv_worlds.toys.parts import Paint, mixed, pair, vary

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Build:
    """The proportions all four-legged animals share; lengths in units of a middling body's length."""

    length: float
    width: float
    height: float
    legs: float
    leg_radius: float
    stride: float


def _build(rng: Generator, length: float, width: float, height: float, legs: float, leg_radius: float) -> Build:
    stride = float(rng.uniform(-0.12, 0.12))
    return Build(vary(rng, length), vary(rng, width), vary(rng, height), vary(rng, legs), vary(rng, leg_radius), stride)


def _body(build: Build, albedo: float, slope: float = 0.0) -> list[Part]:
    """A barrel with its back sloping up towards the shoulders, and z = 0 under the feet."""
    x = build.length / 2 - build.height * 0.6
    z = build.legs + build.height * 0.75
    spine = [(-x, 0, z - slope), (-x * 0.3, 0, z - slope / 3), (x * 0.4, 0, z + slope / 3), (x, 0, z + slope)]
    girth = np.array([0.88, 1.0, 0.97, 0.9])[:, None] * (build.width, build.height)
    return [Part(tube(spine, girth, 14), albedo)]


def _legs(build: Build, albedo: float, hoof: float) -> list[Part]:
    found = []
    for x, step in ((build.length / 2 - build.height * 0.75, 1.0), (-build.length / 2 + build.height * 0.75, -1.0)):
        for side in (1.0, -1.0):
            r = build.leg_radius
            foot = (x + step * side * build.stride, side * build.width * 0.58, r * 0.7)
            hip = (x, side * build.width * 0.55, build.legs + build.height * 0.5)
            found.append(Part(capsule(hip, foot, r * 1.45, r), albedo))
            found.append(
                Part(ellipsoid((foot[0] + r * 0.3, foot[1], r * 0.62), (r * 1.4, r * 1.2, r * 0.62), 10), hoof)
            )
    return found


def _eyes(head: Point, reach: tuple[float, float, float], paint: Paint) -> list[Part]:
    return pair(ellipsoid(np.add(head, reach), (0.025, 0.025, 0.028), 8), paint.black)


def _shoulder(build: Build) -> tuple[float, float]:
    return build.length / 2 - build.height * 0.5, build.legs + build.height * 0.9


def elephant(rng: Generator) -> list[Part]:
    """Heavy, with a trunk, tusks and wide ears."""
    paint, build = mixed(rng), _build(rng, 1.15, 0.3, 0.34, 0.36, 0.11)
    x, z = _shoulder(build)
    head = (x + 0.26, 0.0, z + 0.14)
    reach = vary(rng, 0.36, 0.2)
    lift = float(rng.uniform(0.0, 0.3))
    trunk = np.add(head, [(0.14, 0, -0.04), (0.27, 0, -0.16), (0.32, 0, -0.34), (0.3 + reach * 0.3, 0, -0.46 + lift)])
    tail = [(-x - 0.2, 0, z - 0.05), (-x - 0.33, 0, z - 0.25), (-x - 0.34, 0, z - 0.4)]
    ear = (
        ellipsoid((0, 0, 0), (0.17, 0.035, vary(rng, 0.25)), 14)
        .turned("z", -35)
        .moved(np.add(head, (-0.08, 0.27, 0.0)))
    )
    return [
        *_body(build, paint.base),
        *_legs(build, paint.base, paint.light),
        Part(ellipsoid(head, (0.23, 0.2, 0.23)), paint.base),
        Part(tube(trunk, [0.12, 0.095, 0.075, 0.055]), paint.base),
        *pair(ear, paint.dark),
        *pair(
            tube(
                np.add(head, [(0.15, 0.09, -0.12), (0.29, 0.12, -0.24), (0.42, 0.12, -0.22)]), [0.04, 0.032, 0.012], 8
            ),
            0.85,
        ),
        *_eyes(head, (0.17, 0.135, 0.06), paint),
        Part(tube(tail, [0.035, 0.025, 0.03], 8), paint.dark),
    ]


def giraffe(rng: Generator) -> list[Part]:
    """Long legs, a long neck, little horns and patches."""
    paint, build = mixed(rng), _build(rng, 0.85, 0.17, 0.19, 0.62, 0.05)
    x, z = _shoulder(build)
    neck = vary(rng, 0.95)
    top = (x + vary(rng, 0.34), 0.0, z + neck)
    head = np.add(top, (0.1, 0.0, 0.03))
    neck_line = [(x - 0.1, 0, z - 0.08), (x + 0.08, 0, z + neck * 0.35), (x + 0.24, 0, z + neck * 0.75), top]
    patches = []
    for k in range(10):
        along, turn = -0.26 + 0.11 * (k % 5) + rng.uniform(-0.03, 0.03), (0.2 if k < 5 else 0.8) * np.pi
        spot = (along, build.width * 0.8 * np.cos(turn), build.legs + build.height * (0.75 + 0.8 * np.sin(turn)))
        patches.append(Part(ellipsoid(spot, (vary(rng, 0.045), 0.05, 0.06), 8), paint.dark))
    return [
        *_body(build, paint.light, slope=0.06),
        *_legs(build, paint.light, paint.dark),
        Part(tube(neck_line, [0.15, 0.105, 0.08, 0.07]), paint.light),
        Part(tube(np.add(neck_line, (-0.06, 0, 0.0)), [0.1, 0.06, 0.045, 0.04], 8), paint.dark),
        Part(tube([head, np.add(head, (0.22, 0, -0.09))], [0.1, 0.06]), paint.light),
        *pair(capsule(np.add(head, (-0.02, 0.05, 0.06)), np.add(head, (-0.05, 0.07, 0.19)), 0.02, 0.03, 8), paint.dark),
        *pair(ellipsoid(np.add(head, (-0.07, 0.13, 0.04)), (0.03, 0.085, 0.04), 8), paint.light),
        *_eyes((head[0], head[1], head[2]), (0.07, 0.085, 0.02), paint),
        Part(
            tube([(-x - 0.1, 0, z - 0.15), (-x - 0.17, 0, z - 0.35), (-x - 0.16, 0, z - 0.5)], [0.03, 0.02, 0.035], 8),
            paint.dark,
        ),
        *patches,
    ]


def dog(rng: Generator) -> list[Part]:
    """Slim, with a raised tail, hanging ears and a long muzzle."""
    paint, build = mixed(rng), _build(rng, 0.95, 0.17, 0.19, 0.36, 0.06)
    x, z = _shoulder(build)
    head = (x + 0.2, 0.0, z + vary(rng, 0.27))
    muzzle = vary(rng, 0.22, 0.2)
    tail = [(-x - 0.06, 0, z - 0.08), (-x - 0.22, 0, z + 0.12), (-x - 0.22, 0, z + vary(rng, 0.38))]
    ear = (
        ellipsoid((0, 0, 0), (0.065, 0.03, vary(rng, 0.15)), 10)
        .turned("x", 14)
        .moved(np.add(head, (-0.04, 0.16, -0.04)))
    )
    return [
        *_body(build, paint.base, slope=0.02),
        *_legs(build, paint.base, paint.light),
        Part(capsule((x - 0.08, 0, z - 0.06), head, 0.15, 0.12), paint.base),
        Part(ellipsoid(head, (0.17, 0.155, 0.16)), paint.base),
        Part(
            capsule(np.add(head, (0.08, 0, -0.05)), np.add(head, (0.08 + muzzle, 0, -0.08)), 0.095, 0.07), paint.light
        ),
        Part(ellipsoid(np.add(head, (0.15 + muzzle, 0, -0.05)), (0.035, 0.045, 0.035), 8), paint.black),
        *pair(ear, paint.dark),
        *_eyes(head, (0.13, 0.075, 0.06), paint),
        Part(tube(tail, [0.055, 0.045, 0.03], 8), paint.base),
        Part(
            ellipsoid((-0.1, 0, build.legs + build.height * 1.12), (0.22, 0.8 * build.width, 0.75 * build.height)),
            paint.dark,
        ),
    ]


def cow(rng: Generator) -> list[Part]:
    """A square body with patches, horns, an udder and a heavy head."""
    paint, build = mixed(rng), _build(rng, 1.2, 0.24, 0.27, 0.34, 0.07)
    x, z = _shoulder(build)
    head = (x + 0.32, 0.0, z + vary(rng, 0.1, 0.4))
    horn = np.add(head, [(-0.03, 0.07, 0.1), (-0.02, 0.19, 0.14), (0.03, 0.24, 0.14 + vary(rng, 0.13, 0.3))])
    patches = []
    for along, side in ((0.2, 1.0), (-0.3, 1.0), (-0.05, -1.0), (-0.42, -1.0)):
        spot = (
            along + rng.uniform(-0.06, 0.06),
            side * build.width * 0.62,
            build.legs + build.height * rng.uniform(0.9, 1.2),
        )
        patches.append(Part(ellipsoid(spot, (vary(rng, 0.16), 0.12, vary(rng, 0.15)), 10), paint.dark))
    return [
        *_body(build, paint.light),
        *_legs(build, paint.light, paint.dark),
        *patches,
        Part(capsule((x - 0.05, 0, z - 0.08), head, 0.2, 0.13), paint.light),
        Part(capsule(head, np.add(head, (0.2, 0, -0.17)), 0.14, 0.1), paint.light),
        Part(ellipsoid(np.add(head, (0.25, 0, -0.21)), (0.09, 0.11, 0.085), 10), paint.base),
        *pair(tube(horn, [0.042, 0.035, 0.012], 8), 0.8),
        *pair(ellipsoid(np.add(head, (-0.07, 0.2, 0.02)), (0.04, 0.11, 0.05), 8), paint.dark),
        *_eyes(head, (0.1, 0.115, 0.02), paint),
        Part(ellipsoid((-0.25, 0, build.legs + 0.05), (0.13, 0.11, 0.1), 10), paint.base),
        Part(
            tube([(-x - 0.13, 0, z - 0.05), (-x - 0.23, 0, z - 0.3), (-x - 0.21, 0, z - 0.5)], [0.03, 0.022, 0.045], 8),
            paint.dark,
        ),
    ]


def dinosaur(rng: Generator) -> list[Part]:
    """A low head, a high back with a row of plates, and a long thick tail."""
    paint, build = mixed(rng), _build(rng, 1.05, 0.24, 0.3, 0.24, 0.085)
    x, z = _shoulder(build)
    head = (x + vary(rng, 0.45), 0.0, z - 0.08)
    tail_length = vary(rng, 0.75)
    tail = [(-x, 0, z - 0.1), (-x - 0.35, 0, z - 0.2), (-x - tail_length, 0, z - 0.28)]
    crest = [
        (-x - 0.3, z - 0.08, 0.15),
        (-0.42, z + 0.1, 0.22),
        (-0.17, z + 0.17, 0.29),
        (0.1, z + 0.15, 0.28),
        (0.33, z + 0.08, 0.2),
    ]
    plates = []
    for k, (along, base, tall) in enumerate(crest):
        tall = vary(rng, 1.35 * tall)
        side = 0.04 * (-1) ** k
        plates.append(
            Part(
                blade((along, side, base - 0.08), (along - 0.05, side * 2, base + tall), (0.3, 0.06), 0.06, "y"),
                paint.dark,
            )
        )
    spikes = (-x - tail_length, 0.0, z - 0.28)
    return [
        *_body(build, paint.base),
        *_legs(build, paint.base, paint.light),
        Part(tube(tail, [0.21, 0.13, 0.04]), paint.base),
        Part(tube([(x - 0.1, 0, z - 0.1), (x + 0.2, 0, z - 0.05), head], [0.2, 0.12, 0.095]), paint.base),
        Part(capsule(head, np.add(head, (0.16, 0, -0.06)), 0.11, 0.07), paint.base),
        *_eyes(head, (0.06, 0.095, 0.05), paint),
        *plates,
        *pair(capsule(np.add(spikes, (0.1, 0.03, 0.0)), np.add(spikes, (0.0, 0.2, 0.12)), 0.035, 0.01, 8), 0.8),
    ]


DESIGNS = (elephant, giraffe, dog, cow, dinosaur)
