"""Industry: sheds, tanks, chimneys, pipes, cooling towers and cranes."""

from math import pi

from egoequiv_worlds.place.outdoors import ground, in_view, start, view
from egoequiv_worlds.render.scene import Scene
from egoequiv_worlds.render.solids import Spot, grid, mottled, plain, scaled, stripes
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.buildings import front, wall_color
from egoequiv_worlds.things.streets import car, fence


def industrial(dice: Dice) -> Scene:
    """Sheds, tanks, chimneys, pipes and pylons."""
    camera = view(dice, 0.0, dice.one_of((1.7, 3.0, 12.0)), pi, (0.5, 0.9), (0.35, 0.6))
    scene = start(dice, camera, dice.between(600, 4000), shadow_m=60.0)
    floor = dice.near(dice.one_of(((0.2, 0.2, 0.19), (0.12, 0.13, 0.06), (0.3, 0.27, 0.22))), 0.4)
    ground(scene, mottled(floor, scaled(floor, 0.5), dice.between(2.0, 10.0), 1.0))
    favourites = [dice.one_of((_shed, _tank, _tank, _chimney, _pipes, _cooling_tower, _crane)) for _ in range(3)]
    for _ in range(dice.count(5, 16)):
        build = dice.one_of(favourites)
        build(in_view(scene, dice, NEAREST_M.get(build, 40.0), 200.0, 0.9, dice.between(0, pi)), dice)
    if dice.chance(0.5):
        _chimney(in_view(scene, dice, 50.0, 120.0, 0.5), dice)
    if dice.chance(0.4):
        fence(in_view(scene, dice, 8.0, 25.0, 0.3, camera.yaw_rad + dice.between(-0.5, 0.5)), dice, 80.0)
    for _ in range(dice.one_of((0, 2, 6))):
        car(in_view(scene, dice, 12.0, 60.0, 1.0, dice.between(0, 2 * pi)), dice)
    return scene


def _shed(spot: Spot, dice: Dice) -> None:
    wide, deep, tall = dice.between(20.0, 50.0), dice.between(15.0, 30.0), dice.between(7.0, 14.0)
    if dice.chance(0.7):  # of corrugated iron
        color = dice.gray(0.2, 0.7, 0.4)
        paint = stripes(color, scaled(color, 0.7), dice.between(0.4, 1.2), 0.4)
    else:
        paint = front(dice)
    spot.box(0, 0, 0, (wide, deep, tall), paint)
    roof, teeth = plain(dice.gray(0.1, 0.5), 0.2), dice.one_of((1, 4))
    for k in range(teeth):
        size = (wide / teeth, deep, dice.between(2.0, 3.5))
        spot.box(((k + 0.5) / teeth - 0.5) * wide, 0, tall, size, roof, top=(0.05, 1.0))


def _tank(spot: Spot, dice: Dice) -> None:
    paint = grid(dice.gray(0.4, 0.85, 0.2), (0.3, 0.3, 0.3), 3.0, 2.4, 0.03, 0.08)
    if dice.chance(0.2):
        size = dice.between(8.0, 16.0)
        spot.ball(0, 0, 2.0, (size, size, size), paint)
        for k in range(4):
            spot.at(0, 0, k * pi / 2).box(0.42 * size, 0, 0, (0.6, 0.6, 2.0 + 0.5 * size), plain(paint.color, 0.1))
        return
    tall = dice.between(6.0, 26.0)
    wide = dice.between(5.0, 24.0) if tall < 14.0 else dice.between(4.0, 9.0)
    for k in range(dice.count(1, 3)):
        spot.round(1.2 * k * wide, 0, 0, (wide, wide, tall), paint)
        spot.round(1.2 * k * wide, 0, tall, (wide, wide, 0.12 * wide), paint, top=0.2)


def _chimney(spot: Spot, dice: Dice) -> None:
    tall, thick, color = dice.between(25.0, 75.0), dice.between(2.5, 5.0), wall_color(dice)
    rings = stripes(color, (0.6, 0.15, 0.1) if dice.chance(0.4) else color, 12.0, 0.5, lying=True)
    spot.round(0, 0, 0, (thick, thick, tall), rings, top=0.65)
    if dice.chance(0.6):
        smoke, drift = plain((dice.between(0.4, 0.9),) * 3, 0.3), dice.between(0, 2 * pi)
        for k in range(8):
            size = 3.0 + 2.2 * k
            spot.at(0, 0, drift).ball(3.0 * k, 0, tall + 2.2 * k - 1.0, (1.6 * size, size, size), smoke, ragged=0.9)


def _pipes(spot: Spot, dice: Dice) -> None:
    length, tall, steel = dice.between(20.0, 50.0), dice.between(5.0, 14.0), plain(dice.gray(0.25, 0.6, 0.3), 0.2)
    for level in range(dice.count(1, 3)):
        for k in range(4):
            spot.box(0, 0.9 * k, tall * (0.5 + 0.25 * level), (length, 0.5, 0.5), steel)
    for k in range(int(length / 6.0)):
        for y in (-0.6, 3.3):
            spot.box(6.0 * k - length / 2 + 2.0, y, 0, (0.35, 0.35, tall * 1.1), steel)
    for _ in range(dice.count(2, 6)):
        thick = dice.between(1.2, 3.5)
        x, y = dice.between(-0.5, 0.5) * length, dice.between(4.0, 9.0)
        spot.round(x, y, 0, (thick, thick, dice.between(1.0, 3.0) * tall), steel)


def _cooling_tower(spot: Spot, dice: Dice) -> None:
    tall, wide = dice.between(30.0, 55.0), dice.between(28.0, 45.0)
    paint = mottled(dice.gray(0.4, 0.6), (0.3, 0.3, 0.3), 15.0, 0.6)
    spot.round(0, 0, 0, (wide, wide, 0.7 * tall), paint, top=0.62)
    spot.round(0, 0, 0.7 * tall, (0.62 * wide, 0.62 * wide, 0.3 * tall), paint, top=1.1)
    steam = plain((0.9, 0.9, 0.9), 0.2)
    for k in range(5):
        size = 0.7 * wide + 5.0 * k
        spot.ball(8.0 * k, 0, tall - 0.3 * size + 9.0 * k, (size, size, 0.8 * size), steam, ragged=0.9)


def _crane(spot: Spot, dice: Dice) -> None:
    tall, arm = dice.between(20.0, 45.0), dice.between(20.0, 40.0)
    paint = stripes(dice.near((0.6, 0.35, 0.05), 0.4), (0.1, 0.1, 0.1), 1.2, 0.3, lying=True)
    spot.box(0, 0, 0, (1.4, 1.4, tall), paint)
    spot.box(0.3 * arm, 0, tall, (1.3 * arm, 1.1, 1.1), paint)
    spot.box(0, 0, tall, (1.2, 1.2, 6.0), paint, top=(0.1, 0.1))


NEAREST_M = {_cooling_tower: 120.0, _shed: 60.0, _pipes: 50.0}  # nearer than this they would hide everything else
