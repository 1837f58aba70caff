"""The poses of a real KITTI drive are those of pykitti."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pykitti
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.sources import kitti

DATE, DRIVE = "2011_09_26", "0005"


def test_poses_are_those_of_pykitti(real_data: Path) -> None:
    (recording,) = kitti(real_data / "kitti" / DATE, drives=f"{DATE}_drive_{DRIVE}").recordings
    # pykitti matches images and packets by their place in sorted lists; in this drive each image has its packet.
    theirs = np.array([packet.T_w_imu for packet in pykitti.raw(str(real_data / "kitti"), DATE, DRIVE).oxts])
    assert len(recording) == len(theirs) == 154
    assert recording.poses[:, :3] == pytest.approx(theirs[:, :3, 3], abs=1e-6)
    assert Rotation.from_quat(recording.poses[:, 3:7]).as_matrix() == pytest.approx(theirs[:, :3, :3], abs=1e-9)
