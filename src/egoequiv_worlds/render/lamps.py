"""The lamps of the room: each lighting is one arrangement that all toys are seen under."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.camera import towards

GOLDEN_DEG = 137.508


@dataclass(frozen=True)
class Lighting:
    """One key light that casts the shadow, one fill light that casts none, and light from everywhere.

    Azimuths are relative to the camera, because the lamps do not move in the room while the table turns.
    """

    key_azimuth_deg: float
    key_elevation_deg: float
    key: float
    fill_azimuth_deg: float
    fill_elevation_deg: float
    fill: float
    ambient: float


SIX = (
    Lighting(-50.0, 52.0, 0.85, 70.0, 35.0, 0.15, 0.34),
    Lighting(55.0, 48.0, 0.70, -80.0, 40.0, 0.20, 0.26),
    Lighting(-115.0, 42.0, 0.80, 30.0, 50.0, 0.25, 0.30),
    Lighting(15.0, 68.0, 0.55, 150.0, 30.0, 0.10, 0.52),
    Lighting(125.0, 55.0, 0.60, -30.0, 45.0, 0.12, 0.22),
    Lighting(-20.0, 38.0, 0.95, 100.0, 55.0, 0.30, 0.20),
)


def lighting(number: int) -> Lighting:
    """Lighting by number: six set by hand as in small NORB, then any number of random ones."""
    if number < len(SIX):
        return SIX[number]
    spread = (0.618034 * number) % 1.0
    around = (GOLDEN_DEG * number) % 360.0 - 180.0
    return Lighting(around, 40.0 + 28.0 * spread, 0.9 - 0.35 * spread, around + 130.0, 45.0, 0.15, 0.24 + 0.2 * spread)


class Lamps(NamedTuple):
    """A lighting as the toy sees it; a named tuple, because compiled code accepts those."""

    basis: Array  # rows right, up and towards, as seen from the key light
    scale: float  # pixels of the key light's map per unit of length
    fill_towards: Array
    key: float
    fill: float
    ambient: float


def lamps_around(lighting: Lighting, camera_azimuth_deg: float, map_size: int) -> Lamps:
    """The lamps in the toy's own coordinates, in which the camera and the room turn around it."""
    key = towards(camera_azimuth_deg + lighting.key_azimuth_deg, lighting.key_elevation_deg)
    fill = towards(camera_azimuth_deg + lighting.fill_azimuth_deg, lighting.fill_elevation_deg)
    scale = map_size / 2.2  # the toy has radius 1, and the soft edge of its shadow needs a margin
    return Lamps(light_basis(key), scale, fill, lighting.key, lighting.fill, lighting.ambient)


def light_basis(towards: Array) -> Array:
    """Rows right, up and towards, for looking from a distant light."""
    right = np.cross((0.0, 0.0, 1.0), towards)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(towards, right), towards])
