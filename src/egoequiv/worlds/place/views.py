"""The rays of a picture, from a camera or from the sun, as the rows that the caster takes."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from egoequiv.worlds.place.scene import Camera, Light
from egoequiv.worlds.place.solids import Array


def camera_view(camera: Camera, width: int, height: int) -> tuple[Array, float]:
    """The rays of a camera's picture, (10, 3), and its focal length in pixels."""
    focal_px = sqrt(width * height) / (2.0 * camera.width)
    c, s = cos(camera.yaw_rad), sin(camera.yaw_rad)
    up, ahead = np.array([0.0, 1.0, 0.0]), np.array([s, 0.0, c])
    across = np.array([c, 0.0, -s])
    if camera.pitch_rad:
        turn_c, turn_s = cos(camera.pitch_rad), sin(camera.pitch_rad)
        up, ahead = turn_c * up - turn_s * ahead, turn_c * ahead + turn_s * up
    per_column = (across + camera.tilt * up) / focal_px
    per_row = -up / focal_px
    first = ahead - per_column * (width / 2.0) - per_row * (height * camera.horizon)
    none = np.zeros(3)
    inverse = np.linalg.inv(np.stack([per_column, per_row, first], axis=1))
    rays = np.stack([np.array([camera.x, camera.y, camera.z]), none, none, first, per_column, per_row])
    return np.concatenate([rays, inverse, [[1.0, 0.0, 0.0]]]), focal_px


def to_sun(light: Light) -> Array:
    """The direction in which the sun stands."""
    level = cos(light.elevation_rad)
    return np.array([level * sin(light.azimuth_rad), sin(light.elevation_rad), level * cos(light.azimuth_rad)])


def sun_view(light: Light, camera: Camera, cells: int) -> Array:
    """The rays of the sun over the square in front of the camera, (10, 3), for a map of shadows of cells x cells."""
    sun = to_sun(light)
    across = np.cross(np.array([0.0, 1.0, 0.0]), sun)
    across = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-6 else np.array([1.0, 0.0, 0.0])
    along = np.cross(sun, across)
    reach = light.shadow_m
    ahead = np.array([sin(camera.yaw_rad), 0.0, cos(camera.yaw_rad)])
    middle = np.array([camera.x, 0.0, camera.z]) + 0.8 * reach * ahead
    per_column, per_row = across * (2.0 * reach / cells), along * (2.0 * reach / cells)
    start = middle + 6.0 * reach * sun - (per_column + per_row) * (cells / 2.0)
    none = np.zeros(3)
    inverse = np.linalg.inv(np.stack([per_column, per_row, -sun], axis=1))
    rays = np.stack([start, per_column, per_row, -sun, none, none])
    return np.concatenate([rays, inverse, [[0.0, 0.0, 0.0]]])
