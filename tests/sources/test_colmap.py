"""COLMAP models, binary and text: poses as pycolmap reads them, and files that lie about their size."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pycolmap
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.errors import ConfigError
from egoequiv.pose import SE3Space
from egoequiv.sources import colmap
from egoequiv.sources.formats import guess_format
from helpers import data_error
from logs.colmap import images_bin, world_to_camera, write
from logs.motion import camera_to_world, save_picture

R_STORE_OPENCV = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
SCALE = "the scale of a COLMAP model is arbitrary: metres are units of the model, and there are no times"


def test_a_camera_that_goes_forward_and_turns_left(tmp_path: Path) -> None:
    write(tmp_path / "house" / "sparse" / "0")
    source = colmap(tmp_path / "house")
    (recording,) = source.recordings
    assert recording.name == "sparse/0"
    assert recording.times_s is None
    assert recording.poses[:, :3] == pytest.approx(camera_to_world()[:, :3, 3], abs=1e-9)
    motions = SE3Space().difference(recording.poses[:-1], recording.poses[1:])
    assert motions == pytest.approx(np.tile([0.1, 0, 0, 0, 0, 3.0], (59, 1)), abs=1e-6)
    assert [recording.image(k)[0, 0] for k in (0, 1, 59)] == [0, 1, 59]  # by name, not as the file lists them
    assert (source.notes, source.remarks) == ((), (SCALE,))
    for below in ("", "sparse", "sparse/0", "sparse/0/images.bin"):
        assert len(colmap(tmp_path / "house" / below).recordings[0]) == 60
    for below in ("", "sparse", "sparse/0"):
        assert guess_format(tmp_path / "house" / below).source == "colmap"


@pytest.mark.parametrize("text", [False, True])
def test_poses_are_those_of_pycolmap(tmp_path: Path, text: bool) -> None:
    random = np.random.default_rng(3)
    poses = camera_to_world(9)
    poses[:, :3, :3] = Rotation.random(9, random_state=3).as_matrix()
    poses[:, :3, 3] = random.normal(size=(9, 3))
    write(tmp_path / "sparse" / "0", poses, text=text)
    recording = colmap(tmp_path).recordings[0]
    theirs = {image.name: image for image in pycolmap.Reconstruction(str(tmp_path / "sparse" / "0")).images.values()}
    for k in range(9):
        back = theirs[recording.file_name(k)].cam_from_world().inverse()
        assert recording.poses[k, :3] == pytest.approx(back.translation, abs=1e-9)
        turned = Rotation.from_quat(recording.poses[k, 3:]).as_matrix()
        assert turned == pytest.approx(back.rotation.matrix() @ R_STORE_OPENCV.T, abs=1e-9)


def test_several_models_are_recordings_and_copies_are_not(tmp_path: Path) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(4))
    write(tmp_path / "sparse" / "1", camera_to_world(3), text=True, first=4)
    write(tmp_path / "exported" / "text", camera_to_world(4), text=True)
    write(tmp_path / "sparse" / "2", camera_to_world(2))
    (tmp_path / "sparse" / "2" / "images.bin").write_bytes(b"\1")
    source = colmap(tmp_path)
    assert {recording.name: len(recording) for recording in source.recordings} == {"sparse/0": 4, "sparse/1": 3}
    assert source.notes[-1].startswith("recording 'sparse/2' left out: ")
    assert [one.name for one in source.listed if not one.used] == ["exported/text"]


def test_names_of_pictures(tmp_path: Path) -> None:
    names = ["left cam/a picture.png", "café.png", "new\nline.png", "../../out.png", "/absolute/path/b.png", "gone.png"]
    write(tmp_path / "sparse" / "0", camera_to_world(2))
    for number, name in enumerate(("left cam/a picture.png", "café.png", "new\nline.png", "out.png", "b.png"), 100):
        save_picture(tmp_path / "images" / name, number)
    raw = [*(name.encode() for name in names), b"\xff\xfe.png"]
    (tmp_path / "sparse" / "0" / "images.bin").write_bytes(images_bin(raw, world_to_camera(camera_to_world(7))))
    source = colmap(tmp_path)
    (recording,) = source.recordings
    assert {recording.file_name(k): recording.image(k)[0, 0] for k in range(len(recording))} == {
        "a picture.png": 100,
        "café.png": 101,
        "new\nline.png": 102,
        "out.png": 103,
        "b.png": 104,
    }
    assert "2 of 7 pictures are not where they should be; first '../../out.png', read from 'out.png'" in source.notes[0]
    assert "2 of 7 pictures are missing" in source.notes[1]
    assert not any("\n" in note for note in source.notes)


def test_two_names_never_lead_to_one_picture(tmp_path: Path) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(4))
    names = [b"0000.png", b"left/0000.png", b"left/0001.png", b"right/0001.png", b"right/0002.jpeg"]
    (tmp_path / "sparse" / "0" / "images.bin").write_bytes(images_bin(names, world_to_camera(camera_to_world(5))))
    source = colmap(tmp_path)
    (recording,) = source.recordings
    assert [recording.file_name(k) for k in range(len(recording))] == ["0000.png", "0002.png"]
    assert "1 of 5 pictures are not where they should be; first 'right/0002.jpeg'" in source.notes[0]
    assert "3 of 5 pictures are missing, first 'left/0000.png'" in source.notes[1]


def test_each_project_has_its_own_pictures(tmp_path: Path) -> None:
    write(tmp_path / "a" / "sparse" / "0", camera_to_world(3))
    write(tmp_path / "b" / "sparse" / "0", camera_to_world(3))
    save_picture(tmp_path / "b" / "images" / "0001.png", 77)
    source = colmap(tmp_path)
    assert [(r.name, r.image(1)[0, 0]) for r in source.recordings] == [("a/sparse/0", 1), ("b/sparse/0", 77)]


def test_a_file_that_is_cut_is_read_up_to_there(tmp_path: Path) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(5))
    file = tmp_path / "sparse" / "0" / "images.bin"
    whole = file.read_bytes()
    one = (len(whole) - 8) // 5
    for cut in range(8, len(whole)):
        file.write_bytes(whole[:cut])
        if cut < 8 + one - 48:  # an image counts when only its points are cut
            with data_error("none of 5 images can be read"):
                colmap(tmp_path)
        else:
            source = colmap(tmp_path)
            assert len(source.recordings[0]) == min(5, (cut - 8 + 48) // one)
            if len(source.recordings[0]) < 5:
                assert "cut short" in source.notes[0]


@pytest.mark.parametrize("count", [2**63, 2**64 - 1, 10**12])
def test_counts_are_not_believed(tmp_path: Path, count: int) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(2))
    file = tmp_path / "sparse" / "0" / "images.bin"
    whole = file.read_bytes()
    file.write_bytes(struct.pack("<Q", count) + whole[8:])
    assert f"cut short, 2 of {count:,} images are read" in colmap(tmp_path).notes[0]
    points = len(whole) - 2 * 24 - 8
    file.write_bytes(whole[:points] + struct.pack("<Q", count) + whole[points + 8 :])
    assert len(colmap(tmp_path).recordings[0]) == 2
    file.write_bytes(struct.pack("<Q", count) + b"\x80\x04junk" * 5)
    with data_error(f"none of {count:,} images can be read"):
        colmap(tmp_path)


def test_poses_that_are_not_valid_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(5))
    posed = world_to_camera(camera_to_world(5))
    posed[0] = ([1e300] * 4, [0.0] * 3)
    posed[1] = ([0.0] * 4, [0.0] * 3)
    posed[2] = ([np.nan] * 4, [0.0] * 3)
    posed[3] = (posed[3][0], [np.inf, 0.0, 0.0])
    names = [f"{k:04d}.png".encode() for k in range(5)]
    (tmp_path / "sparse" / "0" / "images.bin").write_bytes(images_bin(names, posed))
    source = colmap(tmp_path)
    assert len(source.recordings[0]) == 1
    assert "4 of 5 poses left out" in source.notes[0]


def test_rows_of_a_text_model_that_are_broken(tmp_path: Path) -> None:
    write(tmp_path / "model" / "0", camera_to_world(3), text=True)
    file = tmp_path / "model" / "0" / "images.txt"
    file.write_text(file.read_text() + "7 0.5 0.5\n\n")
    source = colmap(tmp_path)
    assert len(source.recordings[0]) == 3
    assert source.notes[0].endswith("images.txt: 1 row of images cannot be read, first line 9")
    file.write_text("# nothing\n")
    with data_error("no row of IMAGE_ID, QW"):
        colmap(tmp_path)


def test_the_folder_of_the_pictures(tmp_path: Path) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(2))
    (tmp_path / "images").rename(tmp_path / "my photos")
    with data_error("no folder `images` beside the model", "--read images=FOLDER"):
        colmap(tmp_path)
    assert len(colmap(tmp_path, images="my photos").recordings[0]) == 2
    assert len(colmap(tmp_path / "sparse", images=str(tmp_path / "my photos")).recordings[0]) == 2
    with pytest.raises(ConfigError, match="images='elsewhere' is not a folder"):
        colmap(tmp_path, images="elsewhere")


def test_one_camera_of_a_model(tmp_path: Path) -> None:
    write(tmp_path / "sparse" / "0", camera_to_world(3))
    assert len(colmap(tmp_path, camera="1").recordings[0]) == 3
    with pytest.raises(ConfigError, match=r"camera='2': .* has 1"):
        colmap(tmp_path, camera="2")
    with data_error("has no COLMAP model"):
        colmap(tmp_path / "images")
    with data_error("is not a folder"):
        colmap(tmp_path / "none")
