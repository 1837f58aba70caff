"""How long the steps of a recording are, from what its log says besides the pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose import CAMERA_POSES
from egoequiv.sources.recording import Recording, Source

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

LOG = "log"  # the distances between the log's own poses
_DISTANCE = "forward_m"
_SPEEDS = ("mps", "speed", "velocity", "vel")


def check_scale(source: Source, scale: str) -> None:
    """Refuse a column that the log does not have, or that would need times."""
    columns = source.pose_columns
    if scale == LOG and set(CAMERA_POSES[:3]) <= set(columns):
        return
    name = _DISTANCE if scale == LOG else scale
    if name not in columns:
        have = ", ".join(columns) or "none"
        raise ConfigError(f"--scale {scale}: the log has no such column; its columns are: {have}")
    timeless = [recording.name for recording in source.recordings if recording.times_s is None]
    if _is_speed(name) and timeless:
        raise ConfigError(f"--scale {scale}: a speed needs the times of frames, and {timeless[0]} has none")


def lengths_in_log(source: Source, recording: Recording, first: Rows, second: Rows, scale: str) -> Array:
    """The length of each step in metres (S,).

    Args:
        source: whose pose columns are looked at.
        recording: the log's own, with its columns.
        first: (S,) the frames where steps begin.
        second: (S,) the frames where they end.
        scale: `log`, or the name of a column: a speed in metres a second, or a distance travelled in metres.

    """
    columns = source.pose_columns
    poses = np.asarray(recording.poses, np.float64)
    if scale == LOG and set(CAMERA_POSES[:3]) <= set(columns):
        position = poses[:, [columns.index(name) for name in CAMERA_POSES[:3]]]
        moved: Array = np.linalg.norm(position[second] - position[first], axis=1)
        return moved
    name = _DISTANCE if scale == LOG else scale
    way = poses[:, columns.index(name)]
    if _is_speed(name) and recording.times_s is not None:
        way = np.concatenate([[0.0], np.cumsum(np.diff(recording.times_s) * (way[1:] + way[:-1]) / 2)])
    return np.abs(way[second] - way[first])


def _is_speed(column: str) -> bool:
    return any(word in column.lower().split("_") for word in _SPEEDS)
