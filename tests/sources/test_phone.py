"""Scans of phones: poses in the axes of a store, whatever the axes of the app, and rows matched to their frames."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.errors import DataError
from egoequiv.pose import SE3Space
from egoequiv.sources import Source
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from helpers import data_error
from logs.lerobot import frame_of, levels
from logs.phone import (
    STEP_M,
    TURN_DEG,
    record3d_files,
    stray_rows,
    write_r3d,
    write_record3d,
    write_stray,
)


def noted(source: Source, text: str) -> bool:
    return any(text in note for note in source.notes)


def shown(source: Source, recording: int = 0) -> list[int]:
    one = pickle.loads(pickle.dumps(source.recordings[recording]))
    return [frame_of(image) for image in one.images(range(len(one)))]


WRITERS: dict[str, Callable[..., None]] = {
    "scan": write_stray,
    "export": write_record3d,
    "kitchen.r3d": write_r3d,
}


@pytest.mark.parametrize("name", WRITERS)
def test_poses_are_those_of_the_camera_in_the_axes_of_a_store(tmp_path: Path, name: str) -> None:
    """The camera goes straight on and turns to the left about the vertical, in every app's axes."""
    WRITERS[name](tmp_path / name, levels(8))
    source = open_source("phone", tmp_path / name)
    (one,) = source.recordings
    assert one.name == name.removesuffix(".r3d")
    assert source.notes == ()
    motion = SE3Space().difference(one.poses[:1], one.poses[1:2])[0]
    names = [axis.name for axis in SE3Space().axes]
    assert motion[names.index("forward")] == pytest.approx(STEP_M, abs=1e-6)
    assert motion[names.index("yaw")] == pytest.approx(TURN_DEG, abs=1e-4)
    np.testing.assert_allclose(np.delete(motion, [names.index("forward"), names.index("yaw")]), 0, atol=1e-5)
    np.testing.assert_allclose(one.times_s, np.arange(8) / 60, atol=1e-5)
    assert shown(source) == list(range(8))
    assert guess_format(tmp_path / name).source == "phone"


def test_stamps_in_milliseconds_are_found_by_their_steps(tmp_path: Path) -> None:
    rows = [f"{1000 * float(row.split(',')[0]):.3f},{row.split(',', 1)[1]}" for row in stray_rows(8)]
    write_stray(tmp_path / "scan", levels(8), rows)
    source = open_source("phone", tmp_path / "scan")
    np.testing.assert_allclose(source.recordings[0].times_s, np.arange(8) / 60, atol=1e-5)
    assert source.remarks[0].endswith("stamps are in ms")


def test_the_first_camera_looks_along_minus_z_of_the_world_with_y_up(tmp_path: Path) -> None:
    write_stray(tmp_path / "scan", levels(3))
    first = Rotation.from_quat(open_source("phone", tmp_path / "scan").recordings[0].poses[0, 3:]).as_matrix()
    np.testing.assert_allclose(first, np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]]), atol=1e-6)  # forward, left, up


def test_several_scans_of_both_apps_are_recordings_of_one_store(tmp_path: Path) -> None:
    scans = tmp_path / "my scans\nof é"
    write_stray(scans / "a b", levels(5))
    write_record3d(scans / "c", levels(6))
    write_r3d(scans / "c.r3d", levels(7))
    (scans / "broken.r3d").write_bytes(b"PK\x03\x04 cut")
    (scans / "notes").mkdir()
    source = open_source("phone", scans)
    assert [(one.name, len(one)) for one in source.recordings] == [("a b", 5), ("c", 6), ("c.r3d", 7)]
    assert noted(source, "recording broken left out: ")
    assert "OpenCV" in source.convention
    assert "OpenGL" in source.convention
    store = ingest(source, tmp_path / "store", size=(8, 8), workers=2, progress=False)
    assert [frame_of(image) for image in store.images] == [*range(5), *range(6), *range(7)]


def test_a_file_of_a_scan_stands_for_it(tmp_path: Path) -> None:
    write_stray(tmp_path / "scan", levels(3))
    write_record3d(tmp_path / "export", levels(3))
    for file in ("scan/rgb.mp4", "scan/odometry.csv", "export/metadata.json"):
        assert open_source("phone", tmp_path / file).recordings[0].name == file.split("/")[0]
    with pytest.raises(DataError, match="holds no scan of a phone"):
        open_source("phone", tmp_path / "export" / "rgb" / "0.jpg")


def test_an_archive_may_hold_the_scan_in_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for name, contents in record3d_files(levels(4), "rgb", "metadata.json").items():
            archive.writestr(f"EXR_RGBD/{name}", contents)
        archive.writestr("__MACOSX/x", b"")
    assert shown(open_source("phone", tmp_path / "export.zip")) == list(range(4))
    assert guess_format(tmp_path / "export.zip").source == "phone"


def test_rows_and_frames_are_matched_by_the_number_of_the_frame(tmp_path: Path) -> None:
    """Rows 2 and 3 are lost, and the video ends two frames early."""
    rows = [row for k, row in enumerate(stray_rows(8)) if k not in (2, 3)]
    write_stray(tmp_path / "scan", levels(6), rows)
    source = open_source("phone", tmp_path / "scan")
    assert shown(source) == [0, 1, 4, 5]
    np.testing.assert_allclose(source.recordings[0].times_s, np.array([0, 1, 4, 5]) / 60, atol=1e-5)
    assert noted(source, "2 of 6 frames left out: they have no pose")
    write_stray(tmp_path / "short", levels(5), stray_rows(8))
    source = open_source("phone", tmp_path / "short")
    assert noted(source, "rgb.mp4 has 5 frames, odometry.csv 8 rows; matched by number")
    assert shown(source) == list(range(5))


def test_numbers_that_count_skipped_frames_are_taken_in_their_order(tmp_path: Path) -> None:
    write_stray(tmp_path / "scan", levels(5), stray_rows(5, every=2))
    assert shown(open_source("phone", tmp_path / "scan")) == list(range(5))


def test_a_first_frame_before_time_zero_keeps_its_number(tmp_path: Path) -> None:
    """The app gives the first frame the time -1/60 s, which players cut off; row 1 belongs to the second frame."""
    write_stray(tmp_path / "scan", levels(8), pts=np.arange(-17, 120, 17)[:8])
    source = open_source("phone", tmp_path / "scan")
    assert shown(source) == list(range(1, 8))
    np.testing.assert_allclose(source.recordings[0].poses[:, 2], -STEP_M * np.arange(1, 8), atol=1e-6)


def test_rows_that_cannot_be_used_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = stray_rows(8)
    rows[1] = rows[1].rsplit(",", 8)[0] + ", 0, 0, 0, 0, 0, 0, 0, 0"[:-3]  # a quaternion of zeros
    rows[3] = rows[3].replace("0.", "x.")
    rows[4] = rows[4].replace(" 000004", " 1e400")
    rows[6] = '"' + rows[6] + "\r"
    rows[7] = rows[7][:20]  # the phone lost power
    write_stray(tmp_path / "scan", levels(8), rows)
    source = open_source("phone", tmp_path / "scan")
    assert shown(source) == [0, 2, 5]
    assert noted(source, "4 of 8 poses are not numbers or not rotations, the first is pose 2")


def test_pictures_without_pose_and_poses_without_picture(tmp_path: Path) -> None:
    write_record3d(tmp_path / "export", levels(6))
    (tmp_path / "export" / "rgb" / "2.jpg").unlink()
    (tmp_path / "export" / "rgb" / "10.jpg").write_bytes((tmp_path / "export" / "rgb" / "1.jpg").read_bytes())
    (tmp_path / "export" / "rgb" / "3.jpg").write_bytes(b"cut")
    source = open_source("phone", tmp_path / "export")
    (one,) = source.recordings
    assert [one.file_name(k) for k in range(len(one))] == ["0.jpg", "1.jpg", "3.jpg", "4.jpg", "5.jpg"]
    np.testing.assert_allclose(one.times_s, np.array([0, 1, 3, 4, 5]) / 60)
    assert noted(source, "1 of 6 frames left out: they have no pose")
    store = ingest(source, tmp_path / "store", size=(8, 8), workers=1, progress=False)
    assert [frame_of(image) for image in store.images] == [0, 1, 4, 5]


def test_times_of_record3d(tmp_path: Path) -> None:
    stamps = [0, 0.02, 0.03, 0.5]
    write_record3d(tmp_path / "stamps", levels(4), frameTimestamps=stamps)
    np.testing.assert_allclose(open_source("phone", tmp_path / "stamps").recordings[0].times_s, stamps)
    write_record3d(tmp_path / "none", levels(4), fps=None, frameTimestamps="x")
    source = open_source("phone", tmp_path / "none")
    np.testing.assert_allclose(source.recordings[0].times_s, np.arange(4) / 30)
    assert noted(source, "30 Hz are assumed")


def test_a_frame_with_the_stamp_of_a_frame_without_pose_is_left_out(tmp_path: Path) -> None:
    write_record3d(tmp_path / "scan", levels(5), frameTimestamps=[0, 0.1, 0.1, 0.3, 0.4])
    file = tmp_path / "scan" / "metadata.json"
    metadata = json.loads(file.read_text())
    metadata["poses"][1] = [0.0] * 7
    file.write_text(json.dumps(metadata))
    source = open_source("phone", tmp_path / "scan")
    assert shown(source) == [0, 3, 4]
    np.testing.assert_allclose(source.recordings[0].times_s, [0, 0.3, 0.4])
    assert noted(source, "1 row left out, the first in row 3: the row before has no pose and the same stamp")


def test_stamps_of_lost_poses_do_not_spoil_the_clock(tmp_path: Path) -> None:
    write_record3d(tmp_path / "scan", levels(8), frameTimestamps=[0, 0.1, 0, 0, 1e300, 0.5, 0.6, 0.7])
    file = tmp_path / "scan" / "metadata.json"
    metadata = json.loads(file.read_text())
    for lost in (2, 3, 4):
        metadata["poses"][lost] = [0.0] * 7
    file.write_text(json.dumps(metadata))
    np.testing.assert_allclose(open_source("phone", file).recordings[0].times_s, [0, 0.1, 0.5, 0.6, 0.7])


@pytest.mark.parametrize("poses", [None, [], "x", [[0.0] * 6] * 3, [[0.0] * 7] * 3, [[1.0], [2.0, 3.0]], {"a": 1}])
def test_scans_without_usable_poses_are_one_line(tmp_path: Path, poses: Any) -> None:
    write_record3d(tmp_path / "export", levels(3), poses=poses)
    with data_error("export"):
        open_source("phone", tmp_path / "export")


@pytest.mark.parametrize(
    "contents", [b"", b"\n\n", b"1,2,3\n", b"timestamp,frame\n1,2\n", b"timestamp, frame, x, y, z, qx, qy, qz, qw\n"]
)
def test_odometry_that_cannot_be_read_is_one_line(tmp_path: Path, contents: bytes) -> None:
    write_stray(tmp_path / "scan", levels(3))
    (tmp_path / "scan" / "odometry.csv").write_bytes(contents)
    with data_error("odometry.csv"):
        open_source("phone", tmp_path / "scan")


@pytest.mark.parametrize("contents", [b"", b"[]", b"{", b"[" * 100_000, b"\x80\x04K\x01."])
def test_metadata_that_cannot_be_read_is_one_line(tmp_path: Path, contents: bytes) -> None:
    write_record3d(tmp_path / "export", levels(3))
    (tmp_path / "export" / "metadata.json").write_bytes(contents)
    with data_error("metadata.json"):
        open_source("phone", tmp_path / "export")


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        open_source("phone", tmp_path / "none")
    with pytest.raises(DataError, match="holds no scan of a phone"):
        open_source("phone", tmp_path)
