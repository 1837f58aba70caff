"""KITTI files of the driving world: their layout, their text, and that reading them gives the same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image as PillowImage

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.sources.oxts import parse_packet
from egoequiv.sources.recording import Source
from egoequiv.store import ingest
from egoequiv_worlds import turntable
from egoequiv_worlds.drive import DriveRecording, drive
from egoequiv_worlds.street.sensors import CAMERA_AHEAD_M, CAMERA_UP_M, packet_text
from egoequiv_worlds.writers import IMU_UP_M, calibration_text, stamp_text, write_kitti_raw

pytestmark = pytest.mark.slow  # the renderer is compiled first, which takes long


def small(**changes: Any) -> Source:
    return drive(**({"drives_per_area": 1, "seconds": 1.2, "width": 62, "height": 20} | changes))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Path]:
    source, folder = small(), tmp_path_factory.mktemp("kitti") / "raw"
    write_kitti_raw(source, folder)
    return source, folder


def test_the_layout_is_that_of_kitti_raw(written: tuple[Source, Path]) -> None:
    _, folder = written
    date = folder / "2031_05_01"
    assert sorted(path.name for path in folder.iterdir()) == ["2031_05_01", "locations.csv"]
    assert sorted(path.name for path in date.iterdir()) == [
        "2031_05_01_drive_0001_sync",
        "2031_05_01_drive_0002_sync",
        "2031_05_01_drive_0003_sync",
        "2031_05_01_drive_0004_sync",
        "calib_cam_to_cam.txt",
        "calib_imu_to_velo.txt",
        "calib_velo_to_cam.txt",
    ]
    one = date / "2031_05_01_drive_0003_sync"
    assert sorted(path.relative_to(one).as_posix() for path in one.rglob("*") if path.is_file()) == sorted(
        [
            *(f"image_00/data/{frame:010d}.png" for frame in range(12)),
            *(f"oxts/data/{frame:010d}.txt" for frame in range(12)),
            "image_00/timestamps.txt",
            "oxts/timestamps.txt",
            "oxts/dataformat.txt",
        ]
    )


def test_the_text_is_that_of_kitti_raw(written: tuple[Source, Path]) -> None:
    source, folder = written
    assert (folder / "locations.csv").read_text().splitlines() == [
        "drive,location",
        "2031_05_01_drive_0001,campus",
        "2031_05_01_drive_0002,city",
        "2031_05_01_drive_0003,residential",
        "2031_05_01_drive_0004,road",
    ]
    one, recording = folder / "2031_05_01" / "2031_05_01_drive_0002_sync", source.recordings[1]
    assert isinstance(recording, DriveRecording)
    stamps = (one / "oxts" / "timestamps.txt").read_text()
    assert stamps == (one / "image_00" / "timestamps.txt").read_text()
    assert len(stamps.splitlines()) == 12
    assert all(len(line) == 29 and line.startswith("2031-05-01 ") for line in stamps.splitlines())
    assert len((one / "oxts" / "dataformat.txt").read_text().splitlines()) == 30
    packet = parse_packet((one / "oxts" / "data" / "0000000007.txt").read_text(), "packet")
    assert np.array_equal(packet, recording.packets[7])
    with PillowImage.open(one / "image_00" / "data" / "0000000007.png") as picture:
        assert np.array_equal(np.asarray(picture), recording.image(7))


def test_stamps_and_numbers_as_text() -> None:
    assert stamp_text(0) == "2031-05-01 00:00:00.000000000"
    assert stamp_text((13 * 3600 + 2 * 60 + 44) * 10**9 + 334_120_000) == "2031-05-01 13:02:44.334120000"
    assert (
        calibration_text({"calib_time": "now", "T": (0.5, -80.0)}) == "calib_time: now\nT: 5.000000e-01 -8.000000e+01\n"
    )
    assert packet_text(np.array([49.0144693050553, -0.5, 4.0])) == "49.014469305055 -0.5 4"


@pytest.mark.parametrize("color", [False, True])
def test_reading_the_files_gives_the_same_store(tmp_path: Path, color: bool) -> None:
    source = small(seed=3, color=color)
    write_kitti_raw(source, tmp_path / "raw")
    again = open_source("kitti", tmp_path / "raw", camera=2 if color else 0)
    ours, theirs = ingest(source, tmp_path / "a", color=color), ingest(again, tmp_path / "b", color=color)
    assert np.array_equal(ours.images, theirs.images)
    index, read = (pq.read_table(tmp_path / name / "index.parquet") for name in ("a", "b"))
    assert index.equals(read.drop_columns(["file"]))  # frames of a world come from no file
    for a, b in zip(source.recordings, again.recordings, strict=True):
        assert a.name == b.name
        assert np.array_equal(a.poses, b.poses)
        assert a.times_s is not None
        assert b.times_s is not None
        assert np.array_equal(a.times_s, b.times_s)
        assert list(a.labels or ()) == list(b.labels or ())
        assert dict(a.attributes) == dict(b.attributes)


def test_the_calibration_tells_where_the_camera_sits(written: tuple[Source, Path]) -> None:
    _, folder = written
    unit, eye = (open_source("kitti", folder, pose_of=of).recordings[0].poses[0] for of in ("imu", "camera"))
    yaw = np.radians(unit[8])
    ahead = np.array([np.cos(yaw), np.sin(yaw)])
    assert np.allclose(eye[:2] - unit[:2], CAMERA_AHEAD_M * ahead, atol=0.02)
    assert eye[2] - unit[2] == pytest.approx(CAMERA_UP_M - IMU_UP_M, abs=0.03)
    assert np.allclose(eye[3:7], unit[3:7], atol=1e-6)


def test_progress_counts_every_frame(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    write_kitti_raw(small(seconds=1.0), tmp_path / "raw", lambda done, total: seen.append((done, total)))
    assert seen == [(done, 40) for done in range(1, 41)]


def test_an_empty_folder_may_be_filled_and_another_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_kitti_raw(small(seconds=1.0), tmp_path / "empty")
    assert (tmp_path / "empty" / "locations.csv").exists()
    with pytest.raises(DataError, match="is not empty"):
        write_kitti_raw(small(seconds=1.0), tmp_path / "empty")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError):
        write_kitti_raw(small(seconds=1.0), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_other_sources_have_no_packets(tmp_path: Path) -> None:
    source = turntable(categories=["car"], toys_per_category=1, elevations=2, azimuths=3, lightings=1, size=8)
    with pytest.raises(ConfigError, match="no GPS/IMU packets"):
        write_kitti_raw(source, tmp_path / "raw")
    assert not (tmp_path / "raw").exists()


def test_the_lens_that_is_written_is_that_of_the_world(written: tuple[Source, Path]) -> None:
    source, folder = written
    for own, read in zip(source.recordings, open_source("kitti", folder).recordings, strict=True):
        assert own.lens is not None
        assert read.lens is not None
        assert own.lens.view_deg == pytest.approx(81.44, abs=0.01)  # 2 atan(1242 / 2 / 721.5)
        assert read.lens.focal_x == pytest.approx(own.lens.focal_x, rel=1e-6)
        assert read.lens.focal_y == pytest.approx(own.lens.focal_y, rel=1e-6)
        assert read.lens.center_x == pytest.approx(0.5, abs=1e-6)
        assert read.lens.center_y == pytest.approx(0.5, abs=1e-6)
