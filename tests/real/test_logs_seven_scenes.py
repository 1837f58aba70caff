"""7-Scenes, RedKitchen: one real sequence, and what the camera sees when it turns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from egoequiv.pose import SE3Space
from egoequiv.sources import Source, seven_scenes
from egoequiv.sources.formats import guess_format
from real.image_shift import shift

FOCAL_PIXELS = 585 / 4  # the pictures are a quarter of the size


@pytest.fixture(scope="module")
def source(real_data: Path) -> Source:
    return seven_scenes(real_data / "seven_scenes_redkitchen")


def test_what_is_there(source: Source, real_data: Path) -> None:
    assert guess_format(real_data / "seven_scenes_redkitchen").source == "seven-scenes"
    (recording,) = source.recordings
    assert len(recording) == 1000
    assert (len(source.notes), len(source.remarks)) == (0, 1)
    assert recording.times_s is not None
    assert recording.times_s[-1] == pytest.approx(33.3)
    steps = SE3Space().difference(recording.poses[:-1], recording.poses[1:])
    assert np.linalg.norm(steps[:, :3], axis=1).max() < 0.1  # a hand-held camera does not jump
    matrix = np.loadtxt(real_data / "seven_scenes_redkitchen" / "frame-000500.pose.txt")
    assert recording.poses[500, :3] == pytest.approx(matrix[:3, 3])


def test_the_scene_moves_against_the_camera(source: Source) -> None:
    (recording,) = source.recordings
    rows = np.arange(0, 990, 6)
    motions = SE3Space().difference(recording.poses[rows], recording.poses[rows + 3])
    shifts = np.array([shift(recording.image(k), recording.image(k + 3)) for k in rows])
    columns = np.column_stack([motions, np.ones(len(rows))])
    right, down = np.linalg.lstsq(columns, shifts, rcond=None)[0].T
    assert right[5] == pytest.approx(np.deg2rad(FOCAL_PIXELS), rel=0.3)  # a left turn moves the scene right
    assert down[4] == pytest.approx(-np.deg2rad(FOCAL_PIXELS), rel=0.3)  # nose down moves it up
    assert right[1] > 0
    assert down[2] > 0
