"""TUM RGB-D: poses by hand and by evo, and files that are not as they should be."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from evo.tools import file_interface
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.sources import Source, tum
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from helpers import data_error
from logs.motion import camera_to_world, save_picture, tum_row
from logs.tum import START_S, prepare, write

R_STORE_OPENCV = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


def motions(source: Source, recording: int = 0) -> NDArray[np.float64]:
    poses = source.recordings[recording].poses
    return SE3Space().difference(poses[:-1], poses[1:])


def test_a_sequence_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    write(tmp_path / "desk")
    source = tum(tmp_path / "desk")
    (recording,) = source.recordings
    assert source.pose_columns == CAMERA_POSES
    assert source.notes == ()
    assert recording.name == "desk"
    assert recording.attributes == {"start": "1305031102.000000000"}
    assert recording.times_s is not None
    assert recording.times_s[:3] == pytest.approx([0, 0.1, 0.2])
    assert recording.image(7)[0, 0] == 7
    assert recording.file_name(1) == "1305031102.100000.png"
    assert [(one.kind, one.name, one.details) for one in source.listed] == [
        ("poses", "groundtruth.txt", "60 poses, 20.0 Hz, 3.0 s"),
        ("camera", "rgb", "30 frames, 10.0 Hz, 2.9 s"),
    ]
    assert "opencv" in source.convention
    assert guess_format(tmp_path / "desk").source == guess_format(tmp_path).source == "tum"


def test_a_camera_that_goes_forward_and_turns_left(tmp_path: Path) -> None:
    write(tmp_path, every=1)
    assert motions(tum(tmp_path)) == pytest.approx(np.tile([0.1, 0, 0, 0, 0, 3.0], (59, 1)), abs=1e-5)


def test_poses_are_those_of_evo(tmp_path: Path) -> None:
    write(tmp_path, every=1)
    found = tum(tmp_path).recordings[0].poses
    theirs = file_interface.read_tum_trajectory_file(str(tmp_path / "groundtruth.txt"))
    expected = np.array(theirs.poses_se3)[:, :3, :3] @ R_STORE_OPENCV.T
    assert found[:, :3] == pytest.approx(theirs.positions_xyz, abs=1e-9)
    assert Rotation.from_quat(found[:, 3:]).as_matrix() == pytest.approx(expected, abs=1e-6)


def test_a_trajectory_alone(tmp_path: Path) -> None:
    prepare(tmp_path)
    source = tum(tmp_path / "trajectory.txt")
    assert not source.has_images
    assert len(source.recordings[0]) == 120
    assert guess_format(tmp_path / "trajectory.txt").source == "tum"
    store = ingest(source, tmp_path / "store", progress=False)
    assert len(store) == 120
    assert len(tum(tmp_path / "desk", camera="none").recordings[0]) == 120


def test_stamps_in_nanoseconds_keep_their_digits(tmp_path: Path) -> None:
    rows = [f"{1403715524907143168 + 10_000_001 * k} {tum_row(p)}\n" for k, p in enumerate(camera_to_world(5))]
    (tmp_path / "slam.txt").write_text("".join(rows))
    source = tum(tmp_path / "slam.txt")
    assert source.recordings[0].times_s == pytest.approx(np.arange(5) * 0.010000001, abs=1e-12)
    assert "stamps are in ns" in source.remarks[0]


def test_a_folder_of_sequences_and_an_archive(tmp_path: Path) -> None:
    write(tmp_path / "all" / "fr1 désk")
    write(tmp_path / "all" / "fr2\nxyz")
    (tmp_path / "all" / "broken").mkdir()
    (tmp_path / "all" / "broken" / "groundtruth.txt").write_text("# nothing\n")
    source = tum(tmp_path / "all")
    assert [recording.name for recording in source.recordings] == ["fr1 désk", "fr2\nxyz"]
    (note,) = source.notes
    assert note.startswith("recording 'broken' left out: ")
    assert note.endswith("expected rows of 8 numbers; it has no rows")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for file in (tmp_path / "all" / "fr1 désk").rglob("*"):
            archive.write(file, f"desk/{file.relative_to(tmp_path / 'all' / 'fr1 désk')}")
    (recording,) = pickle.loads(pickle.dumps(tum(tmp_path / "all.zip").recordings))
    assert recording.name == "desk"
    assert recording.image(3)[0, 0] == 3


def test_frames_in_gaps_and_missing_pictures_are_counted(tmp_path: Path) -> None:
    write(tmp_path, every=1)
    truth = (tmp_path / "groundtruth.txt").read_text().splitlines()
    (tmp_path / "groundtruth.txt").write_text("\n".join(truth[:12] + truth[20:]))
    (tmp_path / "rgb" / "1305031102.050000.png").unlink()
    source = tum(tmp_path)
    assert len(source.recordings[0]) == 60 - 8 - 1
    assert "1 of 60 pictures are missing, first 'rgb/1305031102.050000.png'" in source.notes[0]
    assert "8 of 59 frames left out: 8 in gaps of the motion longer than 0.15 s (max_gap_s)" in source.notes[1]
    assert len(tum(tmp_path, max_gap_s=1.0).recordings[0]) == 59


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1305031102.05 nan 0 0 0 0 0 1", "1 of 60 rows are not 8 numbers, first line 4"),
        ("1305031102.05 0 0 0 0 0 0 0", "1 of 60 poses left out, their quaternion is not of length 1"),
        ("1305031102.05 0 0", "1 of 60 rows are not 8 numbers"),
        ("\0\0\0\0\0", "1 of 60 rows are not 8 numbers"),
        ("1305031102.0000 0 0 0 0 0 0 1", "1 stamp is repeated"),
        ("1305031102.1200 0 0 0 0 0 0 1", "1 stamp out of order"),
        ("1205031102.0500 0 0 0 0 0 0 1", "the clock goes back by 1e+08 s"),
    ],
)
def test_a_row_that_is_broken_is_a_note(tmp_path: Path, row: str, words: str) -> None:
    write(tmp_path)
    lines = (tmp_path / "groundtruth.txt").read_text().splitlines()
    lines[3] = row
    (tmp_path / "groundtruth.txt").write_text("\r\n".join(lines))
    source = tum(tmp_path)
    assert len(source.recordings[0]) >= 28
    assert any(words in note for note in source.notes), source.notes
    assert not any("\n" in note for note in source.notes)


@pytest.mark.parametrize("row", ["0 0 0 0 0 0 0 0", "1e300 0 0 0 0 0 0 0"])
def test_stamps_of_lost_poses_do_not_spoil_the_clock(tmp_path: Path, row: str) -> None:
    write(tmp_path)
    file = tmp_path / "groundtruth.txt"
    lines = file.read_text().splitlines()
    for lost in (4, 8, 12):
        lines[lost] = row
    file.write_text("\n".join(lines))
    source = tum(tmp_path)
    assert len(source.recordings[0]) == 30
    assert [note for note in source.notes if "poses left out" not in note] == []


def test_a_comment_in_another_encoding_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "groundtruth.txt"
    file.write_bytes(b"\xef\xbb\xbf# caf\xe9\n" + file.read_bytes())
    assert tum(tmp_path).notes == ()


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with data_error("does not exist"):
        tum(tmp_path / "none")
    with data_error("has no groundtruth.txt"):
        tum(tmp_path)
    (tmp_path / "groundtruth.txt").write_text("1 0 0 0 0 0 0 1\n")
    with data_error("no list of pictures such as rgb.txt", "camera=none"):
        tum(tmp_path)
    (tmp_path / "groundtruth.txt").write_bytes("1 0 0 0 0 0 0 1\n".encode("utf-16"))
    with data_error("expected rows of 8 numbers"):
        tum(tmp_path)
    (tmp_path / "groundtruth.txt").write_text("1 2 3 4 5 6 7 8\n2 2 3 4 5 6 7 8\n")
    with data_error("no row has a quaternion of length 1", "[5.0, 6.0, 7.0, 8.0]"):
        tum(tmp_path)
    (tmp_path / "bomb.zip").write_bytes(b"PK\x03\x04 not an archive")
    with data_error("not a complete zip archive"):
        tum(tmp_path / "bomb.zip")


def test_lists_without_rows(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "rgb.txt").write_text("# timestamp filename\n")
    with data_error("none of its 0 pictures is there"):
        tum(tmp_path)
    write(tmp_path, camera_to_world(1))
    assert len(tum(tmp_path / "rgb.txt").recordings[0]) == 1


def test_pictures_of_another_day(tmp_path: Path) -> None:
    write(tmp_path)
    rows = (tmp_path / "rgb.txt").read_text().replace("\n1305", "\n1205")
    (tmp_path / "rgb.txt").write_text(rows)
    with data_error("30 of 30 frames left out: 30 before the motion begins"):
        tum(tmp_path)


def test_the_offset_between_the_clocks(tmp_path: Path) -> None:
    write(tmp_path, every=1)
    later = tum(tmp_path, offset_s=-0.05, interpolation="linear").recordings[0].poses
    assert later[:58, :3] == pytest.approx(camera_to_world()[1:59, :3, 3], abs=1e-6)


def test_names_with_blanks_and_pictures_without_a_list(tmp_path: Path) -> None:
    write(tmp_path / "a")
    save_picture(tmp_path / "a" / "rgb" / "a picture, 2.png", 99)
    (tmp_path / "a" / "rgb.txt").write_text(f"{START_S} rgb/a picture, 2.png\n")
    assert tum(tmp_path / "a").recordings[0].image(0)[0, 0] == 99
    write(tmp_path / "b")
    (tmp_path / "b" / "rgb.txt").unlink()
    source = tum(tmp_path / "b")
    assert len(source.recordings[0]) == 30
    assert source.remarks[0].endswith("rgb.txt is missing: the names of 30 pictures are their times")


def test_cameras_are_chosen_and_listed(tmp_path: Path) -> None:
    write(tmp_path)
    rows = (tmp_path / "rgb.txt").read_text()
    (tmp_path / "depth.txt").write_text(rows)
    (tmp_path / "accelerometer.txt").write_text("1305031102.0 0.1 0.2 9.8\n")
    source = tum(tmp_path)
    assert source.remarks == ("camera rgb of 2: choose with --read camera=depth",)
    assert {one.name: one.used for one in source.listed if one.kind == "camera"} == {"rgb": True, "depth": False}
    with pytest.raises(ConfigError, match=r"camera='imu': .* has depth, rgb, or none"):
        tum(tmp_path, camera="imu")


def test_settings_as_text(tmp_path: Path) -> None:
    write(tmp_path)
    source = open_source("tum", tmp_path, max_gap_s="0.5", axes="ros", mount="0 0 1 0 0 0 1", time_unit="s")
    assert source.settings["max_gap_s"] == 0.5
    # The body is the camera of the log; 1 along its third axis, which points forward along x of the world.
    assert source.recordings[0].poses[0, :3] == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    with pytest.raises(ConfigError, match="interpolation='best'"):
        open_source("tum", tmp_path, interpolation="best")
    with pytest.raises(ConfigError, match="axes 'opencl'"):
        tum(tmp_path, axes="opencl")
