"""Things outdoors: buildings, trees, rocks, cars, lamps, fences and people."""

from __future__ import annotations

from math import pi

from egoequiv_worlds.place.dice import Dice
from egoequiv_worlds.render.solids import Paint, Rgb, Spot, facade, grid, mottled, plain, scaled, stripes

WALLS: tuple[Rgb, ...] = (
    (0.35, 0.18, 0.13),
    (0.55, 0.48, 0.36),
    (0.65, 0.62, 0.56),
    (0.40, 0.40, 0.42),
    (0.25, 0.20, 0.17),
    (0.75, 0.72, 0.68),
)

GREENS: tuple[Rgb, ...] = ((0.10, 0.16, 0.04), (0.07, 0.12, 0.04), (0.16, 0.18, 0.05), (0.05, 0.09, 0.04))
AUTUMN: tuple[Rgb, ...] = ((0.30, 0.18, 0.05), (0.28, 0.10, 0.04), (0.35, 0.28, 0.07))


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
