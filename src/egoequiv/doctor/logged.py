"""What the log says about the motion of the camera, at any time: the other side of the comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import CAMERA_POSES
from egoequiv.pose.additive import OVER_TIME
from egoequiv.pose.conventions import axes_matrix
from egoequiv.pose.driving import integrate
from egoequiv.pose.space import wrap
from egoequiv.sources.inspection import GAP_STEPS
from egoequiv.sources.recording import Recording

Array = NDArray[np.float64]

# Words in the names of columns that turn the camera, that do so to the right, and that drive it forward.
_TURNS = ("yaw", "heading", "steering", "steer", "gyro z", "angular z", "user angle", "turn")
_TO_THE_RIGHT = ("steering", "steer", "user angle")
_SPEEDS = ("forward", "speed", "velocity", "throttle", "vx", "linear x")
# Those that are rates, not yet sums, unless they were integrated over time.
_RATES = ("rate", "steering", "steer", "gyro z", "angular z", "user angle", "turn", *_SPEEDS[1:])
_EVEN = 1e-3  # of a usual step: frames whose steps differ by less are even
_FROM_PICTURES = "visual_rotation_error_deg"  # a column of poses that come from the pictures themselves


@dataclass(frozen=True)
class LoggedMotion:
    """The motion of one recording as its log has it, summed up from frame to frame in the axes of the camera.

    The difference of two rows is the rotation vector, or the translation, between the two frames, as long as the camera
    turns by a few degrees only. Axes are x forward, y left, z up. What the log does not have is NaN.
    """

    times_s: Array  # (N,) of the frames; frame numbers where there are no times
    turned_deg: Array  # (N, 3)
    moved: Array  # (N, 3), in metres or any unit
    is_timed: bool = True
    is_scaled: bool = True  # whether turns are in degrees; otherwise their factor is fitted
    turn_name: str = "rotation"  # the column that turns the camera, if it is one
    speed_name: str = "the way forward"  # the column that drives it, if it is one
    poses: Array | None = None  # (N, 7) poses in space as they were read, if there are any
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the source: what a user can type to correct it

    @property
    def has_rotation(self) -> bool:
        return bool(np.isfinite(self.turned_deg).any(axis=0).any()) and len(self.times_s) > 1

    @property
    def usual_step_s(self) -> float:
        return float(np.median(np.diff(self.times_s))) if len(self.times_s) > 1 else 0.0

    def between(self, first_s: Array, second_s: Array) -> tuple[Array, Array]:
        """Rotation vectors in degrees (..., 3) and translations (..., 3) from times to times; NaN where not known."""
        known = (first_s >= self.times_s[0]) & (second_s <= self.times_s[-1]) & ~self._in_gap(first_s, second_s)
        return tuple(  # type: ignore[return-value]
            np.where(
                known[..., None], _smooth(self.times_s, sums, second_s) - _smooth(self.times_s, sums, first_s), np.nan
            )
            for sums in (self.turned_deg, self.moved)
        )

    def _in_gap(self, first_s: Array, second_s: Array) -> NDArray[np.bool_]:
        """Whether frames are missing between two times."""
        if not self.is_timed:
            return np.zeros(np.shape(first_s), bool)
        gaps = np.concatenate([[0], np.cumsum(np.diff(self.times_s) > GAP_STEPS * self.usual_step_s)])
        last = len(self.times_s) - 1
        begin = np.clip(np.searchsorted(self.times_s, first_s, side="right") - 1, 0, last)
        end = np.clip(np.searchsorted(self.times_s, second_s, side="left"), 0, last)
        return np.asarray(gaps[end] != gaps[begin])

    def in_axes(self, turn: Array, move: Array) -> LoggedMotion:
        """The motion with its rotation vectors and translations turned by signed permutations (3, 3), or scaled."""
        return replace(self, turned_deg=permuted(self.turned_deg, turn), moved=permuted(self.moved, move))

    def inverted(self) -> LoggedMotion | None:
        """The motion if the poses are in truth those of the world in the camera."""
        from scipy.spatial.transform import Rotation

        if self.poses is None:
            return None
        back = Rotation.from_quat(self.poses[:, 3:]).inv()
        return self._with(np.concatenate([-back.apply(self.poses[:, :3]), back.as_quat()], axis=1))

    def reordered(self) -> dict[str, LoggedMotion]:
        """The motion if the quaternions were read in the wrong order, by the order that would be right."""
        from scipy.spatial.transform import Rotation

        columns = str(self.settings.get("rotation", ",,,"))
        if self.poses is None or self.settings.get("mount") or columns.count(",") != 3:
            return {}  # no quaternions, or of a body whose camera is elsewhere
        # The quaternions of the log are those of the store before their axes were turned.
        axes = Rotation.from_matrix(axes_matrix(str(self.settings.get("axes") or "ros")))
        q = (Rotation.from_quat(self.poses[:, 3:]) * axes).as_quat()
        orders = {"wxyz": q[:, [1, 2, 3, 0]], "xyzw": q[:, [3, 0, 1, 2]]}
        return {
            order: self._with(
                np.concatenate([self.poses[:, :3], (Rotation.from_quat(read) * axes.inv()).as_quat()], axis=1)
            )
            for order, read in orders.items()
            if order != self.settings.get("quaternion")
        }

    def _with(self, poses: Array) -> LoggedMotion:
        turned, moved = _sums(poses)
        return replace(self, turned_deg=turned, moved=moved, poses=poses)


def logged_motion(
    recording: Recording, pose_columns: Sequence[str], settings: Mapping[str, Any] | None = None
) -> LoggedMotion:
    """The motion of a recording, from poses in space, from distance and heading, or from sensor columns.

    Args:
        recording: with its poses.
        pose_columns: their names, `Source.pose_columns`.
        settings: of the source.

    """
    settings = settings or {}
    count = len(recording)
    is_timed = recording.times_s is not None
    times_s = np.asarray(recording.times_s, np.float64) if is_timed else np.arange(count, dtype=np.float64)
    poses = np.asarray(recording.poses, np.float64).reshape(count, -1)
    place = {name: k for k, name in enumerate(pose_columns)}
    if _FROM_PICTURES in place:  # they would be compared with themselves
        nothing = np.full((count, 3), np.nan)
        return LoggedMotion(times_s, nothing, nothing.copy(), is_timed, settings=settings)
    if all(name in place for name in CAMERA_POSES) and count > 1:
        rigid = poses[:, [place[name] for name in CAMERA_POSES]]
        if np.isfinite(rigid).all() and (np.linalg.norm(rigid[:, 3:], axis=1) > 0.5).all():
            turned, moved = _sums(rigid)
            return LoggedMotion(times_s, turned, moved, is_timed, poses=rigid, settings=settings)
    turned, moved = np.full((count, 3), np.nan), np.full((count, 3), np.nan)
    turn, speed = _column(pose_columns, _TURNS), _column(pose_columns, _SPEEDS)
    is_scaled = False
    if turn is not None and count:
        name, values = pose_columns[turn], _summed(pose_columns[turn], poses[:, turn], times_s)
        is_scaled = name.endswith(("_deg", "_rad"))
        if is_scaled:  # headings begin again after a full turn
            degrees = values if name.endswith("_deg") else np.rad2deg(values)
            turned[:, 2] = np.cumsum(wrap(np.diff(degrees, prepend=degrees[:1]), 360.0))
        else:
            turned[:, 2] = -values if any(_has(name, word) for word in _TO_THE_RIGHT) else values
    if speed is not None and count:
        moved[:] = 0.0
        moved[:, 0] = _summed(pose_columns[speed], poses[:, speed], times_s)
    return LoggedMotion(
        times_s,
        turned,
        moved,
        is_timed,
        is_scaled,
        turn_name="rotation" if turn is None or is_scaled else _own_name(pose_columns[turn]),
        speed_name="the way forward" if speed is None or is_scaled else _own_name(pose_columns[speed]),
        settings=settings,
    )


def _sums(poses: Array) -> tuple[Array, Array]:
    """Rotation vectors and translations from each pose to the next, in camera axes, summed up; (N, 3) each."""
    from scipy.spatial.transform import Rotation

    rotation = Rotation.from_quat(poses[:, 3:])
    back = rotation[:-1].inv()
    start = np.zeros((1, 3))
    turned = np.concatenate([start, (back * rotation[1:]).as_rotvec(degrees=True)])
    moved = np.concatenate([start, back.apply(np.diff(poses[:, :3], axis=0))])
    return turned.cumsum(axis=0), moved.cumsum(axis=0)


def permuted(vectors: Array, matrix: Array) -> Array:
    """Vectors (..., 3), of which parts may be NaN, after a signed permutation."""
    place = np.abs(matrix).argmax(axis=1)
    turned: Array = vectors[..., place] * matrix[np.arange(3), place]
    return turned


def _smooth(times_s: Array, values: Array, asked_s: Array) -> Array:
    """Values (N, 3) at other times (...), by a smoothing cubic spline; (..., 3).

    The weights of frames are those of a cubic B-spline, so the noise of the log is nearly the same at every time.
    Interpolation would halve it between frames, and every comparison over time shifts would prefer half a frame.
    """
    from scipy.interpolate import BSpline

    result = np.full((*np.shape(asked_s), values.shape[1]), np.nan)
    fine = np.isfinite(values).all(axis=0)
    if len(times_s) > 1 and fine.any():
        known = values[:, fine]
        ends = (
            [known[:1] + k * (known[:1] - known[1:2]) for k in (2, 1)],
            [known[-1:] + k * (known[-1:] - known[-2:-1]) for k in (1, 2)],
        )
        padded = np.concatenate([*ends[0], known, *ends[1]])
        result[..., fine] = BSpline(np.arange(-4, len(times_s) + 4), padded, 3)(_frame_at(times_s, asked_s))
    return result


def _frame_at(times_s: Array, asked_s: Array) -> Array:
    """The place among frames, as a number, at which the times of frames, smoothed in the same way, are those asked."""
    frames = np.arange(len(times_s))
    if np.ptp(np.diff(times_s)) < _EVEN * np.median(np.diff(times_s)):
        return np.interp(asked_s, times_s, frames)
    place = np.linspace(0, frames[-1], 8 * len(frames))
    weights = [
        (np.abs(place - np.round(place) - k), np.clip(np.round(place) + k, 0, frames[-1]).astype(int))
        for k in (-2, -1, 0, 1, 2)
    ]
    kernel = [np.where(d < 1, 2 / 3 - d**2 + d**3 / 2, np.maximum(2 - d, 0) ** 3 / 6) for d, _ in weights]
    smoothed = sum(weight * times_s[row] for weight, (_, row) in zip(kernel, weights, strict=True)) / sum(kernel)
    return np.interp(asked_s, np.maximum.accumulate(smoothed), place)


def _column(names: Sequence[str], words: Sequence[str]) -> int | None:
    """The column whose name has one of the words; one that was integrated over time comes first."""
    found = [k for word in words for k, name in enumerate(names) if _has(name, word)]
    return min(found, key=lambda k: (not names[k].endswith(OVER_TIME), found.index(k)), default=None)


def _own_name(name: str) -> str:
    """The name that a column has in the log, where it was not yet integrated over time."""
    return name.removesuffix(OVER_TIME)


def _summed(name: str, values: Array, times_s: Array) -> Array:
    """A column whose differences are motions: rates are summed up over time."""
    is_rate = any(_has(name, word) for word in _RATES) and not name.endswith(OVER_TIME)
    return integrate(values, times_s) if is_rate else values


def _has(name: str, words: str) -> bool:
    """Whether a name such as `imu/gyro_z` has whole words, such as "gyro z"."""
    return f" {words} " in f" {re.sub(r'[^a-z0-9]+', ' ', name.lower())} "
