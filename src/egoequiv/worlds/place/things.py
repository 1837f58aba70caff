"""Things that stand outdoors: trees, bushes, rocks, cars, lamp posts, fences, people."""

from __future__ import annotations

from math import pi

from egoequiv.worlds.place.dice import Dice
from egoequiv.worlds.place.paints import Paint, Rgb, mottled, plain, scaled, stripes
from egoequiv.worlds.place.solids import Spot

GREENS: tuple[Rgb, ...] = ((0.10, 0.16, 0.04), (0.07, 0.12, 0.04), (0.16, 0.18, 0.05), (0.05, 0.09, 0.04))
AUTUMN: tuple[Rgb, ...] = ((0.30, 0.18, 0.05), (0.28, 0.10, 0.04), (0.35, 0.28, 0.07))


def leaf_paint(dice: Dice, size_m: float) -> Paint:
    """Leaves in light and dark."""
    color = dice.near(dice.one_of(GREENS if dice.chance(0.8) else AUTUMN), 0.4)
    return mottled((1.9 * color[0], 1.9 * color[1], 1.7 * color[2]), scaled(color, 0.25), 0.16 * size_m, 2.2)


def broadleaf(spot: Spot, dice: Dice, height_m: float, leaves: Paint | None = None) -> None:
    """A tree with a trunk and a crown of several clumps."""
    paint = leaves or leaf_paint(dice, height_m)
    bark = plain(dice.near((0.12, 0.09, 0.07), 0.4), 0.4)
    bare = dice.between(0.2, 0.4) * height_m
    width = dice.between(0.55, 0.95) * height_m
    thick = 0.05 * height_m
    spot.round(0, 0, 0, (thick, bare + 0.3 * height_m, thick), bark, top=0.5)
    for k in range(dice.count(3, 5)):
        share = 0.85 if k == 0 else dice.between(0.4, 0.65)
        x, z = (0.0, 0.0) if k == 0 else (dice.between(-0.35, 0.35) * width, dice.between(-0.35, 0.35) * width)
        low = bare if k == 0 else bare + dice.between(0.0, 0.35) * height_m
        tall = (height_m - bare) * (0.95 if k == 0 else dice.between(0.45, 0.7))
        spot.ball(
            x, low, z, (share * width, min(tall, height_m - low), share * width), paint, leaves=dice.between(0.55, 0.75)
        )


def conifer(spot: Spot, dice: Dice, height_m: float, leaves: Paint | None = None) -> None:
    """A fir of stacked cones."""
    paint = leaves or leaf_paint(dice, 0.6 * height_m)
    width = dice.between(0.28, 0.45) * height_m
    spot.round(0, 0, 0, (0.05 * height_m, 0.3 * height_m, 0.05 * height_m), plain((0.1, 0.07, 0.05), 0.4))
    for k in range(5):
        low, share = (0.08 + 0.17 * k) * height_m, 1.0 - 0.19 * k
        tall = 0.32 * height_m if k < 4 else 0.24 * height_m
        spot.round(0, low, 0, (share * width, tall, share * width), paint, top=0.03, leaves=0.7)


def palm(spot: Spot, dice: Dice, height_m: float) -> None:
    """A bare trunk with a flat crown."""
    spot.round(0, 0, 0, (0.4, height_m, 0.4), plain((0.2, 0.16, 0.12), 0.4), top=0.6)
    paint = leaf_paint(dice, 2.0)
    for k in range(5):
        spot.at(0, 0, k * 2.5 * pi / 5).ball(0.9, height_m - 0.5, 0, (2.6, 0.8, 0.7), paint, leaves=0.75)


def bush(spot: Spot, dice: Dice, size_m: float, leaves: Paint | None = None) -> None:
    """A low clump of leaves."""
    paint = leaves or leaf_paint(dice, 2.0 * size_m)
    wide = size_m * dice.between(1.0, 2.0)
    spot.ball(0, -0.2 * size_m, 0, (wide, 1.2 * size_m, wide), paint, leaves=0.75)


def rock(spot: Spot, dice: Dice, size_m: float, color: Rgb | None = None) -> None:
    """A boulder, part of it in the ground."""
    base = color or dice.gray(0.15, 0.4)
    paint = mottled(scaled(base, 1.3), scaled(base, 0.45), 0.8 * size_m, 1.4)
    wide, deep = size_m * dice.between(0.8, 1.8), size_m * dice.between(0.8, 1.5)
    turned = spot.at(0, 0, dice.between(0, pi))
    for _ in range(dice.count(2, 4)):
        x, z, share = dice.between(-0.4, 0.4) * wide, dice.between(-0.3, 0.3) * deep, dice.between(0.4, 0.9)
        part = turned.at(x, z, dice.between(0, pi))
        part.ball(0, -0.35 * size_m, 0, (share * wide, (0.5 + share) * size_m, share * deep), paint, leaves=0.97)


def car(spot: Spot, dice: Dice, lights: float = 0.0) -> None:
    """A car, a van or a lorry that points ahead."""
    kind = dice.one_of(("car", "car", "car", "van", "lorry"))
    color = plain(dice.vivid(0.03, 0.8) if dice.chance(0.6) else dice.gray(0.03, 0.9), 0.05)
    glass, tyre = plain((0.03, 0.035, 0.04), 0.1), plain((0.02, 0.02, 0.02), 0.1)
    wide, long = dice.between(1.7, 1.9), dice.between(3.9, 4.7)
    if kind == "lorry":
        wide, long = 2.4, dice.between(6.0, 9.0)
        spot.box(0, 0.9, -0.8, (wide, 2.4, long - 2.0), plain(dice.vivid(0.2, 0.9), 0.1))
        spot.box(0, 0.4, 0.5 * long - 0.9, (wide, 2.1, 1.8), color, top=(0.95, 0.8))
        spot.box(0, 1.4, 0.5 * long - 0.6, (0.9 * wide, 0.8, 1.5), glass, top=(0.95, 0.8))
    else:
        spot.box(0, 0.3, 0, (wide, 0.6, long), color, top=(0.94, 0.97))
        tall, share = (0.95, 0.85) if kind == "van" else (0.6, 0.58)
        back = -0.05 * long
        spot.box(0, 0.88, back, (0.92 * wide, tall, share * long), glass, top=(0.82, 0.66))
        spot.box(0, 0.88 + tall, back, (0.74 * wide, 0.06, 0.62 * share * long), color)
    for x in (-1, 1):
        for z in (-0.32, 0.32):
            spot.ball(0.46 * x * wide, 0.0, z * long, (0.24, 0.66, 0.66), tyre)
        if lights > 0.0:
            white, red = plain((1.0, 0.95, 0.8), 0.0).glowing(lights), plain((1.0, 0.08, 0.05), 0.0).glowing(lights)
            spot.box(0.36 * x * wide, 0.6, 0.5 * long, (0.3, 0.16, 0.1), white, casts=False)
            spot.box(0.36 * x * wide, 0.65, -0.5 * long, (0.3, 0.14, 0.1), red, casts=False)


def lamp_post(spot: Spot, height_m: float, glow: float = 0.0) -> None:
    """A pole with an arm to its +x side."""
    metal = plain((0.25, 0.26, 0.27), 0.1)
    spot.round(0, 0, 0, (0.16, height_m, 0.16), metal, top=0.6)
    spot.box(0.7, height_m - 0.1, 0, (1.5, 0.08, 0.08), metal)
    head = plain((1.0, 0.9, 0.7), 0.0).glowing(glow) if glow > 0.0 else metal
    spot.box(1.4, height_m - 0.2, 0, (0.6, 0.16, 0.3), head, casts=False)


def fence(spot: Spot, dice: Dice, length_m: float) -> None:
    """A fence or a low wall along x."""
    color = dice.gray(0.15, 0.8)
    height = dice.between(0.7, 1.4)
    if dice.chance(0.4):
        spot.box(0, 0, 0, (length_m, height, 0.2), stripes(color, scaled(color, 0.6), 0.3, 0.25))
        return
    post = plain(color, 0.3)
    for k in range(int(length_m / 2.5) + 1):
        spot.box(k * 2.5 - length_m / 2, 0, 0, (0.12, height, 0.12), post)
    for y in (0.45, 0.85):
        spot.box(0, y * height, 0, (length_m, 0.1, 0.05), post)


def person(spot: Spot, dice: Dice) -> None:
    """Somebody who stands or walks."""
    tall = dice.between(1.55, 1.9)
    coat, legs = plain(dice.vivid(0.03, 0.6), 0.2), plain(dice.gray(0.03, 0.3), 0.2)
    spot.box(0, 0, 0.1, (0.16, 0.48 * tall, 0.18), legs)
    spot.box(0.2, 0, -0.1, (0.16, 0.48 * tall, 0.18), legs)
    spot.box(0.1, 0.46 * tall, 0, (0.46, 0.38 * tall, 0.26), coat, top=(0.85, 0.9))
    spot.ball(0.1, 0.85 * tall, 0, (0.2, 0.15 * tall, 0.22), plain(dice.near((0.45, 0.32, 0.25), 0.4), 0.1))
