"""All cameras, and lights as cameras: z is up, and a view is a few plain numbers that compiled code accepts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render import Array, Vector, vector

DISTANCE = 7.0  # in radii of the toy
FILL = 0.88  # the share of the picture's width that the ball around a toy takes up


class View(NamedTuple):
    """A pinhole camera, or parallel rays, such as those of the sun, through a square of pixels."""

    eye: Vector
    right: Vector
    up: Vector
    forward: Vector
    focal_px: float  # pixels to a unit of length, at depth 1 or, if parallel, at any depth
    middle: tuple[float, float]  # column and row of the principal point
    width: int
    height: int
    parallel: bool = False


def look(eye: Vector, angles_rad: Vector, focal_px: float, width: int, height: int, horizon: float = 0.5) -> View:
    """The view from a place at angles (roll, pitch, yaw) as in the OXTS convention.

    `horizon` is where a level camera has the horizon, in shares from the top: the picture is shifted, not tilted.
    """
    roll, pitch, yaw = angles_rad
    cos, sin = np.cos, np.sin
    about_z = np.array([[cos(yaw), -sin(yaw), 0.0], [sin(yaw), cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cos(pitch), 0.0, sin(pitch)], [0.0, 1.0, 0.0], [-sin(pitch), 0.0, cos(pitch)]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cos(roll), -sin(roll)], [0.0, sin(roll), cos(roll)]])
    forward, left, up = (about_z @ about_y @ about_x).T
    middle = (width / 2, height * horizon)
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
    eye, up = vector(centre + DISTANCE * outwards), vector(np.cross(outwards, right))
    return View(eye, vector(right), up, vector(-outwards), focal_px, (float(column), float(row)), size, size)


def from_light(towards: Array | Vector, centre: Array | Vector, cells_a_unit: float, cells: int) -> View:
    """Look from a distant light at a square around a centre, for a map of what it reaches."""
    away = np.asarray(towards)
    right = np.cross((0.0, 0.0, 1.0), away)
    right /= np.linalg.norm(right)
    up, middle = np.cross(away, right), (cells / 2.0, cells / 2.0)
    return View(vector(centre), vector(right), vector(up), vector(-away), cells_a_unit, middle, cells, cells, True)


def towards(azimuth_deg: float, elevation_deg: float) -> Array:
    """The unit vector that points to an azimuth about z and an elevation above the ground."""
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    level = np.cos(elevation)
    return np.array([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)])
