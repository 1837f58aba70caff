"""What all places outdoors have in common: a view, weather, ground or land, and trees on it."""

from __future__ import annotations

from functools import cache
from math import atan2, pi

import numpy as np

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.noise import textures
from egoequiv_worlds.render.scene import Camera, Scene
from egoequiv_worlds.render.solids import Paint, Spot
from egoequiv_worlds.things.dice import Dice
from egoequiv_worlds.things.plants import broadleaf, conifer, leaf_paint
from egoequiv_worlds.things.weather import finish, weather

CELLS = 224


def hills(dice: Dice, stride: int = 1, rough: bool = False) -> Array:
    """A random square of noise, (CELLS, CELLS) from 0 to 1; a larger stride makes it vary faster."""
    texture = textures().cloud[1] if rough else textures().land
    side = len(texture)
    rows, columns = ((dice.count(0, side - 1) + stride * np.arange(CELLS)) % side for _ in range(2))
    land: Array = texture.take(rows, 0).take(columns, 1).astype(np.float64)
    return land if dice.chance(0.5) else land.T


def ridges(dice: Dice, stride: int) -> Array:
    """A random square with sharp crests, (CELLS, CELLS) from 0 to 1."""
    crest = 1.0 - 2.0 * np.abs(hills(dice, stride) - 0.5)
    return crest * crest


def around(cell_m: float) -> tuple[Array, Array]:
    """The x and y of the cells of a land relative to its middle."""
    x, y = _numbers()
    return cell_m * x, cell_m * y


@cache
def _numbers() -> tuple[Array, Array]:
    own = np.arange(CELLS) - CELLS / 2
    x, y = np.meshgrid(own, own)
    return x, y


def height_at(heights_m: Array, cell_m: float, x: float, y: float) -> float:
    """The height of the land at a place relative to its middle."""
    last = len(heights_m) - 2
    gx, gy = (min(max(value / cell_m + len(heights_m) / 2, 0.0), float(last)) for value in (x, y))
    i, k = int(gx), int(gy)
    near = heights_m[k, i] * (1 - gx + i) + heights_m[k, i + 1] * (gx - i)
    far = heights_m[k + 1, i] * (1 - gx + i) + heights_m[k + 1, i + 1] * (gx - i)
    return float(near * (1 - gy + k) + far * (gy - k))


def look(dice: Dice, z: float, low: float = 0.3, high: float = 0.7) -> Camera:
    """A camera somewhere at a height, with the horizon anywhere between two shares of the picture."""
    return Camera(
        z=z,
        yaw_rad=dice.between(-pi, pi),
        horizon=dice.between(low, high),
        tilt=dice.between(-0.03, 0.03),
        width=dice.between(0.32, 0.62),
    )


def start(
    dice: Dice, camera: Camera, haze_m: float, shadow_m: float = 40.0, brightness: tuple[float, float] = (0.42, 0.56)
) -> Scene:
    """An empty scene under some weather."""
    sky, light = weather(dice, shadow_m=shadow_m, haze_m=haze_m)
    return Scene(camera, sky, light, finish(dice, *brightness))


def ground(scene: Scene, paint: Paint, z: float = 0.0) -> None:
    """A plane to the horizon."""
    scene.spot(scene.camera.x, scene.camera.y).box(0, 0, z - 1.0, (16_000, 16_000, 1.0), paint, casts=False)


def in_view(scene: Scene, dice: Dice, near_m: float, far_m: float, spread: float = 1.0, yaw_rad: float = 0.0) -> Spot:
    """A spot in view on the ground, nearer ones as likely on the picture as further ones."""
    distance = near_m * (far_m / near_m) ** dice.between(0.0, 1.0)
    half = 1.82 * scene.camera.width * spread
    bearing = scene.camera.yaw_rad + atan2(dice.between(-half, half), 1.0)
    x, y = -distance * np.sin(bearing), distance * np.cos(bearing)
    z = 0.0 if scene.land is None else height_at(scene.land.heights_m, scene.land.cell_m, x, y) - 0.2
    return scene.spot(scene.camera.x + x, scene.camera.y + y, yaw_rad, z)


def scatter_trees(scene: Scene, dice: Dice, count: int, near_m: float, far_m: float, firs: float) -> None:
    """Trees in view, a share of them firs."""
    kinds = [leaf_paint(dice) for _ in range(3)]
    for _ in range(count):
        spot = in_view(scene, dice, near_m, far_m)
        if dice.chance(firs):
            conifer(spot, dice, dice.between(6.0, 18.0))
        else:
            broadleaf(spot, dice, dice.between(5.0, 14.0), dice.one_of(kinds))
