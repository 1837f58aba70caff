"""Trees, bushes, hedges and rocks; daylight and night, with sky and light that belong together."""

from math import cos, degrees, pi, sin

from egoequiv_worlds.render import vector
from egoequiv_worlds.render.scene import Finish, Light, Sky, towards
from egoequiv_worlds.render.solids import Paint, Rgb, Spot, mottled, plain, scaled
from egoequiv_worlds.things import Dice

GREENS = ((0.14, 0.22, 0.06), (0.18, 0.25, 0.07), (0.10, 0.19, 0.07), (0.22, 0.25, 0.08))
AUTUMN = ((0.36, 0.22, 0.06), (0.33, 0.14, 0.05), (0.40, 0.32, 0.09))
Weather = tuple[Sky, Rgb, Rgb, float]  # with the light of the sun and from above, and how high the sun is, in radians
BARK = plain((0.16, 0.12, 0.09), 0.4)


def leaf_paint(dice: Dice, season: float = 0.2, size_m: float = 0.4) -> Paint:
    """Leaves in light and dark; towards autumn (season 1) more of them turn."""
    color = dice.near(dice.one_of(AUTUMN if dice.chance(season) else GREENS), 0.25)
    return mottled(scaled(color, 1.4), scaled(color, 0.2), size_m, 2.2)


def broadleaf(spot: Spot, dice: Dice, height_m: float, leaves: Paint | None = None, season: float = 0.2) -> None:
    """A tree with a round crown of several balls."""
    paint = leaves or leaf_paint(dice, season)
    crown, foot = height_m * dice.between(0.24, 0.32), height_m * dice.between(0.25, 0.36)
    middle, thick = foot + 0.4 * (height_m - foot), 0.036 * height_m + 0.1
    spot.round(0, 0, 0, (thick, thick, middle), BARK, top=0.5)
    tall = 0.84 * (height_m - foot)
    spot.ball(0, 0, middle - tall / 2, (2 * crown, 2 * crown, tall), paint, ragged=0.9)
    start = dice.between(0, 2 * pi)
    for k in range(6):
        out, size = crown * dice.between(0.55, 0.8), 2 * crown * dice.between(0.45, 0.65)
        x, y = out * cos(start + 2.4 * k), out * sin(start + 2.4 * k)
        z = middle + (height_m - foot) * dice.between(-0.22, 0.3) - 0.45 * size
        spot.ball(x, y, z, (size, size, 0.9 * size), paint, ragged=0.9)


def conifer(spot: Spot, dice: Dice, height_m: float, leaves: Paint | None = None) -> None:
    """A dark tree of flat layers that narrow towards the top."""
    dark = dice.near((0.07, 0.13, 0.06), 0.2)
    paint = leaves or mottled(scaled(dark, 1.5), scaled(dark, 0.3), 0.6, 1.5)
    wide = height_m * dice.between(0.17, 0.24)
    spot.round(0, 0, 0, (0.03 * height_m, 0.03 * height_m, 0.3 * height_m), BARK)
    for share in (0.2, 0.34, 0.48, 0.62, 0.76, 0.88):
        size = 2 * wide * (1.1 - share)
        spot.ball(0, 0, (share - 0.13) * height_m, (size, size, 0.26 * height_m), paint, ragged=0.85)


def palm(spot: Spot, dice: Dice, height_m: float) -> None:
    """A bare trunk with a flat crown."""
    spot.round(0, 0, 0, (0.4, 0.4, height_m), BARK, top=0.6)
    paint = leaf_paint(dice)
    for k in range(5):
        spot.at(0, 0, k * pi / 2.5).ball(0.9, 0, height_m - 0.5, (2.6, 0.7, 0.8), paint, ragged=0.8)


def bush(spot: Spot, dice: Dice, size_m: float, leaves: Paint | None = None, season: float = 0.2) -> None:
    """A few low balls of leaves."""
    paint = leaves or leaf_paint(dice, season, 0.5)
    for _ in range(3):
        x, y = dice.between(-0.5, 0.5) * size_m, dice.between(-0.5, 0.5) * size_m
        size = 2 * size_m * dice.between(0.45, 0.7)
        spot.ball(x, y, -0.12 * size, (size, size, 0.85 * size), paint, ragged=0.8)


def hedge(spot: Spot, dice: Dice, length_m: float, height_m: float) -> None:
    """A cut hedge along x."""
    spot.box(0, 0, 0, (length_m, 0.6, height_m), leaf_paint(dice, 0.0, 1.2))


def rock(spot: Spot, dice: Dice, size_m: float, color: Rgb | None = None) -> None:
    """A boulder, part of it in the ground."""
    base = color or dice.gray(0.15, 0.4)
    paint = mottled(scaled(base, 1.3), scaled(base, 0.45), 0.8 * size_m, 1.4)
    wide, deep = size_m * dice.between(0.8, 1.8), size_m * dice.between(0.8, 1.5)
    for _ in range(dice.count(2, 4)):
        x, y, share = dice.between(-0.4, 0.4) * wide, dice.between(-0.3, 0.3) * deep, dice.between(0.4, 0.9)
        part = spot.at(x, y, dice.between(0, pi))
        part.ball(0, 0, -0.35 * size_m, (share * wide, share * deep, (0.5 + share) * size_m), paint, ragged=0.1)


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
    glow, tint = dice.between(0.003, 0.05), dice.one_of(((0.5, 0.7, 1.3), (1.2, 0.9, 0.6), (0.9, 0.9, 1.0)))
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


def _sky(dice: Dice, zenith: Rgb, horizon: Rgb, cloud: Rgb, cover: float, softness: float) -> Sky:
    ridge = dice.near((0.10, 0.13, 0.14), 0.4)
    return Sky(zenith, horizon, cloud, cover, softness, dice.between(0.0, 500.0), ridge)


def _clear(dice: Dice) -> Weather:
    zenith = scaled((0.12, 0.25, 0.55), dice.between(0.8, 1.6))
    horizon = scaled((0.5, 0.62, 0.75), dice.between(0.8, 1.3))
    sky = _sky(dice, zenith, horizon, (1.0, 1.0, 1.0), dice.one_of((0.0, 0.12, 0.2)), 0.25)
    return sky, scaled((1.5, 1.4, 1.25), dice.between(0.8, 1.3)), (0.35, 0.42, 0.55), dice.between(0.4, 1.2)


def _broken(dice: Dice) -> Weather:
    gray, zenith = dice.between(0.8, 1.2), scaled((0.2, 0.32, 0.52), dice.between(0.8, 1.3))
    cloud, cover, softness = (gray, gray, 1.03 * gray), dice.between(0.35, 0.75), dice.between(0.12, 0.35)
    sky = _sky(dice, zenith, (0.7, 0.75, 0.8), cloud, cover, softness)
    return sky, scaled((1.3, 1.25, 1.15), dice.between(0.3, 1.0)), (0.5, 0.53, 0.58), dice.between(0.35, 1.1)


def _overcast(dice: Dice) -> Weather:
    gray = dice.between(0.7, 1.1)
    sky = _sky(dice, (gray, gray, gray), (0.9 * gray, 0.92 * gray, 0.95 * gray), (0.8 * gray,) * 3, 0.55, 0.7)
    return sky, (0.12, 0.12, 0.12), (0.85, 0.87, 0.9), dice.between(0.7, 1.2)


def _low_sun(dice: Dice) -> Weather:
    red = dice.between(0.2, 0.7)
    horizon, cloud = (0.9, 0.9 - 0.5 * red, 0.8 - 0.7 * red), (0.7, 0.7 - 0.4 * red, 0.75 - 0.5 * red)
    sky = _sky(dice, (0.2, 0.28, 0.42), horizon, cloud, dice.one_of((0.0, 0.3, 0.55)), 0.3)
    return sky, (1.5, 1.5 - 0.7 * red, 1.4 - 1.2 * red), (0.22, 0.24, 0.32), dice.between(0.1, 0.35)
