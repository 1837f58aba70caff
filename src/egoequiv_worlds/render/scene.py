"""A composed place: solids, land, sky and light, everything a picture is drawn from, and the rays of the sun."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin

import numpy as np

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.camera import Camera
from egoequiv_worlds.render.solids import Paint, Rgb, Solids, Spot


@dataclass(frozen=True)
class Sky:
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


@dataclass(frozen=True)
class Lamp:
    """A light at a point, without shadows."""

    x: float
    y: float
    z: float
    color: Rgb
    reach_m: float


@dataclass(frozen=True)
class Light:
    """Sun, light from above and from below, haze and lamps."""

    elevation_rad: float
    azimuth_rad: float  # of the sun, 0 straight along z and growing towards x
    sun: Rgb
    above: Rgb
    below: Rgb
    haze: Rgb = (0.7, 0.7, 0.7)
    haze_m: float = 1e5  # the distance at which haze takes two thirds of a colour
    softness: float = 1.0  # how wide the edge of a shadow is, in cells of the shadow map
    shadow_m: float = 40.0  # how far around the shadows reach
    lamps: tuple[Lamp, ...] = ()
    room: tuple[float, float, float, float, float, float] | None = None  # its lower and upper corner


@dataclass(frozen=True)
class Land:
    """Heights over a square, (N, N) in metres, its middle at the camera's x and z; rows run along z."""

    heights_m: Array
    cell_m: float
    paint: Paint


@dataclass(frozen=True)
class Finish:
    """What the camera does to the light: brightness, contrast, blur and noise."""

    brightness: float = 0.4  # the mean of the picture that the exposure aims at, 0 to 1
    contrast: float = 1.0
    blur_px: float = 0.0
    noise_levels: float = 2.0
    tint: Rgb = (1.0, 1.0, 1.0)


@dataclass
class Scene:
    """Everything in a place; a composition fills it."""

    camera: Camera
    sky: Sky
    light: Light
    finish: Finish = field(default_factory=Finish)
    land: Land | None = None
    solids: Solids = field(default_factory=Solids)

    def spot(self, x: float = 0.0, z: float = 0.0, yaw_rad: float = 0.0, y: float = 0.0) -> Spot:
        """A spot to build things at."""
        return Spot(self.solids, x, z, yaw_rad, y)


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
