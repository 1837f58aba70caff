"""Sources whose poses are seen in their pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.odometry.visual import CONFIDENCE, visual_poses
from egoequiv.pairs.shared import clocks_of
from egoequiv.pose import CAMERA_POSES, DRIVING_POSES, PlanarSpace, ScaleFreeSpace, SE3Space
from egoequiv.sources.check import check_source
from egoequiv.sources.recording import Source
from egoequiv.store import ingest
from egoequiv_worlds.drive import DriveRecording
from logs.video import write_video
from odometry.conftest import LENS
from odometry.test_steps import true_yaw_deg


def yaw_deg(poses: np.ndarray) -> np.ndarray:
    return np.rad2deg(np.unwrap(Rotation.from_quat(poses[:, 3:7]).as_euler("ZYX")[:, 0]))


@pytest.mark.slow
def test_a_video_gets_the_poses_of_its_drive(drive_video: Path, residential: DriveRecording, tmp_path: Path) -> None:
    source = visual_poses(open_source("video", drive_video), lens=LENS, cache=tmp_path)
    check_source(source)
    assert source.space == ScaleFreeSpace()
    assert source.pose_columns == (*CAMERA_POSES, *CONFIDENCE)
    assert "field of view 81.4" in " ".join(source.remarks)
    recording = source.recordings[0]
    assert (len(source.recordings), len(recording), recording.name) == (1, 60, "drive")
    turned = true_yaw_deg(residential)[:60]
    assert np.ptp(turned) > 40
    assert np.abs(yaw_deg(recording.poses) - (turned - turned[0])).max() < 4
    assert (recording.poses[:, 7] < 1).all()
    assert (recording.poses[:, 8] >= 16).all()
    assert np.array_equal(recording.image(3), open_source("video", drive_video).recordings[0].image(3))


def short_source(residential: DriveRecording) -> Source:
    return Source("drive", PlanarSpace(), [first_frames(residential)], pose_names=DRIVING_POSES)


def first_frames(residential: DriveRecording) -> DriveRecording:
    count = 12
    assert residential.times_s is not None
    return replace(
        residential,
        poses=residential.poses[:count],
        times_s=residential.times_s[:count],
        stamps_ns=residential.stamps_ns[:count],
        labels=residential.labels[:count] if residential.labels else None,
    )


@pytest.mark.parametrize("scale", ["log", "forward_m"])
def test_lengths_of_the_log_are_metres(residential: DriveRecording, scale: str) -> None:
    source = short_source(residential)
    found = visual_poses(source, lens=LENS, scale=scale)
    assert found.space == SE3Space()
    way = np.linalg.norm(np.diff(found.recordings[0].poses[:, :3], axis=0), axis=1).sum()
    true = source.recordings[0].poses[:, DRIVING_POSES.index("forward_m")]
    assert way == pytest.approx(true[-1] - true[0], rel=0.02)
    assert list(found.recordings[0].labels or []) == ["residential"] * 12
    with pytest.raises(ConfigError, match=r"--scale wheel: the log has no such column; its columns are: x_m, y_m"):
        visual_poses(source, lens=LENS, scale="wheel")


def test_a_picture_in_between_that_tells_nothing_is_bridged(residential: DriveRecording, tmp_path: Path) -> None:
    images = np.stack([residential.image(frame) for frame in range(20, 36)])
    images[6] = 0
    write_video(tmp_path / "gap.mkv", images, codec="ffv1", rate=10)
    source = visual_poses(open_source("video", tmp_path / "gap.mkv"), lens=LENS, cache=tmp_path)
    assert [len(recording) for recording in source.recordings] == [16]


def test_a_long_stretch_that_tells_nothing_cuts_the_recording(residential: DriveRecording, tmp_path: Path) -> None:
    images = np.stack([residential.image(frame) for frame in range(20, 44)])
    images[8:13] = 0
    write_video(tmp_path / "gap.mkv", images, codec="ffv1", rate=10)
    source = visual_poses(open_source("video", tmp_path / "gap.mkv"), lens=LENS, cache=tmp_path)
    assert [(recording.name, len(recording)) for recording in source.recordings] == [
        ("gap-part1", 8),
        ("gap-part2", 11),
    ]
    found = source.recordings[1].log_frames()
    assert found is not None
    assert found.tolist() == list(range(13, 24))
    assert np.array_equal(np.asarray(source.recordings[1].image(0)), images[13])
    assert source.recordings[1].times_s is not None
    assert source.recordings[1].times_s[0] == 0
    second = source.recordings[1].attributes
    assert (second["part_of"], second["world"], second["start"]) == ("gap", "gap-part2", "1.300000000")
    store = ingest(source, tmp_path / "store", progress=False)
    group, times = clocks_of(store)
    assert len(set(group)) == 1  # frames on both sides of a cut are near in time
    assert np.allclose(times, [*np.arange(8) / 10, *np.arange(13, 24) / 10])
    assert any("it is cut there into 2, and 5 frames are left out" in note for note in source.notes)


def test_pictures_without_anything_in_them_are_one_line(tmp_path: Path) -> None:
    write_video(tmp_path / "black.mkv", np.zeros((12, 48, 64), np.uint8), codec="ffv1", rate=10)
    with pytest.raises(DataError, match="tell no motion: recording black left out"):
        visual_poses(open_source("video", tmp_path), lens=60.0, cache=tmp_path / "cache")
