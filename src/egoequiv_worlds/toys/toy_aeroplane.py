"""Toy aeroplanes: airliner, propeller plane, delta fighter, biplane and high-winged transport."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from egoequiv_worlds.render.mesh import Part
from egoequiv_worlds.render.primitives import blade, box, capsule, cylinder, ellipsoid, lathe, tube
from egoequiv_worlds.toys.parts import Paint, mixed, pair, vary


def _fuselage(length: float, radius: float, z: float, albedo: float, tail_up: float = 0.0) -> Part:
    """A body from the tail at -length/2 to the nose, slim behind."""
    along = np.array([-0.48, -0.3, -0.05, 0.25, 0.4, 0.47]) * length
    girth = np.array([0.22, 0.65, 1.0, 1.0, 0.75, 0.35]) * radius
    lift = np.array([1.0, 0.45, 0.0, 0.0, 0.0, -0.1]) * tail_up
    return Part(tube(np.stack([along, 0 * along, z + lift], axis=1), girth, 14), albedo)


def _tail(x: float, z: float, span: float, fin: float, sweep: float, albedo: float) -> list[Part]:
    """One upright fin and a pair of tailplanes."""
    plane = blade((x, 0.0, z), (x - sweep, span, z + 0.02), (0.26, 0.14), 0.05)
    upright = blade((x + 0.02, 0, z), (x - sweep - 0.08, 0, z + fin), (0.32, 0.16), 0.05, "y")
    return [Part(upright, albedo), *pair(plane, albedo)]


def _gear(nose_x: float, main_x: float, track: float, z: float, radius: float, paint: Paint) -> list[Part]:
    """A wheel in front and one on each side, standing on z = 0, on struts up to z."""
    found = []
    for x, y in ((nose_x, 0.0), (main_x, track), (main_x, -track)):
        found.append(Part(capsule((x, y, radius), (x, y * 0.8, z), 0.022, 0.025, 6), paint.light))
        found.append(Part(cylinder((x, y, radius), "y", 0.07, radius, 12), paint.black))
    return found


def _propeller(x: float, y: float, z: float, reach: float, angle_deg: float, paint: Paint) -> list[Part]:
    """Two blades and a pointed hub."""
    blades = box((0, 0, 0), (0.025, 2 * reach, 0.07), 0.012).turned("x", angle_deg).moved((x + 0.03, y, z))
    hub = lathe((x, y, z), "x", [(-0.02, 0.06), (0.03, 0.058), (0.08, 0.03), (0.1, 0.008)], 10)
    return [Part(blades, paint.black), Part(hub, paint.light)]


def airliner(rng: Generator) -> list[Part]:
    """Swept wings with jets below them and a row of windows."""
    paint, length, span = mixed(rng), vary(rng, 2.0), vary(rng, 0.95)
    z, sweep = 0.32, vary(rng, 0.48)
    wing = blade((0.08, 0.05, z - 0.05), (-sweep, span, z + 0.05), (0.55, 0.18), 0.08)
    engines = []
    for share in (0.33, 0.62):
        middle = (0.3 - sweep * share, span * share, z - 0.1)
        engines += pair(lathe(middle, "x", [(-0.16, 0.05), (0.1, 0.085), (0.14, 0.08), (0.13, 0.06)], 12), paint.dark)
    windows = pair(box((0.05, 0.128, z + 0.05), (length * 0.55, 0.02, 0.04), 0.008), paint.black)
    return [
        _fuselage(length, 0.14, z, paint.light, 0.05),
        *pair(wing, paint.base),
        *engines,
        *windows,
        Part(ellipsoid((length * 0.43, 0, z + 0.05), (0.07, 0.075, 0.045), 10), paint.black),
        *_tail(-length * 0.42, z + 0.06, 0.36, vary(rng, 0.38), 0.16, paint.base),
        *_gear(length * 0.36, -0.05, 0.16, z, 0.065, paint),
    ]


def propeller_plane(rng: Generator) -> list[Part]:
    """Straight low wings, a big propeller and a bubble over the pilot."""
    paint, length, span = mixed(rng), vary(rng, 1.45), vary(rng, 0.95)
    z = 0.36
    wing = blade((0.17, 0.0, z - 0.1), (0.12, span, z + 0.0), (0.42, 0.26), 0.08)
    tip = blade((0.125, span * 0.8, z - 0.018), (0.12, span * 1.01, z + 0.004), (0.315, 0.27), 0.085)
    return [
        _fuselage(length, 0.17, z, paint.base, 0.03),
        Part(cylinder((length * 0.4, 0, z), "x", 0.26, 0.16, 16), paint.dark),
        *_propeller(length * 0.4 + 0.14, 0, z, vary(rng, 0.36), float(rng.uniform(0, 180)), paint),
        *pair(wing, paint.base),
        *pair(tip, paint.light),
        Part(ellipsoid((0.08, 0, z + 0.15), (0.22, 0.1, 0.13)), paint.black),
        *_tail(-length * 0.42, z + 0.03, 0.38, vary(rng, 0.32), 0.02, paint.light),
        *_gear(length * 0.33, 0.1, 0.32, z - 0.1, 0.085, paint),
    ]


def fighter(rng: Generator) -> list[Part]:
    """Delta wings, twin fins, intakes and a needle nose."""
    paint, length, span = mixed(rng), vary(rng, 1.9), vary(rng, 0.68)
    z = 0.3
    wing = blade((-0.22, 0.06, z - 0.02), (-0.52, span, z - 0.02), (1.05, 0.2), 0.07)
    fin = blade((-0.58, 0.17, z), (-0.76, 0.3, z + vary(rng, 0.4)), (0.38, 0.16), 0.05, "y")
    body = tube(
        [(-0.75, 0, z), (-0.1, 0, z + 0.02), (0.4, 0, z + 0.02), (length / 2, 0, z - 0.03)],
        [0.12, 0.15, 0.13, 0.025],
        14,
    )
    return [
        Part(body, paint.base),
        *pair(wing, paint.base),
        *pair(fin, paint.dark),
        *pair(blade((-0.8, 0.08, z), (-0.98, 0.4, z), (0.3, 0.14), 0.045), paint.dark),
        *pair(box((0.05, 0.17, z - 0.02), (0.6, 0.12, 0.17), 0.04), paint.dark),
        *pair(lathe((-0.82, 0.085, z), "x", [(-0.1, 0.05), (-0.1, 0.08), (0.2, 0.1), (0.25, 0.08)], 12), paint.black),
        Part(ellipsoid((0.38, 0, z + 0.12), (0.26, 0.085, 0.095)), paint.black),
        *pair(capsule((-0.7, span, z - 0.02), (-0.3, span, z - 0.02), 0.035, 0.025, 8), paint.light),
        *_gear(0.45, -0.35, 0.22, z, 0.06, paint),
    ]


def biplane(rng: Generator) -> list[Part]:
    """Two wings one above the other with struts between, an open seat and large wheels."""
    paint, length, span = mixed(rng), vary(rng, 1.3), vary(rng, 0.85)
    z, gap = 0.4, vary(rng, 0.4)
    low, high = z - 0.13, z - 0.13 + gap
    struts = []
    for y in (span * 0.35, span * 0.8):
        for x in (0.12, 0.34):
            struts += pair(capsule((x, y, low), (x + 0.04, y, high), 0.018, 0.018, 6), paint.dark)
    return [
        _fuselage(length, 0.17, z, paint.base, 0.04),
        Part(cylinder((length * 0.4, 0, z), "x", 0.22, 0.175, 16), paint.dark),
        *_propeller(length * 0.4 + 0.12, 0, z, 0.34, float(rng.uniform(0, 180)), paint),
        *pair(blade((0.22, 0.0, low), (0.22, span, low + 0.03), (0.36, 0.33), 0.06), paint.light),
        *pair(blade((0.27, -0.01, high), (0.27, span * 1.08, high + 0.03), (0.36, 0.33), 0.06), paint.light),
        *struts,
        Part(ellipsoid((-0.1, 0, z + 0.14), (0.14, 0.1, 0.06)), paint.black),
        Part(ellipsoid((-0.12, 0, z + 0.22), (0.075, 0.07, 0.085), 10), paint.light),
        *_tail(-length * 0.42, z + 0.04, 0.34, 0.28, 0.0, paint.light),
        *_gear(-length * 0.44, 0.25, 0.2, z - 0.1, 0.11, paint),
    ]


def transport(rng: Generator) -> list[Part]:
    """A fat body under one high wing with two propellers, and a tall tail."""
    paint, length, span = mixed(rng), vary(rng, 1.55), vary(rng, 1.0)
    z, top = 0.33, 0.53
    engines = []
    for side in (1.0, -1.0):
        y = side * span * 0.4
        engines.append(
            Part(
                tube([(-0.05, y, top - 0.03), (0.2, y, top - 0.04), (0.42, y, top - 0.03)], [0.05, 0.1, 0.085]),
                paint.dark,
            )
        )
        engines += _propeller(0.5, y, top - 0.03, 0.24, float(rng.uniform(0, 180)), paint)
    return [
        _fuselage(length, vary(rng, 0.23, 0.06), z, paint.base, 0.14),
        *pair(blade((0.12, 0.0, top), (0.08, span, top), (0.4, 0.24), 0.08), paint.base),
        *engines,
        Part(ellipsoid((length * 0.36, 0, z + 0.12), (0.12, 0.13, 0.07), 12), paint.black),
        *pair(box((-0.05, 0.205, z + 0.06), (0.5, 0.04, 0.06), 0.015), paint.black),
        *_tail(-length * 0.43, z + 0.15, 0.45, vary(rng, 0.42), 0.05, paint.light),
        *pair(ellipsoid((-0.02, 0.22, 0.17), (0.24, 0.09, 0.1), 10), paint.base),
        *_gear(length * 0.33, -0.02, 0.24, z - 0.1, 0.085, paint),
    ]


DESIGNS = (airliner, propeller_plane, fighter, biplane, transport)
