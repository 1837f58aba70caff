"""KITTI's GPS/IMU packets: 30 numbers each, and the poses that follow from them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose import driving_poses, integrate

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

FIELDS = (
    *("lat", "lon", "alt", "roll", "pitch", "yaw", "vn", "ve", "vf", "vl", "vu"),
    *("ax", "ay", "az", "af", "al", "au", "wx", "wy", "wz", "wf", "wl", "wu"),
    *("posacc", "velacc", "navstat", "numsats", "posmode", "velmode", "orimode"),
)
EARTH_RADIUS_M = 6378137.0
_USED = ("lat", "lon", "alt", "roll", "pitch", "yaw", "vf")
_MOST = {"alt": 1e5, "roll": 7.0, "pitch": 7.0, "yaw": 7.0, "vf": 1e3}  # metres, radians, metres a second


def parse_packet(text: str, where: str) -> list[float]:
    """The 30 numbers of one packet file; what the poses need must be finite."""
    words = text.split()
    if len(words) != len(FIELDS):
        raise DataError(f"{where}: expected {len(FIELDS)} numbers (lat lon alt roll ...), found {len(words)}")
    values = []
    for name, word in zip(FIELDS, words, strict=True):
        try:
            value = float(word)
        except ValueError:
            raise DataError(f"{where}: expected a number for {name}, found {word[:40]!r}") from None
        if name in _USED and not np.isfinite(value):
            raise DataError(f"{where}: {name} is {word}, not a finite number")
        if abs(value) > _MOST.get(name, inf):
            raise DataError(f"{where}: {name} is {word}, which is impossible for a car")
        values.append(value)
    if not (abs(values[0]) < 90 and abs(values[1]) <= 540):  # a Mercator map has no poles
        raise DataError(f"{where}: lat {words[0]} and lon {words[1]} are not on the map")
    return values


def packet_column(packets: Array, name: str) -> Array:
    """One field of all packets; (N, 30) -> (N,)."""
    column: Array = packets[:, FIELDS.index(name)]
    return column


def mercator_m(lat_deg: Array, lon_deg: Array) -> tuple[Array, Array]:
    """East and north in metres on the Mercator plane at the scale of the first latitude; (N,), (N,)."""
    scale = np.cos(np.deg2rad(lat_deg[0]))
    east = scale * EARTH_RADIUS_M * np.unwrap(np.deg2rad(lon_deg))
    north = scale * EARTH_RADIUS_M * np.log(np.tan(np.deg2rad(90.0 + lat_deg) / 2))
    return east, north


def packet_transforms(packets: Array) -> tuple[Array, Rotation]:
    """T_world_imu of each packet: positions in metres (N, 3), east, north and up of the first, and N rotations.

    Positions are on the Mercator plane at the scale of the first latitude; rotations are yaw, pitch and roll about
    z, y and x, with yaw 0 to the east.
    """
    from scipy.spatial.transform import Rotation

    lat, lon, alt, roll, pitch, yaw = (packet_column(packets, name) for name in _USED[:6])
    places = np.column_stack([*mercator_m(lat, lon), alt])
    return places - places[0], Rotation.from_euler("ZYX", np.column_stack([yaw, pitch, roll]))


def packet_poses(packets: Array, times_s: Array) -> Array:
    """The pose columns `DRIVING_POSES` of packets (N, 30) at the given times (N,): (N, 9).

    The distance driven is the integral of the forward speed, as in the paper; the heading is unwrapped.
    """
    places, rotation = packet_transforms(packets)
    way = integrate(packet_column(packets, "vf"), times_s)
    return driving_poses(places, rotation, way, np.unwrap(packet_column(packets, "yaw")))
