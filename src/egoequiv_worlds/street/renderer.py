"""One picture of a drive: from its scene, built once in each process, and a moment to gray levels or colours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.camera import View, look
from egoequiv_worlds.render.faces import GLASS, PAINT, Faces, Sky, blobs, joined, no_faces, placed
from egoequiv_worlds.render.pictures import FINENESS, Street, draw_street
from egoequiv_worlds.render.sensor import LUMA, developed, digital
from egoequiv_worlds.street.areas import Drive
from egoequiv_worlds.street.motion import bumps, motion, track
from egoequiv_worlds.street.roadside import Site
from egoequiv_worlds.street.route import AHEAD_M, Route, route
from egoequiv_worlds.street.scenery import furnish
from egoequiv_worlds.street.sensors import CAMERA_AHEAD_M, CAMERA_UP_M, focal_px
from egoequiv_worlds.street.setting import ground, paving, sky, sunshine_under
from egoequiv_worlds.street.traffic import moving
from egoequiv_worlds.street.vehicles import vehicle

# A camera adjusts its exposure: the open sky above a road gives more light than a street of facades.
EXPOSURE = {"campus": 0.86, "city": 0.92, "residential": 0.76, "road": 0.56}

NOISE_LEVELS = 1.3  # standard deviation of the sensor's noise, in gray levels
LONGEST_CAR_M, FARTHEST_CAR_M = 10.0, 400.0


@lru_cache(maxsize=8)
def scene(drive: Drive) -> Street:
    """Build the scene of a drive."""
    way = _seen_route(drive)
    site = Site(drive, way, drive.generator(40))
    furnish(site)
    faces = joined([no_faces(), *site.faces])
    leaves = joined([blobs([], 0.0), *site.blobs])
    weather = sky(drive)
    centres = faces.corners.mean(axis=1)
    return Street(
        faces=faces,
        face_centres=centres,
        face_radii=np.linalg.norm(faces.corners - centres[:, None], axis=2).max(axis=1),
        blobs=leaves,
        sky=weather,
        ground=ground(drive, way, weather, faces, leaves),
        paving=paving(drive),
    )


def _seen_route(drive: Drive) -> Route:
    """The part of the route that is visible in the drive."""
    way, driven = route(drive), track(drive)
    own_m = float(driven.lengths_at(np.asarray(drive.seconds)))
    return way.until(float(np.interp(own_m, driven.lane.lengths_m, way.middle.lengths_m)) + AHEAD_M[drive.area])


def picture(drive: Drive, time_s: float, width: int, height: int, color: bool) -> NDArray[np.uint8]:
    """The camera's picture at a time since the drive began: (height, width) gray or (height, width, 3) colour."""
    view = camera(drive, time_s, width * FINENESS, height * FINENESS)
    return picture_from(drive, time_s, view, color, (90, round(time_s * 1e4)))


def picture_along(
    drive: Drive, time_s: float, ahead_m: float, turn_rad: float, width: int, height: int, color: bool, number: int
) -> NDArray[np.uint8]:
    """The picture from another place of the lane than the car's own at a time, turned to the left of the lane.

    Args:
        drive: The scene; its traffic is as at the time.
        time_s: Since the drive began.
        ahead_m: How far along the lane from where the car is, negative behind it.
        turn_rad: From the direction of the lane to the left.
        width: In pixels.
        height: In pixels.
        color: Whether it has colours.
        number: Of the picture, for the noise of the sensor.
    """
    driven = track(drive)
    length_m = driven.lengths_at(np.array([time_s])) + ahead_m
    (place,), (heading,) = driven.lane.at(length_m)
    pitch, roll = bumps(drive, length_m)
    angles = (float(roll[0]), float(pitch[0]), float(heading) + turn_rad)
    view = _eye(place, angles, width * FINENESS, height * FINENESS)
    return picture_from(drive, time_s, view, color, (91, round(time_s * 1e4), number))


def picture_from(drive: Drive, time_s: float, view: View, color: bool, purpose: tuple[int, ...]) -> NDArray[np.uint8]:
    """The picture of a view at a time; `purpose` decides the noise of the sensor."""
    street = scene(drive)
    light = draw_street(view, street, traffic_faces(drive, time_s, view))
    if not color:
        light = light @ LUMA
    levels = 255.0 * developed(light, exposure(drive, street.sky))
    grain = drive.generator(*purpose).standard_normal(levels.shape, np.float32)
    return digital(levels + NOISE_LEVELS * grain)


def exposure(drive: Drive, weather: Sky) -> float:
    """How much light the camera lets in."""
    return EXPOSURE[drive.area] * (1.0 + 0.25 * weather.cover) * float(drive.generator(80).uniform(0.85, 1.15))


def camera(drive: Drive, time_s: float, width: int, height: int) -> View:
    """The view of the camera at a time; it is on the car's axis, in front of the GPS/IMU."""
    now = motion(drive, np.array([time_s]))
    roll, pitch, yaw = float(now.roll_rad[0]), float(now.pitch_rad[0]), float(now.yaw_rad[0])
    return _eye(now.places_m[0], (roll, pitch, yaw), width, height)


def _eye(place_m: Array, angles: tuple[float, float, float], width: int, height: int) -> View:
    """The view of the camera of a car at a place, by roll, pitch and yaw."""
    x, y = place_m + CAMERA_AHEAD_M * np.array([np.cos(angles[2]), np.sin(angles[2])])
    return look((float(x), float(y), CAMERA_UP_M), angles, focal_px(width), width, height)


def traffic_faces(drive: Drive, time_s: float, view: View) -> list[Faces]:
    """The cars that move, where they are at a time, without those behind us and those far away."""
    ahead = np.array(view.forward[:2])
    cars = []
    for kind, paint, place, heading in moving(drive, time_s):
        depth_m = float(ahead @ (place - view.eye[:2]))
        if -LONGEST_CAR_M < depth_m < FARTHEST_CAR_M:
            car = placed(vehicle(kind, paint), place, heading)
            shaded = 1.0 - sunshine_under(scene(drive).ground, place[None])[0]
            is_body = (car.materials == PAINT) | (car.materials == GLASS)
            cars.append(car._replace(params=np.where(is_body[:, None], shaded, car.params)))
    return cars
