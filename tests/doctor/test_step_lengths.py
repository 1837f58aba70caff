"""Lost frames, seen by steps that are too long."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from doctor.test_motion import HZ, Logged, seen
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.logged import logged_motion
from egoequiv.doctor.step_lengths import _longer_and_shorter, step_lengths
from egoequiv.pose import CAMERA_POSES

Array = NDArray[np.float64]
FRAMES = 103


def straight(times_s: Array) -> Array:
    """Two metres a second along x, without a turn."""
    poses = np.zeros((len(times_s), 7))
    poses[:, 0], poses[:, 6] = 2 * times_s, 1.0
    return poses


def lost(*gone: int, log: Array | None = None) -> Comparison:
    """Pictures of which some are lost, while the rest moves up beside an even log, or another one."""
    times_s = np.arange(FRAMES) / HZ
    kept = np.delete(times_s, gone)
    motion = logged_motion(Logged(straight(times_s) if log is None else log, times_s), CAMERA_POSES)  # type: ignore[arg-type]
    return Comparison("r", seen(straight(kept)), motion)


def values(found: Finding) -> dict[str, float]:
    return dict(found.values)


def test_lost_frames_by_hand() -> None:
    assert step_lengths(lost()).score == 0.0
    one = step_lengths(lost(30))
    assert (values(one)["longer"], one.is_fault) == (1, False)  # one alone is no fault
    three = step_lengths(lost(20, 50, 80))
    assert (values(three)["longer"], values(three)["shorter"]) == (3, 0)
    # 100 pictures have 99 steps; the first and the last have no step on both sides: 3 lost beside 97.
    assert three.score == pytest.approx(min(3 / 100 / 0.02, 3 / 2))
    assert three.is_fault
    assert {moment.first for moment in three.moments} == {19, 48, 77}  # the last picture before each gap
    assert "after frame 19" in three.text


def test_lost_frames_that_follow_each_other() -> None:
    row = step_lengths(lost(30, 32))  # frame 31 is between them: two long steps in a row
    assert (values(row)["longer"], values(row)["shorter"]) == (2, 0)
    near = step_lengths(lost(30, 33))  # one step between two long ones is not too short
    assert (values(near)["longer"], values(near)["shorter"]) == (2, 0)
    ends = np.full(12, 0.0)
    ends[[3, 8]] = 0.7, -0.7  # five steps in a row are another speed, not lost frames
    assert len(_longer_and_shorter(ends, 0.3)[0]) == 0
    ends[6] = np.nan
    ends[[8, 9]] = 0.0, -0.7
    assert len(_longer_and_shorter(ends, 0.3)[0]) == 0  # nor is what cannot be told
    ends[[6, 9]] = -0.7, 0.0
    assert _longer_and_shorter(ends, 0.3)[0].tolist() == [3, 4, 5]
    assert _longer_and_shorter(-ends, 0.3)[1] == 3


def test_a_log_that_says_so_and_frames_that_hesitate_are_no_fault() -> None:
    times_s = np.arange(FRAMES) / HZ
    way = straight(times_s)
    way[:, 0] = 2 * np.cumsum(np.where(np.isin(np.arange(FRAMES), [20, 49, 78]), 2, 1)) / HZ  # the log jumps as well
    assert values(step_lengths(lost(20, 50, 80, log=way)))["longer"] == 0
    sound = lost()
    ratio = sound.steps.length_ratio.copy()
    ratio[[20, 40, 61, 81]], ratio[[21, 41, 60, 80]] = 2.0, 0.5  # two steps are too long, and two too short
    uneven = step_lengths(replace(sound, steps=replace(sound.steps, length_ratio=ratio)))
    assert (values(uneven)["longer"], values(uneven)["shorter"], uneven.score) == (2, 2, 0.0)


def test_pictures_that_go_to_and_fro_are_not_lost_frames() -> None:
    sound = lost()
    ratio, direction = sound.steps.length_ratio.copy(), sound.steps.direction.copy()
    for k in (20, 50, 80):  # two neighbours exchanged: two forward, one back, two forward
        ratio[k : k + 4] = [2.0, 0.5, 2.0, 0.5]
        direction[k + 1] *= -1
    found = step_lengths(replace(sound, steps=replace(sound.steps, length_ratio=ratio, direction=direction)))
    assert values(found)["longer"] == 0


def test_what_cannot_be_told() -> None:
    sound = lost()
    noisy = np.exp(np.random.default_rng(0).normal(0, 0.4, len(sound.steps)))
    assert not step_lengths(replace(sound, steps=replace(sound.steps, length_ratio=noisy))).can_tell
    assert not step_lengths(sound.part(np.arange(10))).can_tell
    assert not step_lengths(sound.part(np.arange(1))).can_tell
    fast = sound.steps.part(np.arange(80))
    fast = replace(fast, second=fast.first + 20)  # a lost frame adds 5 % to a step of 20
    spread = np.exp(np.random.default_rng(0).normal(0, 0.02, len(fast)))
    assert not step_lengths(replace(sound, steps=replace(fast, length_ratio=spread))).can_tell
