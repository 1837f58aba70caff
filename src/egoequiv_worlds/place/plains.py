"""Open places: field, desert and snowfield."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from egoequiv_worlds.place.outdoors import around, height_at, hills, in_view, look, scatter_trees, start
from egoequiv_worlds.render import Array
from egoequiv_worlds.render.scene import Land, Scene
from egoequiv_worlds.render.solids import Paint, Rgb, Spot, mottled, roof, scaled, stripes
from egoequiv_worlds.things.dice import Dice
from egoequiv_worlds.things.plants import bush, conifer, leaf_paint, rock
from egoequiv_worlds.things.street_furniture import fence


def _on(scene: Scene, dice: Dice, heights: Array, cell: float, paint: Paint, eyes: tuple[float, ...]) -> None:
    """Give a scene land, and put the camera on it."""
    scene.land = Land(heights, cell, paint)
    scene.camera = replace(scene.camera, z=height_at(heights, cell, 0.0, 0.0) + dice.one_of(eyes))


def _fence(scene: Scene, dice: Dice, near_m: float) -> None:
    yaw = scene.camera.yaw_rad + dice.between(-0.5, 0.5)
    fence(in_view(scene, dice, near_m, 3.0 * near_m, 0.3, yaw), dice, 60.0)


def field(dice: Dice) -> Scene:
    """Meadows and crops with a few trees under a wide sky."""
    scene = start(dice, look(dice, 1.7, 0.28, 0.5), dice.between(2500, 9000))
    cell = dice.between(4.0, 9.0)
    heights = dice.between(5.0, 90.0) * hills(dice) * np.clip(np.hypot(*around(cell)) / (60 * cell), 0.05, 1.0)
    colors: tuple[Rgb, ...] = ((0.10, 0.15, 0.04), (0.30, 0.26, 0.10), (0.16, 0.12, 0.07), (0.2, 0.24, 0.07))
    one, two = dice.near(dice.one_of(colors), 0.4), dice.near(dice.one_of(colors), 0.4)
    paint = mottled(one, two, dice.one_of((60.0, dice.between(2.0, 12.0))), dice.between(0.8, 2.5))
    if dice.chance(0.33):
        paint = stripes(one, two, dice.between(0.8, 3.0), 0.5, lying=dice.chance(0.5))
    _on(scene, dice, heights, cell, paint, (1.7, 2.5, 8.0, 20.0))
    scene.sky = scene.sky._replace(ridge_height=dice.one_of((0.0, 0.03, 0.08)))
    scatter_trees(scene, dice, dice.one_of((3, 8, 16, 30)), 30.0, 300.0, firs=0.15)
    for _ in range(dice.one_of((0, 1, 2, 3))):
        _hedge(scene, dice)
    if dice.chance(0.3):
        _barn(scene, dice)
    straw = mottled((0.4, 0.33, 0.16), (0.22, 0.17, 0.08), 0.3)
    for _ in range(dice.one_of((0, 0, 6, 12))):  # bales of hay
        in_view(scene, dice, 10.0, 120.0, 1.0, dice.between(0, pi)).ball(0, 0, 0.1, (1.6, 1.7, 1.5), straw)
    if dice.chance(0.35):
        _fence(scene, dice, 8.0)
    return scene


def _hedge(scene: Scene, dice: Dice) -> None:
    leaves, away = leaf_paint(dice), dice.between(40.0, 250.0)
    turn, tall, land = scene.camera.yaw_rad + dice.between(-0.5, 0.5), dice.between(2.0, 6.0), scene.land
    for k in range(24):
        if land is not None and dice.chance(0.85):
            at = scene.spot(0, 0, turn).at((k - 11.5) * 0.1 * away, away)
            size = (0.13 * away, 0.13 * away, tall * dice.between(0.6, 1.5))
            at.ball(0, 0, height_at(land.heights_m, land.cell_m, at.x, at.y) - 0.5, size, leaves, ragged=0.8)


def _barn(scene: Scene, dice: Dice) -> None:
    spot = in_view(scene, dice, 50.0, 200.0, 1.0, dice.between(0, pi))
    wall = dice.near(dice.one_of(((0.35, 0.12, 0.08), (0.5, 0.48, 0.44), (0.25, 0.2, 0.15))), 0.3)
    spot.box(0, 0, -0.3, (14, 9, 4.8), stripes(wall, scaled(wall, 0.7), 0.5))
    spot.box(0, 0, 4.5, (15, 10, 3.5), roof((0.2, 0.2, 0.2), wall), top=(0.98, 0.04))


def desert(dice: Dice) -> Scene:
    """Dunes, or stony flats with table mountains and cacti."""
    scene = start(dice, look(dice, 1.7, 0.3, 0.55), dice.between(3000, 12_000), brightness=(0.48, 0.62))
    dunes, cell = dice.chance(0.55), dice.between(2.0, 6.0)
    raw = 1.0 - 2.0 * np.abs(hills(dice) - 0.5) if dunes else hills(dice)
    heights = (dice.between(15.0, 90.0) if dunes else dice.between(1.0, 10.0)) * raw * np.sqrt(raw)
    sand = dice.near(dice.one_of(((0.50, 0.36, 0.20), (0.42, 0.28, 0.16), (0.5, 0.45, 0.36))), 0.3)
    ripples = stripes(sand, scaled(sand, 0.85), dice.between(0.5, 2.0), 0.5, lying=dice.chance(0.5))
    stones = mottled(sand, scaled(sand, dice.between(0.4, 0.8)), dice.between(1.0, 6.0), 1.5)
    paint = ripples if dunes and dice.chance(0.5) else stones
    _on(scene, dice, heights, cell, paint, (1.7, 5.0, 14.0))
    if dunes:
        return scene
    for _ in range(dice.count(0, 5)):
        _mesa(scene, dice, sand)
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


def _mesa(scene: Scene, dice: Dice, sand: Rgb) -> None:
    wide, tall = dice.between(100.0, 400.0), dice.between(40.0, 160.0)
    cliff = mottled(scaled(sand, 0.9), scaled(sand, 0.4), 40.0, 1.5)
    spot = in_view(scene, dice, 600.0, 2200.0, 1.0, dice.between(0, pi))
    spot.box(0, 0, -10.0, (1.5 * wide, 1.2 * wide, 0.5 * tall), cliff, top=(0.7, 0.7), casts=False)
    top = (dice.between(0.6, 0.9), dice.between(0.6, 0.9))
    spot.box(0, 0, -10.0, (wide, 0.8 * wide, tall), cliff, top=top, casts=False)


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
    scene = start(dice, look(dice, 1.7, 0.25, 0.5), dice.between(1200, 6000), brightness=(0.54, 0.7))
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
