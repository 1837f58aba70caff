"""Rooms to work in: office, corridor and store."""

from math import pi

from egoequiv_worlds.place import furniture
from egoequiv_worlds.place.room import BACK, LEFT, RIGHT, ceiling_lights, make_room, pictures
from egoequiv_worlds.render.scene import Lamp, Scene
from egoequiv_worlds.render.solids import Paint, Spot, blotches, goods, grid, plain, scaled
from egoequiv_worlds.things import Dice


def office(dice: Dice) -> Scene:
    """Desks with screens, chairs and shelves of files."""
    panels = grid((0.75, 0.75, 0.73), (0.5, 0.5, 0.5), 0.6, 0.6, 0.04, 0.05)
    size_m = (dice.between(3.5, 8.0), dice.between(2.5, 3.0), dice.between(3.5, 7.0))
    room = make_room(dice, size_m, (0.12, 0.34), (0.46, 0.58), panels)
    ceiling_lights(room, dice)
    board, seat = furniture.wood(dice), plain(dice.vivid(0.03, 0.4), 0.2)
    for name in dice.one_of(((BACK,), (LEFT, RIGHT), (BACK, LEFT), (BACK, RIGHT))):
        along = -0.5 * room.span_m(name) + dice.between(0.8, 1.3)
        while along < 0.5 * room.span_m(name) - 0.7:
            desk(room.wall(name, along).at(0, 0.4), dice, board, seat)
            along += dice.between(1.6, 2.6)
    if dice.chance(0.5):
        x, y = dice.between(-0.25, 0.25) * room.width_m, dice.between(0.45, 0.65) * room.depth_m
        desk(room.scene.spot(x, y, -(dice.one_of((0.0, pi, pi / 2)))), dice, board, seat)
    for name in (BACK, LEFT, RIGHT):
        spot = room.somewhere(dice, name, 0.3)
        kind = dice.one_of(("window", "files", "shelf", "board", "cabinet"))
        if kind == "window":
            furniture.window(spot, dice, dice.between(1.2, 3.0), 0.95, 2.2, curtains=dice.chance(0.5))
        elif kind == "files":
            furniture.bookcase(spot, dice, dice.between(0.9, 2.0), dice.between(1.5, 2.2))
        elif kind == "shelf":
            books = goods((0.6, 0.55, 0.5), board.color, 0.06, 0.34, 0.85, 0.7)
            spot.box(0, 0.14, 1.35, (dice.between(1.0, 2.4), 0.28, 0.7), books)
        elif kind == "board":
            notes = blotches((0.85, 0.85, 0.85), dice.vivid(0.2, 0.8), 0.5)
            spot.box(0, 0.01, 1.1, (dice.between(1.0, 2.0), 0.04, 0.9), notes, casts=False)
        else:
            drawers = grid(dice.gray(0.2, 0.6), (0.1, 0.1, 0.1), 0.46, 0.33, 0.05, 0.05)
            spot.box(0, 0.3, 0, (0.95, 0.6, 1.35), drawers)
    pictures(room, dice, dice.count(0, 2))
    return room.scene


def desk(spot: Spot, dice: Dice, board: Paint, seat: Paint) -> None:
    """A desk at which somebody sits on its +y side."""
    wide = dice.between(1.2, 1.6)
    furniture.table(spot, board, (wide, 0.75, 0.74))
    drawers = grid(board.color, (0.05, 0.05, 0.05), 0.42, 0.22, 0.06, 0.03)
    spot.box(dice.side() * (0.5 * wide - 0.24), 0, 0, (0.42, 0.6, 0.68), drawers)
    for x in (-0.3, 0.3) if dice.chance(0.3) else (dice.between(-0.2, 0.2),):
        furniture.monitor(spot.at(x, -0.15), dice, 0.74)
    spot.box(0, 0.18, 0.74, (0.44, 0.15, 0.025), plain(dice.gray(0.03, 0.7), 0.2))
    furniture.clutter(spot.at(0, 0, z=0.74), dice, 0.95 * wide, 0.6, dice.count(2, 10))
    for _ in range(dice.count(0, 2)):
        x, y = dice.between(-0.5, 0.5), dice.between(-0.1, 0.25)
        spot.box(x, y, 0.74, (0.21, 0.3, 0.01), plain((0.85, 0.85, 0.83), 0.05))
    if dice.chance(0.85):
        furniture.swivel_chair(spot.at(dice.between(-0.25, 0.25), 0.75, -(pi + dice.between(-0.7, 0.7))), seat)


def corridor(dice: Dice) -> Scene:
    """A long passage with doors on both sides."""
    size_m = (dice.between(1.5, 3.6), dice.between(2.4, 3.2), dice.between(10.0, 35.0))
    panels = grid((0.75, 0.75, 0.73), (0.55, 0.55, 0.55), 0.6, 0.6, 0.04, 0.05) if dice.chance(0.5) else None
    room = make_room(dice, size_m, (0.4, 0.58), (0.52, 0.66), panels)
    yaw, width = dice.between(-0.22, 0.22), dice.between(0.4, 0.75)
    room.scene.camera = room.scene.camera._replace(yaw_rad=yaw, y=dice.between(0.2, 2.0), width=width)
    wood, dado = furniture.wood(dice), plain(dice.vivid(0.1, 0.6), 0.1)
    gap, striped = dice.between(1.8, 4.5), dice.chance(0.4)
    kinds = dice.one_of((("door",), ("door", "locker"), ("door", "picture"), ("door", "window"), ("window",)))
    for name in (LEFT, RIGHT):
        if striped:
            room.wall(name).box(0, 0.0, 0, (room.depth_m, 0.02, dice.between(0.9, 1.2)), dado, casts=False)
        shift = dice.between(0.0, 1.0)
        for k in range(int(room.depth_m / gap)):
            spot = room.wall(name, (k + shift) * gap - room.depth_m / 2)
            _corridor_bay(spot, dice, dice.one_of(kinds), gap, wood, dado)
    if dice.chance(0.5):
        furniture.door(room.wall(BACK), dice, wood, 1.5)
    elif dice.chance(0.6):
        furniture.window(room.wall(BACK), dice, 0.6 * room.width_m, 0.3, 2.2, curtains=False)
    glow = plain((0.97, 0.97, 1.0), 0.0).glowing(dice.between(1.0, 5.0))
    size = dice.one_of(((0.3, 1.2, 0.05), (0.3, 1.2, 0.05), (0.6, 0.6, 0.05)))
    step, reach = dice.between(2.2, 5.0), dice.between(0.5, 0.9)
    places = [1.0 + step * k for k in range(int(room.depth_m / step))]
    for y in places:
        room.scene.spot(0, y).box(0, 0, room.height_m - 0.03, size, glow, casts=False)
    room.scene.lamps = tuple(Lamp(0.0, y, room.height_m - 0.3, (0.8, 0.8, 0.8), reach) for y in places[:6])
    room.scene.light = room.scene.light._replace(sunlight=(0.1, 0.1, 0.1))
    return room.scene


def _corridor_bay(spot: Spot, dice: Dice, kind: str, wide: float, wood: Paint, dado: Paint) -> None:
    if kind == "door":
        furniture.door(spot, dice, wood)
    elif kind == "locker":
        spot.box(0, 0.2, 0, (0.8 * wide, 0.4, 1.8), grid(dado.color, (0.03, 0.03, 0.03), 0.35, 1.8, 0.05, 0.1))
    elif kind == "picture":
        furniture.picture(spot, dice, 1.4)
    else:
        furniture.window(spot, dice, 0.6 * wide, 0.9, 2.1, curtains=False)


def store(dice: Dice) -> Scene:
    """Shelves full of goods, or stalls of fruit."""
    panels = grid((0.7, 0.7, 0.7), (0.5, 0.5, 0.5), 1.2, 0.6, 0.04, 0.05)
    width, depth = dice.between(7.0, 14.0), dice.between(8.0, 16.0)
    room = make_room(dice, (width, dice.between(2.8, 4.0), depth), (0.3, 0.5), (0.4, 0.5), panels)
    ceiling_lights(room, dice)
    ware = dice.between(0.08, 0.3)
    for name in (BACK, LEFT, RIGHT):
        _rack(room.wall(name), dice, room.span_m(name), dice.between(1.8, 2.4), ware)
    aisle = dice.between(2.2, 3.5)
    x0 = dice.between(-0.5, 0.5) * aisle
    ahead, market = dice.chance(0.7), dice.chance(0.4)
    for k in range(-3, 4):
        x = x0 + k * aisle
        if abs(x - room.scene.camera.x) < 0.8 or abs(x) > 0.5 * width - 1.0 if ahead else k < 0:
            continue
        spot = room.scene.spot(x, 0.55 * depth, -pi / 2) if ahead else room.scene.spot(0, 3.5 + k * aisle)
        length = 0.62 * depth if ahead else 0.6 * width
        if market:
            spot.box(0, 0, 0, (length, 1.2, 0.75), furniture.wood(dice))
            count = int(length / 0.9)
            for x in [((j + 0.5) / count - 0.5) * length for j in range(count)]:  # a crate with a heap of fruit
                color = dice.vivid(0.3, 0.9)
                spot.box(x, 0, 0.75, (0.85, 1.15, 0.16), plain((0.3, 0.25, 0.18), 0.2))
                heap = blotches(color, scaled(color, 0.35), dice.between(0.15, 0.3), 0.15)
                for y in (-0.3, 0.3):
                    spot.ball(x, y, 0.72, (0.8, 0.6, 0.42), heap)
        else:
            tall = dice.between(1.2, 2.1)
            _rack(spot, dice, length, tall, ware)
            _rack(spot.at(0, 0.0, -pi), dice, length, tall, ware)
    for _ in range(dice.count(0, 5)):
        sign = grid(dice.vivid(0.3, 0.9), dice.vivid(0.05, 0.9), 0.5, 0.25, 0.3, 0.1)
        spot = room.scene.spot(dice.between(-0.4, 0.4) * width, dice.between(0.3, 0.9) * depth)
        spot.box(0, 0, room.height_m - dice.between(0.7, 1.1), (dice.between(0.8, 2.0), 0.04, 0.45), sign, casts=False)
    return room.scene


def _rack(spot: Spot, dice: Dice, length: float, tall: float, ware: float) -> None:
    frame, x = dice.gray(0.5, 0.85), -0.5 * length
    while x < 0.5 * length - 0.2:
        wide = min(dice.between(1.0, 3.0), 0.5 * length - x)
        shelf, color, item = dice.between(0.25, 0.5), dice.vivid(0.5, 1.0), ware * dice.between(0.6, 1.6)
        paint = goods(color, frame, item, shelf, dice.between(0.7, 1.0), dice.between(0.4, 0.9))
        spot.box(x + 0.5 * wide, 0.22, 0.1, (wide, 0.44, tall), paint)
        x += wide
    spot.box(0, 0.26, 0, (length, 0.52, 0.12), plain(frame, 0.1))
