"""Landscapes: coast, mountain and forest; field, desert and snowfield."""

from math import pi

import numpy as np

from egoequiv_worlds.place.outdoors import CELLS, around, ground, hills, in_view, look, ridges, scatter_trees, start
from egoequiv_worlds.render import Array
from egoequiv_worlds.render.scene import Camera, Land, Scene
from egoequiv_worlds.render.solids import Paint, Rgb, Spot, blotches, hillside, mottled, roof, scaled, stripes, water
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.nature import bush, conifer, leaf_paint, palm, rock
from egoequiv_worlds.things.streets import fence


def coast(dice: Dice) -> Scene:
    """Sea with a beach, cliffs or islands."""
    eye = dice.one_of((1.7, 3.0, 8.0, 30.0))
    scene, cell = start(dice, look(dice, eye, 0.32, 0.52), dice.between(4000, 16_000)), dice.between(3.0, 10.0)
    x, y = around(cell)
    yaw, reach = scene.camera.yaw_rad, 0.5 * CELLS * cell
    side = yaw + dice.one_of((0.5, -0.5, 0.75, -0.75)) * pi + dice.between(-0.25, 0.25)
    rise = (y * np.cos(side) - x * np.sin(side)) / reach + 1.3 * (hills(dice) - 0.5)
    rise += 0.25 * (hills(dice, 1, rough=True) - 0.5) - dice.between(0.2, 0.6)
    distance = y * np.cos(yaw) - x * np.sin(yaw)
    rise -= 1.2 * np.maximum(distance, 0.0) / reach  # the sea stays in view
    steep, inland = dice.one_of((0.25, 0.6, 1.5)), np.maximum(rise, 0.0)
    heights = np.where(rise > 0.0, 100.0 * steep * (np.sqrt(inland) if steep > 1.0 else inland), -2.0)
    if dice.chance(0.6):  # the camera stands on a beach that slopes into the water
        edge = dice.between(2.0, 9.0) * eye + 12.0 * dice.between(0.0, 1.0) + 3.0 * cell * (hills(dice, 2) - 0.5)
        edge += dice.between(-0.6, 0.6) * (x * np.cos(yaw) + y * np.sin(yaw))
        heights = np.maximum(heights, np.clip((edge - distance) * 0.12, -2.0, eye - 1.3))
    heights = np.where(np.hypot(x, y) < 3.0 * cell, np.minimum(heights, eye - 1.3), heights)
    sand, green = dice.near((0.45, 0.38, 0.28), 0.3), dice.near((0.12, 0.14, 0.07), 0.5)
    low = sand if dice.chance(0.6) else dice.gray(0.1, 0.35)
    scene.land = Land(heights, cell, hillside(low, green, 3.0 * cell, dice.between(3.0, 12.0), 3.0))
    deep = dice.near((0.02, 0.07, 0.10), 0.8)
    ground(scene, water(deep, (0.9, 0.92, 0.95), dice.between(0.8, 5.0), dice.between(0.1, 0.9)))
    foam = blotches((0.85, 0.88, 0.9), (0.3, 0.36, 0.4), dice.between(0.5, 1.5), 0.2)
    turn = yaw + dice.between(-0.25, 0.25)
    for k in range(dice.one_of((0, 2, 4, 6))):  # rows of breaking waves towards the shore
        away = eye * (5.0 + 5.0 * k + dice.between(0.0, 3.0))
        for _ in range(4):
            spot = scene.spot(0, 0, turn).at(dice.between(-1.2, 1.2) * away, away)
            spot.ball(0, 0, -0.1 * eye, (eye * dice.between(4.0, 14.0), 0.5 * eye, 0.2 * eye), foam, ragged=1.0)
    for _ in range(dice.one_of((0, 0, 0, 3)) if eye < 5.0 else 0):
        spot = in_view(scene, dice, 12.0, 40.0)
        if spot.z > 0.0:
            palm(spot, dice, dice.between(4.0, 9.0))
    for _ in range(dice.one_of((0, 0, 4, 9))):
        spot = in_view(scene, dice, 4.0 * eye, 25.0 * eye)
        rock(spot._replace(z=max(-0.2, spot.z)), dice, dice.between(0.1, 0.7) * eye)
    return scene


def mountain(dice: Dice) -> Scene:
    """High and rough land, with rock, snow or woods on it."""
    scene, cell = start(dice, look(dice, 0.0, 0.6, 0.9), dice.between(8000, 30_000)), dice.between(14.0, 30.0)
    far = np.hypot(*around(cell)) / (0.5 * CELLS * cell)
    relief = 0.5 * ridges(dice, 2) + 0.28 * ridges(dice, 4) + 0.14 * ridges(dice, 7) + 0.1 * hills(dice, 2, rough=True)
    relief = (relief - relief.min()) / (relief.max() - relief.min())
    grown = np.clip((far - dice.between(0.05, 0.25)) / dice.between(0.3, 0.6), 0.0, 1.0)
    heights = relief * np.sqrt(relief) * (0.05 + 0.95 * grown)
    highest = (scene.camera.horizon - dice.between(0.06, 0.3)) * 1.1 * scene.camera.width  # where it is 310 to 94
    heights *= highest / _steepest(scene.camera, heights, cell)
    above_m, peak = dice.one_of((5.0, 20.0, 80.0)), 0.8 * float(heights.max())
    rocky, wooded, snow = dice.gray(0.06, 0.25, 0.3), dice.near((0.07, 0.10, 0.05), 0.5), (0.85, 0.87, 0.9)
    snowy = [hillside(rocky, snow, 6.0 * cell, peak * dice.between(0.1, 0.6), 0.12 * peak) for _ in range(2)]
    bare = hillside(scaled(rocky, 0.8), scaled(rocky, 1.9), 5.0 * cell, 0.4 * peak, 0.25 * peak)
    green = hillside(wooded, rocky, 2.0 * cell, peak * dice.between(0.3, 0.7), 0.15 * peak)
    scene.land = Land(heights, cell, dice.one_of((*snowy, bare, green)))
    eye = scene.land.height_at(0.0, 0.0) + above_m
    scene.camera = scene.camera._replace(z=eye)
    if dice.chance(0.25):
        ground(scene, water((0.03, 0.06, 0.07), (0.3, 0.3, 0.3), 4.0, 0.2), eye - dice.between(5.0, 30.0))
    if dice.chance(0.4):
        scatter_trees(scene, dice, dice.count(4, 40), 40.0, 300.0, firs=0.9)
    return scene


def _steepest(camera: Camera, heights_m: Array, cell_m: float) -> float:
    """The slope at which the camera looks up to the highest points in its view, from height 0."""
    x, y = around(cell_m)
    c, s = np.cos(camera.yaw_rad), np.sin(camera.yaw_rad)
    ahead_m, side_m = c * y - s * x, c * x + s * y
    seen = (ahead_m > 4.0 * cell_m) & (np.abs(side_m) < 1.7 * camera.width * ahead_m)
    slopes = (heights_m[seen] / ahead_m[seen])[::5]
    return float(0.2 * np.max(slopes) + 0.8 * np.quantile(slopes, 0.97))


def forest(dice: Dice) -> Scene:
    """Trunks and leaves on all sides."""
    scene = start(dice, look(dice, 1.7, 0.45, 0.75), dice.between(80, 500), 25.0, (0.3, 0.46))
    litter = dice.near(dice.one_of(((0.14, 0.10, 0.06), (0.08, 0.10, 0.04), (0.22, 0.16, 0.08))), 0.4)
    ground(scene, mottled(scaled(litter, 1.6), scaled(litter, 0.35), dice.between(0.5, 2.0), 2.0))
    firs, leaves = dice.one_of((0.0, 0.0, 0.4, 0.9)), [leaf_paint(dice) for _ in range(3)]
    bark = dice.near(dice.one_of(((0.12, 0.09, 0.07), (0.2, 0.18, 0.15), (0.5, 0.48, 0.44))), 0.3)
    trunk = mottled(bark, scaled(bark, 0.3), dice.between(0.15, 0.6), 2.0)
    for _ in range(dice.count(25, 60)):
        spot, tall, thick = in_view(scene, dice, 5.0, 45.0), dice.between(8.0, 22.0), dice.between(0.12, 0.5)
        if dice.chance(firs) and np.hypot(spot.x, spot.y) > 9.0:
            conifer(spot, dice, 0.7 * tall, dice.one_of(leaves))
            continue
        spot.round(0, 0, -0.1, (thick, thick, tall), trunk, top=0.5)
        wide = dice.between(3.0, 6.0)
        spot.ball(0, 0, dice.between(2.5, 7.0), (wide, wide, 0.6 * tall), dice.one_of(leaves), ragged=1.1)
    for _ in range(dice.count(0, 30)):
        bush(in_view(scene, dice, 4.0, 30.0), dice, dice.between(0.4, 1.5), dice.one_of(leaves))
    for _ in range(dice.one_of((0, 0, 3, 8))):
        rock(in_view(scene, dice, 4.0, 20.0), dice, dice.between(0.4, 1.2))
    for k in range(28):  # the wall of leaves behind everything
        spot = scene.spot(0, 0, scene.camera.yaw_rad + (k - 13.5) * 0.075).at(0, 50)
        spot.ball(0, 0, -2, (8, 8, dice.between(10.0, 26.0)), dice.one_of(leaves), ragged=0.8)
    if dice.chance(0.4):
        paint = mottled(scaled(litter, 3.0), scaled(litter, 1.8), 1.0, 1.0)
        path = scene.spot(0, 0, scene.camera.yaw_rad + dice.between(-0.5, 0.5))
        path.box(dice.between(-2, 2), 0, -0.03, (dice.between(1.2, 3.0), 200, 0.05), paint, casts=False)
    return scene


def _on(scene: Scene, dice: Dice, heights: Array, cell: float, paint: Paint, eyes: tuple[float, ...]) -> Land:
    """Give a scene land, and put the camera on it."""
    scene.land = Land(heights, cell, paint)
    scene.camera = scene.camera._replace(z=scene.land.height_at(0.0, 0.0) + dice.one_of(eyes))
    return scene.land


def _fence(scene: Scene, dice: Dice, near_m: float) -> None:
    yaw = scene.camera.yaw_rad + dice.between(-0.5, 0.5)
    fence(in_view(scene, dice, near_m, 3.0 * near_m, 0.3, yaw), dice, 60.0)


def field(dice: Dice) -> Scene:
    """Meadows and crops with a few trees under a wide sky."""
    scene, cell = start(dice, look(dice, 1.7, 0.28, 0.5), dice.between(2500, 9000)), dice.between(4.0, 9.0)
    heights = dice.between(5.0, 90.0) * hills(dice) * np.clip(np.hypot(*around(cell)) / (60 * cell), 0.05, 1.0)
    colors: tuple[Rgb, ...] = ((0.10, 0.15, 0.04), (0.30, 0.26, 0.10), (0.16, 0.12, 0.07), (0.2, 0.24, 0.07))
    one, two = dice.near(dice.one_of(colors), 0.4), dice.near(dice.one_of(colors), 0.4)
    paint = mottled(one, two, dice.one_of((60.0, dice.between(2.0, 12.0))), dice.between(0.8, 2.5))
    if dice.chance(0.33):
        paint = stripes(one, two, dice.between(0.8, 3.0), 0.5, lying=dice.chance(0.5))
    land = _on(scene, dice, heights, cell, paint, (1.7, 2.5, 8.0, 20.0))
    scene.sky = scene.sky._replace(ridge_height=dice.one_of((0.0, 0.03, 0.08)))
    scatter_trees(scene, dice, dice.one_of((3, 8, 16, 30)), 30.0, 300.0, firs=0.15)
    for _ in range(dice.one_of((0, 1, 2, 3))):  # hedges
        leaves, away, turn = leaf_paint(dice), dice.between(40.0, 250.0), scene.camera.yaw_rad + dice.between(-0.5, 0.5)
        tall = dice.between(2.0, 6.0)
        for k in range(24):
            if dice.chance(0.85):
                at = scene.spot(0, 0, turn).at((k - 11.5) * 0.1 * away, away)
                size = (0.13 * away, 0.13 * away, tall * dice.between(0.6, 1.5))
                at.ball(0, 0, land.height_at(at.x, at.y) - 0.5, size, leaves, ragged=0.8)
    if dice.chance(0.3):  # a barn
        spot = in_view(scene, dice, 50.0, 200.0, 1.0, dice.between(0, pi))
        wall = dice.near(dice.one_of(((0.35, 0.12, 0.08), (0.5, 0.48, 0.44), (0.25, 0.2, 0.15))), 0.3)
        spot.box(0, 0, -0.3, (14, 9, 4.8), stripes(wall, scaled(wall, 0.7), 0.5))
        spot.box(0, 0, 4.5, (15, 10, 3.5), roof((0.2, 0.2, 0.2), wall), top=(0.98, 0.04))
    straw = mottled((0.4, 0.33, 0.16), (0.22, 0.17, 0.08), 0.3)
    for _ in range(dice.one_of((0, 0, 6, 12))):  # bales of hay
        in_view(scene, dice, 10.0, 120.0, 1.0, dice.between(0, pi)).ball(0, 0, 0.1, (1.6, 1.7, 1.5), straw)
    if dice.chance(0.35):
        _fence(scene, dice, 8.0)
    return scene


def desert(dice: Dice) -> Scene:
    """Dunes, or stony flats with table mountains and cacti."""
    scene = start(dice, look(dice, 1.7, 0.3, 0.55), dice.between(3000, 12_000), mean=(0.48, 0.62))
    dunes, cell = dice.chance(0.55), dice.between(2.0, 6.0)
    raw = 1.0 - 2.0 * np.abs(hills(dice) - 0.5) if dunes else hills(dice)
    heights = (dice.between(15.0, 90.0) if dunes else dice.between(1.0, 10.0)) * raw * np.sqrt(raw)
    sand = dice.near(dice.one_of(((0.50, 0.36, 0.20), (0.42, 0.28, 0.16), (0.5, 0.45, 0.36))), 0.3)
    ripples = stripes(sand, scaled(sand, 0.85), dice.between(0.5, 2.0), 0.5, lying=dice.chance(0.5))
    stones = mottled(sand, scaled(sand, dice.between(0.4, 0.8)), dice.between(1.0, 6.0), 1.5)
    _on(scene, dice, heights, cell, ripples if dunes and dice.chance(0.5) else stones, (1.7, 5.0, 14.0))
    if dunes:
        return scene
    cliff = mottled(scaled(sand, 0.9), scaled(sand, 0.4), 40.0, 1.5)
    for _ in range(dice.count(0, 5)):  # table mountains
        wide, tall = dice.between(100.0, 400.0), dice.between(40.0, 160.0)
        spot = in_view(scene, dice, 600.0, 2200.0, 1.0, dice.between(0, pi))
        spot.box(0, 0, -10.0, (1.5 * wide, 1.2 * wide, 0.5 * tall), cliff, top=(0.7, 0.7), casts=False)
        top = (dice.between(0.6, 0.9), dice.between(0.6, 0.9))
        spot.box(0, 0, -10.0, (wide, 0.8 * wide, tall), cliff, top=top, casts=False)
    dry = mottled((0.2, 0.2, 0.1), (0.08, 0.08, 0.05), 0.4, 1.5)
    for _ in range(dice.count(5, 50)):
        spot = in_view(scene, dice, 5.0, 150.0, 1.0, dice.between(0, pi))
        if dice.chance(0.15):
            _cactus(spot, dice)
        elif dice.chance(0.3):
            rock(spot, dice, dice.between(0.3, 1.2), sand)
        else:
            bush(spot, dice, dice.between(0.3, 0.9), dry)
    return scene


def _cactus(spot: Spot, dice: Dice) -> None:
    tall, thick = dice.between(2.0, 6.0), dice.between(0.3, 0.5)
    paint = stripes((0.10, 0.16, 0.07), (0.05, 0.08, 0.04), 0.12)
    spot.round(0, 0, 0, (thick, thick, tall), paint, top=0.9)
    for side in (-1.0, 1.0):
        low = dice.between(0.3, 0.5) * tall
        spot.box(side * 0.45, 0, low, (0.9, 0.7 * thick, 0.7 * thick), paint)
        spot.round(side * 0.85, 0, low, (0.7 * thick, 0.7 * thick, dice.between(0.2, 0.45) * tall), paint)


def snowfield(dice: Dice) -> Scene:
    """Snow-covered land with a few firs."""
    scene = start(dice, look(dice, 1.7, 0.25, 0.5), dice.between(1200, 6000), mean=(0.54, 0.7))
    cell = dice.between(3.0, 10.0)
    heights = dice.between(8.0, 160.0) * hills(dice) * np.clip(np.hypot(*around(cell)) / (70 * cell), 0.1, 1.0)
    snow = dice.near((0.82, 0.84, 0.88), 0.1)
    paint = mottled(snow, scaled(snow, 0.8), dice.between(1.0, 8.0), dice.between(0.3, 1.4))
    _on(scene, dice, heights, cell, paint, (1.7, 3.0, 12.0))
    scene.sky = scene.sky._replace(ridge_height=dice.one_of((0.0, 0.06, 0.12)), ridge=dice.gray(0.25, 0.6))
    dark = mottled((0.05, 0.07, 0.05), (0.7, 0.72, 0.75) if dice.chance(0.5) else (0.02, 0.03, 0.02), 1.0, 1.8)
    for _ in range(dice.one_of((0, 5, 15, 40))):
        conifer(in_view(scene, dice, 10.0, 300.0), dice, dice.between(3.0, 14.0), dark)
    if dice.chance(0.4):
        _fence(scene, dice, 6.0)
    return scene
