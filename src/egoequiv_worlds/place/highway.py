"""The highway: a wide road through open country, and what stands beside it."""

from __future__ import annotations

from math import pi

from egoequiv_worlds.place.outdoors import ground, start
from egoequiv_worlds.render.scene import Camera, Scene
from egoequiv_worlds.render.solids import mottled, plain, road, scaled
from egoequiv_worlds.things.dice import Dice
from egoequiv_worlds.things.plants import broadleaf
from egoequiv_worlds.things.street_furniture import BLUE, gantry, guard_rail, lamp_post, sign_board
from egoequiv_worlds.things.vehicles import car


def highway(dice: Dice) -> Scene:
    """A wide road through open country, with signs, rails and traffic."""
    lanes = dice.count(1, 4)
    half, middle = 3.6 * lanes * 0.5 + 1.2, dice.between(3.0, 12.0)
    camera = Camera(
        x=dice.between(-half, half) * 0.9,
        z=dice.one_of((1.3, 1.6, 3.0, 9.0)),
        yaw_rad=dice.between(-0.3, 0.3),
        horizon=dice.between(0.35, 0.55),
        tilt=dice.between(-0.02, 0.02),
        width=dice.between(0.34, 0.6),
    )
    scene = start(dice, camera, dice.between(1500, 7000), brightness=(0.46, 0.6))
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
            sign_board(
                scene.spot(half + 2.5, y, -pi / 2, 1.6),
                dice.between(2.5, 5.0),
                2.0,
                dice.one_of((BLUE, (0.02, 0.22, 0.12))),
            )
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
