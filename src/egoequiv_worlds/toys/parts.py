"""What toys are assembled from: painted parts, wheels, lamps and bumpers, with some chance in their proportions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from egoequiv_worlds.render.mesh import Mesh, Part
from egoequiv_worlds.render.primitives import box, cylinder, ellipsoid, lathe


@dataclass(frozen=True)
class Paint:
    """The few albedos a toy is painted in."""

    base: float
    light: float
    dark: float
    black: float


def mixed(rng: np.random.Generator) -> Paint:
    """A middle gray for the toy, and a lighter and a darker one for its details."""
    base = float(rng.uniform(0.28, 0.55))
    return Paint(base, min(0.85, base * 1.5), base * 0.55, 0.09)


def vary(rng: np.random.Generator, value: float, share: float = 0.12) -> float:
    """A length with a random error of up to a share of it."""
    return value * float(rng.uniform(1.0 - share, 1.0 + share))


def pair(mesh: Mesh, albedo: float) -> list[Part]:
    """A part and its mirror image on the other side."""
    return [Part(mesh, albedo), Part(mesh.mirrored(), albedo)]


def axle(x: float, track: float, radius: float, width: float, paint: Paint) -> list[Part]:
    """Two wheels that stand on z = 0, their outer sides at y = +-track, with bright hubs."""
    tyre = lathe(
        (x, track - width / 2, radius),
        "y",
        [
            (-width / 2, radius * 0.8),
            (-width * 0.35, radius),
            (width * 0.35, radius),
            (width / 2, radius * 0.85),
            (width / 2, radius * 0.6),
            (width * 0.38, radius * 0.55),
        ],
        16,
    )
    hub = cylinder((x, track - width * 0.12, radius), "y", width * 0.1, radius * 0.52, 10)
    return [*pair(tyre, paint.black), *pair(hub, paint.light)]


def axles(xs: Sequence[float], track: float, radius: float, width: float, paint: Paint) -> list[Part]:
    """Several equal axles."""
    return [part for x in xs for part in axle(x, track, radius, width, paint)]


def front_and_rear(front_x: float, rear_x: float, track: float, z: float, paint: Paint) -> list[Part]:
    """Headlamps, tail lamps and a bumper at each end."""
    return [
        *pair(ellipsoid((front_x, track * 0.68, z), (0.035, 0.065, 0.055), 10), 0.85),
        *pair(box((rear_x, track * 0.72, z), (0.04, 0.12, 0.08), 0.015), paint.dark),
        Part(box((front_x + 0.01, 0, z - 0.13), (0.09, track * 1.85, 0.08), 0.025), paint.light),
        Part(box((rear_x - 0.01, 0, z - 0.13), (0.09, track * 1.85, 0.08), 0.025), paint.light),
    ]
