"""The highway: a wide road through open country, and what stands beside it."""

from __future__ import annotations

from dataclasses import replace
from math import pi

from egoequiv_worlds.place import things
from egoequiv_worlds.place.dice import Dice
from egoequiv_worlds.place.outdoors import ground, start
from egoequiv_worlds.render.camera import Camera
from egoequiv_worlds.render.scene import Scene
from egoequiv_worlds.render.solids import grid, mottled, plain, road, scaled


def highway(dice: Dice) -> Scene:
    """A wide road through open country, with signs, rails and traffic."""
    lanes = dice.count(1, 4)
    half = 3.6 * lanes * 0.5 + 1.2
    middle = dice.between(3.0, 12.0)
    camera = Camera(
        x=dice.between(-half, half) * 0.9,
        y=dice.one_of((1.3, 1.6, 3.0, 9.0)),
        yaw_rad=dice.between(-0.3, 0.3),
        horizon=dice.between(0.35, 0.55),
        tilt=dice.between(-0.02, 0.02),
        width=dice.between(0.34, 0.6),
    )
    scene = start(dice, camera, dice.between(1500, 7000), brightness=(0.46, 0.6))
    verge = dice.near(dice.one_of(((0.10, 0.13, 0.05), (0.28, 0.24, 0.13), (0.3, 0.25, 0.18))), 0.4)
    ground(scene, mottled(verge, scaled(verge, 0.5), dice.between(1.0, 10.0), 1.2))
    scene.sky = replace(scene.sky, ridge_height=dice.one_of((0.0, 0.03, 0.08, 0.15)))
    asphalt = dice.gray(0.05, 0.4)
    dual = dice.chance(0.65)
    for k in range(2 if dual else 1):
        x = -k * (2 * half + middle)
        lines = road(asphalt, (0.8, 0.8, 0.76), 3.6, dice.one_of((9.0, 12.0)), dice.between(0.3, 0.9))
        scene.spot(x).box(0, -0.3, 900, (2 * half, 0.33, 2000), lines, casts=False)
        for _ in range(dice.one_of((0, 2, 5, 10))):
            lane = (dice.count(0, lanes - 1) + 0.5) * 3.6 - 1.8 * lanes
            things.car(scene.spot(x + lane, 8.0 * 30.0 ** dice.between(0.0, 1.0), pi if k else 0.0), dice)
    _roadside(scene, dice, half, middle if dual else 0.0)
    return scene


def _roadside(scene: Scene, dice: Dice, half: float, middle: float) -> None:
    metal = plain((0.45, 0.46, 0.47), 0.15)
    if dice.chance(0.7):
        for x in (half + 0.6, -half - (0.3 * middle if middle else 0.6)):
            scene.spot(x).box(0, 0.45, 300, (0.08, 0.32, 660), metal)
            for k in range(24):
                scene.spot(x, 4.0 + 4.0 * k).box(0, 0, 0, (0.1, 0.5, 0.12), metal)
    if dice.chance(0.45):  # signs on a gantry or beside the road
        z, wide = dice.between(18.0, 70.0), dice.between(2.5, 5.0)
        blue = grid(dice.one_of(((0.03, 0.12, 0.4), (0.02, 0.22, 0.12))), (0.7, 0.7, 0.7), 1.1, 0.55, 0.25, 0.0)
        if dice.chance(0.5):
            for x in (-half - 0.8, half + 0.8):
                scene.spot(x, z).round(0, 0, 0, (0.35, 6.8, 0.35), metal)
            scene.spot(0, z).box(0, 6.2, 0, (2 * half + 1.6, 0.4, 0.3), metal)
            scene.spot(dice.between(-0.4, 0.4) * half, z - 0.3).box(0, 5.2, 0, (wide, 2.2, 0.1), blue)
        else:
            scene.spot(half + 2.5, z).box(0, 1.6, 0, (wide, 2.0, 0.1), blue)
            scene.spot(half + 2.5, z).box(0, 0, 0.2, (0.2, 2.0, 0.2), metal)
    if dice.chance(0.3):  # a bridge across
        z, concrete = dice.between(40.0, 150.0), plain(dice.gray(0.3, 0.55), 0.3)
        scene.spot(0, z).box(0, 5.5, 0, (300, 1.6, 9.0), concrete)
        for x in (-half - 1.5, half + 1.5):
            scene.spot(x, z).box(0, 0, 0, (1.0, 5.5, 1.5), concrete)
    for _ in range(dice.one_of((0, 8, 30))):
        x = half + dice.between(6.0, 40.0)
        x = x if dice.chance(0.5) else -x - (2 * half + middle if middle else 0.0)
        things.broadleaf(scene.spot(x, 10.0 * 20.0 ** dice.between(0.0, 1.0)), dice, dice.between(3.0, 11.0))
    if dice.chance(0.4):
        for k in range(9):
            things.lamp_post(scene.spot(half + 1.2, 10.0 + 30.0 * k, pi), 9.0)
