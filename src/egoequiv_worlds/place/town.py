"""Towns and roads: streets, suburbs and high-rises, by day and by night, and the highway."""

from math import pi

from egoequiv_worlds.place.outdoors import ground, in_view, start, view
from egoequiv_worlds.render.scene import Camera, Lamp, Scene
from egoequiv_worlds.render.solids import Spot, grid, mottled, plain, road, scaled, stripes, water
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.buildings import block, front, house, tower
from egoequiv_worlds.things.nature import broadleaf, bush, conifer, finish, leaf_paint, night
from egoequiv_worlds.things.streets import BLUE, car, fence, gantry, guard_rail, lamp_post, person, sign_board


def beside(scene: Scene, side: float, x: float, y: float) -> Spot:
    """A spot on the right (1) or left (-1) of the street, whose y axis leads away from it."""
    return scene.spot(side * x, y, -0.5 * pi * side)


def street(dice: Dice) -> Scene:
    """Rows of houses along a road with parked cars and trees."""
    half, walk = dice.between(3.5, 8.0), dice.between(2.0, 4.5)
    camera = view(dice, dice.between(-0.75, 0.75) * (half - 2.2), dice.one_of((1.6, 1.6, 2.5, 6.0)), 0.35, (0.5, 0.75))
    scene = start(dice, camera, dice.between(500, 3000), 40.0, (0.36, 0.48))
    street_floor(scene, dice, half, walk)
    storeys = dice.one_of((3.0, 6.0, 9.0, 14.0, 20.0))
    for side in (-1.0, 1.0):
        if dice.chance(0.12):
            _row_of_trees(scene, dice, side * (half + walk + 3.0), 0.9)
            continue
        _row_of_houses(scene, dice, side, half + walk, storeys, 0.0)
        if dice.chance(0.5):
            _row_of_trees(scene, dice, side * (half + 0.8), 0.6)
        full = dice.one_of((0.0, 0.4, 0.85))
        for k in range(14):
            if dice.chance(full):
                car(scene.spot(side * (half - 1.1), 4.0 + 5.8 * k, 0.5 * pi * side), dice, 0.05)
    for _ in range(dice.count(0, 5)):
        person(beside(scene, dice.side(), half + dice.between(0.5, walk), dice.between(6.0, 50.0)), dice)
    for _ in range(dice.count(0, 4)):
        lane = dice.side()
        car(scene.spot(lane * 0.45 * half, dice.between(10.0, 90.0), 0.5 * pi * lane), dice)
    if dice.chance(0.6):
        side = dice.side()
        for k in range(8):
            lamp_post(beside(scene, side, half + 0.4, 6.0 + 24.0 * k), 7.0, 1.4)
    return scene


def street_floor(scene: Scene, dice: Dice, half: float, walk: float) -> None:
    """A road between two pavements."""
    pavement, asphalt = dice.gray(0.2, 0.45), dice.gray(0.05, 0.25)
    ground(scene, mottled(pavement, dice.near(pavement, 0.5), 3.0, 0.8), z=-0.02)
    lines = road(asphalt, (0.7, 0.7, 0.66), dice.one_of((half, 3.2)), 6.0)
    scene.spot().box(0, 150, -0.3, (2 * half, 400, 0.32), lines, casts=False)
    slabs = grid(pavement, scaled(pavement, 0.6), 1.0, 1.0, 0.06)
    for side in (-1, 1):
        scene.spot().box(side * (half + 0.5 * walk), 150, -0.1, (walk, 400, 0.22), slabs, casts=False)


def _row_of_houses(scene: Scene, dice: Dice, side: float, edge_m: float, height_m: float, lit: float) -> None:
    y = dice.between(-25.0, -10.0)
    while y < 170.0:
        wide, deep, share = dice.between(7.0, 22.0), dice.between(9.0, 15.0), dice.between(0.65, 1.35)
        spot = beside(scene, side, edge_m + dice.between(0.0, 0.6), y + 0.5 * wide)
        wall = front(dice, lit and dice.between(0.05, lit), tall=height_m > 12.0)
        block(spot, dice, wide, deep, max(3.2, height_m * share), wall)
        if dice.chance(0.4):  # an awning or balcony towards the street, by night a sign
            spot.box(0, -0.6, 2.7, (0.6 * wide, 1.2, 0.3), stripes(dice.vivid(0.15, 0.7), (0.7, 0.7, 0.66), 0.5))
        elif lit and dice.chance(0.8):
            sign = plain(dice.vivid(0.6, 1.0), 0.1).glowing(dice.between(1.0, 4.0))
            spot.box(dice.between(-0.3, 0.3) * wide, -0.1, 3.0, (dice.between(1, 6), 0.2, 0.9), sign)
        y += wide + (dice.between(2.0, 9.0) if dice.chance(0.2) else 0.0)


def _row_of_trees(scene: Scene, dice: Dice, x: float, frequent: float) -> None:
    leaves, gap, tall = leaf_paint(dice), dice.between(7.0, 14.0), dice.between(4.5, 10.0)
    for k in range(10):
        if dice.chance(frequent):
            broadleaf(scene.spot(x, 5.0 + gap * k), dice, tall * dice.between(0.8, 1.2), leaves)


def suburb(dice: Dice) -> Scene:
    """A house with a garden, seen from the road."""
    distance = dice.between(9.0, 18.0)
    camera = view(dice, dice.between(-4.0, 4.0), dice.one_of((1.6, 1.6, 2.2, 4.0)), 0.25, (0.55, 0.75))
    scene = start(dice, camera, dice.between(1500, 5000), shadow_m=24.0, mean=(0.42, 0.54))
    grass = dice.near(dice.one_of(((0.09, 0.14, 0.04), (0.2, 0.2, 0.08), (0.14, 0.19, 0.06))), 0.4)
    ground(scene, mottled(grass, scaled(grass, 0.5), dice.between(0.5, 3.0), 1.4))
    scene.sky = scene.sky._replace(ridge_height=dice.one_of((0.0, 0.05, 0.12)))
    x, turn = dice.between(-3.0, 3.0), dice.between(-0.4, 0.4)
    for k in range(-2, 3):
        if k == 0 or dice.chance(0.7):
            away = distance + dice.between(0.0, 4.0) + (dice.between(0.0, 6.0) if k else 0.0)
            spot = scene.spot(x + 24.0 * k, away, turn + dice.between(-0.1, 0.1))
            house(spot, dice, dice.between(8.0, 17.0), dice.between(7.0, 10.0))
    _garden(scene, dice, x, distance)
    return scene


def _garden(scene: Scene, dice: Dice, x: float, distance_m: float) -> None:
    """A drive, a road, trees, bushes, a fence and cars in front of a house."""
    if dice.chance(0.7):
        size = (dice.between(1.2, 4.0), 2 * distance_m, 0.23)
        scene.spot(x + dice.between(-7.0, 7.0)).box(0, 0, -0.2, size, plain(dice.gray(0.25, 0.6), 0.3), casts=False)
    if dice.chance(0.4):
        scene.spot().box(0, 2.5, -0.2, (300, 5.0, 0.22), plain(dice.gray(0.08, 0.3), 0.4), casts=False)
    for _ in range(dice.count(1, 7)):
        spot = scene.spot(dice.between(-26.0, 26.0), distance_m + dice.between(-3.0, 25.0))
        (conifer if dice.chance(0.2) else broadleaf)(spot, dice, dice.between(4.0, 13.0))
    for _ in range(dice.count(2, 14)):
        bush(scene.spot(x + dice.between(-13, 13), distance_m - dice.between(0.2, 3.5)), dice, dice.between(0.3, 1.0))
    if dice.chance(0.4):
        fence(scene.spot(dice.between(-8, 8), dice.between(4.0, 8.0)), dice, dice.between(10.0, 40.0))
    for _ in range(dice.count(0, 2)):
        y = dice.between(6.0, distance_m - 1.5)
        car(scene.spot(dice.between(-12, 12), y, dice.between(0, 2 * pi)), dice, 0.0)


def tall_building(dice: Dice) -> Scene:
    """Towers of offices or flats, close by or from afar."""
    near = dice.chance(0.5)
    z, yaw_rad = dice.one_of((1.7, 10.0, 40.0)), dice.between(-0.3, 0.3)
    pitch_rad = dice.between(0.15, 0.6) if near else dice.between(-0.05, 0.12)
    horizon = 0.5 if near else dice.between(0.5, 0.95)
    camera = Camera(0.0, 0.0, z, yaw_rad, pitch_rad, horizon, dice.between(-0.04, 0.04), dice.between(0.35, 0.65))
    scene = start(dice, camera, dice.between(900, 5000), 150.0, (0.4, 0.54))
    ground(scene, mottled(dice.gray(0.1, 0.3), (0.08, 0.1, 0.05), 12.0, 1.0))
    low, high = (40.0, 110.0) if near else (120.0, 500.0)
    for _ in range(dice.count(1, 5) if near else dice.count(3, 16)):
        spot = in_view(scene, dice, low, high, 0.7, dice.between(-0.8, 0.8))
        tower(spot, dice, dice.between(45.0, 170.0), dice.between(14.0, 38.0), dice.between(14.0, 30.0))
    for _ in range(0 if near else dice.count(5, 30)):
        spot = in_view(scene, dice, 60.0, 400.0, 1.0, dice.between(-0.5, 0.5))
        block(spot, dice, dice.between(12.0, 40.0), dice.between(12.0, 30.0), dice.between(6.0, 28.0), front(dice))
    for _ in range(0 if near else dice.one_of((0, 0, 5, 15))):
        broadleaf(in_view(scene, dice, 25.0, 80.0), dice, dice.between(5.0, 11.0))
    return scene


def night_city(dice: Dice) -> Scene:
    """Lit windows and lamps in the dark."""
    return (_skyline if dice.chance(0.5) else _night_street)(dice)


def _skyline(dice: Dice) -> Scene:
    """Towers across water or open ground."""
    camera = view(dice, 0.0, dice.one_of((2.0, 15.0, 50.0)), 0.4, (0.45, 0.9))
    scene = Scene(camera, *night(dice), finish(dice, 0.14, 0.4))
    wet = water((0.01, 0.012, 0.015), (0.02, 0.02, 0.02), 3.0, 0.2)
    ground(scene, wet if dice.chance(0.5) else plain((0.05, 0.05, 0.05), 0.4))
    for _ in range(dice.count(15, 55)):
        spot = in_view(scene, dice, 90.0, 500.0, 1.0, dice.between(-0.6, 0.6))
        size = (dice.between(12.0, 130.0), dice.between(14.0, 38.0), dice.between(14.0, 30.0))
        tower(spot, dice, *size, dice.between(0.15, 0.75))
    lamps = plain((1.0, 0.8, 0.5), 0.0).glowing(4.0)
    for _ in range(dice.count(10, 60)):
        in_view(scene, dice, 60.0, 300.0).ball(0, 0, dice.between(2.0, 9.0), (1.2, 1.2, 1.2), lamps)
    return scene


def _night_street(dice: Dice) -> Scene:
    """A street with lit windows, signs and headlights."""
    half, walk = dice.between(4.0, 8.0), dice.between(2.0, 4.0)
    camera = view(dice, dice.between(-0.8, 0.8) * half, dice.one_of((1.6, 3.0, 7.0)), 0.35, (0.45, 0.8))
    scene = Scene(camera, *night(dice), finish(dice, 0.16, 0.42))
    street_floor(scene, dice, half, walk)
    storeys, side = dice.between(13.0, 45.0), dice.side()
    for each in (-1.0, 1.0):
        _row_of_houses(scene, dice, each, half + walk, storeys, 0.35)
    warm, gap = dice.one_of(((1.0, 0.75, 0.4), (0.9, 0.95, 1.0))), dice.between(14.0, 28.0)
    for k in range(6):
        lamp_post(beside(scene, side, half + 0.4, 6.0 + gap * k), 6.5, 1.4, glow=9.0)
    scene.lamps = tuple(Lamp(side * (half - 1.0), 6.0 + gap * k, 6.2, warm, 4.0) for k in range(6))
    for _ in range(dice.count(1, 9)):
        lane = dice.side()
        car(scene.spot(lane * 0.45 * half, 7.0 * 12.0 ** dice.between(0.0, 1.0), 0.5 * pi * lane), dice, 0.1, 8.0)
    return scene


def highway(dice: Dice) -> Scene:
    """A wide road through open country, with signs, rails and traffic."""
    lanes = dice.count(1, 4)
    half, middle = 3.6 * lanes * 0.5 + 1.2, dice.between(3.0, 12.0)
    x, z = dice.between(-half, half) * 0.9, dice.one_of((1.3, 1.6, 3.0, 9.0))
    camera = view(dice, x, z, 0.3, (0.35, 0.55), (0.34, 0.6))
    scene = start(dice, camera, dice.between(1500, 7000), mean=(0.46, 0.6))
    verge = dice.near(dice.one_of(((0.10, 0.13, 0.05), (0.28, 0.24, 0.13), (0.3, 0.25, 0.18))), 0.4)
    ground(scene, mottled(verge, scaled(verge, 0.5), dice.between(1.0, 10.0), 1.2))
    scene.sky = scene.sky._replace(ridge_height=dice.one_of((0.0, 0.03, 0.08, 0.15)))
    asphalt, dual = dice.gray(0.05, 0.3), dice.chance(0.65)
    for k in range(2 if dual else 1):
        x = -k * (2 * half + middle)
        lines = road(asphalt, (0.8, 0.8, 0.76), 3.6, dice.one_of((9.0, 12.0)), float(lanes % 2 == 0))
        scene.spot(x).box(0, 900, -0.3, (2 * half, 2000, 0.33), lines, casts=False)
        for _ in range(dice.one_of((0, 2, 5, 10))):
            lane = (dice.count(0, lanes - 1) + 0.5) * 3.6 - 1.8 * lanes
            car(scene.spot(x + lane, 8.0 * 30.0 ** dice.between(0.0, 1.0), -pi / 2 if k else pi / 2), dice)
    _roadside(scene, dice, half, middle if dual else 0.0)
    return scene


def _roadside(scene: Scene, dice: Dice, half: float, middle: float) -> None:
    if dice.chance(0.7):
        for x in (half + 0.6, -half - (0.3 * middle if middle else 0.6)):
            guard_rail(scene.spot(x, 50.0, -pi / 2), 96.0)
            guard_rail(scene.spot(x, 350.0, -pi / 2), 504.0)
    if dice.chance(0.45):  # signs on a gantry or beside the road, towards the camera
        y = dice.between(18.0, 70.0)
        if dice.chance(0.5):
            gantry(scene.spot(half + 0.6, y, -pi / 2), 2 * half)
        else:
            wide, color = dice.between(2.5, 5.0), dice.one_of((BLUE, (0.02, 0.22, 0.12)))
            sign_board(scene.spot(half + 2.5, y, -pi / 2, 1.6), wide, 2.0, color)
            scene.spot(half + 2.5, y + 0.2).box(0, 0, 0, (0.2, 0.2, 2.0), plain((0.45, 0.46, 0.47), 0.15))
    if dice.chance(0.3):  # a bridge across
        y, concrete = dice.between(40.0, 150.0), plain(dice.gray(0.3, 0.55), 0.3)
        scene.spot(0, y).box(0, 0, 5.5, (300, 9.0, 1.6), concrete)
        for x in (-half - 1.5, half + 1.5):
            scene.spot(x, y).box(0, 0, 0, (1.0, 1.5, 5.5), concrete)
    for _ in range(dice.one_of((0, 8, 30))):
        x = half + dice.between(6.0, 40.0)
        x = x if dice.chance(0.5) else -x - (2 * half + middle if middle else 0.0)
        broadleaf(scene.spot(x, 10.0 * 20.0 ** dice.between(0.0, 1.0)), dice, dice.between(3.0, 11.0))
    if dice.chance(0.4):
        for k in range(9):
            lamp_post(scene.spot(half + 1.2, 10.0 + 30.0 * k, -pi / 2), 9.0, 1.8)
