"""Human toy figures: soldier, hero, cowboy, dancer and knight."""

import numpy as np

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.mesh import box, capsule, cylinder, ellipsoid, extrusion, lathe, tube
from egoequiv_worlds.toys import Brush, Category, Model, pair

HIP, SHOULDER, HEAD = 0.62, 1.08, 1.34  # heights above the ground
STAND = 0.05
Limb = tuple[float, float, float]  # how it is held, in degrees: swung forwards, raised sideways, bent at its joint


def _direction(forward_deg: float, aside_deg: float, side: float) -> Array:
    """A limb that hangs down, swung forwards and then raised to its side."""
    forward, aside = np.radians(forward_deg), np.radians(aside_deg)
    return np.array([np.sin(forward) * np.cos(aside), side * np.sin(aside), -np.cos(forward) * np.cos(aside)])


def _arm(limb: Limb, side: float, broad: float, thick: float, sleeve: Brush, skin: Brush) -> Array:
    """An arm on the left (1) or right (-1); where its hand is."""
    forward, aside, bend = limb
    shoulder = np.array([0.0, side * broad, SHOULDER - 0.03])
    elbow = shoulder + 0.25 * _direction(forward, aside, side)
    hand = elbow + 0.23 * _direction(forward + bend, aside * 0.8, side)
    sleeve(tube([shoulder, elbow, hand], [thick * 1.2, thick, thick * 0.85], 10))
    skin(ellipsoid(hand, (0.065, 0.06, 0.065), 10))
    return hand


def _legs(left: Limb, right: Limb, thick: float, trousers: Brush, boots: Brush) -> None:
    for side, (forward, aside, bend) in ((1.0, left), (-1.0, right)):
        hip = np.array([0.0, side * 0.095, HIP])
        knee = hip + 0.29 * _direction(forward, aside, side)
        foot = knee + 0.27 * _direction(forward - bend, aside, side)
        foot[2] = STAND + 0.05
        trousers(tube([hip, knee, foot], [thick * 1.2, thick, thick * 0.85], 10))
        boots(ellipsoid(np.add(foot, (0.05, 0.0, -0.01)), (0.13, 0.07, 0.06), 10))


def _trunk(toy: Model, broad: float, shirt: Brush, skin: Brush) -> None:
    waist = toy.vary(0.13)
    girth = [(waist * 1.15, 0.12), (waist, 0.11), (broad * 0.92, 0.13), (broad * 0.6, 0.09)]
    head = toy.vary(0.15, 0.08)
    shirt(tube([(0, 0, z) for z in (HIP, HIP + 0.17, SHOULDER - 0.1, SHOULDER)], girth, 14))
    skin(capsule((0, 0, SHOULDER), (0.01, 0, HEAD - 0.05), 0.07, 0.07))
    skin(ellipsoid((0.01, 0, HEAD), (head * 1.02, head * 0.92, head * 1.15)))
    skin(ellipsoid((0.01 + head, 0, HEAD - 0.02), (0.035, 0.03, 0.035), 8))
    toy.black(*pair(ellipsoid((head * 0.92, 0.055, HEAD + 0.035), (0.022, 0.022, 0.022), 8)))
    toy.black(lathe((0, 0, HIP + 0.05), "z", [(-0.03, 0.125), (-0.03, 0.15), (0.03, 0.145), (0.03, 0.12)]))


def _stand(toy: Model) -> None:
    toy.dark(cylinder((0.02, 0, STAND / 2), "z", STAND, toy.vary(0.32), 22))


def soldier(toy: Model) -> None:
    """Helmet, pack and a rifle held across the chest."""
    broad, stride = toy.vary(0.22), toy.vary(16, 0.4)
    helmet = [(0, 0.14), (0, 0.225), (0.03, 0.2), (0.12, 0.17), (0.18, 0.1), (0.2, 0.03)]
    _stand(toy)
    _trunk(toy, broad, toy.base, toy.light)
    _legs((stride, 6, 5), (-stride, 6, 5), 0.085, toy.base, toy.black)
    right = _arm((35, 12, 75), -1.0, broad, 0.065, toy.base, toy.light)
    left = _arm((55, 8, 45), 1.0, broad, 0.065, toy.base, toy.light)
    along = (left - right) / np.linalg.norm(left - right)
    toy.black(capsule(right - along * 0.25, left + along * 0.4, 0.04, 0.02, 8))
    toy.dark(lathe((0, 0, HEAD + 0.02), "z", helmet), box((-0.21, 0, SHOULDER - 0.17), (0.17, 0.3, 0.34), 0.05))


def hero(toy: Model) -> None:
    """A cape in the wind, one fist up in the air, legs apart."""
    broad, flare, top, low = toy.vary(0.25), toy.vary(0.42), SHOULDER + 0.03, 0.28
    cape = [(-0.1, top), (-0.15, top), (-0.22, 0.75), (-0.1 - flare, low), (-0.04 - flare, low), (-0.17, 0.75)]
    _trunk(toy, broad, toy.base, toy.light)
    _legs((14, 14, 5), (-10, 14, 5), 0.09, toy.base, toy.dark)
    _arm((165, 14, 5), -1.0, broad, 0.075, toy.light, toy.light)
    _arm((-5, 42, 85), 1.0, broad, 0.075, toy.light, toy.light)
    toy.dark(extrusion(cape, 0.62, 0.015).narrowed(low, top, 0.5))
    toy.dark(ellipsoid((-0.03, 0, HEAD + 0.05), (0.16, 0.155, 0.155), 12))
    toy.light(ellipsoid((0.13, 0, SHOULDER - 0.14), (0.03, 0.08, 0.08), 10))
    _stand(toy)


def cowboy(toy: Model) -> None:
    """A wide hat, elbows out, a waistcoat and bow legs."""
    broad, brim = toy.vary(0.21), toy.vary(0.27)
    hat = [(0, 0.1), (-0.005, brim), (0.025, brim), (0.03, 0.17), (0.17, 0.145), (0.22, 0.1), (0.2, 0.02)]
    _trunk(toy, broad, toy.dark, toy.light)
    _legs((4, 20, 8), (4, 20, 8), 0.075, toy.base, toy.black)
    for side in (1.0, -1.0):
        _arm((-12, 48, 75), side, broad, 0.06, toy.light, toy.light)
    toy.base(lathe((0, 0, HEAD + 0.08), "z", hat, 18))
    toy.black(*pair(box((0.03, 0.2, HIP - 0.06), (0.16, 0.06, 0.16), 0.02)))
    toy.light(capsule((0.11, -0.08, SHOULDER - 0.02), (0.11, 0.08, SHOULDER - 0.02), 0.05, 0.05))


def dancer(toy: Model) -> None:
    """A wide skirt, arms curved up and out, hair in a bun."""
    broad, aside, wide = toy.vary(0.18), (toy.vary(100), toy.vary(100)), toy.vary(0.45)
    skirt = [(-0.36, 0.1), (-0.36, wide), (-0.33, wide), (-0.2, wide * 0.75), (0.0, 0.22), (0.12, 0.14), (0.13, 0.1)]
    _trunk(toy, broad, toy.base, toy.light)
    _legs((0, 3, 0), (0, 3, 0), 0.06, toy.light, toy.dark)
    for side, raised in zip((1.0, -1.0), aside, strict=True):
        _arm((20, raised, 40), side, broad, 0.048, toy.light, toy.light)
    toy.base(lathe((0, 0, HIP + 0.1), "z", skirt, 20))
    toy.dark(ellipsoid((-0.035, 0, HEAD + 0.04), (0.16, 0.16, 0.165), 12))
    toy.dark(ellipsoid((-0.11, 0, HEAD + 0.2), (0.08, 0.08, 0.08), 10))
    _stand(toy)


def knight(toy: Model) -> None:
    """A closed helmet with a plume, a round shield and a raised sword."""
    broad, raised = toy.vary(0.24), toy.vary(0.6)
    plume = [(0.06, 0, HEAD + 0.2), (-0.08, 0, HEAD + 0.3), (-0.22, 0, HEAD + 0.22), (-0.28, 0, HEAD + 0.05)]
    shield = lathe((0, 0, 0), "x", [(0, 0.24), (0.02, 0.26), (0.05, 0.22), (0.09, 0.08), (0.1, 0.02)], 18)
    _trunk(toy, broad, toy.base, toy.base)
    _legs((14, 10, 12), (-12, 10, 5), 0.095, toy.base, toy.dark)
    right = _arm((75, 20, 60), -1.0, broad, 0.075, toy.base, toy.dark)
    left = _arm((30, 30, 60), 1.0, broad, 0.075, toy.base, toy.dark)
    point = right + np.array([0.16, -0.05, raised])
    toy.light(shield.turned("z", 35).moved(np.add(left, (0.06, 0.03, 0.0))))
    toy.paint(0.8, capsule(right - (point - right) * 0.18, point, 0.03, 0.018, 8))
    toy.dark(box(right + (point - right) * 0.14, (0.05, 0.22, 0.04), 0.015))
    toy.base(cylinder((0.01, 0, HEAD + 0.01), "z", 0.36, 0.175, 16))
    toy.black(box((0.17, 0, HEAD + 0.03), (0.05, 0.22, 0.04), 0.01))
    toy.dark(tube(plume, [0.04, 0.06, 0.055, 0.03], 8))
    toy.light(*pair(ellipsoid((0, broad, SHOULDER), (0.12, 0.11, 0.09), 10)))
    _stand(toy)


CATEGORY = Category(1, (soldier, hero, cowboy, dancer, knight))
