"""EuRoC: the ground truth of a real flight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evo.tools import file_interface
from scipy.spatial.transform import Rotation

from egoequiv.sources import euroc
from egoequiv.sources.formats import guess_format

R_STORE_BODY = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])  # x up, y right, z forward


def test_the_flight_is_that_of_evo(real_data: Path) -> None:
    file = real_data / "bags" / "V102_groundtruth.csv"
    assert guess_format(file).source == "euroc"
    source = euroc(file)
    (recording,) = source.recordings
    theirs = file_interface.read_euroc_csv_trajectory(str(file))
    assert len(recording) == 16_702
    assert not source.has_images
    assert recording.times_s == pytest.approx(theirs.timestamps - theirs.timestamps[0], abs=1e-6)
    assert recording.poses[:, :3] == pytest.approx(theirs.positions_xyz, abs=1e-9)
    expected = np.array(theirs.poses_se3)[:, :3, :3] @ R_STORE_BODY.T
    assert Rotation.from_quat(recording.poses[:, 3:]).as_matrix() == pytest.approx(expected, abs=1e-5)


def test_the_drone_flies_upright(real_data: Path) -> None:
    poses = euroc(real_data / "bags" / "V102_groundtruth.csv").recordings[0].poses
    up = Rotation.from_quat(poses[:, 3:]).apply([0.0, 0.0, 1.0])
    assert np.median(up[:, 2]) > 0.9  # z of the world is up
