"""Motions that points of one plane allow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.odometry.features import opencv

Array = NDArray[np.float64]

_MOSTLY = 0.8  # of the points lie in one plane


def motions_of_plane(a: Array, b: Array, reach: float) -> list[tuple[Array, Array]]:
    """Rotations (3, 3) and directions (3,) that explain points of one plane.

    A plane that is seen twice allows two motions, which fit equally well; points of a scene with depth allow none.

    Args:
        a: (M, 3) rays in the first picture, see `rays`.
        b: (M, 3) rays of the same points in the second one.
        reach: how far a point may be off, as an angle.

    """
    cv2 = opencv()
    homography, mask = cv2.findHomography(a[:, :2], b[:, :2], cv2.RANSAC, reach)
    if homography is None or mask.mean() < _MOSTLY:
        return []
    _, rotations, translations, _ = cv2.decomposeHomographyMat(homography, np.eye(3))
    moves = [(rotation, translation[:, 0]) for rotation, translation in zip(rotations, translations, strict=True)]
    return [(rotation, move / np.linalg.norm(move)) for rotation, move in moves if np.linalg.norm(move) > 1e-6]
