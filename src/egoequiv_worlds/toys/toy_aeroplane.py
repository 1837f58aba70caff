"""Toy aeroplanes: airliner, propeller plane, delta fighter, biplane and high-winged transport."""

import numpy as np

from egoequiv_worlds.render.mesh import blade, box, capsule, cylinder, ellipsoid, lathe, tube
from egoequiv_worlds.toys import Brush, Category, Model, pair


def _fuselage(brush: Brush, length: float, radius: float, z: float, tail_up: float) -> None:
    """A body from the tail at -length/2 to the nose, slim behind."""
    along = np.array([-0.48, -0.3, -0.05, 0.25, 0.4, 0.47]) * length
    girth = np.array([0.22, 0.65, 1.0, 1.0, 0.75, 0.35]) * radius
    lift = np.array([1.0, 0.45, 0.0, 0.0, 0.0, -0.1]) * tail_up
    brush(tube(np.stack([along, 0 * along, z + lift], axis=1), girth, 14))


def _tail(brush: Brush, x: float, z: float, span: float, fin: float, sweep: float) -> None:
    """One upright fin and a pair of tailplanes."""
    brush(blade((x + 0.02, 0, z), (x - sweep - 0.08, 0, z + fin), (0.32, 0.16), 0.05, "y"))
    brush(*pair(blade((x, 0.0, z), (x - sweep, span, z + 0.02), (0.26, 0.14), 0.05)))


def _gear(toy: Model, nose_x: float, main_x: float, track: float, z: float, radius: float) -> None:
    """A wheel in front and one on each side, standing on z = 0, on struts up to z."""
    for x, y in ((nose_x, 0.0), (main_x, track), (main_x, -track)):
        toy.light(capsule((x, y, radius), (x, y * 0.8, z), 0.022, 0.025, 6))
        toy.black(cylinder((x, y, radius), "y", 0.07, radius, 12))


def _propeller(toy: Model, x: float, y: float, z: float, reach: float, angle_deg: float) -> None:
    """Two blades and a pointed hub."""
    toy.black(box((0, 0, 0), (0.025, 2 * reach, 0.07), 0.012).turned("x", angle_deg).moved((x + 0.03, y, z)))
    toy.light(lathe((x, y, z), "x", [(-0.02, 0.06), (0.03, 0.058), (0.08, 0.03), (0.1, 0.008)], 10))


def airliner(toy: Model) -> None:
    """Swept wings with jets below them and a row of windows."""
    length, span, sweep, z = toy.vary(2.0), toy.vary(0.95), toy.vary(0.48), 0.32
    _fuselage(toy.light, length, 0.14, z, 0.05)
    toy.base(*pair(blade((0.08, 0.05, z - 0.05), (-sweep, span, z + 0.05), (0.55, 0.18), 0.08)))
    for share in (0.33, 0.62):
        jet = (0.3 - sweep * share, span * share, z - 0.1)
        toy.dark(*pair(lathe(jet, "x", [(-0.16, 0.05), (0.1, 0.085), (0.14, 0.08), (0.13, 0.06)], 12)))
    toy.black(*pair(box((0.05, 0.128, z + 0.05), (length * 0.55, 0.02, 0.04), 0.008)))
    toy.black(ellipsoid((length * 0.43, 0, z + 0.05), (0.07, 0.075, 0.045), 10))
    _tail(toy.base, -length * 0.42, z + 0.06, 0.36, toy.vary(0.38), 0.16)
    _gear(toy, length * 0.36, -0.05, 0.16, z, 0.065)


def propeller_plane(toy: Model) -> None:
    """Straight low wings, a big propeller and a bubble over the pilot."""
    length, span, z = toy.vary(1.45), toy.vary(0.95), 0.36
    _fuselage(toy.base, length, 0.17, z, 0.03)
    toy.dark(cylinder((length * 0.4, 0, z), "x", 0.26, 0.16, 16))
    _propeller(toy, length * 0.4 + 0.14, 0, z, toy.vary(0.36), toy.between(0, 180))
    toy.base(*pair(blade((0.17, 0.0, z - 0.1), (0.12, span, z + 0.0), (0.42, 0.26), 0.08)))
    toy.light(*pair(blade((0.125, span * 0.8, z - 0.018), (0.12, span * 1.01, z + 0.004), (0.315, 0.27), 0.085)))
    toy.black(ellipsoid((0.08, 0, z + 0.15), (0.22, 0.1, 0.13)))
    _tail(toy.light, -length * 0.42, z + 0.03, 0.38, toy.vary(0.32), 0.02)
    _gear(toy, length * 0.33, 0.1, 0.32, z - 0.1, 0.085)


def fighter(toy: Model) -> None:
    """Delta wings, twin fins, intakes and a needle nose."""
    length, span, z = toy.vary(1.9), toy.vary(0.68), 0.3
    line = [(-0.75, 0, z), (-0.1, 0, z + 0.02), (0.4, 0, z + 0.02), (length / 2, 0, z - 0.03)]
    toy.base(tube(line, [0.12, 0.15, 0.13, 0.025], 14))
    toy.base(*pair(blade((-0.22, 0.06, z - 0.02), (-0.52, span, z - 0.02), (1.05, 0.2), 0.07)))
    toy.dark(*pair(blade((-0.58, 0.17, z), (-0.76, 0.3, z + toy.vary(0.4)), (0.38, 0.16), 0.05, "y")))
    toy.dark(*pair(blade((-0.8, 0.08, z), (-0.98, 0.4, z), (0.3, 0.14), 0.045)))
    toy.dark(*pair(box((0.05, 0.17, z - 0.02), (0.6, 0.12, 0.17), 0.04)))
    toy.black(*pair(lathe((-0.82, 0.085, z), "x", [(-0.1, 0.05), (-0.1, 0.08), (0.2, 0.1), (0.25, 0.08)], 12)))
    toy.black(ellipsoid((0.38, 0, z + 0.12), (0.26, 0.085, 0.095)))
    toy.light(*pair(capsule((-0.7, span, z - 0.02), (-0.3, span, z - 0.02), 0.035, 0.025, 8)))
    _gear(toy, 0.45, -0.35, 0.22, z, 0.06)


def biplane(toy: Model) -> None:
    """Two wings one above the other with struts between, an open seat and large wheels."""
    length, span, gap, z = toy.vary(1.3), toy.vary(0.85), toy.vary(0.4), 0.4
    low, high = z - 0.13, z - 0.13 + gap
    _fuselage(toy.base, length, 0.17, z, 0.04)
    toy.dark(cylinder((length * 0.4, 0, z), "x", 0.22, 0.175, 16))
    _propeller(toy, length * 0.4 + 0.12, 0, z, 0.34, toy.between(0, 180))
    toy.light(*pair(blade((0.22, 0.0, low), (0.22, span, low + 0.03), (0.36, 0.33), 0.06)))
    toy.light(*pair(blade((0.27, -0.01, high), (0.27, span * 1.08, high + 0.03), (0.36, 0.33), 0.06)))
    for y in (span * 0.35, span * 0.8):
        toy.dark(*pair(*(capsule((x, y, low), (x + 0.04, y, high), 0.018, 0.018, 6) for x in (0.12, 0.34))))
    toy.black(ellipsoid((-0.1, 0, z + 0.14), (0.14, 0.1, 0.06)))
    toy.light(ellipsoid((-0.12, 0, z + 0.22), (0.075, 0.07, 0.085), 10))
    _tail(toy.light, -length * 0.42, z + 0.04, 0.34, 0.28, 0.0)
    _gear(toy, -length * 0.44, 0.25, 0.2, z - 0.1, 0.11)


def transport(toy: Model) -> None:
    """A fat body under one high wing with two propellers, and a tall tail."""
    length, span, z, top = toy.vary(1.55), toy.vary(1.0), 0.33, 0.53
    angles_deg = (toy.between(0, 180), toy.between(0, 180))
    _fuselage(toy.base, length, toy.vary(0.23, 0.06), z, 0.14)
    toy.base(*pair(blade((0.12, 0.0, top), (0.08, span, top), (0.4, 0.24), 0.08)))
    for y, angle_deg in zip((span * 0.4, -span * 0.4), angles_deg, strict=True):
        toy.dark(tube([(-0.05, y, top - 0.03), (0.2, y, top - 0.04), (0.42, y, top - 0.03)], [0.05, 0.1, 0.085]))
        _propeller(toy, 0.5, y, top - 0.03, 0.24, angle_deg)
    toy.black(ellipsoid((length * 0.36, 0, z + 0.12), (0.12, 0.13, 0.07), 12))
    toy.black(*pair(box((-0.05, 0.205, z + 0.06), (0.5, 0.04, 0.06), 0.015)))
    _tail(toy.light, -length * 0.43, z + 0.15, 0.45, toy.vary(0.42), 0.05)
    toy.base(*pair(ellipsoid((-0.02, 0.22, 0.17), (0.24, 0.09, 0.1), 10)))
    _gear(toy, length * 0.33, -0.02, 0.24, z - 0.1, 0.085)


CATEGORY = Category(2, (airliner, propeller_plane, fighter, biplane, transport))
