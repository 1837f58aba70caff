"""Human toy figures: soldier, hero, cowboy, dancer and knight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.render.primitives import box, capsule, cylinder, ellipsoid, extrusion, lathe, tube
from egoequiv_worlds.toys.parts import Paint, mixed, pair, vary

HIP, SHOULDER, HEAD = 0.62, 1.08, 1.34  # heights above the ground
STAND = 0.05


@dataclass(frozen=True)
class Limb:
    """How an arm or a leg is held: swung forwards, raised sideways, and bent at its joint."""

    forward_deg: float
    aside_deg: float
    bend_deg: float


def _direction(forward_deg: float, aside_deg: float, side: float) -> Array:
    """A limb that hangs down, swung forwards and then raised to its side."""
    forward, aside = np.radians(forward_deg), np.radians(aside_deg)
    return np.array([np.sin(forward) * np.cos(aside), side * np.sin(aside), -np.cos(forward) * np.cos(aside)])


def _arm(limb: Limb, side: float, broad: float, thick: float, sleeve: float, skin: float) -> tuple[list[Part], Array]:
    """An arm and where its hand is."""
    shoulder = np.array([0.0, side * broad, SHOULDER - 0.03])
    elbow = shoulder + 0.25 * _direction(limb.forward_deg, limb.aside_deg, side)
    hand = elbow + 0.23 * _direction(limb.forward_deg + limb.bend_deg, limb.aside_deg * 0.8, side)
    found = [
        Part(tube([shoulder, elbow, hand], [thick * 1.2, thick, thick * 0.85], 10), sleeve),
        Part(ellipsoid(hand, (0.065, 0.06, 0.065), 10), skin),
    ]
    return found, hand


def _leg(limb: Limb, side: float, thick: float, trousers: float, boots: float) -> list[Part]:
    hip = np.array([0.0, side * 0.095, HIP])
    down = _direction(limb.forward_deg, limb.aside_deg, side)
    knee = hip + 0.29 * down
    foot = knee + 0.27 * _direction(limb.forward_deg - limb.bend_deg, limb.aside_deg, side)
    foot[2] = STAND + 0.05
    return [
        Part(tube([hip, knee, foot], [thick * 1.2, thick, thick * 0.85], 10), trousers),
        Part(ellipsoid(np.add(foot, (0.05, 0.0, -0.01)), (0.13, 0.07, 0.06), 10), boots),
    ]


def _trunk(rng: Generator, paint: Paint, broad: float, shirt: float, skin: float) -> list[Part]:
    waist = vary(rng, 0.13)
    line = [(0, 0, HIP), (0, 0, HIP + 0.17), (0, 0, SHOULDER - 0.1), (0, 0, SHOULDER)]
    girth = [(waist * 1.15, 0.12), (waist, 0.11), (broad * 0.92, 0.13), (broad * 0.6, 0.09)]
    head = vary(rng, 0.15, 0.08)
    return [
        Part(tube(line, girth, 14), shirt),
        Part(capsule((0, 0, SHOULDER), (0.01, 0, HEAD - 0.05), 0.07, 0.07), skin),
        Part(ellipsoid((0.01, 0, HEAD), (head * 1.02, head * 0.92, head * 1.15)), skin),
        Part(ellipsoid((0.01 + head, 0, HEAD - 0.02), (0.035, 0.03, 0.035), 8), skin),
        *pair(ellipsoid((head * 0.92, 0.055, HEAD + 0.035), (0.022, 0.022, 0.022), 8), paint.black),
        Part(lathe((0, 0, HIP + 0.05), "z", [(-0.03, 0.125), (-0.03, 0.15), (0.03, 0.145), (0.03, 0.12)]), paint.black),
    ]


def _stand(rng: Generator, albedo: float) -> Part:
    return Part(cylinder((0.02, 0, STAND / 2), "z", STAND, vary(rng, 0.32), 22), albedo)


def soldier(rng: Generator) -> list[Part]:
    """Helmet, pack and a rifle held across the chest."""
    paint, broad = mixed(rng), vary(rng, 0.22)
    right, hand = _arm(Limb(35, 12, 75), -1.0, broad, 0.065, paint.base, paint.light)
    left, other = _arm(Limb(55, 8, 45), 1.0, broad, 0.065, paint.base, paint.light)
    along = (other - hand) / np.linalg.norm(other - hand)
    stride = vary(rng, 16, 0.4)
    return [
        _stand(rng, paint.dark),
        *_trunk(rng, paint, broad, paint.base, paint.light),
        *_leg(Limb(stride, 6, 5), 1.0, 0.085, paint.base, paint.black),
        *_leg(Limb(-stride, 6, 5), -1.0, 0.085, paint.base, paint.black),
        *right,
        *left,
        Part(capsule(hand - along * 0.25, other + along * 0.4, 0.04, 0.02, 8), paint.black),
        Part(
            lathe(
                (0, 0, HEAD + 0.02), "z", [(0, 0.14), (0, 0.225), (0.03, 0.2), (0.12, 0.17), (0.18, 0.1), (0.2, 0.03)]
            ),
            paint.dark,
        ),
        Part(box((-0.21, 0, SHOULDER - 0.17), (0.17, 0.3, 0.34), 0.05), paint.dark),
    ]


def hero(rng: Generator) -> list[Part]:
    """A cape in the wind, one fist up in the air, legs apart."""
    paint, broad = mixed(rng), vary(rng, 0.25)
    right, _ = _arm(Limb(165, 14, 5), -1.0, broad, 0.075, paint.light, paint.light)
    left, _ = _arm(Limb(-5, 42, 85), 1.0, broad, 0.075, paint.light, paint.light)
    flare = vary(rng, 0.42)
    top, low = SHOULDER + 0.03, 0.28
    outline = [(-0.1, top), (-0.15, top), (-0.22, 0.75), (-0.1 - flare, low), (-0.04 - flare, low), (-0.17, 0.75)]
    cape = extrusion(outline, 0.62, 0.015).narrowed(low, top, 0.5)
    return [
        *_trunk(rng, paint, broad, paint.base, paint.light),
        *_leg(Limb(14, 14, 5), 1.0, 0.09, paint.base, paint.dark),
        *_leg(Limb(-10, 14, 5), -1.0, 0.09, paint.base, paint.dark),
        *right,
        *left,
        Part(cape, paint.dark),
        Part(ellipsoid((-0.03, 0, HEAD + 0.05), (0.16, 0.155, 0.155), 12), paint.dark),
        Part(ellipsoid((0.13, 0, SHOULDER - 0.14), (0.03, 0.08, 0.08), 10), paint.light),
        _stand(rng, paint.dark),
    ]


def cowboy(rng: Generator) -> list[Part]:
    """A wide hat, elbows out, a waistcoat and bow legs."""
    paint, broad = mixed(rng), vary(rng, 0.21)
    arms = [
        part for side in (1.0, -1.0) for part in _arm(Limb(-12, 48, 75), side, broad, 0.06, paint.light, paint.light)[0]
    ]
    brim = vary(rng, 0.27)
    hat = [(0, 0.1), (-0.005, brim), (0.025, brim), (0.03, 0.17), (0.17, 0.145), (0.22, 0.1), (0.2, 0.02)]
    return [
        *_trunk(rng, paint, broad, paint.dark, paint.light),
        *_leg(Limb(4, 20, 8), 1.0, 0.075, paint.base, paint.black),
        *_leg(Limb(4, 20, 8), -1.0, 0.075, paint.base, paint.black),
        *arms,
        Part(lathe((0, 0, HEAD + 0.08), "z", hat, 18), paint.base),
        *pair(box((0.03, 0.2, HIP - 0.06), (0.16, 0.06, 0.16), 0.02), paint.black),
        Part(capsule((0.11, -0.08, SHOULDER - 0.02), (0.11, 0.08, SHOULDER - 0.02), 0.05, 0.05), paint.light),
    ]


def dancer(rng: Generator) -> list[Part]:
    """A wide skirt, arms curved up and out, hair in a bun."""
    paint, broad = mixed(rng), vary(rng, 0.18)
    arms = [
        part
        for side in (1.0, -1.0)
        for part in _arm(Limb(20, vary(rng, 100), 40), side, broad, 0.048, paint.light, paint.light)[0]
    ]
    wide = vary(rng, 0.45)
    skirt = [(-0.36, 0.1), (-0.36, wide), (-0.33, wide), (-0.2, wide * 0.75), (0.0, 0.22), (0.12, 0.14), (0.13, 0.1)]
    return [
        *_trunk(rng, paint, broad, paint.base, paint.light),
        *_leg(Limb(0, 3, 0), 1.0, 0.06, paint.light, paint.dark),
        *_leg(Limb(0, 3, 0), -1.0, 0.06, paint.light, paint.dark),
        *arms,
        Part(lathe((0, 0, HIP + 0.1), "z", skirt, 20), paint.base),
        Part(ellipsoid((-0.035, 0, HEAD + 0.04), (0.16, 0.16, 0.165), 12), paint.dark),
        Part(ellipsoid((-0.11, 0, HEAD + 0.2), (0.08, 0.08, 0.08), 10), paint.dark),
        _stand(rng, paint.dark),
    ]


def knight(rng: Generator) -> list[Part]:
    """A closed helmet with a plume, a round shield and a raised sword."""
    paint, broad = mixed(rng), vary(rng, 0.24)
    right, hand = _arm(Limb(75, 20, 60), -1.0, broad, 0.075, paint.base, paint.dark)
    left, other = _arm(Limb(30, 30, 60), 1.0, broad, 0.075, paint.base, paint.dark)
    point = hand + np.array([0.16, -0.05, vary(rng, 0.6)])
    shield = lathe((0, 0, 0), "x", [(0, 0.24), (0.02, 0.26), (0.05, 0.22), (0.09, 0.08), (0.1, 0.02)], 18)
    plume = [(0.06, 0, HEAD + 0.2), (-0.08, 0, HEAD + 0.3), (-0.22, 0, HEAD + 0.22), (-0.28, 0, HEAD + 0.05)]
    return [
        *_trunk(rng, paint, broad, paint.base, paint.base),
        *_leg(Limb(14, 10, 12), 1.0, 0.095, paint.base, paint.dark),
        *_leg(Limb(-12, 10, 5), -1.0, 0.095, paint.base, paint.dark),
        *right,
        *left,
        Part(shield.turned("z", 35).moved(np.add(other, (0.06, 0.03, 0.0))), paint.light),
        Part(capsule(hand - (point - hand) * 0.18, point, 0.03, 0.018, 8), 0.8),
        Part(box(hand + (point - hand) * 0.14, (0.05, 0.22, 0.04), 0.015), paint.dark),
        Part(cylinder((0.01, 0, HEAD + 0.01), "z", 0.36, 0.175, 16), paint.base),
        Part(box((0.17, 0, HEAD + 0.03), (0.05, 0.22, 0.04), 0.01), paint.black),
        Part(tube(plume, [0.04, 0.06, 0.055, 0.03], 8), paint.dark),
        *pair(ellipsoid((0, broad, SHOULDER), (0.12, 0.11, 0.09), 10), paint.light),
        _stand(rng, paint.dark),
    ]


DESIGNS = (soldier, hero, cowboy, dancer, knight)
