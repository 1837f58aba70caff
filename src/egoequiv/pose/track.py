"""Timed poses and sensor columns, and their values at the times of frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.clock import Nanoseconds
from egoequiv.pose.conventions import axes_matrix, check_rotations, quaternions

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Interpolation = Literal["cubic", "linear"]
ColumnRule = Literal["linear", "nearest", "hold"]

CAMERA_POSES = ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")  # T_world_camera; camera x forward, y left, z up
USUAL_STEPS = 3  # a gap is longer than so many usual steps, unless a maximum is given
SHORT_GAP_NS = 100_000_000  # no camera moves far in a tenth of a second
_EVEN = 3.0  # a cubic needs four poses whose steps differ by no more than this factor
_SMALL_TURN_RAD = 1.0  # and that are turned by no more than this; else it would not be a short way


@dataclass(frozen=True)
class Bracket:
    """For each time the stamps on either side of it, in the order of the times asked for."""

    before: NDArray[np.int64]  # (Q,) rows
    share: Array  # (Q,) how far between `before` and the row after it, 0 to 1
    inside: Mask  # (Q,) between two stamps that are not too far apart, or at a stamp


def usual_step_ns(times_ns: Nanoseconds) -> int:
    """The median time between two stamps; 0 where there are fewer than two."""
    return int(np.median(np.diff(times_ns))) if len(times_ns) > 1 else 0


def longest_gap_ns(times_ns: Nanoseconds, max_gap_s: float | None) -> int:
    """How far apart two stamps may be for a value between them to be known; by default three usual steps, or 0.1 s."""
    if max_gap_s is None:
        return max(USUAL_STEPS * usual_step_ns(times_ns), SHORT_GAP_NS)
    if not 0 < max_gap_s < 1e9:
        raise ConfigError(f"max_gap_s must be a number of seconds above 0, found {max_gap_s:g}")
    return round(max_gap_s * 1e9)


def bracket(times_ns: Nanoseconds, asked_ns: Nanoseconds, max_gap_s: float | None = None) -> Bracket:
    """Where times (Q,) lie between stamps (N,), which are in order."""
    if not len(times_ns):
        nowhere = np.zeros(len(asked_ns), np.int64)
        return Bracket(nowhere, nowhere.astype(np.float64), nowhere.astype(bool))
    before = np.clip(np.searchsorted(times_ns, asked_ns, side="right") - 1, 0, max(len(times_ns) - 2, 0))
    after = np.minimum(before + 1, len(times_ns) - 1)
    step = times_ns[after] - times_ns[before]
    share = (asked_ns - times_ns[before]) / np.maximum(step, 1)
    at_stamp = (asked_ns == times_ns[before]) | (asked_ns == times_ns[after])
    inside = at_stamp | ((share >= 0) & (share <= 1) & (step <= longest_gap_ns(times_ns, max_gap_s)))
    return Bracket(before, np.clip(share, 0.0, 1.0), inside)


@dataclass(frozen=True)
class PoseTrack:
    """T_world_camera of a moving camera at the times of its pose stream; camera axes x forward, y left, z up.

    Build it with `PoseTrack.of`, which turns any convention into this one.
    """

    times_ns: Nanoseconds  # (N,) in order
    position_m: Array  # (N, 3)
    quaternion: Array  # (N, 4) x y z w, of length 1

    @classmethod
    def of(
        cls,
        times_ns: Nanoseconds,
        position_m: Array,
        rotation: Array,
        where: str,
        *,
        axes: str = "ros",
        order: str = "xyzw",
        mount: Array | None = None,
    ) -> PoseTrack:
        """A track from poses in a declared convention.

        Args:
            times_ns: (N,) in order, see `egoequiv.pose.clock.read_clock`.
            position_m: (N, 3) of the camera, or of the body that carries it, in the world.
            rotation: quaternions (N, 4) or matrices (N, 3, 3), from the camera (or body) to the world.
            where: the file or topic, for messages.
            axes: where x, y and z of the camera point, a name of `CONVENTIONS`; with `mount`, those of the camera too.
            order: of quaternions: xyzw or wxyz.
            mount: T_body_camera (4, 4), if the poses are those of a body.

        Returns:
            The track of the camera.

        """
        from scipy.spatial.transform import Rotation

        position_m = np.asarray(position_m, np.float64)
        bad = np.flatnonzero(~np.isfinite(position_m).all(axis=1))
        if len(bad):
            raise DataError(f"{where}, pose {int(bad[0]) + 1}: the position {position_m[bad[0]]} is not finite")
        if not len(position_m):
            raise DataError(f"{where} has no poses")
        if np.ndim(rotation) == 3:
            check_rotations(rotation, where)
            turned = Rotation.from_matrix(rotation)
        else:
            turned = Rotation.from_quat(quaternions(rotation, order, where))
        if mount is not None:
            position_m = position_m + turned.apply(mount[:3, 3])
            turned = turned * Rotation.from_matrix(mount[:3, :3])
        # R_world_store = R_world_declared R_declared_store
        turned = turned * Rotation.from_matrix(axes_matrix(axes).T)
        return cls(np.asarray(times_ns, np.int64), position_m, _canonical(turned.as_quat()))

    def at(
        self, asked_ns: Nanoseconds, max_gap_s: float | None = None, interpolation: Interpolation = "cubic"
    ) -> tuple[Array, Mask]:
        """The poses at other times: (Q, 7) as `CAMERA_POSES`, and which of them are known (Q,).

        A pose is known at a stamp of the track, and between two that are at most `max_gap_s` apart (by default three
        usual steps, and at least 0.1 s). `cubic` uses the two poses on each side where they are evenly spaced, and is
        `linear` (straight line and slerp) elsewhere.
        """
        from scipy.spatial.transform import Rotation

        if interpolation not in ("cubic", "linear"):
            raise ConfigError(f"interpolation {interpolation!r}: expected cubic or linear")
        found = bracket(self.times_ns, asked_ns, max_gap_s)
        after = np.minimum(found.before + 1, len(self.times_ns) - 1)
        base = Rotation.from_quat(self.quaternion[found.before])
        moved = self.position_m[after] - self.position_m[found.before]
        turned = (base.inv() * Rotation.from_quat(self.quaternion[after])).as_rotvec()
        step = found.share[:, None] * np.concatenate([moved, turned], axis=1)
        if interpolation == "cubic" and len(self.times_ns) >= 4:
            smooth = self._can_be_smooth(found, max_gap_s)
            step[smooth] = self._cubic(asked_ns[smooth], found.before[smooth])
        position = self.position_m[found.before] + step[:, :3]
        rotation = base * Rotation.from_rotvec(step[:, 3:])
        return np.concatenate([position, _canonical(np.atleast_2d(rotation.as_quat()))], axis=1), found.inside

    def _can_be_smooth(self, found: Bracket, max_gap_s: float | None) -> Mask:
        """Where four poses around a time are near each other in time and in direction; (Q,)."""
        row = found.before
        whole = found.inside & (row >= 1) & (row + 2 < len(self.times_ns))
        row = np.where(whole, row, 1)
        steps = np.stack([self.times_ns[row + k + 1] - self.times_ns[row + k] for k in (-1, 0, 1)])
        even = steps.max(axis=0) <= np.minimum(_EVEN * steps.min(axis=0), longest_gap_ns(self.times_ns, max_gap_s))
        q = np.stack([self.quaternion[row + k] for k in (-1, 0, 1, 2)])
        cosine = np.abs((q[:-1] * q[1:]).sum(axis=-1)).min(axis=0)
        near: Mask = whole & even & (cosine > np.cos(_SMALL_TURN_RAD / 2))
        return near

    def _cubic(self, asked_ns: Nanoseconds, row: NDArray[np.int64]) -> Array:
        """Translation and rotation vector since pose `row`, by the cubic through row - 1 to row + 2; (Q, 6)."""
        from scipy.spatial.transform import Rotation

        back = Rotation.from_quat(self.quaternion[row]).inv()
        knots = np.stack([(self.times_ns[row + k] - self.times_ns[row]) / 1e9 for k in (-1, 0, 1, 2)])  # (4, Q)
        time = (asked_ns - self.times_ns[row]) / 1e9
        total = np.zeros((len(row), 6))
        for k, place in enumerate((-1, 0, 1, 2)):
            others = [m for m in range(4) if m != k]
            weight = np.prod([(time - knots[m]) / (knots[k] - knots[m]) for m in others], axis=0)
            moved = self.position_m[row + place] - self.position_m[row]
            turned = (back * Rotation.from_quat(self.quaternion[row + place])).as_rotvec()
            total += weight[:, None] * np.concatenate([moved, turned], axis=1)
        return total


@dataclass(frozen=True)
class ColumnTrack:
    """Named sensor columns at the times of their stream."""

    times_ns: Nanoseconds  # (N,) in order
    values: Array  # (N, C)
    names: tuple[str, ...]

    def at(
        self, asked_ns: Nanoseconds, max_gap_s: float | None = None, rule: ColumnRule = "linear"
    ) -> tuple[Array, Mask]:
        """The columns at other times (Q, C), and which rows are known (Q,).

        Values are interpolated between two stamps (`linear`), those of the nearest stamp, or those of the last stamp
        before (`hold`); stamps that are further apart than `max_gap_s` say nothing about the time between them.
        """
        if rule not in ("linear", "nearest", "hold"):
            raise ConfigError(f"rule {rule!r}: expected linear, nearest or hold")
        found = bracket(self.times_ns, asked_ns, max_gap_s)
        if not len(self.times_ns):
            return np.zeros((len(asked_ns), len(self.names))), found.inside
        after = np.minimum(found.before + 1, len(self.times_ns) - 1)
        share = found.share if rule == "linear" else np.round(found.share) if rule == "nearest" else found.share >= 1.0
        low, high = self.values[found.before], self.values[after]
        values = np.where(
            share[:, None] == 0, low, np.where(share[:, None] == 1, high, low + share[:, None] * (high - low))
        )
        known: Mask = found.inside & np.isfinite(values).all(axis=1)
        return values, known


def _canonical(quaternion: Array) -> Array:
    """Of q and -q, which are one rotation, the one with w >= 0."""
    kept: Array = quaternion * np.where(quaternion[:, 3:] < 0, -1.0, 1.0)
    return kept
