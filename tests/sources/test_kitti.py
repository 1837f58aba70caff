"""KITTI raw: drives wherever they lie, and no picture with the pose of another."""

from __future__ import annotations

import json
import math
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.doctor.logged import logged_motion
from egoequiv.doctor.offset import _fix
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.sources import Source, kitti
from egoequiv.sources.kitti import KittiRecording
from egoequiv.store import ingest
from helpers import data_error
from kitti_files import (
    DRIVE,
    GRAY,
    NORTH_STEP_M,
    SPEED,
    START_NS,
    STEP_NS,
    DriveFiles,
    check_frames,
    edit_row,
    frame_numbers,
    numbers_of_poses,
    packet_text,
    stamp_text,
    write_drive,
    zip_folder,
)
from running import Cli, make_cli

SECOND, THIRD = "2011_09_26_drive_0015", "2011_10_03_drive_0027"
CALIBRATION = {
    "calib_imu_to_velo.txt": "R: 1 0 0 0 1 0 0 0 1\nT: -1 2 -3\n",  # the laser is at (1, -2, 3)
    "calib_velo_to_cam.txt": "R: 0 -1 0 0 0 -1 1 0 0\nT: 0 0 -0.5\n",  # the camera half a metre ahead of it
    "calib_cam_to_cam.txt": "R_rect_00: 1 0 0 0 1 0 0 0 1\nP_rect_00: 7 0 3 0 0 7 1 0 0 0 1 0\n"
    "P_rect_01: 7 0 3 -3.5 0 7 1 0 0 0 1 0\n",
}


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return make_cli(monkeypatch, capsys)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "kitti"


@pytest.fixture
def drive(root: Path) -> DriveFiles:
    return write_drive(root)


def write_calibration(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in CALIBRATION.items():
        (folder / name).write_text(text)


def names(source: Source) -> list[str]:
    return [recording.name for recording in source.recordings]


def only(source: Source) -> KittiRecording:
    (recording,) = source.recordings
    assert isinstance(recording, KittiRecording)
    return recording


# A drive as it should be


def test_every_picture_has_the_pose_and_time_of_its_packet(drive: DriveFiles, root: Path) -> None:
    source = kitti(root)
    recording = only(source)
    check_frames(recording, range(6))
    assert source.notes == ()
    assert (source.name, source.space, source.pose_columns) == ("kitti", PlanarSpace(), DRIVING_POSES)
    assert source.has_images
    assert recording.name == DRIVE
    assert recording.attributes == {"location": "city", "date": "2011_09_26"}
    assert recording.labels == ["city"] * 6
    assert recording.poses[:, 7] == pytest.approx(SPEED * 0.1 * np.arange(6))
    assert recording.poses[:, 8] == pytest.approx([90] * 6)
    settings = {"path": str(root), "camera": 0, "drives": "all", "pose_of": "imu", "offset_s": 0.0}
    assert dict(source.settings) == settings


def test_packets_alone(drive: DriveFiles, root: Path) -> None:
    shutil.rmtree(drive.folder / "image_00")
    source = kitti(root, camera="none")
    recording = only(source)
    assert not source.has_images
    assert source.notes == ()
    assert numbers_of_poses(recording.poses) == list(range(6))
    assert recording.times_s == pytest.approx(0.1 * np.arange(6))
    with data_error(DRIVE, "without its pictures"):
        recording.image(0)


@pytest.mark.parametrize("camera", [0, 1, 2, 3])
def test_each_camera_has_its_own_pictures(tmp_path: Path, camera: int) -> None:
    for k in range(4):
        write_drive(tmp_path / str(k), camera=k)
        shutil.copytree(tmp_path / str(k), tmp_path / "all", dirs_exist_ok=True)
    recording = only(kitti(tmp_path / "all", camera=camera))
    check_frames(recording, range(6))
    assert recording.image(2).shape == ((6, 8) if camera < 2 else (6, 8, 3))
    assert f"image_{camera:02d}" in recording.folder
    if camera >= 2:
        assert recording.image(2)[0, 0].tolist() == [GRAY + 2, 0, 255 - GRAY - 2]


def test_a_recording_survives_pickling_from_folder_and_zip(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    for path in (root, zip_folder(root, tmp_path / "kitti.zip")):
        recording = only(kitti(path))
        check_frames(pickle.loads(pickle.dumps(recording)), range(6))
        assert recording != pickle.loads(pickle.dumps(recording))  # and two can be compared


def test_frames_reach_a_store_together_with_their_poses(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    drive.packet(2).unlink()
    drive.picture(4).write_bytes(b"not a picture")
    store = ingest(kitti(root), tmp_path / "store")
    numbers = store.images[:, 0, 0, 0].astype(int) - GRAY
    assert numbers.tolist() == [0, 1, 3, 5]
    assert np.rint(store.pose_columns["z_m"]).tolist() == numbers.tolist()
    assert store.poses[:, 0] == pytest.approx(SPEED * 0.1 * numbers)


# Where drives lie


@pytest.mark.parametrize("below", ["", "2011_09_26", f"2011_09_26/{DRIVE}_sync"])
def test_a_root_a_date_and_a_drive(drive: DriveFiles, root: Path, below: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_frames(only(kitti(root / below)), range(6))
    monkeypatch.chdir(root / below)
    check_frames(only(kitti(Path())), range(6))
    check_frames(only(kitti(".")), range(6))  # type: ignore[arg-type]


def test_many_dates_and_drives_come_in_the_order_of_their_names(root: Path) -> None:
    for name, frames in ((THIRD, 4), (SECOND, 3), (DRIVE, 5)):
        write_drive(root, name, frames=frames)
    (root / "2011_09_26" / "notes").mkdir()
    (root / "readme.txt").write_text("hello")
    source = kitti(root)
    assert names(source) == [DRIVE, SECOND, THIRD]
    for recording, frames in zip(source.recordings, (5, 3, 4), strict=True):
        check_frames(recording, range(frames))
    assert [recording.attributes["date"] for recording in source.recordings] == ["2011_09_26"] * 2 + ["2011_10_03"]
    assert [recording.attributes["location"] for recording in source.recordings] == ["city", "road", "residential"]
    assert names(kitti(root / "2011_09_26")) == [DRIVE, SECOND]


@pytest.mark.parametrize("inside", ["", "kitti/", "raw data/", "2011_09_26/"])
def test_one_archive(drive: DriveFiles, root: Path, tmp_path: Path, inside: str) -> None:
    write_drive(root, THIRD, frames=3)
    source = kitti(zip_folder(root, tmp_path / "all.zip", inside))
    assert names(source) == [DRIVE, THIRD]
    check_frames(source.recordings[0], range(6))
    check_frames(source.recordings[1], range(3))
    assert source.notes == ()


@pytest.mark.parametrize("inside", ["", "2011_09_26/", "top/"])
def test_an_archive_of_one_date_or_of_one_drive(drive: DriveFiles, root: Path, tmp_path: Path, inside: str) -> None:
    date = zip_folder(root / "2011_09_26", tmp_path / "date.zip", inside)
    check_frames(only(kitti(date)), range(6))
    one = zip_folder(drive.folder, tmp_path / "one.zip", f"{inside}{DRIVE}_sync/")
    check_frames(only(kitti(one)), range(6))


@pytest.mark.parametrize("place", ["", "2011_09_26"])
def test_a_folder_of_archives(root: Path, tmp_path: Path, place: str) -> None:
    folder = tmp_path / "archives"
    (folder / place).mkdir(parents=True)
    for name, frames in ((DRIVE, 6), (SECOND, 4)):
        write_drive(tmp_path / name, name, frames=frames)
        zip_folder(tmp_path / name, folder / place / f"{name}_sync.zip")
    (folder / place / "._hidden.zip").write_bytes(b"what another system left behind")
    source = kitti(folder)
    assert names(source) == [DRIVE, SECOND]
    check_frames(source.recordings[0], range(6))
    check_frames(source.recordings[1], range(4))


def test_drives_of_folders_and_archives_come_in_one_order(root: Path, tmp_path: Path) -> None:
    write_drive(root, SECOND)
    for name in (THIRD, DRIVE):
        write_drive(tmp_path / name, name)
        zip_folder(tmp_path / name, root / f"{name}_sync.zip")
    assert names(kitti(root)) == [DRIVE, SECOND, THIRD]


def test_a_folder_comes_before_an_archive(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    write_drive(tmp_path / "other", frames=3)
    zip_folder(tmp_path / "other", root / "other.zip")
    assert names(kitti(root)) == [DRIVE]
    check_frames(only(kitti(root)), range(6))


@pytest.mark.parametrize("order", [("sync", "extract"), ("extract", "sync")])
def test_the_synchronised_drive_is_preferred(root: Path, order: tuple[str, str]) -> None:
    for kind in order:
        write_drive(root, frames=5 if kind == "sync" else 3, kind=kind)
    check_frames(only(kitti(root)), range(5))
    shutil.rmtree(root / "2011_09_26" / f"{DRIVE}_sync")
    check_frames(only(kitti(root)), range(3))


def test_a_folder_of_labels_does_not_hide_the_drive(root: Path, tmp_path: Path) -> None:
    write_drive(tmp_path / "whole", frames=4)
    (root / "2011_09_26" / f"{DRIVE}_sync").mkdir(parents=True)
    (root / "2011_09_26" / f"{DRIVE}_sync" / "tracklet_labels.xml").write_text("<xml/>")
    zip_folder(tmp_path / "whole", root / "whole.zip")
    check_frames(only(kitti(root)), range(4))
    write_drive(tmp_path / "extract", frames=3, kind="extract")
    zip_folder(tmp_path / "extract", root / "whole.zip")
    check_frames(only(kitti(root)), range(3))


def test_nothing_and_no_drive_are_named(root: Path, tmp_path: Path) -> None:
    with data_error(str(root), "does not exist"):
        kitti(root)
    (root / "2011_09_26" / "pictures").mkdir(parents=True)
    with data_error(str(root), "no drive such as"):
        kitti(root)
    with data_error("empty.zip", "no drive such as"):
        kitti(zip_folder(root, tmp_path / "empty.zip"))


# Which drives, which settings


def test_drives_are_chosen_by_the_beginning_of_their_names(root: Path) -> None:
    for name in (DRIVE, SECOND, THIRD):
        write_drive(root, name, frames=2)
    assert names(kitti(root, drives="2011_09_26")) == [DRIVE, SECOND]
    assert names(kitti(root, drives=SECOND)) == [SECOND]
    assert names(kitti(root, drives=f"{THIRD}, 2011_09_26")) == [THIRD, DRIVE, SECOND]
    assert names(kitti(root, drives=f"{DRIVE},2011_09_26_drive_0001")) == [DRIVE]
    for wrong in ("2012", "drive_0001", f"{DRIVE},", ""):
        with data_error(str(root), "no drive's name begins with", f"the drives are {DRIVE}, {SECOND}, {THIRD}"):
            kitti(root, drives=wrong)


def test_a_drive_that_is_not_chosen_is_not_looked_at(drive: DriveFiles, root: Path) -> None:
    write_drive(root, SECOND).packet_stamps.write_text("rubbish")
    assert kitti(root, drives=DRIVE).notes == ()


def test_an_offset_without_a_camera_is_refused(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"offset_s=0\.05 is of the clock of a camera, and camera=none reads none"):
        kitti(root, camera="none", offset_s=0.05)


@pytest.mark.parametrize("offset_s", [0.02, -0.03, 0.2])
def test_an_offset_is_added_to_the_times_of_packets(drive: DriveFiles, root: Path, offset_s: float) -> None:
    sound, moved = only(kitti(root)), only(kitti(root, offset_s=offset_s))
    frames = np.array(frame_numbers(moved))
    packets = frames + (0.007 - offset_s) / 0.1  # an image is 7 ms after its packet, a frame 100 ms after the last
    assert list(frames) == [k for k in range(6) if 0 <= k + (0.007 - offset_s) / 0.1 <= 5]
    np.testing.assert_allclose(moved.poses[:, 1], NORTH_STEP_M * packets, atol=1e-3)
    np.testing.assert_allclose(moved.poses[:, 2], packets, atol=1e-6)
    np.testing.assert_allclose(moved.poses[:, 7], SPEED * 0.1 * packets, atol=1e-6)
    np.testing.assert_allclose(moved.times_s, sound.times_s[frames])
    assert "later, interpolated at each image" in kitti(root, offset_s=offset_s).convention


def test_images_between_two_packets_keep_poses_of_their_own(drive: DriveFiles, root: Path) -> None:
    """After 50 ms, two images whose stamps vary are nearest to the same packet."""
    for row, late_ns in ((2, 9_000_000), (3, 5_000_000)):
        edit_row(drive.image_stamps, row, stamp_text(START_NS + row * STEP_NS + late_ns))
    moved = only(kitti(root, offset_s=0.057))
    assert frame_numbers(moved) == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(moved.poses[:, 2], [0.5, 1.52, 2.48, 3.5, 4.5], atol=1e-6)


def test_what_the_doctor_says_of_the_clock_of_a_drive_can_be_typed(drive: DriveFiles, root: Path) -> None:
    source = kitti(root)
    motion = logged_motion(only(source), source.pose_columns, source.settings)
    assert _fix(motion, 0.04) == "--read offset_s=-0.040"


def test_settings_may_be_strings_and_bad_ones_are_named(drive: DriveFiles, root: Path) -> None:
    assert open_source("kitti", root, camera="0", pose_of="imu").settings["camera"] == 0
    assert not open_source("kitti", root, camera="none").has_images
    for camera in ("4", "left", "-1"):
        with pytest.raises(ConfigError, match="camera"):
            open_source("kitti", root, camera=camera)
    with pytest.raises(ConfigError, match="pose_of"):
        open_source("kitti", root, pose_of="car")
    for offset_s in ("nan", "1e300"):
        with pytest.raises(ConfigError, match="offset_s"):
            open_source("kitti", root, offset_s=offset_s)
    with pytest.raises(ConfigError, match="camera must be 0, 1, 2, 3 or none, found 4"):
        kitti(root, camera=4)
    with pytest.raises(ConfigError, match="pose_of must be imu or camera, found 'car'"):
        kitti(root, pose_of="car")  # type: ignore[arg-type]


# Locations


def test_a_drive_of_no_known_location_has_no_label(root: Path) -> None:
    write_drive(root, "2031_05_01_drive_0001")
    recording = only(kitti(root))
    assert recording.labels is None
    assert recording.attributes["location"] == ""


def test_locations_from_a_file(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    write_drive(root, SECOND, frames=3)
    beside, given = root / "locations.csv", tmp_path / "given.csv"
    beside.write_text(f"drive,location\n{DRIVE},forest\n")
    given.write_text(f"\ufeffdrive,by,location\n {SECOND}_sync ,me, dunes\n\n")
    archive = zip_folder(root, tmp_path / "all.zip")
    assert [r.attributes["location"] for r in kitti(root).recordings] == ["forest", "road"]
    assert [r.labels for r in kitti(root).recordings] == [["forest"] * 6, ["road"] * 3]
    assert [r.attributes["location"] for r in kitti(root, locations=given).recordings] == ["city", "dunes"]
    assert [r.attributes["location"] for r in kitti(archive).recordings] == ["city", "road"]
    shutil.copy(beside, tmp_path)
    assert [r.attributes["location"] for r in kitti(archive).recordings] == ["forest", "road"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"drive,location\n{DRIVE},city\n{SECOND},\n", "row 3"),
        (f"drive,location\n{DRIVE},city\n\n\n,road\n", "row 5"),
        (f"drive,location\n{DRIVE}\n", "row 2"),
        (f"name,location\n{DRIVE},city\n", "row 2"),
        ("drive,location\n0001,city\n", "'0001, city'"),
    ],
)
def test_a_bad_row_of_locations_is_named(drive: DriveFiles, root: Path, text: str, words: str) -> None:
    path = root / "locations.csv"
    path.write_text(text)
    with data_error(str(path), words, "expected drive,location"):
        kitti(root)


def test_a_file_of_locations_must_be_there_and_be_text(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    with data_error("nowhere.csv", "cannot be read"):
        kitti(root, locations=tmp_path / "nowhere.csv")
    (root / "locations.csv").write_bytes(b"drive,location\n\xff\xfe")
    with data_error("locations.csv", "cannot be read"):
        kitti(root)


# What is missing or damaged: nothing is ever shifted


def test_fewer_images_than_packets(root: Path) -> None:
    write_drive(root, frames=8, images=[0, 1, 4, 7])
    source = kitti(root)
    check_frames(only(source), [0, 1, 4, 7])
    assert source.notes == (f"{DRIVE}: 4 of 8 packets have no image",)


def test_packets_that_are_missing_in_the_middle(root: Path) -> None:
    files = write_drive(root, frames=8, packets=[1, 2, 5, 6, 7])
    source = kitti(root)
    check_frames(only(source), [1, 2, 5, 6, 7], first=1)
    (note,) = source.notes
    assert note.startswith(f"{DRIVE}: 3 of 8 images left out, because no packet of their own is within 50 ms")
    assert str(files.picture(0)) in note
    # Over the gap the way is that of the speed times the real time.
    assert only(source).poses[:, 7] == pytest.approx(SPEED * 0.1 * np.array([0, 1, 4, 5, 6]))


def test_blank_stamps(root: Path) -> None:
    files = write_drive(root, frames=8)
    for row in (2, 7):
        edit_row(files.image_stamps, row, "")
    edit_row(files.packet_stamps, 5, "   ")
    source = kitti(root)
    check_frames(only(source), [0, 1, 3, 4, 6])
    assert source.notes[:2] == (
        f"{DRIVE}: 1 of 8 packets left out, because they have no time stamp",
        f"{DRIVE}: 2 of 8 images left out, because they have no time stamp",
    )
    assert "1 of 6 images left out" in source.notes[2]
    assert "2 of 7 packets have no image" in source.notes[3]


def test_a_file_of_stamps_that_ends_too_early(root: Path) -> None:
    files = write_drive(root, frames=8)
    files.image_stamps.write_text("".join(files.image_stamps.read_text().splitlines(keepends=True)[:5]))
    source = kitti(root)
    check_frames(only(source), range(5))
    assert source.notes[0] == f"{DRIVE}: 3 of 8 images left out, because they have no time stamp"


@pytest.mark.parametrize("stream", ["image", "packet"])
def test_stamps_that_were_taken_out_along_with_their_files_are_not_guessed(root: Path, stream: str) -> None:
    # Row k of 7 for file k would give the frames after the gap the times of their successors.
    files = write_drive(root, frames=8)
    path, stamps = (
        (files.picture(3), files.image_stamps) if stream == "image" else (files.packet(3), files.packet_stamps)
    )
    path.rename(path.with_stem("copy"))  # a file without a number counts for nothing
    edit_row(stamps, 3, None)
    for rows_after in ("", "\n", "  \n\n\n"):
        stamps.write_text(stamps.read_text().rstrip() + "\n" + rows_after)
        with data_error(str(stamps), "has 7 rows", "numbered to 7"):
            kitti(root)
    edit_row(stamps, 1, "")
    with data_error(str(stamps), "has 7 rows"):
        kitti(root)


def test_a_lost_picture_and_a_blank_stamp_of_another_are_told_apart_from_that(root: Path) -> None:
    files = write_drive(root, frames=8)
    files.picture(3).unlink()
    edit_row(files.image_stamps, 5, "")
    check_frames(only(kitti(root)), [0, 1, 2, 4, 6, 7])


@pytest.mark.parametrize("stream", ["oxts", "image_00"])
def test_stamps_that_are_missing(drive: DriveFiles, root: Path, stream: str) -> None:
    stamps = drive.folder / stream / "timestamps.txt"
    stamps.write_text("\n\n")
    with data_error(str(stamps), "no time stamp for any of 6"):
        kitti(root)
    stamps.unlink()
    with data_error(str(stamps), "is missing", "no drive can be used"):
        kitti(root)
    write_drive(root, SECOND)
    source = kitti(root)
    assert names(source) == [SECOND]
    (note,) = source.notes
    assert note.startswith(f"drive left out: {stamps} is missing")


def test_a_malformed_stamp_is_named(drive: DriveFiles, root: Path) -> None:
    edit_row(drive.image_stamps, 2, "yesterday")
    with data_error(f"{drive.image_stamps}, row 3", "'yesterday'"):
        kitti(root)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (packet_text(3, vf="nan"), "vf is nan"),
        (packet_text(3, lat="inf"), "lat is inf"),
        (packet_text(3, lat=91), "lat 91"),
        ("49.0 8.4 103.0 0 0 1.57", "expected 30 numbers (lat lon alt roll ...), found 6"),
        ("", "found 0"),
        (packet_text(3, yaw="north"), "a number for yaw, found 'north'"),
    ],
)
def test_a_packet_that_cannot_be_used_is_left_out(drive: DriveFiles, root: Path, text: str, words: str) -> None:
    drive.packet(3).write_text(text)
    source = kitti(root)
    check_frames(only(source), [0, 1, 2, 4, 5])
    told, images = source.notes
    assert told.startswith(f"{DRIVE}: 1 of 6 packets left out: {drive.packet(3)}: ")
    assert words in told
    assert "1 of 6 images left out" in images
    assert numbers_of_poses(only(kitti(root, camera="none")).poses) == [0, 1, 2, 4, 5]


def test_a_packet_that_is_not_text_is_left_out(drive: DriveFiles, root: Path) -> None:
    drive.packet(0).write_bytes(bytes(range(256)))
    check_frames(only(kitti(root)), [1, 2, 3, 4, 5], first=1)


def test_no_usable_packet_at_all(drive: DriveFiles, root: Path) -> None:
    for k in range(6):
        drive.packet(k).write_text(packet_text(k, alt="nan"))
    with data_error(f"{DRIVE} has no usable packet", str(drive.packet(0)), "alt is nan"):
        kitti(root)
    shutil.rmtree(drive.folder / "oxts")
    with data_error(f"{DRIVE} has no packets in {drive.folder}/oxts/data"):
        kitti(root)


def test_images_without_any_packet_and_packets_without_any_image(drive: DriveFiles, root: Path) -> None:
    shutil.rmtree(drive.folder / "image_00" / "data")
    with data_error(f"{DRIVE} has no images in {drive.folder}/image_00/data", "--read camera=none"):
        kitti(root)
    with data_error(f"{DRIVE} has no images in {drive.folder}/image_02/data"):
        kitti(root, camera=2)


def test_streams_of_different_hours_have_nothing_in_common(drive: DriveFiles, root: Path) -> None:
    drive.image_stamps.write_text("".join(f"{stamp_text(START_NS + 3600 * 10**9 + k)}\n" for k in range(6)))
    with data_error(f"{DRIVE} has no usable frame"):
        kitti(root)


@pytest.mark.parametrize(
    ("row", "time_ns", "kept"),
    [
        (2, START_NS - 10**12, [0, 1, 3, 4, 5]),  # far back
        (2, START_NS + 10**12, [0, 1, 3, 4, 5]),  # far ahead: the following ones stay
        (2, START_NS + STEP_NS, [0, 1, 3, 4, 5]),  # as the one before
        (0, START_NS + 10**12, [1, 2, 3, 4, 5]),
    ],
)
def test_a_packet_stamp_out_of_order_takes_out_its_packet_alone(
    drive: DriveFiles, root: Path, row: int, time_ns: int, kept: list[int]
) -> None:
    edit_row(drive.packet_stamps, row, stamp_text(time_ns))
    source = kitti(root)
    check_frames(only(source), kept, first=kept[0])
    assert source.notes[0].startswith(f"{DRIVE}: 1 of 6 packets left out: {drive.packet(row)}: its time stamp")


def test_image_stamps_out_of_order_change_no_pair(drive: DriveFiles, root: Path) -> None:
    # The picture of file 4 was stamped as the one before file 1: by its time it belongs to packet 0.
    edit_row(drive.image_stamps, 0, "")
    edit_row(drive.image_stamps, 4, stamp_text(START_NS))
    recording = only(kitti(root))
    assert frame_numbers(recording) == [4, 1, 2, 3, 5]
    assert numbers_of_poses(recording.poses) == [0, 1, 2, 3, 5]
    assert (np.diff(recording.times_s) > 0).all()


def test_files_without_a_number_have_no_time(drive: DriveFiles, root: Path) -> None:
    shutil.copy(drive.picture(1), drive.picture(1).with_name("._0000000001.png"))
    shutil.copy(drive.picture(1), drive.picture(1).with_name("copy.png"))
    shutil.copy(drive.picture(1), drive.picture(1).with_name("0000000001.txt"))
    source = kitti(root)
    check_frames(only(source), range(6))
    assert source.notes == (f"{DRIVE}: 2 of 8 images left out, because they have no time stamp",)


def test_a_number_that_is_there_twice_is_used_once(drive: DriveFiles, root: Path) -> None:
    shutil.copy(drive.picture(1), drive.picture(1).with_name("1.png"))
    source = kitti(root)
    check_frames(only(source), range(6))
    assert "1 of 7 images left out" in source.notes[0]


@pytest.mark.parametrize("camera", [0, "none"])
def test_a_drive_of_one_frame(root: Path, camera: int) -> None:
    write_drive(root, frames=1)
    with data_error(f"{DRIVE} has 1 usable frame", "motion needs two"):
        kitti(root, camera=camera)
    write_drive(root, SECOND, frames=2)
    source = kitti(root, camera=camera)
    assert names(source) == [SECOND]
    assert source.notes == (f"drive left out: {DRIVE} has 1 usable frame, and motion needs two",)


def test_a_broken_picture_is_told_when_it_is_read(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    whole = drive.picture(3).read_bytes()
    drive.picture(3).write_bytes(whole[: len(whole) // 2])
    recording = only(kitti(root))
    assert len(recording) == 6
    with pytest.raises(BrokenFrameError, match=str(drive.picture(3))):
        recording.image(3)
    archive = zip_folder(root, tmp_path / "all.zip")
    with pytest.raises(BrokenFrameError, match=rf"all\.zip/.*{drive.picture(3).name}"):
        only(kitti(archive)).image(3)
    drive.picture(3).unlink()
    with pytest.raises(BrokenFrameError, match=str(drive.picture(3))):
        recording.image(3)


def test_an_archive_that_was_cut_short_is_named(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    archive = zip_folder(root, tmp_path / "all.zip")
    archive.write_bytes(archive.read_bytes()[:-200])
    with data_error(str(archive), "not a complete zip archive"):
        kitti(archive)
    with data_error(str(archive), "not a complete zip archive"):
        kitti(tmp_path)


def test_a_damaged_packet_and_picture_in_an_archive_take_out_themselves_alone(
    drive: DriveFiles, root: Path, tmp_path: Path
) -> None:
    archive = zip_folder(root, tmp_path / "all.zip", compression=0)
    content = archive.read_bytes()
    assert content.count(drive.packet(2).read_bytes()) == content.count(drive.picture(4).read_bytes()) == 1
    content = content.replace(drive.packet(2).read_bytes(), b"5" * drive.packet(2).stat().st_size)
    content = content.replace(drive.picture(4).read_bytes(), b"5" * drive.picture(4).stat().st_size)
    archive.write_bytes(content)
    source = kitti(archive)
    recording = only(source)
    assert numbers_of_poses(recording.poses) == [0, 1, 3, 4, 5]
    assert source.notes[0].startswith(f"{DRIVE}: 1 of 6 packets left out: {archive}/2011_09_26/")
    assert recording.image(2)[0, 0] == GRAY + 3
    with pytest.raises(BrokenFrameError, match=drive.picture(4).name):
        recording.image(3)


# The pose of the camera


def camera_offset(poses: NDArray[np.float64], camera_poses: NDArray[np.float64]) -> NDArray[np.float64]:
    return camera_poses[:, :3] - poses[:, :3]


@pytest.mark.parametrize(("camera", "offset"), [(0, [1.5, -2, 3]), (1, [1.5, -2.5, 3]), ("none", [1.5, -2, 3])])
def test_the_pose_of_a_camera_by_hand(drive: DriveFiles, root: Path, camera: int, offset: list[float]) -> None:
    if camera == 1:
        (drive.folder / "image_00").rename(drive.folder / "image_01")
    write_calibration(root / "2011_09_26")
    drive.packet(1).write_text(packet_text(1, yaw=0.0))
    drive.packet(2).write_text(packet_text(2, yaw=math.pi / 2, pitch=math.pi / 2))  # the nose is down
    imu, seen = only(kitti(root, camera=camera)).poses, only(kitti(root, camera=camera, pose_of="camera")).poses
    ahead, left, up = offset
    moved = camera_offset(imu, seen)
    assert moved[0] == pytest.approx([-left, ahead, up])  # facing north: ahead is north, left is west
    assert moved[1] == pytest.approx([ahead, left, up])  # facing east
    assert moved[2] == pytest.approx([-left, up, -ahead])  # facing down: up is north
    assert seen[:, 3:] == pytest.approx(imu[:, 3:])  # it looks ahead as the car does; way and heading are the car's


def test_a_camera_that_looks_to_the_left(drive: DriveFiles, root: Path) -> None:
    write_calibration(root / "2011_09_26")
    drive.packet(1).write_text(packet_text(1, roll=0.2))
    drive.packet(2).write_text(packet_text(2, pitch=0.3))
    # p_velo = (p_y, -p_x, p_z): the laser's ahead is the IMU's left.
    (root / "2011_09_26" / "calib_imu_to_velo.txt").write_text("R: 0 1 0 -1 0 0 0 0 1\nT: 0 0 0\n")
    imu, seen = only(kitti(root)).poses, only(kitti(root, pose_of="camera")).poses
    assert camera_offset(imu, seen)[0] == pytest.approx([-0.5, 0, 0], abs=1e-9)  # left of a car facing north is west
    # The first car is level, the second leans to the right, so its left points up; the third has its nose down.
    ahead = Rotation.from_quat(seen[:3, 3:7]).apply([1.0, 0.0, 0.0])
    assert ahead[0] == pytest.approx([-1, 0, 0])
    assert ahead[1] == pytest.approx([-math.cos(0.2), 0, math.sin(0.2)])
    assert ahead[2] == pytest.approx([-1, 0, 0])
    up = Rotation.from_quat(seen[:3, 3:7]).apply([0.0, 0.0, 1.0])
    assert up[2] == pytest.approx([0, math.sin(0.3), math.cos(0.3)])
    assert seen[:, 7:] == pytest.approx(imu[:, 7:])


@pytest.mark.parametrize("below", ["", "2011_09_26", f"2011_09_26/{DRIVE}_sync"])
def test_calibration_is_found_beside_the_drive(drive: DriveFiles, root: Path, below: str) -> None:
    write_calibration(root / "2011_09_26")
    assert only(kitti(root / below, pose_of="camera")).poses[0, :3] == pytest.approx([2, 1.5, 3])


@pytest.mark.parametrize("inside", ["", "top/"])
def test_calibration_in_archives(drive: DriveFiles, root: Path, tmp_path: Path, inside: str) -> None:
    write_calibration(tmp_path / "calibration" / "2011_09_26")
    folder = tmp_path / "archives"
    folder.mkdir()
    zip_folder(root, folder / f"{DRIVE}_sync.zip", inside)
    zip_folder(tmp_path / "calibration", folder / "2011_09_26_calib.zip")
    assert only(kitti(folder, pose_of="camera")).poses[0, :3] == pytest.approx([2, 1.5, 3])
    write_calibration(root / "2011_09_26")
    whole = zip_folder(root, tmp_path / "whole.zip", inside)
    assert only(kitti(whole, pose_of="camera")).poses[0, :3] == pytest.approx([2, 1.5, 3])
    date = zip_folder(root / "2011_09_26", tmp_path / "date.zip", inside)
    assert only(kitti(date, pose_of="camera")).poses[0, :3] == pytest.approx([2, 1.5, 3])


def test_calibration_beside_archives_in_the_folder_of_a_date(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    write_calibration(tmp_path / "raw" / "2011_09_26")
    zip_folder(root, tmp_path / "raw" / "2011_09_26" / f"{DRIVE}_sync.zip")
    for path in (tmp_path / "raw", tmp_path / "raw" / "2011_09_26"):
        assert only(kitti(path, pose_of="camera")).poses[0, :3] == pytest.approx([2, 1.5, 3])


def test_the_calibration_of_another_date_is_not_taken(drive: DriveFiles, root: Path, tmp_path: Path) -> None:
    write_calibration(root / "2011_10_03")
    write_calibration(root)  # of whichever date
    other = tmp_path / "other"
    write_drive(other, THIRD)
    write_calibration(other / "2011_10_03")
    zip_folder(other / "2011_10_03", root / "other.zip")  # with calibration at the root of the archive
    with data_error(DRIVE, "calibration files", "of 2011_09_26 are missing", "leave out pose_of=camera"):
        kitti(root, pose_of="camera")
    assert names(kitti(root, pose_of="camera", drives=THIRD)) == [THIRD]
    assert names(kitti(root)) == [DRIVE, THIRD]


def test_calibration_that_is_not_whole_is_named(drive: DriveFiles, root: Path) -> None:
    write_calibration(root / "2011_09_26")
    missing = root / "2011_09_26" / "calib_velo_to_cam.txt"
    missing.unlink()
    with data_error(str(missing)):
        kitti(root, pose_of="camera")


# On the command line


def break_nothing(files: DriveFiles) -> None:
    pass


def take_out_packets(files: DriveFiles) -> None:
    for number in (2, 3):
        files.packet(number).unlink()


def take_out_images(files: DriveFiles) -> None:
    for number in (0, 3, 5):
        files.picture(number).unlink()


def nan_packet(files: DriveFiles) -> None:
    files.packet(3).write_text(packet_text(3, lon="nan"))


def short_packet(files: DriveFiles) -> None:
    files.packet(5).write_text("1 2 3")


def blank_stamps(files: DriveFiles) -> None:
    edit_row(files.packet_stamps, 1, "")


def break_picture(files: DriveFiles) -> None:
    files.picture(4).write_bytes(b"\x89PNG and no more")


def add_one_frame_drive(files: DriveFiles) -> None:
    write_drive(files.folder.parents[1], SECOND, frames=1)


@pytest.mark.parametrize(
    ("spoil", "numbers", "words"),
    [
        (break_nothing, [0, 1, 2, 3, 4, 5], []),
        (take_out_packets, [0, 1, 4, 5], ["2 of 6 images left out"]),
        (take_out_images, [1, 2, 4], ["3 of 6 packets have no image"]),
        (nan_packet, [0, 1, 2, 4, 5], ["1 of 6 packets left out", "0000000003.txt: lon is nan"]),
        (short_packet, [0, 1, 2, 3, 4], ["1 of 6 packets left out", "expected 30 numbers", "found 3"]),
        (blank_stamps, [0, 2, 3, 4, 5], ["1 of 6 packets left out, because they have no time stamp"]),
        (break_picture, [0, 1, 2, 3, 5], ["1 picture could not be read", "0000000004.png"]),
        (add_one_frame_drive, [0, 1, 2, 3, 4, 5], [f"drive left out: {SECOND} has 1 usable frame"]),
    ],
)
def test_what_is_left_out_is_counted_and_strict_makes_it_an_error(
    cli: Cli,
    drive: DriveFiles,
    root: Path,
    tmp_path: Path,
    spoil: Callable[[DriveFiles], None],
    numbers: list[int],
    words: list[str],
) -> None:
    spoil(drive)
    done = cli("ingest", "kitti", root, "-o", tmp_path / "store", "--workers", 1, "--json")
    result = json.loads(done.out)
    assert (result["frames"], result["recordings"]) == (len(numbers), 1)
    notes = [line for line in done.err.splitlines() if line.startswith("note: ")]
    assert len(notes) == len(result["notes"])
    assert [word for word in words if word not in " ".join(notes)] == []
    images = np.load(tmp_path / "store" / "frames.npy")
    assert (images[:, 0, 0, 0].astype(int) - GRAY).tolist() == numbers
    strict = cli("ingest", "kitti", root, "-o", tmp_path / "strict", "--workers", 1, "--strict", code=2 if words else 0)
    assert ("egoequiv: error: " in strict.err) == bool(words)


def no_stamps(files: DriveFiles) -> None:
    files.packet_stamps.unlink()


def no_packets(files: DriveFiles) -> None:
    shutil.rmtree(files.folder / "oxts")


def no_images(files: DriveFiles) -> None:
    shutil.rmtree(files.folder / "image_00")


def one_frame(files: DriveFiles) -> None:
    for number in range(1, 6):
        files.picture(number).unlink()


def all_nan(files: DriveFiles) -> None:
    for number in range(6):
        files.packet(number).write_text(packet_text(number, vf="nan"))


def all_short(files: DriveFiles) -> None:
    for number in range(6):
        files.packet(number).write_text("49.0 8.4")


def bad_stamp(files: DriveFiles) -> None:
    edit_row(files.packet_stamps, 4, "noon")


def cut_archive(files: DriveFiles) -> None:
    root = files.folder.parents[1]
    archive = zip_folder(root, root / "drives.zip")
    archive.write_bytes(archive.read_bytes()[:2_000])


def no_drive(files: DriveFiles) -> None:
    files.folder.rename(files.folder.with_name("pictures"))


@pytest.mark.parametrize(
    ("spoil", "settings", "words"),
    [
        (no_stamps, [], "oxts/timestamps.txt is missing"),
        (no_packets, [], f"{DRIVE} has no packets"),
        (no_images, [], f"{DRIVE} has no images"),
        (one_frame, [], f"{DRIVE} has 1 usable frame"),
        (all_nan, [], "0000000000.txt: vf is nan"),
        (all_short, [], "0000000000.txt: expected 30 numbers"),
        (bad_stamp, [], "timestamps.txt, row 5: expected a time"),
        (break_nothing, ["pose_of=camera"], "calib_cam_to_cam.txt"),
        (cut_archive, [], "drives.zip is not a complete zip archive"),
        (no_drive, [], "no drive such as"),
        (break_nothing, ["camera=7"], "camera must be 0, 1, 2, 3 or none"),
        (break_nothing, ["drives=1999"], "no drive's name begins with '1999'"),
        (break_nothing, ["locations=nowhere.csv"], "nowhere.csv cannot be read"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_2(
    cli: Cli,
    drive: DriveFiles,
    root: Path,
    tmp_path: Path,
    spoil: Callable[[DriveFiles], None],
    settings: list[str],
    words: str,
) -> None:
    spoil(drive)
    given = [argument for setting in settings for argument in ("--set", setting)]
    failed = cli("ingest", "kitti", root, "-o", tmp_path / "store", "--workers", 1, *given, code=2)
    (line,) = failed.err.splitlines()
    assert line.startswith("egoequiv: error: ")
    assert words in line
    assert failed.out == ""
    assert not (tmp_path / "store").exists()


def test_patterns_from_the_packets_of_an_archive_that_was_cut_short(
    cli: Cli, drive: DriveFiles, root: Path, tmp_path: Path
) -> None:
    archive = zip_folder(root, tmp_path / "drives.zip")
    archive.write_bytes(archive.read_bytes()[:2_000])
    failed = cli("patterns", archive, "-o", tmp_path / "patterns", code=2)
    (line,) = filter(None, failed.err.splitlines())
    assert line.startswith("egoequiv: error: ")
    assert f"{archive} is not a complete zip archive" in line


def test_errors_are_those_of_data(drive: DriveFiles, root: Path) -> None:
    # A picture that is broken can be left out; a log that is broken cannot.
    assert issubclass(BrokenFrameError, DataError)
    edit_row(drive.packet_stamps, 0, "?")
    with pytest.raises(DataError) as caught:
        kitti(root)
    assert not isinstance(caught.value, BrokenFrameError)
