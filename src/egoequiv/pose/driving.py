"""The pose columns of a vehicle: its rigid pose, how far it has driven, and its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

# T_world_vehicle (vehicle axes: x forward, y left, z up; world axes: z up), the distance driven, and the heading, which
# is unwrapped (it continues beyond a full turn) and grows to the left.
DRIVING_POSES = ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "forward_m", "yaw_deg")


def driving_poses(position_m: Array, rotation: Rotation, forward_m: Array, yaw_rad: Array) -> Array:
    """The columns `DRIVING_POSES` of N frames: (N, 3), N rotations, (N,), (N,) -> (N, 9)."""
    quaternion = np.atleast_2d(rotation.as_quat())
    quaternion = quaternion * np.where(quaternion[:, 3:] < 0, -1.0, 1.0)  # q and -q are one rotation; keep one
    return np.column_stack([position_m, quaternion, forward_m, np.rad2deg(yaw_rad)])


def integrate(rate: Array, times_s: Array) -> Array:
    """The running integral of a rate over its time stamps, from 0, by the trapezium rule; (N,), (N,) -> (N,)."""
    steps = np.diff(times_s) * (rate[1:] + rate[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(steps)])
