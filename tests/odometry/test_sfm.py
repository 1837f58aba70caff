"""Sources whose poses come from structure from motion."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.odometry.reconstruction import STAGES, pairs_of
from egoequiv.odometry.sfm import MOST_KEYS, sfm_poses
from egoequiv.odometry.visual import CONFIDENCE
from egoequiv.pose import CAMERA_POSES, DRIVING_POSES, NoMotion, PlanarSpace, ScaleFreeSpace, SE3Space
from egoequiv.sources.check import check_source
from egoequiv.sources.recording import Image, Recording, Source
from egoequiv_worlds.drive import DriveRecording
from logs.video import write_video
from odometry.conftest import LENS
from odometry.test_steps import true_yaw_deg

FIRST, COUNT = 35, 25
BLACK = range(10, 15)  # more key frames in a row than are bridged


@pytest.fixture(scope="module")
def clip(residential: DriveRecording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of a turn, with half a second of black pictures in it."""
    images = np.stack([residential.image(frame) for frame in range(FIRST, FIRST + COUNT)])
    images[BLACK.start : BLACK.stop] = 0
    path = tmp_path_factory.mktemp("clip") / "clip.mkv"
    write_video(path, images, codec="ffv1", rate=10)
    return path


@pytest.mark.slow
def test_a_video_gets_the_poses_of_its_drive_but_where_it_is_black(
    clip: Path, residential: DriveRecording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    told: list[tuple[int, int]] = []
    source = sfm_poses(
        open_source("video", clip),
        lens=LENS,
        cache=tmp_path / "cache",
        on_progress=lambda done, total: told.append((done, total)),
    )
    check_source(source)
    assert source.space == ScaleFreeSpace()
    assert source.pose_columns == (*CAMERA_POSES, *CONFIDENCE)
    assert "field of view 81.4" in " ".join(source.remarks)
    assert [(part.name, len(part)) for part in source.recordings] == [("clip-part1", 10), ("clip-part2", 10)]
    assert source.notes == (
        "recording clip: 5 of 25 frames have no place in the model and are left out; it is cut into 2",
    )
    turned = true_yaw_deg(residential)[FIRST : FIRST + COUNT]
    assert np.ptp(turned) > 40
    for part, true in zip(source.recordings, (turned[:10], turned[15:]), strict=True):
        yaw = np.rad2deg(np.unwrap(Rotation.from_quat(part.poses[:, 3:7]).as_euler("ZYX")[:, 0]))
        assert np.abs(yaw - (true - true[0])).max() < 1
        steps = np.linalg.norm(np.diff(part.poses[:, :3], axis=0), axis=1)
        assert np.median(steps) == pytest.approx(1)
        assert np.allclose(part.poses[0, :7], [0, 0, 0, 0, 0, 0, 1])
        assert ((part.poses[:, 7] > 0) & (part.poses[:, 7] < 1)).all()
        assert (part.poses[:, 8] >= 15).all()
    assert told[-1] == (STAGES * COUNT, STAGES * COUNT)
    assert list(temporary.iterdir()) == []  # nothing is left behind


def short_source(residential: DriveRecording) -> Source:
    count = 10
    assert residential.times_s is not None
    recording = replace(
        residential,
        poses=residential.poses[:count],
        times_s=residential.times_s[:count],
        stamps_ns=residential.stamps_ns[:count],
        labels=residential.labels[:count] if residential.labels else None,
    )
    return Source("drive", PlanarSpace(), [recording], pose_names=DRIVING_POSES)


@pytest.mark.slow
def test_lengths_of_the_log_are_metres_and_poses_are_the_same_again(residential: DriveRecording) -> None:
    source = short_source(residential)
    found, again = (sfm_poses(source, lens=LENS, scale=scale) for scale in ("log", None))
    assert np.array_equal(found.recordings[0].poses[:, 3:], again.recordings[0].poses[:, 3:])  # the seed is the same
    assert found.space == SE3Space()
    assert found.notes == ()
    true = source.recordings[0].poses[:, DRIVING_POSES.index("forward_m")]
    way = np.linalg.norm(np.diff(found.recordings[0].poses[:, :3], axis=0), axis=1)
    assert way == pytest.approx(np.diff(true), rel=0.1)
    with pytest.raises(ConfigError, match="--scale wheel: the log has no such column"):
        sfm_poses(source, lens=LENS, scale="wheel")


@dataclass(frozen=True)
class Empty(Recording):
    """Pictures with nothing in them."""

    times_s: NDArray[np.float64] | None
    poses: NDArray[np.float64]
    name: str = "empty"
    labels = None
    attributes = {}  # noqa: RUF012

    def image(self, frame: int) -> Image:
        return np.zeros((48, 64), np.uint8)


def empty(count: int, times_s: NDArray[np.float64] | None = None) -> Source:
    return Source("empty", NoMotion(), [Empty(times_s, np.zeros((count, 0)))])


def test_pictures_without_anything_in_them_are_one_line() -> None:
    with pytest.raises(DataError, match="tell no motion: recording empty left out: structure from motion finds no"):
        sfm_poses(empty(6), lens=60.0)


def test_long_recordings_are_refused_before_they_are_read() -> None:
    with pytest.raises(ConfigError, match=r"empty has 301 key frames.* at most 300: give fewer photographs, or use"):
        sfm_poses(empty(MOST_KEYS + 1))
    with pytest.raises(ConfigError, match=r"empty has 402 key frames.* at most 300: cut it to 30 s, or use --poses v"):
        sfm_poses(empty(1202, np.arange(1202) / 30))


def test_without_pycolmap_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycolmap", None)
    with pytest.raises(ConfigError, match=r"pip install 'egoequiv\[sfm\]'"):
        sfm_poses(empty(6))


def test_pictures_are_compared_with_those_near_them_and_some_further_on() -> None:
    assert len(list(pairs_of(50, all_pairs=True))) == 50 * 49 // 2
    near = list(pairs_of(100, all_pairs=False))
    assert [j for i, j in near if i == 0] == [*range(1, 11), 16, 32, 64]
    assert len(set(near)) == len(near)
    assert list(pairs_of(100, all_pairs=True)) == near  # too many to compare all
