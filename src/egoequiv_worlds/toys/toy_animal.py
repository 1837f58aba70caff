"""Four-legged toy animals: elephant, giraffe, dog, cow and dinosaur."""

from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.mesh import blade, capsule, ellipsoid, tube
from egoequiv_worlds.toys import Brush, Category, Model, pair


class Build(NamedTuple):
    """The proportions all four-legged animals share; lengths in units of a middling body's length."""

    stride: float
    length: float
    width: float
    height: float
    legs: float
    leg_radius: float

    @property
    def shoulder(self) -> tuple[float, float]:
        """How far ahead and how high the neck begins."""
        return self.length / 2 - self.height * 0.5, self.legs + self.height * 0.9


def _build(toy: Model, *lengths: float) -> Build:
    return Build(toy.between(-0.12, 0.12), *(toy.vary(length) for length in lengths))


def _body(build: Build, skin: Brush, hoof: Brush, slope: float = 0.0) -> None:
    """A barrel with its back sloping up towards the shoulders, and four legs with z = 0 under the feet."""
    x, z, r = build.length / 2 - build.height * 0.6, build.legs + build.height * 0.75, build.leg_radius
    spine = [(-x, 0, z - slope), (-x * 0.3, 0, z - slope / 3), (x * 0.4, 0, z + slope / 3), (x, 0, z + slope)]
    skin(tube(spine, np.array([0.88, 1.0, 0.97, 0.9])[:, None] * (build.width, build.height), 14))
    for x, step in ((build.length / 2 - build.height * 0.75, 1.0), (-build.length / 2 + build.height * 0.75, -1.0)):
        for side in (1.0, -1.0):
            foot = (x + step * side * build.stride, side * build.width * 0.58, r * 0.7)
            skin(capsule((x, side * build.width * 0.55, build.legs + build.height * 0.5), foot, r * 1.45, r))
            hoof(ellipsoid((foot[0] + r * 0.3, foot[1], r * 0.62), (r * 1.4, r * 1.2, r * 0.62), 10))


def _eyes(toy: Model, head: Array, reach: tuple[float, float, float]) -> None:
    toy.black(*pair(ellipsoid(head + reach, (0.025, 0.025, 0.028), 8)))


def elephant(toy: Model) -> None:
    """Heavy, with a trunk, tusks and wide ears."""
    build = _build(toy, 1.15, 0.3, 0.34, 0.36, 0.11)
    x, z = build.shoulder
    head, reach, lift = np.array([x + 0.26, 0.0, z + 0.14]), toy.vary(0.36, 0.2), toy.between(0.0, 0.3)
    trunk = [(0.14, 0, -0.04), (0.27, 0, -0.16), (0.32, 0, -0.34), (0.3 + reach * 0.3, 0, -0.46 + lift)]
    tusk = np.add(head, [(0.15, 0.09, -0.12), (0.29, 0.12, -0.24), (0.42, 0.12, -0.22)])
    tail = [(-x - 0.2, 0, z - 0.05), (-x - 0.33, 0, z - 0.25), (-x - 0.34, 0, z - 0.4)]
    ear = ellipsoid((0, 0, 0), (0.17, 0.035, toy.vary(0.25)), 14).turned("z", -35)
    _body(build, toy.base, toy.light)
    toy.base(ellipsoid(head, (0.23, 0.2, 0.23)), tube(np.add(head, trunk), [0.12, 0.095, 0.075, 0.055]))
    toy.dark(*pair(ear.moved(np.add(head, (-0.08, 0.27, 0.0)))))
    toy.paint(0.85, *pair(tube(tusk, [0.04, 0.032, 0.012], 8)))
    _eyes(toy, head, (0.17, 0.135, 0.06))
    toy.dark(tube(tail, [0.035, 0.025, 0.03], 8))


def giraffe(toy: Model) -> None:
    """Long legs, a long neck, little horns and patches."""
    build = _build(toy, 0.85, 0.17, 0.19, 0.62, 0.05)
    x, z = build.shoulder
    long = toy.vary(0.95)
    top = (x + toy.vary(0.34), 0.0, z + long)
    head = top + np.array([0.1, 0.0, 0.03])
    neck = np.array([(x - 0.1, 0, z - 0.08), (x + 0.08, 0, z + long * 0.35), (x + 0.24, 0, z + long * 0.75), top])
    tail = [(-x - 0.1, 0, z - 0.15), (-x - 0.17, 0, z - 0.35), (-x - 0.16, 0, z - 0.5)]
    _body(build, toy.light, toy.dark, slope=0.06)
    toy.light(tube(neck, [0.15, 0.105, 0.08, 0.07]))
    toy.dark(tube(np.add(neck, (-0.06, 0, 0.0)), [0.1, 0.06, 0.045, 0.04], 8))
    toy.light(tube([head, np.add(head, (0.22, 0, -0.09))], [0.1, 0.06]))
    toy.dark(*pair(capsule(np.add(head, (-0.02, 0.05, 0.06)), np.add(head, (-0.05, 0.07, 0.19)), 0.02, 0.03, 8)))
    toy.light(*pair(ellipsoid(np.add(head, (-0.07, 0.13, 0.04)), (0.03, 0.085, 0.04), 8)))
    _eyes(toy, head, (0.07, 0.085, 0.02))
    toy.dark(tube(tail, [0.03, 0.02, 0.035], 8))
    for k in range(10):
        along, turn = -0.26 + 0.11 * (k % 5) + toy.between(-0.03, 0.03), (0.2 if k < 5 else 0.8) * np.pi
        spot = (along, build.width * 0.8 * np.cos(turn), build.legs + build.height * (0.75 + 0.8 * np.sin(turn)))
        toy.dark(ellipsoid(spot, (toy.vary(0.045), 0.05, 0.06), 8))


def dog(toy: Model) -> None:
    """Slim, with a raised tail, hanging ears and a long muzzle."""
    build = _build(toy, 0.95, 0.17, 0.19, 0.36, 0.06)
    x, z = build.shoulder
    head, muzzle = np.array([x + 0.2, 0.0, z + toy.vary(0.27)]), toy.vary(0.22, 0.2)
    tail = [(-x - 0.06, 0, z - 0.08), (-x - 0.22, 0, z + 0.12), (-x - 0.22, 0, z + toy.vary(0.38))]
    ear = ellipsoid((0, 0, 0), (0.065, 0.03, toy.vary(0.15)), 10).turned("x", 14)
    saddle = (0.22, 0.8 * build.width, 0.75 * build.height)
    _body(build, toy.base, toy.light, slope=0.02)
    toy.base(capsule((x - 0.08, 0, z - 0.06), head, 0.15, 0.12), ellipsoid(head, (0.17, 0.155, 0.16)))
    toy.light(capsule(np.add(head, (0.08, 0, -0.05)), np.add(head, (0.08 + muzzle, 0, -0.08)), 0.095, 0.07))
    toy.black(ellipsoid(np.add(head, (0.15 + muzzle, 0, -0.05)), (0.035, 0.045, 0.035), 8))
    toy.dark(*pair(ear.moved(np.add(head, (-0.04, 0.16, -0.04)))))
    _eyes(toy, head, (0.13, 0.075, 0.06))
    toy.base(tube(tail, [0.055, 0.045, 0.03], 8))
    toy.dark(ellipsoid((-0.1, 0, build.legs + build.height * 1.12), saddle))


def cow(toy: Model) -> None:
    """A square body with patches, horns, an udder and a heavy head."""
    build = _build(toy, 1.2, 0.24, 0.27, 0.34, 0.07)
    x, z = build.shoulder
    head = np.array([x + 0.32, 0.0, z + toy.vary(0.1, 0.4)])
    horn = np.add(head, [(-0.03, 0.07, 0.1), (-0.02, 0.19, 0.14), (0.03, 0.24, 0.14 + toy.vary(0.13, 0.3))])
    tail = [(-x - 0.13, 0, z - 0.05), (-x - 0.23, 0, z - 0.3), (-x - 0.21, 0, z - 0.5)]
    _body(build, toy.light, toy.dark)
    for along, side in ((0.2, 1.0), (-0.3, 1.0), (-0.05, -1.0), (-0.42, -1.0)):
        at, high = along + toy.between(-0.06, 0.06), toy.between(0.9, 1.2)
        spot = (at, side * build.width * 0.62, build.legs + build.height * high)
        toy.dark(ellipsoid(spot, (toy.vary(0.16), 0.12, toy.vary(0.15)), 10))
    toy.light(capsule((x - 0.05, 0, z - 0.08), head, 0.2, 0.13))
    toy.light(capsule(head, np.add(head, (0.2, 0, -0.17)), 0.14, 0.1))
    toy.base(ellipsoid(np.add(head, (0.25, 0, -0.21)), (0.09, 0.11, 0.085), 10))
    toy.paint(0.8, *pair(tube(horn, [0.042, 0.035, 0.012], 8)))
    toy.dark(*pair(ellipsoid(np.add(head, (-0.07, 0.2, 0.02)), (0.04, 0.11, 0.05), 8)))
    _eyes(toy, head, (0.1, 0.115, 0.02))
    toy.base(ellipsoid((-0.25, 0, build.legs + 0.05), (0.13, 0.11, 0.1), 10))
    toy.dark(tube(tail, [0.03, 0.022, 0.045], 8))


def dinosaur(toy: Model) -> None:
    """A low head, a high back with a row of plates, and a long thick tail."""
    build = _build(toy, 1.05, 0.24, 0.3, 0.24, 0.085)
    x, z = build.shoulder
    head, long = np.array([x + toy.vary(0.45), 0.0, z - 0.08]), toy.vary(0.75)
    end = np.array([-x - long, 0.0, z - 0.28])
    crest = [(-0.42, z + 0.1, 0.22), (-0.17, z + 0.17, 0.29), (0.1, z + 0.15, 0.28), (0.33, z + 0.08, 0.2)]
    _body(build, toy.base, toy.light)
    toy.base(tube(np.array([(-x, 0, z - 0.1), (-x - 0.35, 0, z - 0.2), end]), [0.21, 0.13, 0.04]))
    toy.base(tube(np.array([(x - 0.1, 0, z - 0.1), (x + 0.2, 0, z - 0.05), head]), [0.2, 0.12, 0.095]))
    toy.base(capsule(head, np.add(head, (0.16, 0, -0.06)), 0.11, 0.07))
    _eyes(toy, head, (0.06, 0.095, 0.05))
    for k, (along, base, tall) in enumerate([(-x - 0.3, z - 0.08, 0.15), *crest]):
        side, tip = 0.04 * (-1) ** k, base + toy.vary(1.35 * tall)
        toy.dark(blade((along, side, base - 0.08), (along - 0.05, side * 2, tip), (0.3, 0.06), 0.06, "y"))
    toy.paint(0.8, *pair(capsule(np.add(end, (0.1, 0.03, 0.0)), np.add(end, (0.0, 0.2, 0.12)), 0.035, 0.01, 8)))


CATEGORY = Category(0, (elephant, giraffe, dog, cow, dinosaur))
