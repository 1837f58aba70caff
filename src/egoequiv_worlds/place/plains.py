"""Open places: field, desert and snowfield."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from egoequiv_worlds.place import things
from egoequiv_worlds.place.dice import Dice
from egoequiv_worlds.place.outdoors import ahead, around, height_at, hills, land_y, look, scatter_trees, start
from egoequiv_worlds.render.scene import Land, Scene
from egoequiv_worlds.render.solids import Rgb, mottled, scaled, stripes


def field(dice: Dice) -> Scene:
    """Meadows and crops with a few trees under a wide sky."""
    scene = start(dice, look(dice, 1.7, 0.28, 0.5), dice.between(2500, 9000))
    cell = dice.between(4.0, 9.0)
    heights = dice.between(5.0, 90.0) * hills(dice) * np.clip(np.hypot(*around(cell)) / (60 * cell), 0.05, 1.0)
    eye = height_at(heights, cell, 0.0, 0.0) + dice.one_of((1.7, 2.5, 8.0, 20.0))
    scene.camera = replace(scene.camera, y=eye)
    colors: tuple[Rgb, ...] = ((0.10, 0.15, 0.04), (0.30, 0.26, 0.10), (0.16, 0.12, 0.07), (0.2, 0.24, 0.07))
    one, two = dice.near(dice.one_of(colors), 0.4), dice.near(dice.one_of(colors), 0.4)
    kind = dice.count(0, 2)
    if kind == 0:
        paint = stripes(one, two, dice.between(0.8, 3.0), 0.5, lying=dice.chance(0.5))
    else:
        paint = mottled(one, two, dice.between(2.0, 12.0) if kind == 1 else 60.0, dice.between(0.8, 2.5))
    scene.land = Land(heights, cell, paint)
    scene.sky = replace(scene.sky, ridge_height=dice.one_of((0.0, 0.03, 0.08)))
    scatter_trees(scene, dice, dice.one_of((3, 8, 16, 30)), 30.0, 300.0, firs=0.15)
    for _ in range(dice.one_of((0, 1, 2, 3))):
        _hedge(scene, dice)
    if dice.chance(0.3):
        _barn(scene, dice)
    for _ in range(dice.one_of((0, 0, 6, 12))):  # bales of hay
        px, pz = ahead(scene, dice, 10.0, 120.0)
        straw = mottled((0.4, 0.33, 0.16), (0.22, 0.17, 0.08), 0.3)
        scene.spot(px, pz, dice.between(0, pi), land_y(scene, px, pz)).ball(0, -0.1, 0, (1.6, 1.5, 1.7), straw)
    if dice.chance(0.35):
        px, pz = ahead(scene, dice, 8.0, 25.0, 0.3)
        turn = scene.camera.yaw_rad + dice.between(-0.5, 0.5)
        things.fence(scene.spot(px, pz, turn, land_y(scene, px, pz) - 0.1), dice, 60.0)
    return scene


def _hedge(scene: Scene, dice: Dice) -> None:
    leaves = things.leaf_paint(dice, 5.0)
    away, turn, tall = dice.between(40.0, 250.0), scene.camera.yaw_rad + dice.between(-0.5, 0.5), dice.between(2.0, 6.0)
    for k in range(24):
        if dice.chance(0.85):
            spot = scene.spot(scene.camera.x, scene.camera.z, turn).at((k - 11.5) * 0.1 * away, away)
            spot = scene.spot(spot.x, spot.z, y=land_y(scene, spot.x, spot.z))
            wide = 0.13 * away
            spot.ball(0, -0.5, 0, (wide, tall * dice.between(0.6, 1.5), wide), leaves, leaves=0.8)


def _barn(scene: Scene, dice: Dice) -> None:
    px, pz = ahead(scene, dice, 50.0, 200.0)
    spot = scene.spot(px, pz, dice.between(0, pi), land_y(scene, px, pz) - 0.5)
    wall = dice.near(dice.one_of(((0.35, 0.12, 0.08), (0.5, 0.48, 0.44), (0.25, 0.2, 0.15))), 0.3)
    spot.box(0, 0, 0, (14, 4.5, 9), stripes(wall, scaled(wall, 0.7), 0.5))
    spot.box(0, 4.5, 0, (15, 3.5, 10), stripes((0.2, 0.2, 0.2), (0.12, 0.12, 0.12), 0.6), top=(0.98, 0.04))


def desert(dice: Dice) -> Scene:
    """Dunes, or stony flats with table mountains and cacti."""
    scene = start(dice, look(dice, 1.7, 0.3, 0.55), dice.between(3000, 12_000), brightness=(0.48, 0.62))
    dunes = dice.chance(0.55)
    cell = dice.between(2.0, 6.0)
    raw = 1.0 - 2.0 * np.abs(hills(dice) - 0.5) if dunes else hills(dice)
    heights = (dice.between(15.0, 90.0) if dunes else dice.between(1.0, 10.0)) * raw * np.sqrt(raw)
    eye = height_at(heights, cell, 0.0, 0.0) + dice.one_of((1.7, 5.0, 14.0))
    scene.camera = replace(scene.camera, y=eye)
    sand = dice.near(dice.one_of(((0.50, 0.36, 0.20), (0.42, 0.28, 0.16), (0.5, 0.45, 0.36))), 0.3)
    ripples = stripes(sand, scaled(sand, 0.85), dice.between(0.5, 2.0), 0.5, lying=dice.chance(0.5))
    stones = mottled(sand, scaled(sand, dice.between(0.4, 0.8)), dice.between(1.0, 6.0), 1.5)
    scene.land = Land(heights, cell, ripples if dunes and dice.chance(0.5) else stones)
    if not dunes:
        _mesas(scene, dice, sand)
        dry = mottled((0.2, 0.2, 0.1), (0.08, 0.08, 0.05), 0.4, 1.5)
        for _ in range(dice.count(5, 50)):
            px, pz = ahead(scene, dice, 5.0, 150.0)
            spot = scene.spot(px, pz, y=land_y(scene, px, pz))
            if dice.chance(0.15):
                _cactus(scene, dice, px, pz)
            elif dice.chance(0.3):
                things.rock(spot, dice, dice.between(0.3, 1.2), sand)
            else:
                things.bush(spot, dice, dice.between(0.3, 0.9), dry)
    return scene


def _mesas(scene: Scene, dice: Dice, sand: Rgb) -> None:
    for _ in range(dice.count(0, 5)):
        px, pz = ahead(scene, dice, 600.0, 2200.0)
        wide, tall = dice.between(100.0, 400.0), dice.between(40.0, 160.0)
        cliff = mottled(scaled(sand, 0.9), scaled(sand, 0.4), 40.0, 1.5)
        top = (dice.between(0.6, 0.9), dice.between(0.6, 0.9))
        spot = scene.spot(px, pz, dice.between(0, pi), -10.0)
        spot.box(0, 0, 0, (1.5 * wide, 0.5 * tall, 1.2 * wide), cliff, top=(0.7, 0.7), casts=False)
        spot.box(0, 0, 0, (wide, tall, 0.8 * wide), cliff, top=top, casts=False)


def _cactus(scene: Scene, dice: Dice, px: float, pz: float) -> None:
    tall, thick = dice.between(2.0, 6.0), dice.between(0.3, 0.5)
    spot = scene.spot(px, pz, dice.between(0, pi), land_y(scene, px, pz) - 0.2)
    paint = stripes((0.10, 0.16, 0.07), (0.05, 0.08, 0.04), 0.12)
    spot.round(0, 0, 0, (thick, tall, thick), paint, top=0.9)
    for side in (-1.0, 1.0):
        low = dice.between(0.3, 0.5) * tall
        spot.box(side * 0.45, low, 0, (0.9, 0.7 * thick, 0.7 * thick), paint)
        spot.round(side * 0.85, low, 0, (0.7 * thick, dice.between(0.2, 0.45) * tall, 0.7 * thick), paint)


def snowfield(dice: Dice) -> Scene:
    """Snow-covered land with a few firs."""
    scene = start(dice, look(dice, 1.7, 0.25, 0.5), dice.between(1200, 6000), brightness=(0.54, 0.7))
    cell = dice.between(3.0, 10.0)
    close = np.clip(np.hypot(*around(cell)) / (70 * cell), 0.1, 1.0)
    heights = dice.between(8.0, 160.0) * hills(dice) * close
    eye = height_at(heights, cell, 0.0, 0.0) + dice.one_of((1.7, 3.0, 12.0))
    scene.camera = replace(scene.camera, y=eye)
    snow = dice.near((0.82, 0.84, 0.88), 0.1)
    scene.land = Land(heights, cell, mottled(snow, scaled(snow, 0.8), dice.between(1.0, 8.0), dice.between(0.3, 1.4)))
    scene.sky = replace(scene.sky, ridge_height=dice.one_of((0.0, 0.06, 0.12)), ridge=dice.gray(0.25, 0.6))
    dark = mottled((0.05, 0.07, 0.05), (0.7, 0.72, 0.75) if dice.chance(0.5) else (0.02, 0.03, 0.02), 1.0, 1.8)
    for _ in range(dice.one_of((0, 5, 15, 40))):
        px, pz = ahead(scene, dice, 10.0, 300.0)
        spot = scene.spot(px, pz, y=land_y(scene, px, pz) - 0.3)
        things.conifer(spot, dice, dice.between(3.0, 14.0), dark)
    if dice.chance(0.4):
        px, pz = ahead(scene, dice, 6.0, 20.0, 0.3)
        turn = scene.camera.yaw_rad + dice.between(-0.6, 0.6)
        things.fence(scene.spot(px, pz, turn, land_y(scene, px, pz) - 0.2), dice, 50.0)
    return scene
