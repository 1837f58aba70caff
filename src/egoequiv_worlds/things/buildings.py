"""Buildings; the spot is at the foot of the front wall, which looks towards -y, and the building is behind it."""

from egoequiv_worlds.render.solids import Paint, Rgb, Spot, facade, grid, panes, plain, roof, scaled, stripes
from egoequiv_worlds.things import Dice

PLASTERS = ((0.68, 0.64, 0.55), (0.72, 0.7, 0.66), (0.6, 0.52, 0.4), (0.55, 0.46, 0.42), (0.5, 0.53, 0.52))
BRICKS = ((0.40, 0.20, 0.15), (0.46, 0.29, 0.21), (0.36, 0.25, 0.21), (0.50, 0.40, 0.30))
CONCRETES = ((0.55, 0.55, 0.53), (0.62, 0.60, 0.56), (0.46, 0.47, 0.48), (0.66, 0.66, 0.67))
TILES = ((0.34, 0.15, 0.10), (0.26, 0.17, 0.14), (0.17, 0.17, 0.18), (0.40, 0.22, 0.14))
GLASS: Rgb = (0.06, 0.075, 0.09)
FRAME = plain((0.75, 0.74, 0.7), 0.05)


def wall_color(dice: Dice) -> Rgb:
    """Plaster or brick."""
    return dice.near(dice.one_of(PLASTERS if dice.chance(0.65) else BRICKS), 0.2)


def front(dice: Dice, lit: float = 0.0, tall: bool = False) -> Paint:
    """A wall with windows in some style: single ones, wide ones, bands or all glass."""
    base, style = dice.one_of((0.8, 4.0, 4.0)), dice.count(0, 3 if tall else 1)
    if style == 0:
        window = (dice.between(0.36, 0.5), dice.between(0.48, 0.62))
        return facade(wall_color(dice), GLASS, dice.between(1.8, 3.2), dice.between(2.9, 3.6), window, lit, base)
    if style == 1:
        return facade(wall_color(dice), GLASS, dice.between(2.5, 4.5), dice.between(3.0, 4.0), (0.6, 0.5), lit, base)
    bay, glass = dice.between(1.4, 3.0), dice.near((0.13, 0.17, 0.22), 0.6)
    if style == 2:
        concrete, window = dice.near(dice.one_of(CONCRETES), 0.3), (0.94, dice.between(0.4, 0.6))
        return facade(concrete, GLASS, bay, dice.between(3.2, 4.2), window, lit, 4.5)
    return facade(dice.gray(0.08, 0.4), glass, bay, 3.6, (0.86, 0.88), lit, 4.5)


def block(spot: Spot, dice: Dice, wide: float, deep: float, tall: float, paint: Paint) -> None:
    """A town house: a cornice or something on its flat roof, or a steep roof with dormers."""
    spot.box(0, deep / 2, 0, (wide, deep, tall), paint)
    wall, style = plain(scaled(paint.color, 0.9), 0.2), dice.count(0, 3)
    if style == 1:
        spot.box(0, deep / 2, tall, (0.5 * wide, 0.4 * deep, 2.5), wall)
    elif style == 2 and tall < 30.0:
        tiles = roof(dice.near(dice.one_of(TILES), 0.2), paint.color)
        spot.box(0, deep / 2, tall, (wide, deep + 0.6, dice.between(2.5, 4.5)), tiles, top=(1.0, 0.5))
        for k in range(int((wide - 2.0) / 3.4)):
            spot.box(-wide / 2 + 2.2 + 3.4 * k, 2.2, tall + 0.6, (1.4, 2.6, 1.8), panes((0.5, 0.5, 0.5), GLASS, 0.2))
        return
    spot.box(0, deep / 2 - 0.15, tall, (wide + 0.2, deep + 0.4, 0.5), wall)


def tower(spot: Spot, dice: Dice, tall: float, wide: float, deep: float, lit: float = 0.0) -> None:
    """A high-rise, perhaps stepped or round, with something on its roof."""
    paint = front(dice, lit, tall=True)
    if dice.chance(0.12):
        spot.round(0, wide / 2, 0, (wide, wide, tall), paint)
        return
    steps, low, middle = dice.one_of((1, 1, 2, 3)), 0.0, deep / 2
    for k in range(steps):
        part = tall / steps * (1.4 if k == 0 and steps > 1 else 1.0)
        spot.box(0, middle, low, (wide * (1.0 - 0.22 * k), deep * (1.0 - 0.22 * k), part), paint)
        low += part
    wall = plain(paint.color, 0.2)
    spot.box(0, middle, low, (0.4 * wide, 0.4 * deep, dice.between(2.0, 6.0)), wall)
    if dice.chance(0.25):
        spot.box(0, middle, low, (wide * 0.7, deep * 0.7, dice.between(8.0, 25.0)), wall, top=(0.05, 0.05))
    elif dice.chance(0.4):
        spot.round(0, middle, low, (0.8, 0.8, dice.between(10.0, 25.0)), wall, top=0.2)


def hall(spot: Spot, dice: Dice, wide: float, deep: float) -> None:
    """A low wide building of a campus: bands of windows, a flat roof with a rim, an entrance of glass."""
    floor_m = dice.between(3.5, 4.2)
    tall = 0.5 + dice.count(1, 3) * floor_m
    color = dice.near(dice.one_of(CONCRETES if dice.chance(0.6) else BRICKS), 0.15)
    window, bay_m = (dice.between(0.86, 0.97), dice.between(0.36, 0.5)), dice.between(2.5, 5.0)
    spot.box(0, deep / 2, 0, (wide, deep, tall), facade(color, GLASS, bay_m, floor_m, window, 0.0, 0.5))
    rim = plain(dice.near(dice.one_of(CONCRETES), 0.1), 0.2)
    spot.box(0, deep / 2, tall, (wide + 1.0, deep + 1.0, 0.6), rim)
    porch = spot.at(dice.between(-0.3, 0.3) * wide, 0)
    porch.box(0, -1.25, 3.0, (6.0, 2.5, 0.3), plain((0.5, 0.5, 0.5)))
    porch.box(0, 0.2, 0, (5.0, 1.0, 3.0), facade((0.3, 0.3, 0.3), GLASS, 1.2, 3.0, (0.9, 0.92), 0.0, 0.1))
    for x in (-2.7, 2.7):
        porch.box(x, -2.3, 0, (0.24, 0.24, 3.0), plain((0.45, 0.45, 0.45)))


def gabled(spot: Spot, dice: Dice, wide: float, deep: float) -> None:
    """A detached house with a gable roof, its ridge along or across the street; perhaps a wing and a porch."""
    tall, rise, color = dice.one_of((2.9, 3.2, 5.4, 5.6)), dice.between(2.2, 3.6), wall_color(dice)
    tiles = roof(dice.near(dice.one_of(TILES), 0.25), color)
    window = (dice.between(0.32, 0.45), dice.between(0.42, 0.52))
    wall = facade(color, GLASS, dice.between(2.4, 3.2), 2.7, window, 0.0, 0.3)
    if dice.chance(0.3):  # boards instead of bays: windows stand alone
        wall = stripes(color, scaled(color, 0.8), 0.25, 0.2, lying=True)
        glass, count = grid((0.07, 0.08, 0.09), (0.7, 0.7, 0.68), 0.55, 0.6, 0.09, 0.5), max(1, int(wide / 3.2))
        for k in range(count * int(tall / 2.7)):
            x, z, size = ((k % count + 0.5) / count - 0.5) * wide, 0.9 + 2.75 * (k // count), dice.between(0.9, 1.5)
            spot.box(x, 0, z - 0.08, (size + 0.25, 0.06, 1.36), FRAME, casts=False)
            spot.box(x, 0, z, (size, 0.1, 1.2), glass, casts=False)
    spot.box(0, deep / 2, 0, (wide, deep, tall), wall)
    along = dice.chance(0.5)
    top = (dice.one_of((1.0, 1.0, 0.6)), 0.02) if along else (0.02, 1.0)
    spot.box(0, deep / 2, tall, (wide + 0.8, deep + 0.8, rise), tiles, top=top)
    if along and dice.chance(0.3):  # a wing with its gable to the front
        x, wing = dice.side() * 0.28 * wide, dice.between(3.5, 5.0)
        spot.box(x, 0, 0, (wing, 2.8, tall), wall)
        spot.box(x, deep / 4, tall, (wing + 0.7, deep / 2 + 3.2, 0.8 * rise), tiles, top=(0.03, 1.0))
    door = dice.between(-0.2, 0.2) * wide
    spot.box(door, 0, 0, (1.3, 0.1, 2.2), FRAME, casts=False)
    spot.box(door, -0.02, 0, (1.1, 0.12, 2.1), plain(dice.vivid(0.05, 0.5), 0.2), casts=False)
    if dice.chance(0.3):
        length = dice.between(0.3, 0.8) * wide
        spot.box(0, -1.0, 2.5, (length, 2.2, 0.25), FRAME)
        for k in range(4):
            spot.box((k / 3 - 0.5) * (length - 0.3), -1.9, 0, (0.16, 0.16, 2.5), FRAME)
    if dice.chance(0.7):
        spot.box(dice.between(-0.3, 0.3) * wide, 0.6 * deep, tall, (0.7, 0.6, rise + 0.7), plain(BRICKS[0], 0.3))


def flat_roofed(spot: Spot, dice: Dice, wide: float, deep: float) -> None:
    """A modern house of two boxes, the upper one smaller and shifted, with wide windows."""
    walls = (wall_color(dice), dice.near(dice.one_of(CONCRETES)))
    for z, share, color in ((0.0, 1.0, walls[0]), (2.9, dice.between(0.5, 0.8), walls[1])):
        x, size = dice.side() * (1.0 - share) / 2 * wide, (share * wide, deep, 2.8)
        spot.box(x, deep / 2, z, size, facade(color, GLASS, dice.between(3.0, 4.5), 2.8, (0.75, 0.6), 0.0, 0.3))
        spot.box(x, deep / 2, z + 2.8, (share * wide + 0.4, deep + 0.4, 0.2), plain((0.3, 0.3, 0.3)))


# All equally likely, 8 to 22 m wide along the street and 7 to 11 m deep behind it.
HOUSES = (gabled, gabled, gabled, gabled, gabled, flat_roofed)


def house(spot: Spot, dice: Dice, wide: float, deep: float) -> None:
    """A detached house of one of the kinds."""
    dice.one_of(HOUSES)(spot, dice, wide, deep)


def garage(spot: Spot, dice: Dice) -> None:
    """A low garage with a wide door."""
    spot.box(0, 3.0, 0, (3.4, 6.0, 2.5), plain(wall_color(dice), 0.2))
    spot.box(0, 0, 0, (2.6, 0.05, 2.15), grid((0.45, 0.45, 0.45), (0.3, 0.3, 0.3), 2.6, 0.5, 0.04), casts=False)
