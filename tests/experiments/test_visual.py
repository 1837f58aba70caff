"""Poses from pictures against those of logs: errors by hand, and features on the same frames and split."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drives import drive_source
from egoequiv.engines import LocalEngine
from egoequiv.errors import DataError
from egoequiv.evaluation.task import silent
from egoequiv.experiments.visual import features
from egoequiv.experiments.visual.accuracy import accuracy_table, step_errors
from egoequiv.experiments.visual.features import VisualOptions, features_table
from egoequiv.odometry.steps import VisualSteps
from egoequiv.pose import CAMERA_POSES, ScaleFreeSpace
from egoequiv.sources import Source
from egoequiv.sources.part import RecordingPart
from egoequiv.store import FrameStore


def steps_of(rotation_deg: np.ndarray, direction: np.ndarray) -> VisualSteps:
    count = len(rotation_deg)
    zero = np.zeros(count)
    return VisualSteps(
        np.arange(count), np.arange(1, count + 1), rotation_deg, direction, zero, zero, zero, zero, zero, zero,
        np.full(count, ""),
    )  # fmt: skip


def curve(count: int, turn_deg: float) -> np.ndarray:
    """Poses (count + 1, 7): a metre forward, then so much to the left, in each step."""
    yaw = np.deg2rad(turn_deg * np.arange(count + 1))
    way = np.concatenate([np.zeros((1, 2)), np.column_stack([np.cos(yaw), np.sin(yaw)])[:-1].cumsum(axis=0)])
    return np.column_stack([way, np.zeros(count + 1), Rotation.from_euler("z", yaw[:, None]).as_quat()])


def test_errors_of_steps_and_drift_by_hand() -> None:
    count = 250
    rotation = np.zeros((count, 3))
    rotation[:, 2] = 2.0 + 0.01  # a hundredth of a degree too much in each step
    rotation[5] = (0.0, 0.0, 5.0)
    rotation[7] = np.nan
    direction = np.tile([1.0, 0.0, 0.0], (count, 1))
    direction[3] = (0.0, 1.0, 0.0)
    direction[7] = np.nan
    direction[9] = 0.0
    found = step_errors(steps_of(rotation, direction), curve(count, 2.0), np.arange(count + 1) * 0.1)
    assert found.turn_deg == pytest.approx(np.full(count, 2.0))
    assert found.rotation_deg[5] == pytest.approx(3.0)
    assert found.rotation_deg[6] == pytest.approx(0.01, abs=1e-6)
    assert np.isnan(found.rotation_deg[7])
    assert found.direction_deg[[0, 3]] == pytest.approx([0.0, 90.0], abs=1e-6)
    assert np.isnan(found.direction_deg[[7, 9]]).all()
    assert found.moves.all()
    # The first hundred steps have one that is not told; 200 to 250 are not ten seconds.
    assert found.drift_deg == pytest.approx([1.0], abs=1e-3)


def test_a_log_without_poses_of_a_camera_is_refused() -> None:
    source = drive_source(2)
    columns = replace(source, pose_names=tuple(f"c{k}" for k in range(9)))
    with pytest.raises(DataError, match="no poses of a camera"):
        accuracy_table({"log": columns}, LocalEngine(1), silent)


def half_seen(source: Source, **_: object) -> Source:
    """In place of poses from pictures: those of the log, scaled, without the first two frames of each piece."""
    place = [source.pose_columns.index(name) for name in CAMERA_POSES]
    parts = []
    for one in source.recordings:
        poses = np.asarray(one.poses)[2:, place] * np.array([0.5, 0.5, 0.5, 1, 1, 1, 1])
        parts.append(RecordingPart(one, range(2, len(one)), one.name, poses))
    return Source(source.name, ScaleFreeSpace(), parts)


@pytest.mark.slow
def test_both_kinds_of_poses_have_the_same_frames_and_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "visual_poses", half_seen)
    options = VisualOptions(out=tmp_path, repeats=1, iterations=20, engine=LocalEngine(1))
    source = drive_source(2)
    table = features_table("town", source, options)
    seen, logged = (FrameStore.open(tmp_path / "stores" / f"town-{kind}-32") for kind in ("visual", "log"))
    assert np.array_equal(seen.images, logged.images)
    assert len(seen) < source.frame_count
    assert seen.space != logged.space
    assert [row.name for row in table.rows] == ["trained on visual poses", "trained on poses of the log"]
    assert table.about["leaked_validation_frames"] == 0
    names = set(table.rows[0].entries)
    assert names == set(table.rows[1].entries)
    assert {"R2 of forward_m from z_i, z_j, linear", "R2 of yaw_deg from z_i, z_j, linear"} <= set(table.columns)
    assert all(" from z, " not in name for name in table.columns)
    assert any(name.startswith("rho_") for name in table.columns)
    assert all(len(entry.result.values) == 1 for row in table.rows for entry in row.entries.values())
    # Nothing is trained or measured again.
    monkeypatch.setattr(features, "make_measurement", lambda *_: pytest.fail("measured again"))
    assert features_table("town", source, options) == table
