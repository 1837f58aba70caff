"""All checks that need the pictures, their times and how fast the log says that the camera moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.dropped import dropped
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.exposure import broken, exposure
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.glance import Glances
from egoequiv.doctor.order import order
from egoequiv.doctor.repeated import duplicates, frozen
from egoequiv.doctor.speed import logged_speed, steady_speed
from egoequiv.doctor.standstill import still_log, still_pictures
from egoequiv.doctor.to_and_fro import exchanged_frames
from egoequiv.doctor.watched import Array, Watched, usual_step_s
from egoequiv.sources.recording import Recording

PICTURE_CHECKS: dict[str, Callable[[Watched], Finding]] = {
    "broken": broken,
    "exposure": exposure,
    "frozen": frozen,
    "duplicates": duplicates,
    "dropped": dropped,
    "order": order,
    "still pictures": still_pictures,
    "still log": still_log,
}


def check_recording(
    recording: Recording, pose_columns: Sequence[str], glances: Glances, comparison: Comparison | None = None
) -> list[Finding]:
    """What the pictures of a recording say beside its own times and poses; see `check_pictures`."""
    poses = np.asarray(recording.poses)
    times_s = None if recording.times_s is None else np.asarray(recording.times_s)
    speed = logged_speed(poses, pose_columns)
    steady = steady_speed(poses, pose_columns, usual_step_s(times_s))
    exchanged = None if comparison is None else exchanged_frames(comparison)
    return check_pictures(recording.name, glances, times_s, speed, recording.log_frames(), steady, exchanged)


def check_pictures(
    name: str,
    glances: Glances,
    times_s: Array | None,
    speed: Array | None,
    log_frames: NDArray[np.int64] | None = None,
    steady: Array | None = None,
    exchanged: tuple[NDArray[np.int64], Array] | None = None,
) -> list[Finding]:
    """What the pictures of one recording say, one finding for each of `PICTURE_CHECKS`.

    Args:
        name: of the recording.
        glances: of its N pictures, `Glances.of` the glance at each.
        times_s: (N,) the times of its frames, if it has them.
        speed: (N - 1,) how far the log says the camera moved from each frame to the next, in any unit, NaN where that
            is not known; None if the log says nothing of the camera's motion. See `egoequiv.doctor.speed`.
        log_frames: (N,) `Recording.log_frames()`: where a source left frames out, stamps have gaps that are no fault.
        steady: (N - 1,) the same as `speed` without its noise, `steady_speed`; by default `speed`.
        exchanged: frames whose picture is exchanged with the next one by the steps of the camera, `exchanged_frames`.

    Returns:
        The findings, in the order of `PICTURE_CHECKS`.

    """
    count = len(glances)
    for values, length in (
        (times_s, count),
        (log_frames, count),
        (speed, max(count - 1, 0)),
        (steady, max(count - 1, 0)),
    ):
        if values is not None and np.shape(values) != (length,):
            raise ValueError(f"{name}: expected {length} values for {len(glances)} pictures, found {np.shape(values)}")
    watched = Watched(name, glances, times_s, speed, log_frames, speed if steady is None else steady, exchanged)
    return [check(watched) for check in PICTURE_CHECKS.values()]
