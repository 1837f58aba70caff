"""Neighbouring pictures that are exchanged, seen by a camera that goes to and fro."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from doctor.conftest import Kept, look
from doctor.test_motion import HZ, Logged, seen
from doctor.test_step_lengths import Array, straight
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.logged import logged_motion
from egoequiv.doctor.pictures import check_pictures, check_recording
from egoequiv.doctor.to_and_fro import exchanged_frames
from egoequiv.pose import CAMERA_POSES

FRAMES = 60
TIMES = np.arange(FRAMES) / HZ


def exchanged(*first: int, log: Array | None = None) -> Comparison:
    """Pictures of which some are exchanged with the next, beside a log of two metres a second, or another one."""
    rows = np.arange(FRAMES)
    for k in first:
        rows[[k, k + 1]] = k + 1, k
    motion = logged_motion(Logged(straight(TIMES) if log is None else log, TIMES), CAMERA_POSES)  # type: ignore[arg-type]
    return Comparison("r", seen(straight(TIMES[rows])), motion)


def test_exchanged_pictures_by_hand() -> None:
    frames, saved = exchanged_frames(exchanged(12, 40))
    assert frames.tolist() == [12, 40]
    np.testing.assert_allclose(saved, 0.4)  # two, one back and two, where three would do
    assert len(exchanged_frames(exchanged())[0]) == 0


def test_what_says_nothing_of_exchanged_pictures() -> None:
    there = exchanged(12)
    back = straight(TIMES)
    back[:, 0] = 2 * np.concatenate([TIMES[:13], TIMES[[12]] - np.arange(1, FRAMES - 12) / HZ])
    stands = straight(np.zeros(FRAMES))
    for motion in (back, stands):  # the log itself goes back, or does not go at all
        assert len(exchanged_frames(exchanged(12, log=motion))[0]) == 0
    for jump_m in (-0.4, -0.6, -0.8):  # sound pictures, and a log that is corrected once
        jumps = straight(TIMES)
        jumps[30:, 0] += jump_m
        assert len(exchanged_frames(exchanged(log=jumps))[0]) == 0
    even = np.ones(len(there.steps))  # a direction that is wrong alone
    assert len(exchanged_frames(replace(there, steps=replace(there.steps, length_ratio=even)))[0]) == 0
    one_way = np.abs(there.steps.direction)  # and lengths alone
    assert len(exchanged_frames(replace(there, steps=replace(there.steps, direction=one_way)))[0]) == 0
    several = replace(there.steps, second=there.steps.first + 3)  # steps of three frames
    assert len(exchanged_frames(replace(there, steps=several))[0]) == 0
    assert len(exchanged_frames(there.part(np.arange(2)))[0]) == 0


@pytest.mark.parametrize("is_seen", [True, False])
def test_exchanged_pictures_are_a_fault_of_their_order(street: Kept, is_seen: bool) -> None:
    places = (np.array([50]), np.array([0.4])) if is_seen else None
    found = check_pictures("r", look(street), street.times_s, None, exchanged=places)
    order = next(one for one in found if one.check == "order")
    assert order.is_fault == is_seen
    if is_seen:
        assert [(one.first, one.last) for one in order.moments] == [(50, 51)]
        assert "swapping them" in order.text


def test_the_steps_of_a_recording_reach_its_order(street: Kept) -> None:
    poses = straight(TIMES)
    recording = Kept("r", street.pictures[:FRAMES], poses, TIMES)
    sound, faulty = (
        {one.check: one for one in check_recording(recording, CAMERA_POSES, look(recording), comparison)}
        for comparison in (exchanged(), exchanged(30))
    )
    assert not sound["order"].is_fault
    assert faulty["order"].is_fault
