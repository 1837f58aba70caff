"""TUM RGB-D, freiburg1_xyz: the pose of each picture, and what the camera sees when it moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evo.core.sync import associate_trajectories
from evo.tools import file_interface
from scipy.spatial.transform import Rotation

from egoequiv.pose import SE3Space
from egoequiv.sources import Source, tum
from egoequiv.sources.formats import guess_format
from real.image_shift import shift

R_STORE_OPENCV = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
FOCAL_PIXELS = 525 / 4  # the pictures are a quarter of the size


@pytest.fixture(scope="module")
def source(real_data: Path) -> Source:
    return tum(real_data / "tum_fr1_xyz")


def test_what_is_there(source: Source, real_data: Path) -> None:
    assert guess_format(real_data / "tum_fr1_xyz").source == "tum"
    (recording,) = source.recordings
    assert len(recording) == 794
    assert source.notes == (
        "tum_fr1_xyz: 4 of 798 frames left out: 4 in gaps of the motion longer than 0.1 s (max_gap_s)",
    )
    assert recording.image(0).shape == (120, 160, 3)


def test_the_trajectory_alone_is_that_of_evo(real_data: Path) -> None:
    file = real_data / "tum_fr1_xyz" / "groundtruth.txt"
    poses = tum(file).recordings[0].poses
    theirs = file_interface.read_tum_trajectory_file(str(file))
    assert poses[:, :3] == pytest.approx(theirs.positions_xyz, abs=1e-9)
    expected = np.array(theirs.poses_se3)[:, :3, :3] @ R_STORE_OPENCV.T
    assert Rotation.from_quat(poses[:, 3:]).as_matrix() == pytest.approx(expected, abs=2e-3)  # files have four digits


def test_poses_of_pictures_are_near_those_that_evo_associates(source: Source, real_data: Path) -> None:
    (recording,) = source.recordings
    theirs = file_interface.read_tum_trajectory_file(str(real_data / "tum_fr1_xyz" / "groundtruth.txt"))
    stamps = [float(str(recording.file_name(k)).removesuffix(".jpg")) for k in range(len(recording))]
    ours = type(theirs)(recording.poses[:, :3], recording.poses[:, [6, 3, 4, 5]], np.array(stamps))
    near, truth = associate_trajectories(ours, theirs, max_diff=0.006)
    assert len(near.timestamps) > 780
    off = np.linalg.norm(near.positions_xyz - truth.positions_xyz, axis=1)
    assert off.max() < 0.006  # metres in 6 ms


def test_the_scene_moves_against_the_camera(source: Source) -> None:
    (recording,) = source.recordings
    rows = np.arange(0, 750, 5)
    motions = SE3Space().difference(recording.poses[rows], recording.poses[rows + 3])
    shifts = np.array([shift(recording.image(k), recording.image(k + 3)) for k in rows])
    columns = np.column_stack([motions, np.ones(len(rows))])
    right, down = np.linalg.lstsq(columns, shifts, rcond=None)[0].T
    pixels_per_degree = np.deg2rad(FOCAL_PIXELS)
    # To the left and up: the scene moves right and down. A left turn moves it right, nose down moves it up.
    assert right[5] == pytest.approx(pixels_per_degree, rel=0.3)
    assert down[4] == pytest.approx(-pixels_per_degree, rel=0.3)
    assert right[1] == pytest.approx(FOCAL_PIXELS, rel=0.5)  # of what is about 1 m away
    assert down[2] == pytest.approx(FOCAL_PIXELS, rel=0.5)
