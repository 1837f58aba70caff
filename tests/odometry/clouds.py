"""Points in space seen by a moving camera: exact pictures of them, with noise and wrong matches where wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.pose.camera import Lens
from egoequiv.pose.conventions import axes_matrix

Array = NDArray[np.float64]

SIZE = (480, 640)
LENS = Lens.of_view(70.0, SIZE)


def cloud(count: int, seed: int = 0, near: float = 4.0, far: float = 40.0, plane: bool = False) -> Array:
    """Points (N, 3) in front of a camera, in its axes: x forward, y left, z up."""
    rng = np.random.default_rng(seed)
    depth = rng.uniform(near, far, count)
    aside = rng.uniform(-0.6, 0.6, (count, 2))
    if plane:
        depth = 12.0 + 3.0 * aside[:, 0]  # through the points' own rays: a tilted wall
    return np.column_stack([depth, depth * aside[:, 0], depth * aside[:, 1] * 0.75])


def seen(points: Array, position: Array, rotation_deg: Array, lens: Lens = LENS) -> Array:
    """Pixels (N, 2) of points in a camera at a position, turned by a rotation vector."""
    turned = Rotation.from_rotvec(rotation_deg, degrees=True).inv().apply(points - position)
    x, y, z = (turned @ axes_matrix("opencv")).T  # right, down, forward
    matrix = lens.matrix(SIZE)
    return np.column_stack([matrix[0, 0] * x / z + matrix[0, 2], matrix[1, 1] * y / z + matrix[1, 2]])


def angle_deg(one: Array, other: Array) -> float:
    """The angle between two directions."""
    cosine = np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other)
    return float(np.rad2deg(np.arccos(np.clip(cosine, -1, 1))))
