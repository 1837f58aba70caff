"""How long one step is compared with the one before, from points that three pictures show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.odometry.features import Features
from egoequiv.odometry.two_view import Step, rays
from egoequiv.pose.camera import Lens
from egoequiv.pose.conventions import axes_matrix

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

_FEWEST = 8  # points that three pictures show
_LARGEST = 20.0  # a ratio beyond this, or below its inverse, is not believed


def length_ratio(
    last: Step,
    last_rows: tuple[Rows, Rows],
    step: Step,
    step_rows: tuple[Rows, Rows],
    points: Sequence[Features | None],
    lens: Lens,
) -> float:
    """The length of `step` divided by that of `last`; NaN if it cannot be told.

    The middle picture belongs to both steps. The depth of a point in it, in lengths of either step, is known from each.

    Args:
        last: the step from the first picture to the middle one.
        last_rows: rows of the points that these two share, in each of them.
        step: the step from the middle picture to the third.
        step_rows: rows of the points that these two share.
        points: of the three pictures; those of a broken one, or fewer, tell nothing.
        lens: of the camera.

    """
    if not (np.isfinite(last.direction).all() and np.isfinite(step.direction).all()):
        return np.nan
    if not (last.direction.any() and step.direction.any()):
        return np.nan  # one of them stands still
    pictures = [picture for picture in points if picture is not None]
    if len(pictures) < 3:
        return np.nan
    _, in_last, in_step = np.intersect1d(last_rows[1], step_rows[0], return_indices=True)
    if len(in_last) < _FEWEST:
        return np.nan
    first, middle, third = (
        rays(picture.points[rows].astype(np.float64), lens, picture.size)
        for picture, rows in zip(
            pictures, (last_rows[0][in_last], last_rows[1][in_last], step_rows[1][in_step]), strict=True
        )
    )
    _, by_last = _depths(last, first, middle)
    by_step, _ = _depths(step, middle, third)
    known = (by_last > 0) & (by_step > 0) & np.isfinite(by_last) & np.isfinite(by_step)
    if known.sum() < _FEWEST:
        return np.nan
    ratio = float(np.exp(np.median(np.log(by_last[known]) - np.log(by_step[known]))))
    return ratio if 1 / _LARGEST < ratio < _LARGEST else np.nan


def _depths(step: Step, a: Array, b: Array) -> tuple[Array, Array]:
    """How far points (rays in each picture) are from either camera, in lengths of the step; NaN where not known."""
    from scipy.spatial.transform import Rotation

    axes = axes_matrix("opencv")
    rotation = Rotation.from_rotvec(axes.T @ step.rotation_deg, degrees=True).as_matrix().T
    translation = -rotation @ (axes.T @ step.direction)
    turned = a @ rotation.T
    across = np.cross(turned, b)
    square = np.square(across).sum(axis=1)
    square = np.where(square > 1e-12, square, np.nan)
    depth_a = -(np.cross(translation, b) * across).sum(axis=1) / square
    depth_b = -(np.cross(translation, turned) * across).sum(axis=1) / square
    return depth_a, depth_b
