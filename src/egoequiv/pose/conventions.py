"""Which way the axes of a camera or a body point: one table of conventions, and the change to the store's axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError

Array = NDArray[np.float64]

# Poses in a store are T_world_camera, with the camera's x axis forward, y left and z up.
DIRECTIONS = {
    "forward": (1.0, 0.0, 0.0),
    "backward": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "up": (0.0, 0.0, 1.0),
    "down": (0.0, 0.0, -1.0),
}

# Where x, y and z of each convention point, seen from the camera or the body itself.
CONVENTIONS = {
    "opencv": ("right", "down", "forward"),  # cameras: OpenCV, COLMAP, TUM, 7-Scenes, ROS optical frames
    "opengl": ("right", "up", "backward"),  # cameras: OpenGL, Blender, instant-ngp, nerfstudio, ARKit
    "ros": ("forward", "left", "up"),  # bodies: ROS base_link, and the axes of a store
    "ned": ("forward", "right", "down"),  # bodies: aircraft, PX4
}
QUATERNION_ORDERS = ("xyzw", "wxyz")
_LENGTH_TOLERANCE = 0.05


def axes_matrix(convention: str) -> Array:
    """R_store_declared (3, 3): its columns are the declared x, y and z axes, in the axes of a store.

    Args:
        convention: a name of `CONVENTIONS`, or three directions such as "right,down,forward".

    """
    words = CONVENTIONS.get(convention) or tuple(word.strip() for word in convention.split(","))
    if len(words) != 3 or any(word not in DIRECTIONS for word in words):
        raise ConfigError(
            f"axes {convention!r}: expected {', '.join(CONVENTIONS)}, or where x, y and z point, such as "
            "right,down,forward"
        )
    matrix = np.array([DIRECTIONS[word] for word in words]).T
    if not np.isclose(np.linalg.det(matrix), 1.0):
        raise ConfigError(f"axes {convention!r} are not right-handed axes: x cross y must be z")
    return matrix


def quaternions(values: Array, order: str, where: str) -> Array:
    """Quaternions (N, 4) in the given order as unit x, y, z, w with w >= 0; what is not a rotation is an error."""
    if order not in QUATERNION_ORDERS:
        raise ConfigError(f"quaternion order {order!r}: expected {' or '.join(QUATERNION_ORDERS)}")
    values = np.asarray(values, np.float64).reshape(-1, 4)
    xyzw = values if order == "xyzw" else values[:, [1, 2, 3, 0]]
    length = np.linalg.norm(xyzw, axis=1)
    bad = np.flatnonzero(~are_unit_quaternions(xyzw))  # also where it is not a number
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{where}, row {row + 1}: the quaternion {np.array2string(xyzw[row], precision=4)} has length "
            f"{length[row]:.3g}, expected 1: are these the right columns?"
        )
    unit: Array = xyzw / length[:, None] * np.where(xyzw[:, 3:] < 0, -1.0, 1.0)
    return unit


def parse_transform(text: str, what: str = "transform") -> Array:
    """A rigid transform (4, 4) from text: x y z qx qy qz qw, or 12 or 16 numbers of a matrix, row by row."""
    from scipy.spatial.transform import Rotation

    try:
        numbers = np.array([float(word) for word in text.replace(",", " ").split()])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) not in (7, 12, 16) or not np.isfinite(numbers).all():
        raise ConfigError(f"{what} {text!r}: expected 7 numbers (x y z qx qy qz qw), or the 12 or 16 of a matrix")
    matrix = np.eye(4)
    if len(numbers) == 7:
        matrix[:3, 3] = numbers[:3]
        matrix[:3, :3] = Rotation.from_quat(quaternions(numbers[3:], "xyzw", f"{what} {text!r}")[0]).as_matrix()
        return matrix
    matrix[:3] = numbers[:12].reshape(3, 4)
    check_rotations(matrix[None, :3, :3], f"{what} {text!r}")
    return matrix


def are_rotations(matrices: Array) -> NDArray[np.bool_]:
    """Which of the matrices (N, 3, 3) are rotations: orthonormal, not mirrored, and numbers; (N,)."""
    matrices = _bounded(matrices)
    off = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    rotations: NDArray[np.bool_] = (off < 0.02) & (np.linalg.det(matrices) > 0)
    return rotations


def are_unit_quaternions(values: Array) -> NDArray[np.bool_]:
    """Which of the quaternions (N, 4) have length 1, to rounding in a file; (N,)."""
    length = np.linalg.norm(_bounded(values), axis=1)
    unit: NDArray[np.bool_] = np.abs(length - 1.0) < _LENGTH_TOLERANCE
    return unit


def _bounded(values: Array) -> Array:
    """Values whose products do not overflow; 2, which no rotation has, in place of what is larger or not a number."""
    bounded: Array = np.clip(np.nan_to_num(values, nan=2.0), -2.0, 2.0)
    return bounded


def check_rotations(matrices: Array, where: str) -> None:
    """Refuse matrices (N, 3, 3) that are not rotations: not orthonormal, mirrored, or not numbers."""
    bad = np.flatnonzero(~are_rotations(matrices))
    if len(bad):
        worst = matrices[bad[0]]
        raise DataError(
            f"{where}, pose {int(bad[0]) + 1}: its upper left 3 x 3 is not a rotation (off by "
            f"{np.abs(worst @ worst.T - np.eye(3)).max():.2g}, determinant {np.linalg.det(worst):.2g})"
        )
