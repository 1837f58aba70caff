"""Faults that are put into sound recordings on purpose, to measure which checks find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from egoequiv.doctor.changed import Case, changed
from egoequiv.doctor.motion_faults import (
    backwards_mount,
    clock_offset,
    flipped,
    permuted_axes,
    quaternion_order,
    radians_as_degrees,
)
from egoequiv.doctor.speed import logged_speed
from egoequiv.errors import ConfigError
from egoequiv.sources.recording import Recording, Source

Fault = Callable[..., Recording]  # a case, and perhaps how strong the fault is

SECOND_STEPS = 10  # steps of a second in a recording without times


def frozen(case: Case, *, seconds: float = 1.0) -> Recording:
    """One picture in place of those of the next second, at a moment when the camera moves."""
    times_s = case.recording.times_s
    step_s = 1 / SECOND_STEPS if times_s is None or len(case.recording) < 2 else float(np.median(np.diff(times_s)))
    length = max(round(seconds / max(step_s, 1e-9)), 1)
    _needs(case.recording, length + 2)
    speed = logged_speed(case.recording.poses, case.names)
    steps = np.ones(len(case.recording) - 1) if speed is None else np.nan_to_num(speed)
    way = np.convolve(steps, np.ones(length), "valid")[:-1]  # of the steps from each frame on
    first = int(np.random.default_rng(case.seed).choice(np.flatnonzero(way >= np.median(way))))
    rows = np.arange(len(case.recording))
    rows[first : first + length + 1] = first
    return changed(case.recording, rows=rows)


def dropped(case: Case, *, share: float = 0.05) -> Recording:
    """Pictures removed; the rest moves up, while stamps and poses stay as they were."""
    _needs(case.recording, 4)
    gone = 1 + _drawn(len(case.recording) - 2, share, case.seed)
    rows = np.setdiff1d(np.arange(len(case.recording)), gone)
    return changed(case.recording, rows=rows, frames=np.arange(len(rows)))


def duplicated(case: Case, *, share: float = 0.05) -> Recording:
    """Pictures that come again in place of the next one."""
    _needs(case.recording, 4)
    rows = np.arange(len(case.recording))
    again = 1 + _drawn(len(case.recording) - 1, share, case.seed)
    rows[again] = again - 1
    return changed(case.recording, rows=rows)


def reordered(case: Case, *, share: float = 0.02) -> Recording:
    """Neighbouring pictures swapped; `share` is that of the pairs."""
    _needs(case.recording, 6)
    rows = np.arange(len(case.recording))
    first = 1 + 2 * _drawn((len(case.recording) - 2) // 2, share, case.seed)
    rows[first], rows[first + 1] = first + 1, first
    return changed(case.recording, rows=rows)


def swapped_halves(case: Case) -> Recording:
    """Pictures of the second half with the motion of the first, then those of the first with that of the second."""
    _needs(case.recording, 4)
    half = len(case.recording) // 2
    frames = np.arange(2 * half)
    return changed(case.recording, rows=np.roll(frames, half), frames=frames)


def other_half(case: Case) -> Recording:
    """Pictures of the second half with the motion of the first, and nothing else: the right motion is not there."""
    _needs(case.recording, 4)
    half = len(case.recording) // 2
    return changed(case.recording, rows=half + np.arange(half), frames=np.arange(half))


def mirrored(case: Case) -> Recording:
    """Pictures with left and right exchanged."""
    return changed(case.recording, view="mirrored")


def upside_down(case: Case) -> Recording:
    """Pictures of a camera that hangs upside down: turned by half a turn."""
    return changed(case.recording, view="upside down")


FAULTS: dict[str, Fault] = {
    "clock offset": clock_offset,
    "flipped roll": partial(flipped, axis="roll"),
    "flipped pitch": partial(flipped, axis="pitch"),
    "flipped yaw": partial(flipped, axis="yaw"),
    "flipped forward": partial(flipped, axis="forward"),
    "flipped left": partial(flipped, axis="left"),
    "flipped up": partial(flipped, axis="up"),
    "permuted axes": permuted_axes,
    "backwards mount": backwards_mount,
    "upside down": upside_down,
    "mirrored": mirrored,
    "quaternion order": quaternion_order,
    "radians as degrees": radians_as_degrees,
    "degrees as radians": partial(radians_as_degrees, inverse=True),
    "frozen": frozen,
    "dropped": dropped,
    "duplicated": duplicated,
    "reordered": reordered,
    "swapped halves": swapped_halves,
    "other half": other_half,
}


def faulty(source: Source, fault: str, seed: int = 0) -> Source:
    """A source with one fault of `FAULTS` in each of its recordings; "shuffled" exchanges their motions."""
    if fault == "shuffled":
        return replace(source, recordings=shuffled(source.recordings, seed))
    if fault not in FAULTS:
        raise ConfigError(f"fault {fault!r} is not known; choose {', '.join(FAULTS)} or shuffled")
    cases = [Case(each, source.pose_columns, seed + k) for k, each in enumerate(source.recordings)]
    return replace(source, recordings=[FAULTS[fault](case) for case in cases])


def shuffled(recordings: Sequence[Recording], seed: int = 0) -> list[Recording]:
    """Each recording's motion with the pictures of another one, cut to the shorter."""
    if len(recordings) < 2:
        raise ConfigError("to shuffle recordings takes two of them")
    order = np.random.default_rng(seed).permutation(len(recordings))
    pictures_of = dict(zip(order.tolist(), np.roll(order, 1).tolist(), strict=True))
    made: list[Recording] = []
    for k, motion in enumerate(recordings):
        pictures = recordings[pictures_of[k]]
        both = np.arange(min(len(motion), len(pictures)))
        made.append(changed(pictures, motion=motion, rows=both, frames=both))
    return made


def _drawn(count: int, share: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A share of the numbers below `count`, at least one, in order."""
    if not 0 < share < 1:
        raise ConfigError(f"share must be between 0 and 1, found {share:g}")
    drawn = np.random.default_rng(seed).choice(count, max(round(share * count), 1), replace=False)
    return np.sort(drawn)


def _needs(recording: Recording, frames: int) -> None:
    if len(recording) < frames:
        raise ConfigError(f"{recording.name}: the fault needs {frames} frames, found {len(recording)}")
