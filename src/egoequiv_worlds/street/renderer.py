"""One picture of a drive: from its scene, built once in each process, and a moment to gray levels or colours."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render import Array, Vector
from egoequiv_worlds.render.drawing import visible
from egoequiv_worlds.render.pictures import LUMA, Map, develop, draw_light, sun_map
from egoequiv_worlds.render.scene import Finish, Light, Sky, from_light, look
from egoequiv_worlds.render.shading import FINENESS
from egoequiv_worlds.render.solids import Solids, X, Y, placed
from egoequiv_worlds.street import Drive
from egoequiv_worlds.street.motion import moving, track
from egoequiv_worlds.street.roads import lay
from egoequiv_worlds.street.roadside import Site
from egoequiv_worlds.street.route import AHEAD_M, route
from egoequiv_worlds.street.scenery import furnish
from egoequiv_worlds.street.sensors import CAMERA_AHEAD_M, CAMERA_UP_M, focal_px
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.nature import weather
from egoequiv_worlds.things.streets import vehicle

HAZE_M = {"campus": 480.0, "city": 380.0, "residential": 440.0, "road": 600.0}  # where it takes two thirds of a colour
RIDGE = {"campus": 0.035, "city": 0.06, "residential": 0.04, "road": 0.022}  # how high the far horizon is
EXPOSURE = {"campus": 1.45, "city": 1.6, "residential": 1.35, "road": 1.2}  # of streets in light of brightness 1
NOISE_LEVELS = 1.3  # standard deviation of the sensor's noise, in gray levels
LONGEST_CAR_M, FARTHEST_CAR_M = 10.0, 400.0
CHUNK_M, SHADOW_M, SHADOW_CELLS = 64.0, 120.0, 480  # the sun's map of a square covers what is around it


class Street(NamedTuple):
    """All of a street that does not move, and the weather."""

    rows: Array
    sky: Sky
    light: Light
    finish: Finish


@lru_cache(maxsize=8)
def scene(drive: Drive) -> Street:
    """Build the scene of a drive."""
    way, driven, solids, dice = route(drive), track(drive), Solids(), Dice(drive.generator(50))
    last_m = np.interp(driven.lengths_at(np.asarray(drive.seconds)), driven.lane.lengths_m, way.middle.lengths_m)
    way = way.until(float(last_m) + AHEAD_M[drive.area])  # what can be seen
    lay(solids, drive, way)
    furnish(Site(drive, way, solids, Dice(drive.generator(40))))
    sky, light = weather(dice)
    sky = sky._replace(ridge_height=RIDGE[drive.area] * dice.between(0.7, 1.4), ridge=light.haze)
    light = light._replace(haze_m=HAZE_M[drive.area] * dice.between(0.8, 1.3))
    falling = np.mean(light.above) + 0.6 * light.sun[2] * np.mean(light.sunlight)
    exposure = EXPOSURE[drive.area] * dice.between(0.93, 1.07) / float(np.sqrt(falling))
    return Street(solids.array(), sky, light, Finish(contrast=1.5, noise_levels=NOISE_LEVELS, exposure=exposure))


@lru_cache(maxsize=8)
def shadows(drive: Drive, column: int, row: int) -> Map:
    """What the sun sees around a square of the ground."""
    street, middle = scene(drive), ((column + 0.5) * CHUNK_M, (row + 0.5) * CHUNK_M, 0.0)
    near = np.hypot(street.rows[:, X] - middle[0], street.rows[:, Y] - middle[1]) < 1.5 * SHADOW_M
    view = from_light(street.light.sun, middle, SHADOW_CELLS / (2.0 * SHADOW_M), SHADOW_CELLS)
    return sun_map(street.rows[near], view, street.light)


def picture(
    drive: Drive, time_s: float, place_m: Array, angles_rad: Vector, size: tuple[int, int], color: bool, *purpose: int
) -> NDArray[np.uint8]:
    """The picture from a car at a place with a roll, pitch and yaw, as the traffic is at a time since the drive began.

    It is (height, width) gray or (height, width, 3) colour for a size (width, height); the purpose decides its noise.
    """
    x, y = place_m + CAMERA_AHEAD_M * np.array([np.cos(angles_rad[2]), np.sin(angles_rad[2])])
    width, height = FINENESS * size[0], FINENESS * size[1]
    view, street = look((float(x), float(y), CAMERA_UP_M), angles_rad, focal_px(width), width, height), scene(drive)
    parts, slope = [street.rows[visible(view, street.rows, 1.6 * street.light.haze_m)]], 0.55 * width / view.focal_px
    for kind, paint, place, heading in moving(drive, time_s):  # without cars that are out of sight
        x, y = place[0] - view.eye[0], place[1] - view.eye[1]
        ahead_m, aside_m = view.forward[0] * x + view.forward[1] * y, abs(view.right[0] * x + view.right[1] * y)
        if -LONGEST_CAR_M < ahead_m < FARTHEST_CAR_M and aside_m < slope * abs(ahead_m) + 2 * LONGEST_CAR_M:
            parts.append(placed(vehicle(kind, paint), float(place[0]), float(place[1]), heading))
    sun = shadows(drive, *(int(np.floor(place / CHUNK_M)) for place in view.eye[:2]))
    light = draw_light(view, np.concatenate(parts), street.sky, street.light, sun)
    return develop(light if color else light @ LUMA, street.finish, drive.generator(*purpose))
