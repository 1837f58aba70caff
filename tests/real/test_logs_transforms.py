"""The fox of instant-ngp: photographs round a head, of which some are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from egoequiv.sources import transforms
from egoequiv.sources.formats import guess_format


def test_all_cameras_look_at_the_fox_and_are_held_upright(real_data: Path) -> None:
    assert guess_format(real_data / "fox").source == "transforms"
    source = transforms(real_data / "fox")
    (recording,) = source.recordings
    assert len(recording) == 50
    assert source.notes[0] == "fox: 17 of 67 pictures are missing, first 'images/0005.jpg'"
    place, turn = recording.poses[:, :3], Rotation.from_quat(recording.poses[:, 3:])
    forward, up = turn.apply([1.0, 0.0, 0.0]), turn.apply([0.0, 0.0, 1.0])
    # The point nearest to all lines of sight: instant-ngp puts it at the origin.
    across = np.eye(3) - forward[:, :, None] * forward[:, None, :]
    point = np.linalg.solve(across.sum(axis=0), (across @ place[:, :, None]).sum(axis=0))[:, 0]
    assert np.linalg.norm(point) < 0.3
    assert (np.sum((point - place) * forward, axis=1) > 3).all()
    assert np.median(up[:, 2]) > 0.9
