"""The weather of a drive: the position of the sun, clouds and haze, and the skyline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from egoequiv.worlds.street.areas import Drive
from egoequiv.worlds.street.shapes import Sky, vector

Array = NDArray[np.float64]

SKYLINE_STEPS = 512
FOG_M = {"campus": 330.0, "city": 260.0, "residential": 300.0, "road": 420.0}  # where haze takes half of the light


def sky(drive: Drive) -> Sky:
    """Generate the weather of a drive."""
    rng = drive.generator(50)
    azimuth, elevation = rng.uniform(0, 2 * np.pi), np.radians(rng.uniform(28.0, 62.0))
    cover = float(rng.choice([rng.uniform(0.0, 0.3), rng.uniform(0.3, 0.6), rng.uniform(0.8, 1.0)]))
    clear = 1.0 - 0.85 * max(0.0, cover - 0.3) / 0.7
    warm = rng.uniform(0.0, 1.0)
    blue, gray = np.array([0.28, 0.45, 0.78]), np.array([0.62, 0.65, 0.70])
    zenith = blue + (gray - blue) * cover
    horizon = np.array([0.74, 0.79, 0.84]) - 0.10 * cover + 0.05 * warm * np.array([1.0, 0.2, -0.6])
    return Sky(
        sun=vector([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)]),
        sunlight=vector(clear * rng.uniform(1.5, 2.1) * np.array([1.0, 0.96 - 0.05 * warm, 0.88 - 0.12 * warm])),
        ambient=vector(np.array([0.40, 0.44, 0.50]) * (1.0 + 0.9 * cover)),
        zenith=vector(zenith),
        horizon=vector(horizon),
        skyline=vector(0.72 * horizon + 0.28 * np.array([0.16, 0.20, 0.16])),
        cover=cover,
        fog_m=float(FOG_M[drive.area] * rng.uniform(0.8, 1.3)),
    )


def skyline(drive: Drive) -> Array:
    """The slope (512,) of what stands on the horizon, by azimuth: roofs around a city, trees and hills elsewhere."""
    area, rng = drive.area, drive.generator(51)
    if area == "city":
        blocks = np.repeat(rng.uniform(0.02, 0.12, SKYLINE_STEPS // 8), 8)
        return np.asarray(gaussian_filter1d(blocks, 0.6, mode="wrap"))
    hills = gaussian_filter1d(rng.standard_normal(SKYLINE_STEPS), 18.0, mode="wrap") * 5.0
    trees = gaussian_filter1d(rng.standard_normal(SKYLINE_STEPS), 1.2, mode="wrap")
    scale = {"campus": (0.035, 0.008, 0.010), "residential": (0.04, 0.008, 0.014), "road": (0.022, 0.012, 0.003)}[area]
    return np.asarray(np.maximum(scale[0] + scale[1] * hills + scale[2] * trees, 0.004))
