"""Poses from steps: rotations and directions put one after another, their lengths as far as pictures tell them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.odometry.steps import VisualSteps
from egoequiv.odometry.two_view import Step
from egoequiv.pose.track import PoseTrack

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

LONGEST_BRIDGE = 3  # steps in a row that cannot be told, and are replaced by the direct one over them
_BOUND = 8.0  # a step is at most so many times as long as the usual one of its recording, and at least this part of it
FEWEST_KEYS = 3  # a shorter chain has no motion that is worth a recording


@dataclass(frozen=True, eq=False)
class Chain:
    """The poses of some frames in a row; positions in usual steps, or in metres if lengths were given."""

    frames: range  # of the recording
    poses: Array  # (N, 7) as CAMERA_POSES; the first is the origin
    rotation_error_deg: Array  # (N,) of the step that a frame lies in
    inliers: Rows  # (N,) points that agree with that step


def gaps(steps: VisualSteps) -> list[tuple[int, int]]:
    """Runs of steps whose rotation cannot be told and that are short enough to be bridged: first and last step."""
    unknown = np.flatnonzero(~steps.rotation_known)
    runs = np.split(unknown, np.flatnonzero(np.diff(unknown) > 1) + 1) if len(unknown) else []
    inside = [(int(run[0]), int(run[-1])) for run in runs if run[0] > 0 and run[-1] < len(steps) - 1]
    return [(first, last) for first, last in inside if last - first < LONGEST_BRIDGE]


def bridged(steps: VisualSteps, bridges: Mapping[tuple[int, int], Step]) -> VisualSteps:
    """Steps in which each bridge stands for those that it replaces; bridges that tell nothing are left out."""
    told = {run: step for run, step in bridges.items() if np.isfinite(step.rotation_deg).all()}
    if not told:
        return steps
    parts: list[VisualSteps] = []
    after = 0
    for (first, last), step in sorted(told.items()):
        parts.append(steps.part(slice(after, first)))
        row = steps.part(slice(first, first + 1))
        parts.append(
            VisualSteps(
                first=row.first,
                second=steps.second[last : last + 1],
                rotation_deg=step.rotation_deg[None],
                direction=step.direction[None],
                rotation_error_deg=np.array([step.rotation_error_deg]),
                direction_error_deg=np.array([step.direction_error_deg]),
                length_ratio=np.array([np.nan]),
                matches=np.array([step.matches]),
                inliers=np.array([step.inliers]),
                flow=np.array([step.flow]),
                reason=np.array([step.reason]),
            )
        )
        after = last + 1
    return VisualSteps.joined([*parts, steps.part(slice(after, None))])


def step_lengths(steps: VisualSteps) -> Array:
    """The length of each step (S,), the usual one of the recording being 1; 0 where the camera does not move.

    A length that cannot be compared with the one before is that of the last speed. Small errors of each comparison add
    up over a recording, so lengths are kept within bounds.
    """
    lengths = np.zeros(len(steps))
    frames = np.maximum(steps.second - steps.first, 1)
    speed, last = 1.0, 0.0  # in lengths a frame; of the step before
    for k in range(len(steps)):
        if not _moves(steps, k):
            last = 0.0
            continue
        ratio = steps.length_ratio[k]
        length = last * ratio if last > 0 and np.isfinite(ratio) else speed * frames[k]
        speed = float(np.clip(length / frames[k], 1 / _BOUND, _BOUND))
        lengths[k] = last = speed * frames[k]
    moving = lengths[lengths > 0]
    usual = float(np.median(moving)) if len(moving) else 1.0
    return lengths / usual


def _moves(steps: VisualSteps, k: int) -> bool:
    """Whether a step has a length; one that is a rotation alone, or stands still, has none."""
    return bool(steps.rotation_known[k] and steps.direction[k].any() and steps.reason[k] != "rotation alone")


def chains(steps: VisualSteps, times_s: Array | None, lengths: Array | None = None) -> list[Chain]:
    """The poses that steps lead to, a chain for each stretch without a step that cannot be told.

    Args:
        steps: of one recording.
        times_s: (N,) of all its frames, None where they have none; frames between the key frames are interpolated.
        lengths: (S,) of the steps in metres, where they are known; by default `step_lengths`.

    Returns:
        The chains in order. Frames in none of them have no pose.

    """
    lengths = step_lengths(steps) if lengths is None else lengths
    known = steps.rotation_known
    ends = np.flatnonzero(~known).tolist()
    found = []
    for begin, end in zip([0, *(k + 1 for k in ends)], [*ends, len(steps)], strict=True):
        if end - begin + 1 >= FEWEST_KEYS:
            found.append(_chain(steps.part(slice(begin, end)), lengths[begin:end], times_s))
    return found


def _chain(steps: VisualSteps, lengths: Array, times_s: Array | None) -> Chain:
    from scipy.spatial.transform import Rotation

    position, quaternion = np.zeros((len(steps) + 1, 3)), np.zeros((len(steps) + 1, 4))
    turned = Rotation.identity()
    quaternion[0] = turned.as_quat()
    direction = np.array([1.0, 0.0, 0.0])  # the last that is known
    for k in range(len(steps)):
        if np.isfinite(steps.direction[k]).all() and steps.direction[k].any():
            direction = steps.direction[k]
        position[k + 1] = position[k] + turned.apply(lengths[k] * direction)
        turned = turned * Rotation.from_rotvec(steps.rotation_deg[k], degrees=True)
        quaternion[k + 1] = turned.as_quat()
    keys = np.append(steps.first, steps.second[-1:])
    return chain_between(keys, position, quaternion, steps.rotation_error_deg, steps.inliers, times_s)


def chain_between(
    keys: Rows, position: Array, quaternion: Array, error_deg: Array, inliers: Rows, times_s: Array | None
) -> Chain:
    """The poses of all frames from the first key frame to the last.

    Args:
        keys: (K,) frames in order whose poses are known.
        position: (K, 3).
        quaternion: (K, 4) x y z w.
        error_deg: (K - 1,) of the rotation from a key frame to the next.
        inliers: (K - 1,) points that agree with that step.
        times_s: (N,) of all frames of the recording, None where they have none.

    """
    frames = range(int(keys[0]), int(keys[-1]) + 1)
    clock = _clock(times_s, frames)
    canonical = quaternion * np.where(quaternion[:, 3:] < 0, -1.0, 1.0)
    track = PoseTrack(clock[keys - frames.start], position, canonical)
    longest_s = (clock[-1] - clock[0]) / 1e9 + 1.0
    poses, _ = track.at(clock, longest_s)
    step = np.clip(np.searchsorted(keys, np.asarray(frames), side="right") - 1, 0, len(keys) - 2)
    return Chain(frames, poses, error_deg[step], inliers[step])


def _clock(times_s: Array | None, frames: range) -> NDArray[np.int64]:
    """The times of frames in nanoseconds; where they have none, or stand still, each frame takes as long as any."""
    even = np.arange(len(frames), dtype=np.int64) * 100_000_000
    if times_s is None:
        return even
    own = np.round(times_s[frames.start : frames.stop] * 1e9).astype(np.int64)
    return own if (np.diff(own) > 0).all() else even
