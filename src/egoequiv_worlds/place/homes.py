"""Rooms to live in: kitchen, bedroom and living room."""

from math import pi

from egoequiv_worlds.place import furniture
from egoequiv_worlds.place.room import BACK, LEFT, RIGHT, Room, make_room, pictures, rug
from egoequiv_worlds.render.scene import Scene
from egoequiv_worlds.render.solids import Paint, Spot, grid, plain, scaled
from egoequiv_worlds.things import Dice


def kitchen(dice: Dice) -> Scene:
    """Cupboards and worktops along the walls, with stove, sink and fridge."""
    size_m = (dice.between(3.0, 5.5), dice.between(2.4, 2.8), dice.between(3.2, 5.0))
    room = make_room(dice, size_m, (0.18, 0.4), (0.5, 0.6))
    base = furniture.wood(dice).color if dice.chance(0.6) else dice.gray(0.4, 0.85, 0.3)
    doors = grid(base, scaled(base, 0.35), dice.between(0.4, 0.6), 0.8, 0.05, 0.06)
    top = plain(dice.gray(0.05, 0.7), 0.3)
    tiles = grid(dice.gray(0.4, 0.85, 0.3), dice.gray(0.3, 0.7), 0.15, 0.15, 0.07)
    for name in dice.one_of(((BACK,), (BACK, LEFT), (BACK, RIGHT), (BACK, LEFT, RIGHT), (LEFT, RIGHT))):
        _worktop(room, dice, name, doors, top, tiles)
    fridge, steel = room.wall(BACK, dice.side() * (0.5 * room.width_m - 0.4)), plain(dice.gray(0.5, 0.9), 0.05)
    fridge.box(0, 0.36, 0, (0.72, 0.72, dice.between(1.5, 1.95)), steel)
    fridge.box(0, 0.73, 1.1, (0.7, 0.01, 0.015), plain((0.1, 0.1, 0.1), 0.0), casts=False)
    fridge.box(0.28, 0.76, 1.2, (0.03, 0.04, 0.35), plain((0.3, 0.3, 0.3), 0.1), casts=False)
    if dice.chance(0.5):
        board = furniture.wood(dice)
        spot = room.scene.spot(dice.between(-0.6, 0.6), room.depth_m * dice.between(0.45, 0.6), dice.between(-0.3, 0.3))
        if dice.chance(0.5):  # an island
            spot.box(0, 0, 0, (1.6, 0.8, 0.86), doors)
            spot.box(0, 0, 0.86, (1.7, 0.9, 0.05), top)
        else:
            furniture.table(spot, board, (1.4, 0.8, 0.75))
            for x, y, yaw in ((-0.35, 0.55, pi), (0.35, 0.55, pi), (-0.35, -0.55, 0.0), (0.35, -0.55, 0.0)):
                if dice.chance(0.7):
                    furniture.chair(spot.at(x, y, -yaw), board)
        furniture.clutter(spot.at(0, 0, z=0.88), dice, 1.2, 0.5, dice.count(0, 6))
    return room.scene


def _worktop(room: Room, dice: Dice, name: str, doors: Paint, top: Paint, tiles: Paint) -> None:
    spot, long = room.wall(name), room.span_m(name)
    spot.box(0, 0.3, 0.1, (long, 0.6, 0.78), doors)
    spot.box(0, 0.31, 0.88, (long, 0.64, 0.04), top)
    spot.box(0, 0.0, 0.92, (long, 0.03, 0.5), tiles, casts=False)
    x = -0.5 * long
    while x < 0.5 * long - 0.3:  # cupboards on the wall, with gaps for windows and hoods
        wide = min(dice.between(0.6, 1.4), 0.5 * long - x)
        kind = dice.one_of(("cupboard", "cupboard", "cupboard", "window", "hood", "shelf"))
        here = spot.at(x + 0.5 * wide, 0)
        if kind == "cupboard":
            here.box(0, 0.17, 1.45, (wide, 0.34, 0.72), doors)
        elif kind == "window":
            furniture.window(here, dice, 0.9 * wide, 1.1, 2.0)
        elif kind == "hood":
            _stove(here, dice)
        else:
            here.box(0, 0.13, 1.5, (0.95 * wide, 0.26, 0.03), doors)
            furniture.clutter(here.at(0, 0.13, z=1.53), dice, 0.8 * wide, 0.15, 5)
        x += wide
    furniture.clutter(spot.at(0, 0.3, z=0.92), dice, 0.9 * long, 0.35, dice.count(3, 16))
    if dice.chance(0.6):  # sink and tap
        x = dice.between(-0.3, 0.3) * long
        spot.box(x, 0.32, 0.9, (0.6, 0.42, 0.025), plain((0.25, 0.25, 0.26), 0.1), casts=False)
        spot.round(x, 0.1, 0.92, (0.04, 0.04, 0.3), plain((0.7, 0.7, 0.7), 0.05))
        spot.box(x, 0.2, 1.2, (0.03, 0.22, 0.03), plain((0.7, 0.7, 0.7), 0.05))


def _stove(spot: Spot, dice: Dice) -> None:
    steel = plain(dice.gray(0.4, 0.8), 0.05)
    spot.box(0, 0.31, 0, (0.6, 0.63, 0.92), steel)
    spot.box(0, 0.6, 0.3, (0.5, 0.06, 0.36), plain((0.03, 0.03, 0.03), 0.05), casts=False)
    spot.box(0, 0.63, 0.72, (0.48, 0.05, 0.03), plain((0.2, 0.2, 0.2), 0.05), casts=False)
    spot.box(0, 0.31, 0.92, (0.56, 0.54, 0.015), plain((0.04, 0.04, 0.04), 0.05))
    spot.box(0, 0.25, 1.5, (0.65, 0.5, 0.3), steel, top=(0.5, 0.5))
    spot.box(0, 0.15, 1.8, (0.28, 0.26, 1.0), steel)
    if dice.chance(0.6):
        spot.round(0.13, 0.35, 0.93, (0.24, 0.24, 0.16), plain(dice.vivid(0.1, 0.8), 0.05))


def bedroom(dice: Dice) -> Scene:
    """A bed with what stands around it."""
    size_m = (dice.between(3.4, 5.5), dice.between(2.4, 2.9), dice.between(3.6, 5.2))
    room = make_room(dice, size_m, (0.02, 0.25), (0.46, 0.58))
    wide, name = dice.one_of((1.0, 1.5, 1.9)), dice.one_of((BACK, BACK, BACK, LEFT, RIGHT))
    head = room.wall(name, dice.between(-0.5, 0.5) * max(0.1, room.span_m(name) - wide - 1.4))
    if dice.chance(0.5):
        rug(room, dice)
    wood = furniture.wood(dice)
    furniture.bed(head.at(0, 0.05), dice, wide)
    room.look_at(head.at(0, 1.0), dice)
    glow = dice.one_of((0.0, 0.0, 2.5))
    for side in (-1, 1):
        if dice.chance(0.75):  # a bedside table
            spot = head.at(side * (0.5 * wide + 0.35), 0.25)
            spot.box(0, 0, 0, (0.45, 0.4, 0.52), wood)
            spot.box(0, 0.2, 0.25, (0.4, 0.02, 0.02), plain((0.05, 0.05, 0.05), 0.0), casts=False)
            if dice.chance(0.8):
                furniture.lamp(spot.at(0, 0, z=0.52), dice, dice.between(0.25, 0.4), glow)
    others = [wall for wall in (BACK, LEFT, RIGHT) if wall != name]
    lit = dice.one_of(others)
    for _ in range(dice.count(1, 2)):
        spot = room.somewhere(dice, lit if dice.chance(0.7) else name, 0.3)
        furniture.window(spot, dice, dice.between(0.9, 2.0), 0.9, 2.1)
    closet = dice.one_of(others)
    _closet(room.wall(closet, dice.side() * dice.between(0.2, 0.35) * room.span_m(closet)), dice, wood)
    pictures(room, dice, dice.count(0, 4))
    if dice.chance(0.3):
        middle = room.scene.spot(dice.between(-0.3, 0.3) * room.width_m, 0.5 * room.depth_m, dice.between(0, 6))
        furniture.chair(middle, wood)
    return room.scene


def _closet(spot: Spot, dice: Dice, wood: Paint) -> None:
    """A wardrobe, or a chest of drawers below a mirror."""
    lines = scaled(wood.color, 0.4)
    if dice.chance(0.6):
        size = (dice.between(1.0, 2.0), 0.6, dice.between(1.9, 2.2))
        spot.box(0, 0.3, 0, size, grid(wood.color, lines, 0.5, 2.0, 0.03, 0.05))
        return
    spot.box(0, 0.25, 0, (1.2, 0.5, 0.85), grid(wood.color, lines, 0.6, 0.26, 0.04, 0.05))
    furniture.clutter(spot.at(0, 0.25, z=0.85), dice, 1.0, 0.3, 5)
    spot.box(0, 0.02, 1.0, (0.9, 0.04, 0.8), plain((0.4, 0.42, 0.44), 0.1), casts=False)


def living_room(dice: Dice) -> Scene:
    """Sofas around a low table."""
    size_m = (dice.between(4.0, 7.0), dice.between(2.4, 3.2), dice.between(4.0, 6.0))
    room = make_room(dice, size_m, (0.08, 0.3), (0.4, 0.54))
    if dice.chance(0.7):
        rug(room, dice)
    paint, first = furniture.cloth(dice), dice.one_of((BACK, LEFT, RIGHT))
    spot = room.somewhere(dice, first, 0.2).at(0, 0.55)
    furniture.sofa(spot, dice, dice.between(1.6, 2.4), paint)
    room.look_at(spot, dice)
    if dice.chance(0.6):
        second = dice.one_of([wall for wall in (BACK, LEFT, RIGHT) if wall != first])
        furniture.sofa(room.somewhere(dice, second, 0.25).at(0, 0.6), dice, dice.between(1.4, 2.0), paint)
    for _ in range(dice.count(0, 2)):
        x, y = dice.side() * dice.between(0.2, 0.35) * room.width_m, dice.between(0.3, 0.6) * room.depth_m
        other = paint if dice.chance(0.5) else furniture.cloth(dice)
        furniture.sofa(room.scene.spot(x, y, dice.between(-2.5, 2.5)), dice, 0.85, other)
    x, y = dice.between(-0.15, 0.15) * room.width_m, dice.between(0.5, 0.62) * room.depth_m
    if dice.chance(0.85):
        middle = room.scene.spot(x, y, dice.between(-0.3, 0.3))
        size = (dice.between(0.8, 1.3), dice.between(0.5, 0.8), dice.between(0.36, 0.46))
        furniture.table(middle, furniture.wood(dice), size)
        furniture.clutter(middle.at(0, 0, z=size[2]), dice, 0.7, 0.4, dice.count(0, 5))
    for name in (BACK, LEFT, RIGHT):
        _living_room_wall(room, dice, name)
    pictures(room, dice, dice.count(1, 5))
    corner = dice.side() * (0.5 * room.width_m - 0.4)
    if dice.chance(0.6):
        furniture.lamp(room.scene.spot(corner, room.depth_m - 0.4), dice, 1.5, dice.one_of((0.0, 3.0)))
    if dice.chance(0.5):
        furniture.potted_plant(room.scene.spot(-corner, room.depth_m - 0.45), dice, dice.between(0.8, 1.7))
    return room.scene


def _living_room_wall(room: Room, dice: Dice, name: str) -> None:
    spot = room.somewhere(dice, name, 0.3)
    kind = dice.one_of(("window", "window", "books", "hearth", "screen", "nothing"))
    if kind == "window":
        furniture.window(spot, dice, dice.between(1.2, 2.8), dice.one_of((0.3, 0.8)), 2.15)
    elif kind == "books":
        furniture.bookcase(spot, dice, dice.between(0.9, 2.2), dice.between(1.6, 2.2))
    elif kind == "hearth":
        brick = grid(dice.near((0.35, 0.18, 0.12), 0.4), (0.5, 0.48, 0.45), 0.22, 0.08, 0.08, 0.3)
        spot.box(0, 0.2, 0, (1.7, 0.4, 1.2), brick)
        spot.box(0, 0.38, 0.1, (0.9, 0.06, 0.7), plain((0.02, 0.015, 0.01), 0.1), casts=False)
        spot.box(0, 0.22, 1.2, (1.9, 0.5, 0.08), furniture.wood(dice))
        spot.box(0, 0.12, 1.28, (1.2, 0.24, room.height_m), brick)
    elif kind == "screen":
        spot.box(0, 0.22, 0, (1.6, 0.44, 0.45), furniture.wood(dice))
        spot.box(0, 0.2, 0.5, (1.1, 0.06, 0.66), plain((0.02, 0.02, 0.022), 0.05))
