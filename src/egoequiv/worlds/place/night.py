"""A city at night, in one of its streets or from afar."""

from __future__ import annotations

from dataclasses import replace
from math import pi

from egoequiv.worlds.place import things
from egoequiv.worlds.place.buildings import block, front, tower
from egoequiv.worlds.place.dice import Dice
from egoequiv.worlds.place.outdoors import ahead, ground
from egoequiv.worlds.place.paints import (
    plain,
    water,
)
from egoequiv.worlds.place.scene import Camera, Lamp, Scene
from egoequiv.worlds.place.town import street_floor
from egoequiv.worlds.place.weather import finish, night


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
