"""One picture of a drive: from its scene and a moment to gray levels or colours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from egoequiv.worlds.compiled import compiled
from egoequiv.worlds.street.areas import Drive
from egoequiv.worlds.street.backdrop import shade_backdrop
from egoequiv.worlds.street.camera import CAMERA_AHEAD_M, CAMERA_UP_M, focal_px
from egoequiv.worlds.street.ground import sunshine_under
from egoequiv.worlds.street.motion import motion
from egoequiv.worlds.street.objects import shade_objects
from egoequiv.worlds.street.raster import NOTHING, draw_blobs, draw_faces
from egoequiv.worlds.street.scene import Scene, scene
from egoequiv.worlds.street.shapes import (
    GLASS,
    PAINT,
    Faces,
    Noise,
    View,
    chosen_blobs,
    chosen_faces,
    joined_faces,
    look,
    noise_pyramid,
    placed,
)
from egoequiv.worlds.street.traffic import moving
from egoequiv.worlds.street.vehicles import vehicle

Array = NDArray[np.float64]

FINENESS = 2  # finer pixels to a pixel, each way
CONTRAST = 0.7  # how far the middle tones are spread
NOISE_LEVELS = 1.3  # standard deviation of the sensor's noise, in gray levels
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
LONGEST_CAR_M, FARTHEST_CAR_M = 10.0, 400.0


@lru_cache(maxsize=1)
def noise() -> Noise:
    """The noise of all textures, made once a process."""
    return noise_pyramid()


def picture(drive: Drive, time_s: float, width: int, height: int, color: bool) -> NDArray[np.uint8]:
    """The camera's picture at a time since the drive began: (height, width) gray or (height, width, 3) colour."""
    setting = scene(drive)
    view = camera(drive, time_s, width * FINENESS, height * FINENESS)
    light = trace(view, setting, traffic_faces(drive, time_s, view))
    if not color:
        light = light @ LUMA
    levels = 255.0 * developed(light, setting.exposure)
    grain = drive.generator(90, round(time_s * 1e4)).standard_normal(levels.shape, np.float32)
    return np.clip(np.rint(levels + NOISE_LEVELS * grain), 0, 255).astype(np.uint8)


def developed(light: NDArray[np.float32], exposure: float) -> NDArray[np.float32]:
    """The response of a sensor to light (H, W, ...): from 0 to 1, steepest in the middle tones, darker at the sides."""
    away = (np.arange(light.shape[1], dtype=np.float32) + 0.5) / light.shape[1] - 0.5
    lens = np.float32(exposure) * (1.0 - 0.35 * away * away)
    exposed = light * (lens if light.ndim == 2 else lens[:, None])
    tone = np.sqrt(np.clip(exposed, 0.0, 1.0))
    return np.asarray(tone + CONTRAST * (tone * tone * (3.0 - 2.0 * tone) - tone))


def camera(drive: Drive, time_s: float, width: int, height: int) -> View:
    """The view of the camera at a time; it is on the car's axis, in front of the GPS/IMU."""
    now = motion(drive, np.array([time_s]))
    roll, pitch, yaw = float(now.roll_rad[0]), float(now.pitch_rad[0]), float(now.yaw_rad[0])
    x, y = now.places_m[0] + CAMERA_AHEAD_M * np.array([np.cos(yaw), np.sin(yaw)])
    return look((float(x), float(y), CAMERA_UP_M), (roll, pitch, yaw), focal_px(width), width, height)


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


def trace(view: View, setting: Scene, cars: list[Faces]) -> NDArray[np.float32]:
    """The light in each pixel, (H, W, 3)."""
    far_m = 2.0 * setting.sky.fog_m
    near = visible(view, setting.face_centres, setting.face_radii, far_m)
    faces = joined_faces([chosen_faces(setting.faces, near), *cars])
    near = visible(view, setting.blobs.centres, setting.blobs.radii.max(axis=1), far_m)
    depths = (setting.blobs.centres[near] - view.eye) @ view.forward
    near = near[np.argsort(depths, kind="stable")]  # objects in front first, so that hidden ones are skipped early
    blobs = chosen_blobs(setting.blobs, near)
    nearness = np.zeros((view.height, view.width), np.float32)
    seen = np.full((view.height, view.width), NOTHING, np.int32)
    draw_faces(view, faces, nearness, seen)
    draw_blobs(view, blobs, noise(), len(faces.materials), nearness, seen)
    light = np.zeros((view.height // FINENESS, view.width // FINENESS, 3), np.float32)
    shade_backdrop(view, faces, setting.sky, setting.ground, setting.paving, noise(), seen, light)
    shade_objects(view, faces, blobs, setting.sky, noise(), nearness, seen, light)
    return light


@compiled
def visible(view: View, centres: Array, radii: Array, far_m: float) -> NDArray[np.int64]:
    """The numbers of the balls that the camera may see: ahead, within its angle, neither too far nor too small."""
    found = np.empty(len(centres), np.int64)
    count = 0
    slope_x, slope_y = view.width / (2.0 * view.focal_px), view.height / (2.0 * view.focal_px)
    long_x, long_y = np.sqrt(1.0 + slope_x * slope_x), np.sqrt(1.0 + slope_y * slope_y)
    eye, right, up, forward = view.eye, view.right, view.up, view.forward
    for k in range(len(centres)):
        dx, dy, dz = centres[k, 0] - eye[0], centres[k, 1] - eye[1], centres[k, 2] - eye[2]
        x = abs(right[0] * dx + right[1] * dy + right[2] * dz)
        y = abs(up[0] * dx + up[1] * dy + up[2] * dz)
        z = forward[0] * dx + forward[1] * dy + forward[2] * dz
        radius = radii[k]
        if z < -radius or z > far_m + radius or view.focal_px * radius < 0.4 * z:
            continue
        if x - slope_x * z > radius * long_x or y - slope_y * z > radius * long_y:
            continue
        found[count] = k
        count += 1
    return found[:count].copy()
