"""Wild places: coast, mountain and forest."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from egoequiv_worlds.place.outdoors import (
    CELLS,
    around,
    ground,
    height_at,
    hills,
    in_view,
    look,
    ridges,
    scatter_trees,
    start,
)
from egoequiv_worlds.render import Array
from egoequiv_worlds.render.scene import Camera, Land, Scene
from egoequiv_worlds.render.solids import blotches, hillside, mottled, scaled, water
from egoequiv_worlds.things.dice import Dice
from egoequiv_worlds.things.plants import bush, conifer, leaf_paint, palm, rock


def coast(dice: Dice) -> Scene:
    """Sea with a beach, cliffs or islands."""
    eye = dice.one_of((1.7, 3.0, 8.0, 30.0))
    scene = start(dice, look(dice, eye, 0.32, 0.52), dice.between(4000, 16_000))
    cell = dice.between(3.0, 10.0)
    x, y = around(cell)
    yaw, reach = scene.camera.yaw_rad, 0.5 * CELLS * cell
    side = yaw + dice.one_of((0.5, -0.5, 0.75, -0.75)) * pi + dice.between(-0.25, 0.25)
    rise = (y * np.cos(side) - x * np.sin(side)) / reach + 1.3 * (hills(dice) - 0.5)
    rise += 0.25 * (hills(dice, 1, rough=True) - 0.5) - dice.between(0.2, 0.6)
    distance = y * np.cos(yaw) - x * np.sin(yaw)
    rise -= 1.2 * np.maximum(distance, 0.0) / reach  # the sea stays in view
    steep = dice.one_of((0.25, 0.6, 1.5))
    inland = np.maximum(rise, 0.0)
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
    _surf(scene, dice)
    for _ in range(dice.one_of((0, 0, 0, 3)) if eye < 5.0 else 0):
        spot = in_view(scene, dice, 12.0, 40.0)
        if spot.z > 0.0:
            palm(spot, dice, dice.between(4.0, 9.0))
    for _ in range(dice.one_of((0, 0, 4, 9))):
        spot = in_view(scene, dice, 4.0 * eye, 25.0 * eye)
        rock(replace(spot, z=max(-0.2, spot.z)), dice, dice.between(0.1, 0.7) * eye)
    return scene


def _surf(scene: Scene, dice: Dice) -> None:
    """Rows of breaking waves towards the shore."""
    foam = blotches((0.85, 0.88, 0.9), (0.3, 0.36, 0.4), dice.between(0.5, 1.5), 0.2)
    eye, turn = scene.camera.z, scene.camera.yaw_rad + dice.between(-0.25, 0.25)
    for k in range(dice.one_of((0, 2, 4, 6))):
        away = eye * (5.0 + 5.0 * k + dice.between(0.0, 3.0))
        for _ in range(4):
            spot = scene.spot(0, 0, turn).at(dice.between(-1.2, 1.2) * away, away)
            spot.ball(0, 0, -0.1 * eye, (eye * dice.between(4.0, 14.0), 0.5 * eye, 0.2 * eye), foam, ragged=1.0)


def mountain(dice: Dice) -> Scene:
    """High and rough land, with rock, snow or woods on it."""
    scene = start(dice, look(dice, 0.0, 0.6, 0.9), dice.between(8000, 30_000))
    cell = dice.between(14.0, 30.0)
    far = np.hypot(*around(cell)) / (0.5 * CELLS * cell)
    relief = 0.5 * ridges(dice, 2) + 0.28 * ridges(dice, 4) + 0.14 * ridges(dice, 7) + 0.1 * hills(dice, 2, rough=True)
    relief = (relief - relief.min()) / (relief.max() - relief.min())
    grown = np.clip((far - dice.between(0.05, 0.25)) / dice.between(0.3, 0.6), 0.0, 1.0)
    heights = relief * np.sqrt(relief) * (0.05 + 0.95 * grown)
    highest = (scene.camera.horizon - dice.between(0.06, 0.3)) * 1.1 * scene.camera.width  # where it is 310 to 94
    heights *= highest / _steepest(scene.camera, heights, cell)
    eye = height_at(heights, cell, 0.0, 0.0) + dice.one_of((5.0, 20.0, 80.0))
    scene.camera = replace(scene.camera, z=eye)
    peak = 0.8 * float(heights.max())
    rocky, wooded = dice.gray(0.06, 0.25, 0.3), dice.near((0.07, 0.10, 0.05), 0.5)
    paint = dice.one_of(
        (
            hillside(rocky, (0.85, 0.87, 0.9), 6.0 * cell, peak * dice.between(0.1, 0.6), 0.12 * peak),
            hillside(rocky, (0.85, 0.87, 0.9), 6.0 * cell, peak * dice.between(0.1, 0.6), 0.12 * peak),
            hillside(scaled(rocky, 0.8), scaled(rocky, 1.9), 5.0 * cell, 0.4 * peak, 0.25 * peak),
            hillside(wooded, rocky, 2.0 * cell, peak * dice.between(0.3, 0.7), 0.15 * peak),
        )
    )
    scene.land = Land(heights, cell, paint)
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
    firs = dice.one_of((0.0, 0.0, 0.4, 0.9))
    leaves = [leaf_paint(dice) for _ in range(3)]
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
