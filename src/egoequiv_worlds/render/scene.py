"""A composed scene, everything a picture is drawn from: solids, land, sky, light, and cameras; lights are cameras too.

z is up, and a view is a few plain numbers that compiled code accepts.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render import Array, Vector, vector
from egoequiv_worlds.render.solids import Paint, Rgb, Solids, Spot

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
    (roll, pitch, yaw), cos, sin = angles_rad, np.cos, np.sin
    about_z = np.array([[cos(yaw), -sin(yaw), 0.0], [sin(yaw), cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cos(pitch), 0.0, sin(pitch)], [0.0, 1.0, 0.0], [-sin(pitch), 0.0, cos(pitch)]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cos(roll), -sin(roll)], [0.0, sin(roll), cos(roll)]])
    forward, left, up = (about_z @ about_y @ about_x).T
    return View(eye, vector(-left), vector(up), vector(forward), focal_px, (width / 2, height * horizon), width, height)


def orbit(centre: Array, elevation_deg: float, azimuth_deg: float, size: int, shift: Array) -> View:
    """Look at a toy of radius 1 from a position on the sphere around it.

    A higher elevation raises the camera; a higher azimuth moves it to its own right. A camera that does not move sees
    the same when the table turns clockwise. `shift` moves the picture, in shares of its width.
    """
    outwards, azimuth = towards(azimuth_deg, elevation_deg), np.radians(azimuth_deg)
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


class Sky(NamedTuple):
    """The background: a gradient with clouds, and perhaps a far ridge."""

    zenith: Rgb
    horizon: Rgb
    cloud: Rgb = (1.0, 1.0, 1.0)
    cover: float = 0.0  # the share of it that clouds take
    softness: float = 0.2
    offset: float = 0.0  # which piece of the cloud texture
    ridge: Rgb = (0.3, 0.35, 0.4)
    ridge_height: float = 0.0  # the tangent of its elevation
    ridge_roughness: float = 1.0


class Light(NamedTuple):
    """Sun, light from above and from below, haze, and the box in whose corners there is less light."""

    sun: Vector  # the direction towards it
    sunlight: Rgb
    above: Rgb
    below: Rgb
    haze: Rgb = (0.7, 0.7, 0.7)
    haze_m: float = 1e5  # the distance at which haze takes two thirds of a colour
    softness: float = 1.0  # how wide the edge of a shadow is, in cells of the sun's map
    shadow_m: float = 40.0  # how far around the shadows reach
    low: Vector = (-1e6, -1e6, 0.0)
    high: Vector = (1e6, 1e6, 1e6)
    corners: float = 0.25  # the share of the light that a corner takes


class Lamp(NamedTuple):
    """A light at a point, without shadows."""

    x: float
    y: float
    z: float
    color: Rgb
    reach_m: float


class Camera(NamedTuple):
    """A pinhole camera whose picture is shifted, not tilted, so that uprights stay upright unless it pitches."""

    x: float = 0.0
    y: float = 0.0
    z: float = 1.6
    yaw_rad: float = 0.0  # from +y to the left
    pitch_rad: float = 0.0  # upwards
    horizon: float = 0.5  # its height in the picture, in shares from the top
    tilt: float = 0.0  # the slope of the horizon
    width: float = 1.1  # the tangent of half the angle of view, for a square picture

    def view(self, width: int, height: int) -> View:
        """What it sees, for a picture of a size."""
        focal_px = math.sqrt(width * height) / (2.0 * self.width)
        angles = (self.tilt, -self.pitch_rad, self.yaw_rad + math.pi / 2)
        return look((self.x, self.y, self.z), angles, focal_px, width, height, self.horizon)


class Land(NamedTuple):
    """Heights over a square, (N, N) in metres, its middle at the camera; rows run along y."""

    heights_m: Array
    cell_m: float
    paint: Paint

    def height_at(self, x: float, y: float) -> float:
        """The height at a place relative to its middle; beyond the rim, that of the rim."""
        middle, last = len(self.heights_m) / 2, float(len(self.heights_m) - 2)
        inside = (min(max(value / self.cell_m + middle, 0.0), last) for value in (x, y))
        return float(between(self.heights_m, *(np.asarray(value) for value in inside)))


def between(heights_m: Array, column: Array, row: Array) -> Array:
    """Heights between the points of a net (N, N)."""
    i, j = column.astype(np.int64), row.astype(np.int64)
    fx, fy = column - i, row - j
    near = heights_m[j, i] * (1 - fx) + heights_m[j, i + 1] * fx
    far = heights_m[j + 1, i] * (1 - fx) + heights_m[j + 1, i + 1] * fx
    return np.asarray(near * (1 - fy) + far * fy)


class Finish(NamedTuple):
    """What the camera does to the light: brightness, contrast, blur and noise."""

    brightness: float = 0.4  # the mean of the picture that the exposure aims at, 0 to 1
    contrast: float = 1.0
    blur_px: float = 0.0
    noise_levels: float = 2.0
    tint: Rgb = (1.0, 1.0, 1.0)
    exposure: float | None = None  # what the brightness decides if it is not given


@dataclass
class Scene:
    """Everything in a place; a composition fills it."""

    camera: Camera
    sky: Sky
    light: Light
    finish: Finish = field(default_factory=Finish)
    land: Land | None = None
    lamps: tuple[Lamp, ...] = ()
    solids: Solids = field(default_factory=Solids)

    def spot(self, x: float = 0.0, y: float = 0.0, yaw_rad: float = 0.0, z: float = 0.0) -> Spot:
        """A spot to build things at."""
        return Spot(self.solids, x, y, yaw_rad, z)
