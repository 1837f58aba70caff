"""Trees, bushes, hedges and rocks."""

from __future__ import annotations

from math import cos, pi, sin

from egoequiv_worlds.render.solids import Paint, Rgb, Spot, mottled, plain, scaled
from egoequiv_worlds.things import Dice

GREENS: tuple[Rgb, ...] = ((0.14, 0.22, 0.06), (0.18, 0.25, 0.07), (0.10, 0.19, 0.07), (0.22, 0.25, 0.08))
AUTUMN: tuple[Rgb, ...] = ((0.36, 0.22, 0.06), (0.33, 0.14, 0.05), (0.40, 0.32, 0.09))
BARK = plain((0.16, 0.12, 0.09), 0.4)


def leaf_paint(dice: Dice, season: float = 0.2, size_m: float = 0.4) -> Paint:
    """Leaves in light and dark; towards autumn (season 1) more of them turn."""
    color = dice.near(dice.one_of(AUTUMN if dice.chance(season) else GREENS), 0.25)
    return mottled(scaled(color, 1.4), scaled(color, 0.2), size_m, 2.2)


def broadleaf(spot: Spot, dice: Dice, height_m: float, leaves: Paint | None = None, season: float = 0.2) -> None:
    """A tree with a round crown of several balls."""
    paint = leaves or leaf_paint(dice, season)
    crown, foot = height_m * dice.between(0.24, 0.32), height_m * dice.between(0.25, 0.36)
    middle, thick = foot + 0.4 * (height_m - foot), 0.036 * height_m + 0.1
    spot.round(0, 0, 0, (thick, thick, middle), BARK, top=0.5)
    tall = 0.84 * (height_m - foot)
    spot.ball(0, 0, middle - tall / 2, (2 * crown, 2 * crown, tall), paint, ragged=0.9)
    start = dice.between(0, 2 * pi)
    for k in range(6):
        out, size = crown * dice.between(0.55, 0.8), 2 * crown * dice.between(0.45, 0.65)
        x, y = out * cos(start + 2.4 * k), out * sin(start + 2.4 * k)
        z = middle + (height_m - foot) * dice.between(-0.22, 0.3) - 0.45 * size
        spot.ball(x, y, z, (size, size, 0.9 * size), paint, ragged=0.9)


def conifer(spot: Spot, dice: Dice, height_m: float, leaves: Paint | None = None) -> None:
    """A dark tree of flat layers that narrow towards the top."""
    dark = dice.near((0.07, 0.13, 0.06), 0.2)
    paint = leaves or mottled(scaled(dark, 1.5), scaled(dark, 0.3), 0.6, 1.5)
    wide = height_m * dice.between(0.17, 0.24)
    spot.round(0, 0, 0, (0.03 * height_m, 0.03 * height_m, 0.3 * height_m), BARK)
    for share in (0.2, 0.34, 0.48, 0.62, 0.76, 0.88):
        size = 2 * wide * (1.1 - share)
        spot.ball(0, 0, (share - 0.13) * height_m, (size, size, 0.26 * height_m), paint, ragged=0.85)


def palm(spot: Spot, dice: Dice, height_m: float) -> None:
    """A bare trunk with a flat crown."""
    spot.round(0, 0, 0, (0.4, 0.4, height_m), BARK, top=0.6)
    paint = leaf_paint(dice)
    for k in range(5):
        spot.at(0, 0, k * pi / 2.5).ball(0.9, 0, height_m - 0.5, (2.6, 0.7, 0.8), paint, ragged=0.8)


def bush(spot: Spot, dice: Dice, size_m: float, leaves: Paint | None = None, season: float = 0.2) -> None:
    """A few low balls of leaves."""
    paint = leaves or leaf_paint(dice, season, 0.5)
    for _ in range(3):
        x, y = dice.between(-0.5, 0.5) * size_m, dice.between(-0.5, 0.5) * size_m
        size = 2 * size_m * dice.between(0.45, 0.7)
        spot.ball(x, y, -0.12 * size, (size, size, 0.85 * size), paint, ragged=0.8)


def hedge(spot: Spot, dice: Dice, length_m: float, height_m: float) -> None:
    """A cut hedge along x."""
    spot.box(0, 0, 0, (length_m, 0.6, height_m), leaf_paint(dice, 0.0, 1.2))


def rock(spot: Spot, dice: Dice, size_m: float, color: Rgb | None = None) -> None:
    """A boulder, part of it in the ground."""
    base = color or dice.gray(0.15, 0.4)
    paint = mottled(scaled(base, 1.3), scaled(base, 0.45), 0.8 * size_m, 1.4)
    wide, deep = size_m * dice.between(0.8, 1.8), size_m * dice.between(0.8, 1.5)
    for _ in range(dice.count(2, 4)):
        x, y, share = dice.between(-0.4, 0.4) * wide, dice.between(-0.3, 0.3) * deep, dice.between(0.4, 0.9)
        part = spot.at(x, y, dice.between(0, pi))
        part.ball(0, 0, -0.35 * size_m, (share * wide, share * deep, (0.5 + share) * size_m), paint, ragged=0.1)
