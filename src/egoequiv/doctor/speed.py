"""How fast the log says that the camera moves: one number for each step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import CAMERA_POSES, PlanarSpace, SE3Space

Array = NDArray[np.float64]

LEAST_SHIFT_M, LEAST_TURN_DEG = 0.01, 0.5  # of a step; smaller ones are noise if the camera does nothing else
SPAN_S, SPAN_STEPS = 0.5, 5  # over which steady motion is told from noise; also without times
NOISE = 0.5  # of the way that single steps add up to: noise goes to and fro, so less than this remains of it


def logged_speed(poses: Array, pose_names: Sequence[str]) -> Array | None:
    """How far the camera moves from each frame to the next, as the sum of its shift and its turn.

    Each is divided by the 90 % quantile of the recording (at least 1 cm and half a degree), so that both count.

    Args:
        poses: (N, P) of a recording.
        pose_names: of its columns, `Source.pose_columns`.

    Returns:
        (N - 1,), or None if the columns are not those of a moving camera.

    """
    found = _space(pose_names)
    if found is None:
        return None
    space, columns, shifts = found
    poses = poses[:, columns]
    return _sum_of_both(*_lengths(space.difference(poses[:-1], poses[1:]), shifts))


def steady_speed(poses: Array, pose_names: Sequence[str], step_s: float) -> Array | None:
    """The same, but how far it gets in half a second around each step, divided by the steps of that time.

    The log of a camera that stands is noisy, and steps to and fro add up to a way. What remains of that way in half a
    second is little. If it is less than half, the camera does not move.

    Args:
        poses: (N, P) of a recording.
        pose_names: of its columns.
        step_s: the usual time of a step; NaN without times.

    Returns:
        (N - 1,), or None if the columns are not those of a moving camera.

    """
    found = _space(pose_names)
    if found is None:
        return None
    space, columns, shifts = found
    poses = poses[:, columns]
    steps = len(poses) - 1
    span = min(max(SPAN_STEPS, round(SPAN_S / step_s)) if step_s > 0 else SPAN_STEPS, max(steps, 1))
    first = np.clip(np.arange(steps) - span // 2, 0, max(steps - span, 0))
    net = _lengths(space.difference(poses[first], poses[first + span]), shifts)
    single = _lengths(space.difference(poses[:-1], poses[1:]), shifts)
    ways = [np.concatenate([[0.0], np.cumsum(one)]) for one in single]
    moved = [np.where(a < NOISE * (way[first + span] - way[first]), 0.0, a) for a, way in zip(net, ways, strict=True)]
    return _sum_of_both(moved[0] / span, moved[1] / span)


def _space(pose_names: Sequence[str]) -> tuple[SE3Space | PlanarSpace, list[int], int] | None:
    """The space of poses, its columns, and how many parts of a motion are shifts; the others are turns."""
    names = list(pose_names)
    for space, wanted, shifts in ((SE3Space(), CAMERA_POSES, 3), (PlanarSpace(), PlanarSpace().pose_names, 1)):
        if set(wanted) <= set(names):
            return space, [names.index(name) for name in wanted], shifts
    return None


def _lengths(motion: Array, shifts: int) -> tuple[Array, Array]:
    """Metres and degrees of motions (S, 2 or 6)."""
    return np.linalg.norm(motion[:, :shifts], axis=1), np.linalg.norm(motion[:, shifts:], axis=1)


def _sum_of_both(shift_m: Array, turn_deg: Array) -> Array:
    if not len(shift_m):
        return np.zeros(0)
    speed: Array = shift_m / max(float(np.nanquantile(shift_m, 0.9)), LEAST_SHIFT_M)
    speed += turn_deg / max(float(np.nanquantile(turn_deg, 0.9)), LEAST_TURN_DEG)
    return speed
