"""Things that stand in rooms: tables, chairs, beds, sofas, shelves, lamps, windows and doors."""

from egoequiv_worlds.render.solids import Paint, Spot, blotches, goods, grid, outside, plain, scaled, stripes
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.nature import leaf_paint

WOODS = ((0.35, 0.22, 0.11), (0.16, 0.09, 0.05), (0.55, 0.40, 0.22), (0.7, 0.68, 0.62), (0.06, 0.05, 0.05))


def wood(dice: Dice) -> Paint:
    """Some wood, painted or not."""
    color = dice.near(dice.one_of(WOODS), 0.3)
    return stripes(color, (color[0] * 0.85, color[1] * 0.82, color[2] * 0.8), dice.between(0.05, 0.2), 0.4)


def cloth(dice: Dice) -> Paint:
    """Cloth, plain or with a pattern."""
    one, two = dice.vivid(0.08, 0.8), dice.vivid(0.08, 0.85)
    kind = dice.count(0, 4)
    if kind == 0:
        return stripes(one, two, dice.between(0.08, 0.4), dice.between(0.2, 0.5), lying=dice.chance(0.5))
    if kind == 1:
        return blotches(one, two, dice.between(0.15, 0.5))
    if kind == 2:
        return grid(one, two, dice.between(0.15, 0.5), dice.between(0.15, 0.5), dice.between(0.1, 0.5), 0.2)
    return plain(one, 0.3)


def table(spot: Spot, paint: Paint, size: tuple[float, float, float]) -> None:
    """A board on four legs."""
    wide, deep, tall = size
    spot.box(0, 0, tall - 0.05, (wide, deep, 0.05), paint)
    for x in (-1, 1):
        for y in (-1, 1):
            spot.box(x * (0.5 * wide - 0.06), y * (0.5 * deep - 0.06), 0, (0.06, 0.06, tall - 0.05), paint)


def chair(spot: Spot, paint: Paint) -> None:
    """A chair that faces +y."""
    table(spot, paint, (0.44, 0.44, 0.46))
    spot.box(0, -0.2, 0.46, (0.42, 0.04, 0.46), paint, top=(0.9, 1.0))


def swivel_chair(spot: Spot, paint: Paint) -> None:
    """An office chair that faces +y."""
    steel = plain((0.06, 0.06, 0.06), 0.1)
    for size in ((0.6, 0.06, 0.05), (0.06, 0.6, 0.05)):
        spot.box(0, 0, 0.05, size, steel)
    spot.round(0, 0, 0.08, (0.07, 0.07, 0.36), steel)
    spot.box(0, 0, 0.44, (0.5, 0.5, 0.1), paint)
    spot.box(0, -0.25, 0.6, (0.46, 0.08, 0.55), paint, top=(0.85, 0.8))


def lamp(spot: Spot, dice: Dice, stand_m: float, glow: float) -> None:
    """A lamp with a shade on a stand; a floor lamp if the stand is tall."""
    size = dice.between(0.25, 0.42)
    spot.round(0, 0, 0, (0.22, 0.22, 0.03), plain((0.15, 0.12, 0.1), 0.1))
    spot.round(0, 0, 0, (0.05, 0.05, stand_m), plain(dice.gray(0.1, 0.6), 0.1))
    shade = plain((0.85, 0.78, 0.62), 0.05).glowing(glow)
    spot.round(0, 0, stand_m - 0.05, (size, size, 0.75 * size), shade, top=dice.between(0.45, 0.95))


def picture(spot: Spot, dice: Dice, z: float) -> None:
    """A framed picture on a wall."""
    wide, tall = dice.between(0.3, 1.1), dice.between(0.3, 0.8)
    spot.box(0, 0.01, z, (wide, 0.03, tall), plain(dice.gray(0.03, 0.7), 0.1), casts=False)
    if dice.chance(0.7):
        size = (wide - 0.08, 0.03, tall - 0.08)
        spot.box(0, 0.02, z + 0.04, size, plain(dice.gray(0.6, 0.85), 0.05), casts=False)
    art = blotches(dice.vivid(0.1, 0.9), dice.vivid(0.05, 0.6), dice.between(0.2, 0.8))
    spot.box(0, 0.03, z + 0.22 * tall, (0.56 * wide, 0.03, 0.56 * tall), art, casts=False)


def window(spot: Spot, dice: Dice, wide: float, low: float, high: float, curtains: bool = True) -> None:
    """A window in a wall, with what is outside, and perhaps curtains or blinds."""
    dim, sky = dice.one_of((0.5, 1.5, 3.0)), dice.near(dice.one_of(((0.8, 0.88, 1.0), (0.9, 0.9, 0.9))), 0.1)
    below = dice.near(dice.one_of(((0.15, 0.22, 0.08), (0.4, 0.38, 0.35), (0.6, 0.62, 0.65))), 0.4)
    view = outside(sky, below, dice.one_of((0.5, 0.8, 1.4)), dim, dice.between(-0.1, 0.7))
    spot.box(0, 0, low - 0.08, (wide + 0.16, 0.05, high - low + 0.16), plain((0.75, 0.74, 0.7), 0.05), casts=False)
    spot.box(0, 0.01, low, (wide, 0.06, high - low), view, casts=False)
    if not curtains:
        return
    if dice.chance(0.3):
        slats = stripes((0.8, 0.78, 0.72), (0.35, 0.34, 0.33), 0.06, 0.4, lying=True).glowing(0.3 * dim)
        drop = dice.between(0.3, 1.0) * (high - low)
        spot.box(0, 0.05, high - drop, (wide, 0.05, drop), slats, casts=False)
        return
    color = dice.vivid(0.15, 0.85)
    folds = stripes(color, scaled(color, 0.6), dice.between(0.08, 0.2), 0.45)
    drawn, bottom = dice.between(0.15, 0.4) * wide, 0.1 if dice.chance(0.6) else low - 0.1
    for x in (-(0.5 * wide - 0.3 * drawn), 0.5 * wide - 0.3 * drawn):
        spot.box(x, 0.08, bottom, (drawn, 0.1, high + 0.12 - bottom), folds, casts=False)


def door(spot: Spot, dice: Dice, paint: Paint, wide: float = 0.9) -> None:
    """A closed door in its frame."""
    spot.box(0, 0, 0, (wide + 0.18, 0.06, 2.12), plain(dice.gray(0.3, 0.8), 0.05), casts=False)
    spot.box(0, 0.02, 0, (wide, 0.07, 2.03), paint, casts=False)
    if dice.chance(0.4):
        pane = grid((0.2, 0.22, 0.25), (0.5, 0.5, 0.5), 0.5, 0.6, 0.06)
        spot.box(0, 0.03, 1.2, (0.5 * wide, 0.07, 0.6), pane, casts=False)
    spot.box(0.38 * wide, 0.08, 1.0, (0.12, 0.05, 0.04), plain((0.6, 0.58, 0.5), 0.05), casts=False)


def bookcase(spot: Spot, dice: Dice, wide: float, tall: float) -> None:
    """Shelves with books that stand with their back at y = 0."""
    frame = wood(dice)
    color, sizes = dice.vivid(0.3, 0.8), (dice.between(0.03, 0.07), dice.between(0.28, 0.4), dice.between(0.6, 0.95))
    books = goods(color, frame.color, *sizes, 0.7)
    spot.box(0, 0.14, 0, (wide, 0.28, tall), frame)
    spot.box(0, 0.15, 0.06, (wide - 0.08, 0.29, tall - 0.1), books)


def sofa(spot: Spot, dice: Dice, wide: float, paint: Paint) -> None:
    """A sofa or armchair that faces +y."""
    tall, deep = dice.between(0.75, 0.95), dice.between(0.8, 1.0)
    spot.box(0, 0, 0.08, (wide, deep, 0.34), paint)
    spot.box(0, -0.38 * deep, 0.4, (wide, 0.24 * deep, tall - 0.4), paint, top=(0.98, 0.7))
    for side in (-1, 1):
        spot.box(side * (0.5 * wide - 0.1), 0, 0.1, (0.2, deep, 0.55), paint, top=(0.8, 0.96))
    seats = max(1, round(wide / 0.75))
    for k in range(seats):
        x = ((k + 0.5) / seats - 0.5) * (wide - 0.4)
        spot.box(x, 0.08 * deep, 0.42, ((wide - 0.44) / seats, 0.7 * deep, 0.12), paint, top=(0.95, 0.95))
        if dice.chance(0.5):
            spot.ball(x, -0.2 * deep, 0.5, (0.45, 0.2, 0.4), cloth(dice))


def bed(spot: Spot, dice: Dice, wide: float) -> None:
    """A made bed with its head at y = 0 that reaches to +y."""
    long, frame, cover = 2.05, wood(dice), cloth(dice)
    sheet, low = plain(dice.gray(0.6, 0.9), 0.15), dice.between(0.2, 0.35)
    spot.box(0, 0.5 * long, 0.05, (wide, long, low), frame)
    spot.box(0, 0.5 * long, low, (0.98 * wide, 0.98 * long, 0.22), sheet)
    start = dice.between(0.45, 0.75)
    size = (wide + 0.1, long - start + 0.06, low + 0.17)
    spot.box(0, start + 0.5 * (long - start), 0.1, size, cover, top=(0.96, 0.98))
    size = (wide + 0.1, 0.08, dice.between(0.7, 1.3))
    spot.box(0, 0.04, 0, size, frame if dice.chance(0.7) else cloth(dice))
    if dice.chance(0.4):
        spot.box(0, long + 0.03, 0, (wide + 0.06, 0.06, low + 0.35), frame)
    pillows = 2 if wide > 1.2 else 1
    for k in range(pillows):
        x = ((k + 0.5) / pillows - 0.5) * wide
        for y in (0.2, 0.42) if dice.chance(0.4) else (0.28,):
            spot.ball(x, y, low + 0.17, (0.8 * wide / pillows, 0.42, 0.24), sheet if dice.chance(0.6) else cloth(dice))


def monitor(spot: Spot, dice: Dice, z: float) -> None:
    """A screen on a foot that faces +y, standing at a height."""
    wide = dice.between(0.42, 0.65)
    tall, case = dice.between(0.6, 0.8) * wide, plain(dice.one_of(((0.03, 0.03, 0.03), (0.6, 0.58, 0.52))), 0.1)
    spot.box(0, 0, z, (0.22, 0.16, 0.12), case)
    deep = dice.one_of((0.05, 0.05, 0.35))
    spot.box(0, -0.5 * deep, z + 0.1, (wide, deep, tall), case)
    lines = stripes((0.1, 0.16, 0.3), (0.7, 0.75, 0.8), 0.06, dice.between(0.1, 0.9), lying=True)
    screen = lines.glowing(dice.between(0.5, 2.0)) if dice.chance(0.6) else plain((0.03, 0.035, 0.04), 0.05)
    spot.box(0, 0.01, z + 0.14, (0.88 * wide, 0.03, 0.84 * tall), screen, casts=False)


def potted_plant(spot: Spot, dice: Dice, tall: float) -> None:
    """A plant in a pot."""
    size = 0.35 * tall
    spot.round(0, 0, 0, (0.7 * size, 0.7 * size, 0.3 * tall), plain(dice.vivid(0.15, 0.6), 0.2), top=1.25)
    leaves = leaf_paint(dice, 0.1, 0.2)
    for _ in range(3):
        x, y = dice.between(-0.15, 0.15), dice.between(-0.15, 0.15)
        spot.ball(x, y, 0.3 * tall, (1.6 * size, 1.6 * size, 0.7 * tall), leaves, ragged=0.9)


def clutter(spot: Spot, dice: Dice, wide: float, deep: float, count: int) -> None:
    """Small things on a board: boxes, cups, bottles, bowls."""
    for _ in range(count):
        x, y = dice.between(-0.5, 0.5) * wide, dice.between(-0.5, 0.5) * deep
        paint, kind = plain(dice.vivid(0.05, 0.95), 0.1), dice.count(0, 2)
        if kind == 0:
            size = (dice.between(0.08, 0.35), dice.between(0.08, 0.3), dice.between(0.03, 0.28))
            spot.at(x, y, dice.between(-0.6, 0.6)).box(0, 0, 0, size, paint)
        elif kind == 1:
            size_m = dice.between(0.06, 0.13)
            spot.round(x, y, 0, (size_m, size_m, dice.between(0.08, 0.32)), paint, top=dice.between(0.4, 1.1))
        else:
            size_m = dice.between(0.1, 0.26)
            spot.ball(x, y, 0, (size_m, size_m, 0.8 * size_m), paint)
