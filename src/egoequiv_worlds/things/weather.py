"""Daylight and night: sky and light that belong together."""

from __future__ import annotations

from math import degrees

from egoequiv_worlds.render import vector
from egoequiv_worlds.render.scene import Finish, Light, Sky, towards
from egoequiv_worlds.render.solids import Rgb, scaled
from egoequiv_worlds.things import Dice


def weather(dice: Dice, *, shadow_m: float = 40.0, haze_m: float = 4000.0) -> tuple[Sky, Light]:
    """A sky of a random hour and weather, and its light."""
    make = dice.one_of((_clear, _clear, _broken, _broken, _overcast, _low_sun))
    sky, sunlight, above, elevation = make(dice)
    thickness = dice.one_of((1.5, 1.0, 1.0, 0.4))
    sun, softness = vector(towards(dice.between(0.0, 360.0), degrees(elevation))), dice.between(0.6, 1.6)
    below, haze_m = scaled(above, 0.35), haze_m * thickness
    return sky, Light(sun, sunlight, above, below, sky.horizon, haze_m, softness, shadow_m)


def night(dice: Dice, *, haze_m: float = 600.0) -> tuple[Sky, Light]:
    """A dark sky, perhaps still blue or brown from a town's lamps."""
    glow = dice.between(0.003, 0.05)
    tint = dice.one_of(((0.5, 0.7, 1.3), (1.2, 0.9, 0.6), (0.9, 0.9, 1.0)))
    horizon, cover, offset = scaled(tint, glow), dice.one_of((0.0, 0.4, 0.8)), dice.between(0, 500)
    sky = Sky(scaled(horizon, 0.25), horizon, scaled(tint, 0.7 * glow), cover, 0.4, offset, scaled(tint, 0.002), 0.03)
    dim = dice.between(0.01, 0.05)
    return sky, Light((0.0, 0.8, 0.6), (0.0, 0.0, 0.0), scaled(tint, dim), scaled(tint, 0.5 * dim), horizon, haze_m)


def finish(dice: Dice, low: float = 0.4, high: float = 0.58) -> Finish:
    """How a camera renders what it sees."""
    warm = dice.between(0.9, 1.1)
    brightness, contrast = dice.between(low, high), dice.between(1.1, 1.5)
    blur_px, noise_levels = dice.one_of((0.0, 0.0, 0.0, 0.0, 0.4, 0.7)), dice.between(0.5, 3.0)
    return Finish(brightness, contrast, blur_px, noise_levels, tint=(warm, 1.0, 2.0 - warm))


_Made = tuple[Sky, Rgb, Rgb, float]


def _sky(dice: Dice, zenith: Rgb, horizon: Rgb, cloud: Rgb, cover: float, softness: float) -> Sky:
    ridge = dice.near((0.10, 0.13, 0.14), 0.4)
    return Sky(zenith, horizon, cloud, cover, softness, dice.between(0.0, 500.0), ridge)


def _clear(dice: Dice) -> _Made:
    zenith = scaled((0.12, 0.25, 0.55), dice.between(0.8, 1.6))
    horizon = scaled((0.5, 0.62, 0.75), dice.between(0.8, 1.3))
    sky = _sky(dice, zenith, horizon, (1.0, 1.0, 1.0), dice.one_of((0.0, 0.12, 0.2)), 0.25)
    return sky, scaled((1.5, 1.4, 1.25), dice.between(0.8, 1.3)), (0.35, 0.42, 0.55), dice.between(0.4, 1.2)


def _broken(dice: Dice) -> _Made:
    gray, zenith = dice.between(0.8, 1.2), scaled((0.2, 0.32, 0.52), dice.between(0.8, 1.3))
    cloud, cover, softness = (gray, gray, 1.03 * gray), dice.between(0.35, 0.75), dice.between(0.12, 0.35)
    sky = _sky(dice, zenith, (0.7, 0.75, 0.8), cloud, cover, softness)
    return sky, scaled((1.3, 1.25, 1.15), dice.between(0.3, 1.0)), (0.5, 0.53, 0.58), dice.between(0.35, 1.1)


def _overcast(dice: Dice) -> _Made:
    gray = dice.between(0.7, 1.1)
    sky = _sky(dice, (gray, gray, gray), (0.9 * gray, 0.92 * gray, 0.95 * gray), (0.8 * gray,) * 3, 0.55, 0.7)
    return sky, (0.12, 0.12, 0.12), (0.85, 0.87, 0.9), dice.between(0.7, 1.2)


def _low_sun(dice: Dice) -> _Made:
    red = dice.between(0.2, 0.7)
    horizon, cloud = (0.9, 0.9 - 0.5 * red, 0.8 - 0.7 * red), (0.7, 0.7 - 0.4 * red, 0.75 - 0.5 * red)
    sky = _sky(dice, (0.2, 0.28, 0.42), horizon, cloud, dice.one_of((0.0, 0.3, 0.55)), 0.3)
    return sky, (1.5, 1.5 - 0.7 * red, 1.4 - 1.2 * red), (0.22, 0.24, 0.32), dice.between(0.1, 0.35)
