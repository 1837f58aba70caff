"""Lamps, lights, signs, fences, rails, benches and people.

The y axis leads away from the road, and what has a face looks along x: on either side of a road that is towards the
traffic there.
"""

from __future__ import annotations

from egoequiv_worlds.render.solids import Rgb, Spot, grid, plain, scaled, stripes
from egoequiv_worlds.things.dice import Dice

STEEL, DARK, HEAD = plain((0.34, 0.35, 0.36)), plain((0.08, 0.09, 0.09)), plain((0.55, 0.55, 0.53))
WHITE: Rgb = (0.8, 0.8, 0.78)
RED: Rgb = (0.55, 0.05, 0.05)
BLUE: Rgb = (0.05, 0.14, 0.42)
YELLOW: Rgb = (0.75, 0.58, 0.06)


def lamp_post(spot: Spot, height_m: float, reach_m: float, glow: float = 0.0) -> None:
    """A street lamp whose arm reaches over the road, towards -y."""
    spot.round(0, 0, 0, (0.16, 0.16, height_m), STEEL, top=0.7)
    spot.box(0, -reach_m / 2, height_m - 0.1, (0.09, reach_m, 0.09), STEEL)
    head = plain((1.0, 0.9, 0.7), 0.0).glowing(glow) if glow > 0.0 else HEAD
    spot.box(0, -reach_m, height_m - 0.1, (0.3, 0.7, 0.15), head, casts=False)


def traffic_light(spot: Spot, green: bool) -> None:
    """A post with three lights, and a second set above the road."""
    lamps = ((0.75, 0.06, 0.04), (0.75, 0.5, 0.1), (0.05, 0.7, 0.3))
    spot.round(0, 0, 0, (0.14, 0.14, 5.6), STEEL)
    spot.box(0, -2.1, 5.5, (0.1, 4.2, 0.1), STEEL)
    for y, z in ((0.0, 2.4), (-4.0, 4.9)):
        spot.box(0.0, y, z, (0.3, 0.34, 1.05), DARK)
        for k, color in enumerate(lamps):
            on = k == (2 if green else 0)
            lens = plain(color, 0.0).glowing(1.5) if on else plain(scaled(color, 0.15), 0.0)
            spot.box(0.16, y, z + 0.7 - 0.3 * k, (0.04, 0.22, 0.22), lens, casts=False)


def sign(spot: Spot, kind: int) -> None:
    """A road sign on a post: warning, order, direction or priority."""
    shapes = ((0.75, 0.75, RED), (0.62, 0.62, BLUE), (1.3, 0.42, YELLOW), (0.6, 0.6, WHITE))
    wide, tall, color = shapes[kind % len(shapes)]
    spot.round(0, 0, 0, (0.07, 0.07, 2.7), STEEL)
    spot.box(0.05, 0, 2.45 - tall / 2, (0.03, wide, tall), plain(color))
    inner = plain(YELLOW if color == WHITE else WHITE)
    spot.box(0.06, 0, 2.45 - 0.31 * tall, (0.03, 0.66 * wide, 0.62 * tall), inner, casts=False)


def sign_board(spot: Spot, wide: float, tall: float, color: Rgb = BLUE) -> None:
    """A board with lines of writing, its foot at the spot."""
    spot.box(0, 0, 0, (0.1, wide, tall), plain(color))
    spot.box(0.03, 0, 0.08 * tall, (0.1, 0.9 * wide, 0.84 * tall), grid(color, WHITE, 1.1, 0.6, 0.25, 0.0), casts=False)


def gantry(spot: Spot, reach_m: float) -> None:
    """A bridge over a wide road that carries direction signs; y = 0 is the road's outer edge."""
    spot.box(0, 0.5, 0, (0.5, 0.5, 6.9), STEEL)
    spot.box(0, 0.4 - reach_m / 2, 6.3, (0.4, reach_m + 0.8, 0.6), STEEL)
    for share in (0.3, 0.72):
        sign_board(spot.at(0.3, -share * reach_m, z=5.5), 3.4, 2.2)


def delineator(spot: Spot) -> None:
    """A white post with a black band beside a country road."""
    spot.box(0, 0, 0, (0.12, 0.12, 1.0), plain(WHITE))
    spot.box(0, 0, 0.68, (0.13, 0.13, 0.2), DARK)


def guard_rail(spot: Spot, length_m: float) -> None:
    """A steel rail along x, on posts."""
    spot.box(0, 0, 0.45, (length_m, 0.05, 0.33), grid((0.42, 0.43, 0.45), (0.2, 0.2, 0.21), 50.0, 0.14, 0.0015, 0.0))
    for k in range(int(length_m / 4.0 + 0.5)):
        spot.box(4.0 * k + 2.0 - length_m / 2, 0.07, 0, (0.12, 0.1, 0.7), DARK)


def fence(spot: Spot, dice: Dice, length_m: float) -> None:
    """A fence of slats or of rails between posts, or a low wall, along x."""
    color, tall = dice.near((0.6, 0.58, 0.52), 0.5), dice.between(0.75, 1.3)
    style = dice.count(0, 2)
    if style < 2:
        slats = stripes(color, scaled(color, 0.3 if style else 0.75), 0.16 if style else 0.4, 0.35)
        spot.box(0, 0, 0.05, (length_m, 0.06 if style else 0.2, tall), slats)
        return
    for k in range(int(length_m / 2.5) + 1):
        spot.box(k * 2.5 - length_m / 2, 0, 0, (0.12, 0.12, tall), plain(color, 0.3))
    for z in (0.45, 0.85):
        spot.box(0, 0, z * tall, (length_m, 0.05, 0.1), plain(color, 0.3))


def bench(spot: Spot) -> None:
    """A bench that looks towards -y."""
    wood = stripes((0.30, 0.18, 0.09), (0.15, 0.09, 0.05), 0.15, 0.15, lying=True)
    spot.box(0, 0, 0.3, (1.6, 0.45, 0.15), wood)
    spot.box(0, 0.23, 0.45, (1.6, 0.06, 0.45), wood)


def person(spot: Spot, dice: Dice) -> None:
    """Somebody who stands or walks."""
    tall = dice.between(1.55, 1.9)
    coat, legs = plain(dice.vivid(0.03, 0.6), 0.2), plain(dice.gray(0.03, 0.3), 0.2)
    spot.box(0, 0.1, 0, (0.16, 0.18, 0.48 * tall), legs)
    spot.box(0.2, -0.1, 0, (0.16, 0.18, 0.48 * tall), legs)
    spot.box(0.1, 0, 0.46 * tall, (0.46, 0.26, 0.38 * tall), coat, top=(0.85, 0.9))
    spot.ball(0.1, 0, 0.85 * tall, (0.2, 0.22, 0.15 * tall), plain(dice.near((0.45, 0.32, 0.25), 0.4), 0.1))
