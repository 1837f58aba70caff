"""Buildings: fronts with windows, blocks, family houses and towers."""

from __future__ import annotations

from egoequiv.worlds.place.dice import Dice
from egoequiv.worlds.place.paints import (
    Paint,
    Rgb,
    facade,
    grid,
    plain,
    scaled,
    stripes,
)
from egoequiv.worlds.place.solids import Spot

WALLS: tuple[Rgb, ...] = (
    (0.35, 0.18, 0.13),
    (0.55, 0.48, 0.36),
    (0.65, 0.62, 0.56),
    (0.40, 0.40, 0.42),
    (0.25, 0.20, 0.17),
    (0.75, 0.72, 0.68),
)


def front(dice: Dice, lit: float = 0.0, tall: bool = False) -> Paint:
    """A wall with windows in some style."""
    wall = dice.near(dice.one_of(WALLS), 0.35)
    glass = dice.near((0.06, 0.08, 0.10), 0.6)
    style = dice.count(0, 3 if tall else 1)
    if style == 0:
        return facade(wall, glass, dice.between(1.8, 3.2), dice.between(2.9, 3.8), 0.42, 0.55, lit)
    if style == 1:
        return facade(wall, glass, dice.between(2.5, 4.5), dice.between(3.0, 4.0), 0.6, 0.5, lit)
    if style == 2:  # bands of windows
        return facade(wall, glass, dice.between(1.4, 3.0), dice.between(3.2, 4.2), 0.94, dice.between(0.4, 0.6), lit)
    sky_glass = dice.near((0.15, 0.2, 0.26), 0.7)
    return facade(dice.gray(0.08, 0.4), sky_glass, dice.between(1.2, 2.5), 3.6, 0.86, 0.88, lit)


def block(spot: Spot, dice: Dice, size: tuple[float, float, float], paint: Paint) -> None:
    """A building with a cornice or something on its flat roof, or with a pitched roof."""
    wide, tall, deep = size
    spot.box(0, 0, 0, size, paint)
    wall = plain(paint.color, 0.2)
    style = dice.count(0, 3)
    if style == 0:
        spot.box(0, tall, 0, (wide + 0.5, 0.6, deep + 0.5), wall)
    elif style == 1:
        spot.box(0, tall, 0, (0.5 * wide, 2.5, 0.4 * deep), wall)
    elif style == 2 and tall < 30.0:
        tiles = stripes(dice.near((0.25, 0.12, 0.09), 0.5), (0.1, 0.06, 0.05), 0.4, 0.3, lying=True)
        spot.box(0, tall, 0, (wide + 0.6, dice.between(2.0, 5.0), deep + 0.6), tiles, top=(0.8, 0.05))


def house(spot: Spot, dice: Dice) -> None:
    """A family's house of one or two storeys that faces +z."""
    wide, deep, tall = dice.between(8.0, 17.0), dice.between(7.0, 10.0), dice.one_of((2.8, 3.2, 5.6))
    wall = dice.near(dice.one_of(WALLS), 0.35)
    boards = stripes(wall, scaled(wall, 0.8), 0.25, 0.2, lying=True)
    body = boards if dice.chance(0.6) else plain(wall, 0.3)
    roof_color = dice.near(dice.one_of(((0.12, 0.11, 0.11), (0.25, 0.12, 0.08), (0.3, 0.28, 0.26))), 0.4)
    roof = stripes(roof_color, (roof_color[0] * 0.6,) * 3, 0.35, 0.25, lying=True)
    spot.box(0, 0, 0, (wide, tall, deep), body)
    ridge = dice.between(1.5, 3.8)
    spot.box(0, tall, 0, (wide + 0.9, ridge, deep + 1.0), roof, top=(dice.one_of((0.98, 0.6)), 0.03))
    if dice.chance(0.55):  # a wing with its gable to the front
        side, wing = dice.side(), dice.between(3.5, 5.0)
        ahead_m = 0.5 * deep + 0.8
        spot.box(side * 0.28 * wide, 0, ahead_m, (wing, tall, 3.0), body)
        spot.box(side * 0.28 * wide, tall, 0.5 * ahead_m, (wing + 0.7, 0.8 * ridge, deep + 3.5), roof, top=(0.03, 0.98))
        _windows(spot.at(side * 0.28 * wide, ahead_m + 1.5), dice, wing, tall)
    _windows(spot.at(0, 0.5 * deep), dice, wide, tall)
    door = plain(dice.vivid(0.05, 0.6), 0.2)
    spot.box(dice.between(-0.2, 0.2) * wide, 0, 0.5 * deep, (1.1, 2.1, 0.12), door)
    if dice.chance(0.4):
        x = dice.side() * 0.33 * wide
        panels = grid(dice.gray(0.5, 0.85), (0.4, 0.4, 0.4), 2.6, 0.5, 0.04)
        spot.box(x, 0, 0.5 * deep, (2.6, 2.2, 0.1), panels)
    if dice.chance(0.5):  # a porch
        posts = plain((0.75, 0.74, 0.7), 0.1)
        length = dice.between(0.3, 0.9) * wide
        spot.box(0, 2.5, 0.5 * deep + 1.0, (length, 0.25, 2.2), posts)
        for k in range(4):
            spot.box((k / 3 - 0.5) * (length - 0.3), 0, 0.5 * deep + 1.9, (0.16, 2.5, 0.16), posts)
    if dice.chance(0.6):
        spot.box(
            dice.between(-0.4, 0.4) * wide, tall, -0.1 * deep, (0.8, ridge + 0.9, 0.8), plain((0.3, 0.15, 0.1), 0.3)
        )


def _windows(spot: Spot, dice: Dice, wide: float, tall: float) -> None:
    frame, glass = plain((0.8, 0.8, 0.77), 0.05), grid((0.07, 0.08, 0.09), (0.7, 0.7, 0.68), 0.55, 0.6, 0.09, 0.5)
    count = max(1, int(wide / dice.between(2.4, 4.0)))
    for storey in range(int(tall / 2.7)):
        for k in range(count):
            x, y = ((k + 0.5) / count - 0.5) * wide, 0.9 + 2.75 * storey
            size = (dice.between(0.9, 1.6), 1.2, 0.1)
            spot.box(x, y - 0.08, 0, (size[0] + 0.25, size[1] + 0.16, 0.06), frame, casts=False)
            spot.box(x, y, 0, size, glass, casts=False)


def tower(spot: Spot, dice: Dice, tall: float, lit: float = 0.0) -> None:
    """A high-rise, perhaps stepped or round."""
    wide, deep = dice.between(14.0, 38.0), dice.between(14.0, 30.0)
    paint = front(dice, lit, tall=True)
    if dice.chance(0.12):
        spot.round(0, 0, 0, (wide, tall, wide), paint)
        return
    steps = dice.one_of((1, 1, 2, 3))
    low = 0.0
    for k in range(steps):
        part = tall / steps * (1.4 if k == 0 and steps > 1 else 1.0)
        spot.box(0, low, 0, (wide * (1.0 - 0.22 * k), part, deep * (1.0 - 0.22 * k)), paint)
        low += part
    wall = plain(paint.color, 0.2)
    spot.box(0, low, 0, (0.4 * wide, dice.between(2.0, 6.0), 0.4 * deep), wall)
    if dice.chance(0.25):
        spot.box(0, low, 0, (wide * 0.7, dice.between(8.0, 25.0), deep * 0.7), wall, top=(0.05, 0.05))
    elif dice.chance(0.4):
        spot.round(0, low, 0, (0.8, dice.between(10.0, 25.0), 0.8), wall, top=0.2)
