"""Rigid motions in the plane and in space, seen from the first of two frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from egoequiv.errors import DataError
from egoequiv.pose.space import Array, MotionAxis, MotionSpace, wrap

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation  # imported where it is used: the import takes 0.25 s

FORWARD = MotionAxis("forward", "m", plus="forward", minus="backward")
LEFT = MotionAxis("left", "m", plus="shift left", minus="shift right")
UP = MotionAxis("up", "m", plus="rise", minus="sink")
TURN = MotionAxis("yaw", "deg", plus="left turn", minus="right turn")
ROLL = MotionAxis("roll", "deg", plus="roll right", minus="roll left")
TILT = MotionAxis("pitch", "deg", plus="tilt down", minus="tilt up")
PAN = MotionAxis("yaw", "deg", plus="pan left", minus="pan right")


@dataclass(frozen=True)
class SE2Space(MotionSpace):
    """Rigid motion in the plane: how far ahead and to the left the second frame is, and how it is turned."""

    @property
    def pose_names(self) -> tuple[str, ...]:
        return ("x_m", "y_m", "yaw_deg")

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return (FORWARD, LEFT, TURN)

    @property
    def scales(self) -> tuple[slice, ...]:
        return (slice(0, 2), slice(2, 3))

    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        pose_i = np.asarray(pose_i, np.float64)
        moved = np.asarray(pose_j, np.float64) - pose_i  # first, so that large map coordinates cost no digits
        return np.stack([*_turned(moved, -pose_i[..., 2]), wrap(moved[..., 2], 360.0)], axis=-1)

    def compose(self, first: Array, second: Array) -> Array:
        first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
        ahead, aside = _turned(second, first[..., 2])
        turn = wrap(first[..., 2] + second[..., 2], 360.0)
        return np.stack([first[..., 0] + ahead, first[..., 1] + aside, turn], axis=-1)

    def invert(self, motion: Array) -> Array:
        motion = np.asarray(motion, np.float64)
        return np.stack([*_turned(-motion, -motion[..., 2]), wrap(-motion[..., 2], 360.0)], axis=-1)

    def describe(self) -> dict[str, Any]:
        return {"kind": "se2"}


@dataclass(frozen=True)
class SE3Space(MotionSpace):
    """Rigid motion in space: the second frame's position in the first one's axes, and its turn as a rotation vector."""

    @property
    def pose_names(self) -> tuple[str, ...]:
        return ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return (FORWARD, LEFT, UP, ROLL, TILT, PAN)

    @property
    def scales(self) -> tuple[slice, ...]:
        return (slice(0, 3), slice(3, 6))

    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        from scipy.spatial.transform import Rotation

        for pose in (pose_i, pose_j):
            if not np.asarray(pose)[..., 3:].any(axis=-1).all():
                raise DataError(
                    "a pose has the quaternion 0 0 0 0, which is not a rotation: correct the poses and ingest again"
                )
        pose_i, pose_j = np.broadcast_arrays(np.asarray(pose_i, np.float64), np.asarray(pose_j, np.float64))
        shape, i, j = pose_i.shape[:-1], pose_i.reshape(-1, 7), pose_j.reshape(-1, 7)
        into_first = Rotation.from_quat(i[:, 3:]).inv()
        moved = into_first.apply(j[:, :3] - i[:, :3])
        return _joined(moved, into_first * Rotation.from_quat(j[:, 3:]), shape)

    def compose(self, first: Array, second: Array) -> Array:
        from scipy.spatial.transform import Rotation

        first, second = np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(second, np.float64))
        shape, a, b = first.shape[:-1], first.reshape(-1, 6), second.reshape(-1, 6)
        turn = Rotation.from_rotvec(a[:, 3:], degrees=True)
        return _joined(a[:, :3] + turn.apply(b[:, :3]), turn * Rotation.from_rotvec(b[:, 3:], degrees=True), shape)

    def invert(self, motion: Array) -> Array:
        from scipy.spatial.transform import Rotation

        motion = np.asarray(motion, np.float64)
        shape, flat = motion.shape[:-1], motion.reshape(-1, 6)
        back = Rotation.from_rotvec(flat[:, 3:], degrees=True).inv()
        return _joined(-back.apply(flat[:, :3]), back, shape)

    def describe(self) -> dict[str, Any]:
        return {"kind": "se3"}


def _turned(vector: Array, angle_deg: Array) -> tuple[Array, Array]:
    """The first two components of vectors (..., 2 or more), turned to the left by angles (...)."""
    cos, sin = np.cos(np.deg2rad(angle_deg)), np.sin(np.deg2rad(angle_deg))
    x, y = vector[..., 0], vector[..., 1]
    return cos * x - sin * y, sin * x + cos * y


def _joined(translation: Array, rotation: Rotation, shape: tuple[int, ...]) -> Array:
    vector = rotation.as_rotvec(degrees=True)
    return np.concatenate([translation, vector], axis=-1).reshape(*shape, 6)
