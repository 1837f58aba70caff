"""Steps of the embedded drive against its true motion."""

from __future__ import annotations

import numpy as np

from egoequiv.odometry.steps import VisualSteps, key_frames, visual_steps
from egoequiv_worlds.drive import DriveRecording
from egoequiv_worlds.street.motion import motion
from odometry.conftest import LENS


def true_yaw_deg(recording: DriveRecording) -> np.ndarray:
    assert recording.times_s is not None
    return np.rad2deg(np.unwrap(motion(recording.drive, recording.times_s).yaw_rad))


def test_a_turn_is_seen_step_by_step(residential: DriveRecording) -> None:
    keys = np.arange(20, 60)
    steps = visual_steps(residential, LENS, keys)
    turned = np.diff(true_yaw_deg(residential)[keys])
    off = np.abs(steps.rotation_deg[:, 2] - turned)
    assert np.abs(turned).max() > 2  # there is a turn to be seen
    assert steps.rotation_known.all()
    assert np.median(off) < 0.15
    assert off.max() < 1.0
    ahead = steps.direction[steps.direction_known]
    assert np.median(ahead[:, 0]) > 0.97


def test_errors_of_steps_are_honest(residential: DriveRecording) -> None:
    keys = np.arange(20, 60)
    steps = visual_steps(residential, LENS, keys)
    off = np.abs(steps.rotation_deg[:, 2] - np.diff(true_yaw_deg(residential)[keys])) / steps.rotation_error_deg
    assert 0.1 < np.median(off) < 3.0  # in a sharp turn of small pictures; elsewhere below 1


def test_key_frames_of_a_fast_camera_are_apart_and_end_with_the_last(residential: DriveRecording) -> None:
    assert key_frames(residential).tolist() == list(range(120))
    assert key_frames(residential, step_s=0.7).tolist() == [*range(0, 120, 7)]
    assert key_frames(residential, step_s=0.9).tolist() == [*range(0, 120, 9), 119]


def test_steps_in_two_pieces_are_those_of_one(residential: DriveRecording) -> None:
    whole = visual_steps(residential, LENS, np.arange(0, 9))
    parts = [visual_steps(residential, LENS, np.arange(0, 5)), visual_steps(residential, LENS, np.arange(4, 9))]
    joined = VisualSteps.joined(parts)
    assert np.array_equal(whole.first, joined.first)
    assert np.array_equal(whole.rotation_deg, joined.rotation_deg)
