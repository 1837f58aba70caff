"""How fast the log says that the camera moves: one number for each step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import CAMERA_POSES, PlanarSpace, SE3Space

Array = NDArray[np.float64]

LEAST_SHIFT_M, LEAST_TURN_DEG = 0.01, 0.5  # of a step; smaller ones are noise if the camera does nothing else


def logged_speed(poses: Array, pose_names: Sequence[str]) -> Array | None:
    """How far the camera moves from each frame to the next, as the sum of its shift and its turn.

    Each is divided by the 90 % quantile of the recording (at least 1 cm and half a degree), so that both count.

    Args:
        poses: (N, P) of a recording.
        pose_names: of its columns, `Source.pose_columns`.

    Returns:
        (N - 1,), or None if the columns are not those of a moving camera.

    """
    names = list(pose_names)
    if set(CAMERA_POSES) <= set(names):
        motion = _motions(SE3Space(), poses[:, [names.index(name) for name in CAMERA_POSES]])
        shift, turn = motion[:, :3], motion[:, 3:]
    elif {"forward_m", "yaw_deg"} <= set(names):
        motion = _motions(PlanarSpace(), poses[:, [names.index(name) for name in ("forward_m", "yaw_deg")]])
        shift, turn = motion[:, :1], motion[:, 1:]
    else:
        return None
    if not len(motion):
        return np.zeros(0)
    shift_m, turn_deg = np.linalg.norm(shift, axis=1), np.linalg.norm(turn, axis=1)
    speed: Array = shift_m / max(float(np.nanquantile(shift_m, 0.9)), LEAST_SHIFT_M)
    speed += turn_deg / max(float(np.nanquantile(turn_deg, 0.9)), LEAST_TURN_DEG)
    return speed


def _motions(space: SE3Space | PlanarSpace, poses: Array) -> Array:
    return space.difference(poses[:-1], poses[1:])
