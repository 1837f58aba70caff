"""Motion seen in real pictures against the poses of their logs, with generous bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.odometry.lens_guess import lenses_of
from egoequiv.odometry.sfm import sfm_poses
from egoequiv.odometry.steps import key_frames, visual_steps
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.sources.part import RecordingPart


@pytest.mark.parametrize(
    ("source_name", "folder", "recording_name", "median_deg"),
    [
        ("kitti", "kitti", "2011_09_26_drive_0005", 0.3),
        ("tum", "tum_fr1_xyz", "tum_fr1_xyz", 1.0),
        ("seven-scenes", "seven_scenes_redkitchen", "seven_scenes_redkitchen", 1.0),
    ],
)
def test_rotations_are_those_of_the_log(
    real_data: Path, source_name: str, folder: str, recording_name: str, median_deg: float
) -> None:
    source = open_source(source_name, real_data / folder)
    number = [recording.name for recording in source.recordings].index(recording_name)
    recording = source.recordings[number]
    lens = recording.lens or lenses_of(source)[number]
    if source_name == "tum":  # which has no lens of its own: focal length 517 of 640 pixels, by the data set's page
        assert lens.view_deg == pytest.approx(63.5, abs=8)
        assert lens.origin.startswith("guessed: field of view")
    steps = visual_steps(recording, lens, key_frames(recording)[:50])
    columns = [source.pose_columns.index(name) for name in CAMERA_POSES[3:]]
    turned = Rotation.from_quat(recording.poses[:, columns])
    true = (turned[steps.first].inv() * turned[steps.second]).as_rotvec(degrees=True)
    off = np.linalg.norm(steps.rotation_deg - true, axis=1)
    assert steps.rotation_known.mean() > 0.6
    assert np.nanmedian(off) < median_deg
    assert np.nanmedian(off) < 0.7 * np.median(np.linalg.norm(true, axis=1))  # much better than no motion at all


def test_structure_from_motion_tells_rotation_and_direction_of_a_hand_held_camera(real_data: Path) -> None:
    source = open_source("seven-scenes", real_data / "seven_scenes_redkitchen")
    whole = source.recordings[0]
    part = RecordingPart(whole, range(75), whole.name, np.asarray(whole.poses)[:75], whole.lens)
    (found,) = sfm_poses(replace(source, recordings=[part])).recordings
    keys = key_frames(part)
    logged = part.poses[:, [source.pose_columns.index(name) for name in CAMERA_POSES]]
    seen, true = (SE3Space().difference(poses[keys[:-1]], poses[keys[1:]]) for poses in (found.poses[:, :7], logged))
    off = np.linalg.norm(seen[:, 3:] - true[:, 3:], axis=1)
    assert np.median(off) < 0.4
    assert np.median(off) < 0.5 * np.median(np.linalg.norm(true[:, 3:], axis=1))
    cosine = (seen[:, :3] * true[:, :3]).sum(axis=1)
    cosine /= np.linalg.norm(seen[:, :3], axis=1) * np.linalg.norm(true[:, :3], axis=1)
    assert np.median(cosine) > np.cos(np.deg2rad(30))
