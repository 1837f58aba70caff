"""What all places outdoors have in common: a view, weather, ground or land, and trees on it."""

from math import atan2, pi

import numpy as np

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.noise import textures
from egoequiv_worlds.render.scene import Camera, Scene
from egoequiv_worlds.render.solids import Paint, Spot
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.nature import broadleaf, conifer, finish, leaf_paint, weather

CELLS = 224
NUMBERS = np.arange(CELLS) - CELLS / 2
Range = tuple[float, float]


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
    x, y = np.meshgrid(cell_m * NUMBERS, cell_m * NUMBERS)
    return x, y


def view(
    dice: Dice, x: float, z: float, yaw: float, horizon: Range, width: Range = (0.4, 0.65), tilt: float = 0.02
) -> Camera:
    """A camera at a height, turned by up to some angle, with the horizon between two shares of the picture."""
    yaw_rad, line, slope = dice.between(-yaw, yaw), dice.between(*horizon), dice.between(-tilt, tilt)
    return Camera(x, 0.0, z, yaw_rad, horizon=line, tilt=slope, width=dice.between(*width))


def look(dice: Dice, z: float, low: float = 0.3, high: float = 0.7) -> Camera:
    """A camera that looks anywhere."""
    return view(dice, 0.0, z, pi, (low, high), (0.32, 0.62), 0.03)


def start(dice: Dice, camera: Camera, haze_m: float, shadow_m: float = 40.0, mean: Range = (0.42, 0.56)) -> Scene:
    """An empty scene under some weather, and a picture of it whose mean is between two shares of white."""
    sky, light = weather(dice, shadow_m=shadow_m, haze_m=haze_m)
    return Scene(camera, sky, light, finish(dice, *mean))


def ground(scene: Scene, paint: Paint, z: float = 0.0) -> None:
    """A plane to the horizon."""
    scene.spot(scene.camera.x, scene.camera.y).box(0, 0, z - 1.0, (16_000, 16_000, 1.0), paint, casts=False)


def in_view(scene: Scene, dice: Dice, near_m: float, far_m: float, spread: float = 1.0, yaw_rad: float = 0.0) -> Spot:
    """A spot in view on the ground, nearer ones as likely on the picture as further ones."""
    distance, half = near_m * (far_m / near_m) ** dice.between(0.0, 1.0), 1.82 * scene.camera.width * spread
    bearing = scene.camera.yaw_rad + atan2(dice.between(-half, half), 1.0)
    x, y = -distance * np.sin(bearing), distance * np.cos(bearing)
    z = 0.0 if scene.land is None else scene.land.height_at(x, y) - 0.2
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
