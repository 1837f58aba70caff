"""All cameras: one that rides on a car, one that moves around a toy, and one that looks at a place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render.arrays import Array, Vector, vector

DISTANCE = 7.0  # in radii of the toy
FILL = 0.88  # the share of the picture's width that the ball around a toy takes up


class View(NamedTuple):
    """A pinhole camera with z up; a named tuple of plain numbers, because compiled code accepts those."""

    eye: Vector
    right: Vector
    up: Vector
    forward: Vector
    focal_px: float
    middle: tuple[float, float]  # column and row of the principal point
    width: int
    height: int


def look(eye: Vector, angles_rad: Vector, focal_px: float, width: int, height: int) -> View:
    """The view from a place at angles (roll, pitch, yaw) as in the OXTS convention."""
    roll, pitch, yaw = angles_rad
    cos, sin = np.cos, np.sin
    about_z = np.array([[cos(yaw), -sin(yaw), 0.0], [sin(yaw), cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cos(pitch), 0.0, sin(pitch)], [0.0, 1.0, 0.0], [-sin(pitch), 0.0, cos(pitch)]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cos(roll), -sin(roll)], [0.0, sin(roll), cos(roll)]])
    forward, left, up = (about_z @ about_y @ about_x).T
    middle = (width / 2, height / 2)
    return View(eye, vector(-left), vector(up), vector(forward), focal_px, middle, width, height)


def orbit(centre: Array, elevation_deg: float, azimuth_deg: float, size: int, shift: Array) -> View:
    """Look at a toy of radius 1 from a position on the sphere around it.

    A higher elevation raises the camera; a higher azimuth moves it to its own right. A camera that does not move sees
    the same when the table turns clockwise. `shift` moves the picture, in shares of its width.
    """
    outwards = towards(azimuth_deg, elevation_deg)
    azimuth = np.radians(azimuth_deg)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    focal_px = float(FILL * size / 2 * np.sqrt(DISTANCE**2 - 1.0))
    column, row = size * (0.5 + shift)
    return View(
        eye=vector(centre + DISTANCE * outwards),
        right=vector(right),
        up=vector(np.cross(outwards, right)),
        forward=vector(-outwards),
        focal_px=focal_px,
        middle=(float(column), float(row)),
        width=size,
        height=size,
    )


def towards(azimuth_deg: float, elevation_deg: float) -> Array:
    """The unit vector that points to an azimuth about z and an elevation above the ground."""
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    level = np.cos(elevation)
    return np.array([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)])


@dataclass(frozen=True)
class Camera:
    """A pinhole camera whose picture is shifted, not tilted, so that uprights stay upright unless it pitches."""

    x: float = 0.0
    y: float = 1.6
    z: float = 0.0
    yaw_rad: float = 0.0
    pitch_rad: float = 0.0  # upwards; 0 where there is land
    horizon: float = 0.5  # its height in the picture, in shares from the top
    tilt: float = 0.0  # the slope of the horizon
    width: float = 1.1  # the tangent of half the angle of view, for a square picture


def camera_view(camera: Camera, width: int, height: int) -> tuple[Array, float]:
    """The rays of a camera's picture, (10, 3), and its focal length in pixels."""
    focal_px = math.sqrt(width * height) / (2.0 * camera.width)
    c, s = math.cos(camera.yaw_rad), math.sin(camera.yaw_rad)
    up, ahead = np.array([0.0, 1.0, 0.0]), np.array([s, 0.0, c])
    across = np.array([c, 0.0, -s])
    if camera.pitch_rad:
        turn_c, turn_s = math.cos(camera.pitch_rad), math.sin(camera.pitch_rad)
        up, ahead = turn_c * up - turn_s * ahead, turn_c * ahead + turn_s * up
    per_column = (across + camera.tilt * up) / focal_px
    per_row = -up / focal_px
    first = ahead - per_column * (width / 2.0) - per_row * (height * camera.horizon)
    none = np.zeros(3)
    inverse = np.linalg.inv(np.stack([per_column, per_row, first], axis=1))
    rays = np.stack([np.array([camera.x, camera.y, camera.z]), none, none, first, per_column, per_row])
    return np.concatenate([rays, inverse, [[1.0, 0.0, 0.0]]]), focal_px
