"""Towns: streets, suburbs and high-rises, by day and by night."""

from __future__ import annotations

from dataclasses import replace
from math import pi

from egoequiv_worlds.place import things
from egoequiv_worlds.place.dice import Dice
from egoequiv_worlds.place.outdoors import ahead, ground, start
from egoequiv_worlds.place.things import block, front, house, tower
from egoequiv_worlds.place.weather import finish, night
from egoequiv_worlds.render.camera import Camera
from egoequiv_worlds.render.scene import Lamp, Scene
from egoequiv_worlds.render.solids import grid, mottled, plain, road, scaled, stripes, water


def street(dice: Dice) -> Scene:
    """Rows of houses along a road with parked cars and trees."""
    half = dice.between(3.5, 8.0)
    walk = dice.between(2.0, 4.5)
    camera = Camera(
        x=dice.between(-0.75, 0.75) * (half - 2.2),
        y=dice.one_of((1.6, 1.6, 2.5, 6.0)),
        yaw_rad=dice.one_of((0.0, 0.0, 0.0, 0.35, -0.35)) + dice.between(-0.2, 0.2),
        horizon=dice.between(0.5, 0.75),
        tilt=dice.between(-0.02, 0.02),
        width=dice.between(0.42, 0.65),
    )
    scene = start(dice, camera, dice.between(500, 3000), 40.0, (0.36, 0.48))
    street_floor(scene, dice, half, walk)
    storeys = dice.one_of((3.0, 6.0, 9.0, 14.0, 20.0))
    for side in (-1.0, 1.0):
        if dice.chance(0.12):
            _row_of_trees(scene, dice, side * (half + walk + 3.0), 0.9)
            continue
        _row_of_houses(scene, dice, side, half + walk, storeys)
        if dice.chance(0.5):
            _row_of_trees(scene, dice, side * (half + 0.8), 0.6)
        _parked(scene, dice, side, half)
    for _ in range(dice.count(0, 5)):
        spot = scene.spot(dice.side() * (half + dice.between(0.5, walk)), dice.between(6.0, 50.0), dice.between(0, pi))
        things.person(spot, dice)
    for _ in range(dice.count(0, 4)):
        lane = dice.side()
        things.car(scene.spot(lane * 0.45 * half, dice.between(10.0, 90.0), 0.0 if lane > 0 else pi), dice)
    if dice.chance(0.6):
        side = dice.side()
        for k in range(8):
            things.lamp_post(scene.spot(side * (half + 0.4), 6.0 + 24.0 * k, 0.0 if side < 0 else pi), 7.0)
    return scene


def street_floor(scene: Scene, dice: Dice, half: float, walk: float) -> None:
    pavement = dice.gray(0.2, 0.45)
    ground(scene, mottled(pavement, dice.near(pavement, 0.5), 3.0, 0.8), y=-0.02)
    asphalt = dice.gray(0.05, 0.25)
    spot = scene.spot()
    spot.box(
        0,
        -0.3,
        150,
        (2 * half, 0.32, 400),
        road(asphalt, (0.7, 0.7, 0.66), dice.one_of((half, 3.2)), 6.0, 0.8),
        casts=False,
    )
    for side in (-1, 1):
        slabs = grid(pavement, scaled(pavement, 0.6), 1.0, 1.0, 0.06)
        spot.box(side * (half + 0.5 * walk), -0.1, 150, (walk, 0.22, 400), slabs, casts=False)


def _row_of_houses(scene: Scene, dice: Dice, side: float, edge_m: float, height_m: float) -> None:
    z = dice.between(-25.0, -10.0)
    while z < 170.0:
        wide, deep = dice.between(7.0, 22.0), dice.between(9.0, 15.0)
        tall = max(3.2, height_m * dice.between(0.65, 1.35))
        spot = scene.spot(side * (edge_m + 0.5 * deep + dice.between(0.0, 0.6)), z + 0.5 * wide, -0.5 * pi * side)
        paint = front(dice, tall=height_m > 12.0)
        block(spot, dice, (wide, tall, deep), paint)
        if dice.chance(0.45):  # an awning or balcony towards the street
            cloth = stripes(dice.vivid(0.15, 0.7), (0.7, 0.7, 0.66), 0.5)
            spot.box(0, 2.7, 0.5 * deep + 0.6, (0.6 * wide, 0.3, 1.2), cloth)
        z += wide + (dice.between(2.0, 9.0) if dice.chance(0.2) else 0.0)


def _row_of_trees(scene: Scene, dice: Dice, x: float, frequent: float) -> None:
    leaves = things.leaf_paint(dice, 6.0)
    gap, tall = dice.between(7.0, 14.0), dice.between(4.5, 10.0)
    for k in range(10):
        if dice.chance(frequent):
            things.broadleaf(scene.spot(x, 5.0 + gap * k), dice, tall * dice.between(0.8, 1.2), leaves)


def _parked(scene: Scene, dice: Dice, side: float, half: float) -> None:
    full = dice.one_of((0.0, 0.4, 0.85))
    for k in range(14):
        if dice.chance(full):
            things.car(scene.spot(side * (half - 1.1), 4.0 + 5.8 * k, 0.0 if side > 0 else pi), dice)


def suburb(dice: Dice) -> Scene:
    """A house with a garden, seen from the road."""
    distance = dice.between(9.0, 18.0)
    camera = Camera(
        x=dice.between(-4.0, 4.0),
        y=dice.one_of((1.6, 1.6, 2.2, 4.0)),
        yaw_rad=dice.between(-0.25, 0.25),
        horizon=dice.between(0.55, 0.75),
        tilt=dice.between(-0.02, 0.02),
        width=dice.between(0.36, 0.6),
    )
    scene = start(dice, camera, dice.between(1500, 5000), shadow_m=24.0, brightness=(0.42, 0.54))
    grass = dice.near(dice.one_of(((0.09, 0.14, 0.04), (0.2, 0.2, 0.08), (0.14, 0.19, 0.06))), 0.4)
    lawn = mottled(grass, (grass[0] * 0.5, grass[1] * 0.55, grass[2] * 0.5), dice.between(0.5, 3.0), 1.4)
    ground(scene, lawn)
    scene.sky = replace(scene.sky, ridge_height=dice.one_of((0.0, 0.05, 0.12)))
    x = dice.between(-3.0, 3.0)
    turn = pi + dice.between(-0.4, 0.4)
    for k in range(-2, 3):
        if k == 0 or dice.chance(0.7):
            away = distance + dice.between(0.0, 4.0) + (dice.between(0.0, 6.0) if k else 0.0)
            house(scene.spot(x + 24.0 * k, away + 4.0, turn + dice.between(-0.1, 0.1)), dice)
    _garden(scene, dice, x, distance)
    return scene


def _garden(scene: Scene, dice: Dice, x: float, distance_m: float) -> None:
    """A drive, a road, trees, bushes, a fence and cars in front of a house."""
    if dice.chance(0.7):
        size = (dice.between(1.2, 4.0), 0.23, 2 * distance_m)
        scene.spot(x + dice.between(-7.0, 7.0)).box(0, -0.2, 0, size, plain(dice.gray(0.25, 0.6), 0.3), casts=False)
    if dice.chance(0.4):
        scene.spot(0, 0).box(0, -0.2, 2.5, (300, 0.22, 5.0), plain(dice.gray(0.08, 0.3), 0.4), casts=False)
    for _ in range(dice.count(1, 7)):
        spot = scene.spot(dice.between(-26.0, 26.0), distance_m + dice.between(-3.0, 25.0))
        (things.conifer if dice.chance(0.2) else things.broadleaf)(spot, dice, dice.between(4.0, 13.0))
    for _ in range(dice.count(2, 14)):
        spot = scene.spot(x + dice.between(-13, 13), distance_m - dice.between(0.2, 3.5))
        things.bush(spot, dice, dice.between(0.4, 1.5))
    if dice.chance(0.4):
        things.fence(scene.spot(dice.between(-8, 8), dice.between(4.0, 8.0)), dice, dice.between(10.0, 40.0))
    for _ in range(dice.count(0, 2)):
        z = dice.between(6.0, distance_m - 1.5)
        things.car(scene.spot(dice.between(-12, 12), z, dice.between(0, 2 * pi)), dice)


def tall_building(dice: Dice) -> Scene:
    """Towers of offices or flats, close by or from afar."""
    near = dice.chance(0.5)
    camera = Camera(
        y=dice.one_of((1.7, 10.0, 40.0)),
        yaw_rad=dice.between(-0.3, 0.3),
        pitch_rad=dice.between(0.15, 0.6) if near else dice.between(-0.05, 0.12),
        horizon=0.5 if near else dice.between(0.5, 0.95),
        tilt=dice.between(-0.04, 0.04),
        width=dice.between(0.35, 0.65),
    )
    scene = start(dice, camera, dice.between(900, 5000), 150.0, (0.4, 0.54))
    ground(scene, mottled(dice.gray(0.1, 0.3), (0.08, 0.1, 0.05), 12.0, 1.0))
    low, high = (40.0, 110.0) if near else (120.0, 500.0)
    for _ in range(dice.count(1, 5) if near else dice.count(3, 16)):
        px, pz = ahead(scene, dice, low, high, 0.7)
        tower(scene.spot(px, pz, dice.between(-0.8, 0.8)), dice, dice.between(45.0, 170.0))
    for _ in range(0 if near else dice.count(5, 30)):
        px, pz = ahead(scene, dice, 60.0, 400.0, 1.0)
        size = (dice.between(12.0, 40.0), dice.between(6.0, 28.0), dice.between(12.0, 30.0))
        block(scene.spot(px, pz, dice.between(-0.5, 0.5)), dice, size, front(dice))
    for _ in range(0 if near else dice.one_of((0, 0, 5, 15))):
        px, pz = ahead(scene, dice, 25.0, 80.0)
        things.broadleaf(scene.spot(px, pz), dice, dice.between(5.0, 11.0))
    return scene


def night_city(dice: Dice) -> Scene:
    """Lit windows and lamps in the dark."""
    sky, light = night(dice)
    scene = Scene(Camera(), sky, light)
    return (_skyline if dice.chance(0.5) else _night_street)(dice, scene)


def _skyline(dice: Dice, scene: Scene) -> Scene:
    """Towers across water or open ground."""
    scene.finish = finish(dice, 0.14, 0.4)
    scene.camera = Camera(
        y=dice.one_of((2.0, 15.0, 50.0)),
        yaw_rad=dice.between(-0.4, 0.4),
        horizon=dice.between(0.45, 0.9),
        tilt=dice.between(-0.02, 0.02),
        width=dice.between(0.32, 0.6),
    )
    wet = water((0.01, 0.012, 0.015), (0.02, 0.02, 0.02), 3.0, 0.2)
    ground(scene, wet if dice.chance(0.5) else plain((0.05, 0.05, 0.05), 0.4))
    for _ in range(dice.count(15, 55)):
        px, pz = ahead(scene, dice, 90.0, 500.0)
        lit = dice.between(0.15, 0.75)
        tower(scene.spot(px, pz, dice.between(-0.6, 0.6)), dice, dice.between(12.0, 130.0), lit)
    lamps = plain((1.0, 0.8, 0.5), 0.0).glowing(4.0)
    for _ in range(dice.count(10, 60)):
        px, pz = ahead(scene, dice, 60.0, 300.0)
        scene.spot(px, pz).ball(0, dice.between(2.0, 9.0), 0, (1.2, 1.2, 1.2), lamps)
    return scene


def _night_street(dice: Dice, scene: Scene) -> Scene:
    """A street with lit windows, signs and headlights."""
    scene.finish = finish(dice, 0.16, 0.42)
    half, walk = dice.between(4.0, 8.0), dice.between(2.0, 4.0)
    scene.camera = Camera(
        x=dice.between(-0.8, 0.8) * half,
        y=dice.one_of((1.6, 3.0, 7.0)),
        yaw_rad=dice.between(-0.35, 0.35),
        horizon=dice.between(0.45, 0.8),
        width=dice.between(0.42, 0.68),
    )
    street_floor(scene, dice, half, walk)
    storeys = dice.between(8.0, 45.0)
    for side in (-1.0, 1.0):
        z = dice.between(-20.0, -5.0)
        while z < 150.0:
            wide, deep = dice.between(9.0, 24.0), dice.between(9.0, 15.0)
            spot = scene.spot(side * (half + walk + 0.5 * deep), z + 0.5 * wide, -0.5 * pi * side)
            tall = storeys * dice.between(0.6, 1.4)
            block(spot, dice, (wide, tall, deep), front(dice, dice.between(0.05, 0.35), tall=True))
            if dice.chance(0.6):
                sign = plain(dice.vivid(0.6, 1.0), 0.1).glowing(dice.between(1.0, 4.0))
                spot.box(dice.between(-0.3, 0.3) * wide, 3.0, 0.5 * deep + 0.1, (dice.between(1, 6), 0.9, 0.2), sign)
            z += wide
    warm = dice.one_of(((1.0, 0.75, 0.4), (0.9, 0.95, 1.0)))
    gap, side, lamps = dice.between(14.0, 28.0), dice.side(), []
    for k in range(6):
        z = 6.0 + gap * k
        things.lamp_post(scene.spot(side * (half + 0.4), z, 0.0 if side < 0 else pi), 6.5, glow=9.0)
        lamps.append(Lamp(side * (half - 1.0), 6.2, z, warm, 4.0))
    scene.light = replace(scene.light, lamps=tuple(lamps))
    for _ in range(dice.count(1, 9)):
        lane = dice.side()
        spot = scene.spot(lane * 0.45 * half, 7.0 * 12.0 ** dice.between(0.0, 1.0), 0.0 if lane > 0 else pi)
        things.car(spot, dice, lights=8.0)
    return scene
