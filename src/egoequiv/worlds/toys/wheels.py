"""Wheels, lamps and bumpers, which all toy vehicles share."""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.worlds.toys.parts import Paint, Part, pair
from egoequiv.worlds.toys.primitives import box, cylinder, ellipsoid, lathe


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
