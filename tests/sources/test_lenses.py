"""Lenses that files describe: fractions of the picture by hand, in every format; damage is a note and no lens."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pycolmap
import pytest
from PIL import Image

from egoequiv.catalog import open_source
from egoequiv.sources import Source
from egoequiv.sources.lenses import distortion_of
from egoequiv.sources.pictures import picture_size
from kitti_files import DRIVE, write_drive, zip_folder
from logs import colmap, euroc, phone, seven_scenes, transforms, tum
from logs.lenses import check, lacks, lens_of, only
from logs.motion import camera_to_world, save_picture
from logs.video import moving_pictures

KITTI = """S_00: 1392 512
K_00: 984.2 0 690 0 980.8 233.2 0 0 1
D_00: -0.37 0.2 0.002 0.001 -0.07
S_rect_00: 1242 375
P_rect_00: 721.5377 0 609.5593 0 0 721.5377 172.854 0 0 0 1 0
P_rect_01: 721.5377 0 609.5593 -387 0 721.5377 172.854 0 0 0 1 0
"""


def test_kitti_has_the_size_of_its_calibration_and_not_of_its_pictures(tmp_path: Path) -> None:
    write_drive(tmp_path)  # pictures of 8 x 6
    assert only(open_source("kitti", tmp_path)).lens is None
    assert open_source("kitti", tmp_path).notes == ()
    (tmp_path / DRIVE[:10] / "calib_cam_to_cam.txt").write_text(KITTI)
    source = open_source("kitti", tmp_path)
    lens = lens_of(source)
    check(lens, (721.5377 / 1242, 721.5377 / 375), (610.0593 / 1242, 173.354 / 375), "calib_cam_to_cam.txt")
    assert lens.distortion == ()
    assert lens.view_deg == pytest.approx(81.4, abs=0.1)  # 2 atan(1242 / 2 / 721.5)
    assert source.notes == ()
    assert lens_of(open_source("kitti", zip_folder(tmp_path, tmp_path / "all.zip"))) == lens


def test_kitti_pictures_that_are_not_rectified_are_distorted(tmp_path: Path) -> None:
    write_drive(tmp_path, kind="extract")
    (tmp_path / DRIVE[:10] / "calib_cam_to_cam.txt").write_text(KITTI)
    for path in (tmp_path, tmp_path / DRIVE[:10] / f"{DRIVE}_extract"):
        lens = lens_of(open_source("kitti", path))
        check(lens, (984.2 / 1392, 980.8 / 512), (690.5 / 1392, 233.7 / 512), "calib_cam_to_cam.txt")
        assert lens.distortion == (-0.37, 0.2, 0.002, 0.001, -0.07)


@pytest.mark.parametrize(
    "text", ["", "\x00\xff", KITTI.replace("1242 375", "1242"), KITTI.replace("721.5377 0", "x 0")]
)
def test_damaged_kitti_calibration_is_a_note(tmp_path: Path, text: str) -> None:
    write_drive(tmp_path)
    (tmp_path / DRIVE[:10] / "calib_cam_to_cam.txt").write_text(text)
    lacks(open_source("kitti", tmp_path), "calib_cam_to_cam.txt")


def write_odometry(root: Path, calibration: str | None) -> Source:
    """Two pictures of 1240 x 376, and their poses."""
    sequence = root / "sequences" / "00"
    for k in range(2):
        save_picture(sequence / "image_0" / f"{k:06d}.png", k, (1240, 376))
    (sequence / "times.txt").write_text("0\n0.1\n")
    (root / "poses").mkdir(parents=True)
    (root / "poses" / "00.txt").write_text("".join(f"1 0 0 0 0 1 0 0 0 0 1 {k}\n" for k in range(2)))
    if calibration is not None:
        (sequence / "calib.txt").write_text(calibration)
    return open_source("kitti-odometry", root)


def test_kitti_odometry_has_the_size_of_the_first_picture(tmp_path: Path) -> None:
    source = write_odometry(tmp_path / "a", "P0: 718.8 0 607.2 0 0 718.8 185.2 0 0 0 1 0\n")
    check(lens_of(source), (718.8 / 1240, 718.8 / 376), (607.7 / 1240, 185.7 / 376), "calib.txt")
    without = write_odometry(tmp_path / "b", None)
    assert (only(without).lens, without.notes) == (None, ())
    lacks(write_odometry(tmp_path / "c", "P1: 718.8 0 607.2 0 0 718.8 185.2 0 0 0 1 0\n"), "'P0'")
    twice = "P0: 1437.6 0 1214.4 0 0 1437.6 370.4 0 0 0 1 0\n"  # for pictures that were made smaller since
    lacks(write_odometry(tmp_path / "d", twice), "do not fit pictures of 1240 x 376")


def test_seven_scenes_is_for_640_by_480(tmp_path: Path) -> None:
    seven_scenes.write(tmp_path / "kitchen" / "seq-01", camera_to_world(3))
    file = tmp_path / "kitchen" / "camera-intrinsics.txt"
    path = tmp_path / "kitchen"
    assert only(open_source("seven-scenes", path)).lens is None
    file.write_text("5.85e+02 0.0 3.20e+02\n0.0 5.85e+02 2.40e+02\n0.0 0.0 1.0\n")
    check(lens_of(open_source("seven-scenes", path)), (585 / 640, 585 / 480), (320.5 / 640, 240.5 / 480), file.name)
    for text in ("585 0 320", "585 0 320 0 585 240 0 0 nan", "-585 0 320 0 585 240 0 0 1", "é", "x " * 9):
        file.write_text(text)
        lacks(open_source("seven-scenes", path), str(file))


def test_fox_by_hand_from_the_corner_of_the_first_pixel(tmp_path: Path) -> None:
    numbers = {"w": 1080.0, "h": 1920.0, "fl_x": 1375.52, "fl_y": 1374.49, "cx": 554.558, "cy": 965.268}
    distortion = {"k1": 0.0578, "k2": -0.0805, "p1": -0.00098, "p2": 0.00015}
    transforms.write(tmp_path / "fox", camera_to_world(3), **(numbers | distortion))
    for k in range(3):
        Image.new("L", (90, 160), k).save(tmp_path / "fox" / "images" / f"{k:04d}.png")
    lens = lens_of(open_source("transforms", tmp_path / "fox"))
    check(lens, (1375.52 / 1080, 1374.49 / 1920), (554.558 / 1080, 965.268 / 1920), "transforms.json")
    assert lens.distortion == (0.0578, -0.0805, -0.00098, 0.00015)


def test_a_field_of_view_alone_is_a_lens_with_square_pixels(tmp_path: Path) -> None:
    transforms.write(tmp_path, camera_to_world(3), fl_x=None, w=None, h=None, camera_angle_x=np.pi / 2)
    check(lens_of(open_source("transforms", tmp_path)), (0.5, 0.5 * 32 / 24), (0.5, 0.5), "transforms.json")
    transforms.write(tmp_path, camera_to_world(3), fl_x=None, camera_angle_x=None)
    assert only(open_source("transforms", tmp_path)).lens is None


def test_frames_with_lenses_of_their_own(tmp_path: Path) -> None:
    content = transforms.write(tmp_path, camera_to_world(4), fl_x=None, camera_angle_x=None)
    for frame, focal in zip(content["frames"], (40.0, 40.0, 40.2, 40.0), strict=True):
        frame["fl_x"] = focal
    (tmp_path / "transforms.json").write_text(json.dumps(content))
    check(lens_of(open_source("transforms", tmp_path)), (40 / 32, 40 / 24), (0.5, 0.5), "transforms.json")
    content["frames"][1]["fl_x"] = 16.0
    (tmp_path / "transforms.json").write_text(json.dumps(content))
    source = open_source("transforms", tmp_path)
    assert only(source).lens is None
    assert any("3 lenses, field of view from 43° to 90°" in remark for remark in source.remarks)


@pytest.mark.parametrize(
    "changes",
    [
        {"fl_x": "40"},
        {"fl_x": [40]},
        {"fl_x": -40},
        {"fl_x": float("nan")},
        {"w": 0},
        {"fl_x": 1e9},
        {"cx": 1e5, "cy": 1},
        {"fl_x": None, "camera_angle_x": 4.0},
        {"camera_model": "EQUIRECTANGULAR"},
        {"w": 24, "h": 32},
    ],
)
def test_damaged_numbers_of_a_scene_are_a_note(tmp_path: Path, changes: dict[str, Any]) -> None:
    transforms.write(tmp_path, camera_to_world(3), **changes)
    lacks(open_source("transforms", tmp_path), "transforms.json")


def test_a_fisheye_is_read_without_its_distortion(tmp_path: Path) -> None:
    transforms.write(tmp_path, camera_to_world(3), camera_model="OPENCV_FISHEYE", k1=0.1)
    source = open_source("transforms", tmp_path)
    assert lens_of(source).distortion == ()
    assert any("the distortion model OPENCV_FISHEYE (1 numbers) is ignored" in remark for remark in source.remarks)


# Numbers of each model, and the focal lengths and the distortion that they mean; pictures are 32 x 24.
MODELS: dict[str, tuple[list[float], tuple[float, float], tuple[float, ...]]] = {
    "SIMPLE_PINHOLE": ([30, 15, 13], (30, 30), ()),
    "PINHOLE": ([30, 31, 15, 13], (30, 31), ()),
    "SIMPLE_RADIAL": ([30, 15, 13, 0.1], (30, 30), (0.1, 0, 0, 0)),
    "RADIAL": ([30, 15, 13, 0.1, 0.2], (30, 30), (0.1, 0.2, 0, 0)),
    "OPENCV": ([30, 31, 15, 13, 0.1, 0.2, 0.3, 0.4], (30, 31), (0.1, 0.2, 0.3, 0.4)),
    "FULL_OPENCV": ([30, 31, 15, 13, 0.1, 0.2, 0.3, 0.4, 0.5, 0, 0, 0], (30, 31), (0.1, 0.2, 0.3, 0.4, 0.5)),
}
IGNORED = [name for name in pycolmap.CameraModelId.__members__ if name not in (*MODELS, "INVALID", "EQUIRECTANGULAR")]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", [False, True])
def test_models_of_colmap_by_hand(tmp_path: Path, model: str, text: bool) -> None:
    numbers, (x, y), distortion = MODELS[model]
    write_cameras(tmp_path, [(1, model, numbers)], text)
    lens = lens_of(open_source("colmap", tmp_path))
    check(lens, (x / 32, y / 24), (15 / 32, 13 / 24), "cameras.txt" if text else "cameras.bin")
    assert lens.distortion == distortion


def write_cameras(folder: Path, cameras: list[tuple[int, str, list[float]]], text: bool = False) -> None:
    """A model of 4 pictures, with these cameras."""
    model = folder / "sparse" / "0"
    colmap.write(model, camera_to_world(4), text=text)
    if text:
        rows = [f"{number} {name} 32 24 {' '.join(map(str, values))}\n" for number, name, values in cameras]
        (model / "cameras.txt").write_text("# CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n" + "".join(rows))
        return
    numbers = {name: int(member) for name, member in pycolmap.CameraModelId.__members__.items()}
    parts = [struct.pack(f"<IiQQ{len(v)}d", number, numbers[name], 32, 24, *v) for number, name, v in cameras]
    (model / "cameras.bin").write_bytes(struct.pack("<Q", len(parts)) + b"".join(parts))


@pytest.mark.parametrize("model", IGNORED)
def test_other_models_of_colmap_are_read_without_distortion(tmp_path: Path, model: str) -> None:
    camera = pycolmap.Camera.create_from_model_name(1, model, 30.0, 32, 24)
    others = [(7, model, list(camera.params)), (1, model, list(camera.params))]  # found behind another of its length
    write_cameras(tmp_path, others)
    source = open_source("colmap", tmp_path)
    lens = lens_of(source)
    check(lens, (30 / 32, 30 / 24), (0.5, 0.5), "cameras.bin")
    assert lens.distortion == ()
    assert any(f"the distortion model {model} (" in remark for remark in source.remarks)


def test_several_cameras_of_colmap(tmp_path: Path) -> None:
    write_cameras(tmp_path, [(1, "PINHOLE", [30, 30, 16, 12]), (2, "PINHOLE", [60, 60, 16, 12])], text=True)
    images = tmp_path / "sparse" / "0" / "images.txt"
    images.write_text(images.read_text().replace(" 1 0000.png", " 2 0000.png").replace(" 1 0001.png", " 2 0001.png"))
    source = open_source("colmap", tmp_path)
    assert only(source).lens is None
    assert any("2 lenses, field of view from 30° to 56°" in remark for remark in source.remarks)
    check(lens_of(open_source("colmap", tmp_path, camera="2")), (60 / 32, 60 / 24), (0.5, 0.5), "cameras.txt")


@pytest.mark.parametrize("keep", [0, 7, 8, 20, 60])
def test_cameras_that_were_cut_short_are_a_note(tmp_path: Path, keep: int) -> None:
    colmap.write(tmp_path / "sparse" / "0", camera_to_world(4))
    file = tmp_path / "sparse" / "0" / "cameras.bin"
    file.write_bytes(file.read_bytes()[:keep])
    lacks(open_source("colmap", tmp_path), "cameras.bin has no camera 1")


@pytest.mark.parametrize(
    "row",
    [
        "1 PINHOLE 32 24 30",
        f"1 PINHOLE 1{'0' * 400} 24 30 30 1 1",
        "1 PINHOLE 0 0 30 30 1 1",
        "1 ODD 32 24 9 9 9 9",
        "1 PINHOLE 24 32 30 30 12 16",
        "1 PINHOLE 32 24 inf 30 16 12",
        "1 EQUIRECTANGULAR 32 24 32 24",
    ],
)
def test_damaged_cameras_are_a_note(tmp_path: Path, row: str) -> None:
    colmap.write(tmp_path / "sparse" / "0", camera_to_world(4), text=True)
    (tmp_path / "sparse" / "0" / "cameras.txt").write_text(f"{row}\n")
    lacks(open_source("colmap", tmp_path), "cameras.txt")


def test_euroc_by_hand(tmp_path: Path) -> None:
    euroc.write(tmp_path / "flight", camera_to_world(60), every=10)
    source = open_source("euroc", tmp_path / "flight")
    lens = lens_of(source)
    check(lens, (458.654 / 752, 457.296 / 480), (367.715 / 752, 248.875 / 480), "sensor.yaml")
    assert lens.distortion == (-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05)
    assert source.notes == ()
    assert only(open_source("euroc", tmp_path / "flight", camera="none")).lens is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("intrinsics: [458.654,", "intrinsics: [oops,", "intrinsics contains something that is not a number"),
        ("intrinsics: [458.654,", "intrinsics: [1.2, 458.654,", "4 intrinsics"),
        ("resolution: [752, 480]", "resolution: []", "2 sides of resolution"),
        ("camera_model: pinhole", "camera_model: omni", "omni"),
        ("458.654", "-458.654", "above 0"),
    ],
)
def test_a_damaged_sensor_is_a_note(tmp_path: Path, old: str, new: str, words: str) -> None:
    euroc.write(tmp_path / "flight", camera_to_world(60), every=10)
    file = tmp_path / "flight" / "mav0" / "cam0" / "sensor.yaml"
    file.write_text(file.read_text().replace(old, new))
    lacks(open_source("euroc", tmp_path / "flight"), words, str(file))


def test_an_equidistant_euroc_camera_is_read_without_distortion(tmp_path: Path) -> None:
    euroc.write(tmp_path / "flight", camera_to_world(60), every=10)
    file = tmp_path / "flight" / "mav0" / "cam0" / "sensor.yaml"
    whole = file.read_text()
    file.write_text(whole.replace("radial-tangential", "equidistant"))
    source = open_source("euroc", tmp_path / "flight")
    assert lens_of(source).distortion == ()
    assert any("equidistant (4 numbers) is ignored" in remark for remark in source.remarks)
    file.write_text(whole[: whole.index("intrinsics")])
    assert only(open_source("euroc", tmp_path / "flight")).lens is None


def test_phones_by_hand(tmp_path: Path) -> None:
    phone.write_stray(tmp_path / "stray", moving_pictures(4))
    height, width = moving_pictures(1).shape[1:3]
    middle = (0.5, 0.5 + 2 / height)  # the writer puts the centre two pixels below it
    stray = open_source("phone", tmp_path / "stray")
    check(lens_of(stray), (0.75, 0.75 * width / height), middle, "camera_matrix.csv")
    phone.write_record3d(tmp_path / "export", moving_pictures(4))
    phone.write_r3d(tmp_path / "scan.r3d", moving_pictures(4), K=[36, 0, 23.5, 0, 36, 17.5, 0, 0, 1])  # row by row
    for name, file in (("export", "metadata.json"), ("scan.r3d", "metadata")):
        check(lens_of(open_source("phone", tmp_path / name)), (36 / 48, 36 / 32), (24 / 48, 18 / 32), file)
    assert stray.notes == ()


def test_damaged_matrices_of_phones_are_a_note(tmp_path: Path) -> None:
    phone.write_stray(tmp_path / "stray", moving_pictures(4))
    for text in ("", "1600, 0, 960\n0, 1600, 720\n0, 0, 1\n", "1, 2", "a, b"):  # the second is for a larger video
        (tmp_path / "stray" / "camera_matrix.csv").write_text(text)
        lacks(open_source("phone", tmp_path / "stray"), "camera_matrix.csv")
    (tmp_path / "stray" / "camera_matrix.csv").unlink()
    assert only(open_source("phone", tmp_path / "stray")).lens is None
    odd: tuple[dict[str, Any], ...] = (
        {"K": [1]},
        {"K": "K"},
        {"w": None},
        {"h": 0},
        {"K": [[]] * 9},
        {"w": 32, "h": 48},
    )
    for number, changes in enumerate(odd):
        phone.write_record3d(tmp_path / str(number), moving_pictures(4), **changes)
        lacks(open_source("phone", tmp_path / str(number)), "metadata.json")


def test_tum_has_no_lens(tmp_path: Path) -> None:
    tum.prepare(tmp_path)
    folder = next(one for one in sorted(tmp_path.iterdir()) if one.is_dir())
    assert all(recording.lens is None for recording in open_source("tum", folder).recordings)


@pytest.mark.parametrize(
    ("model", "numbers", "used"),
    [
        ("plumb_bob", [0, 0, 0, 0, 0], ()),
        ("rational_polynomial", [0.1, 0.2, 0.3, 0.4, 0.5, 0, 0, 0], (0.1, 0.2, 0.3, 0.4, 0.5)),
        ("none", [], ()),
        ("", [0.0], ()),
    ],
)
def test_distortion_without_a_remark(model: str, numbers: list[float], used: tuple[float, ...]) -> None:
    notes: list[str] = []
    assert distortion_of(model, numbers, "file", notes) == used
    assert notes == []


def test_distortion_of_more_numbers_or_no_name_is_said_to_be_ignored_once() -> None:
    notes: list[str] = []
    for _ in range(2):
        assert distortion_of("rational_polynomial", [0.1] * 8, "file", notes) == ()
    assert distortion_of("", [0.1], "file", notes) == ()
    assert [note.split(" is ignored")[0] for note in notes] == [
        "file: the distortion model rational_polynomial (8 numbers)",
        "file: the distortion model without a name (1 numbers)",
    ]


@pytest.mark.parametrize(("orientation", "size"), [(1, (4, 6)), (3, (4, 6)), (6, (6, 4)), (8, (6, 4))])
def test_the_size_of_a_picture_is_that_of_the_upright_one(
    tmp_path: Path, orientation: int, size: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    for name in ("a.jpg", "a.png"):
        Image.new("L", (6, 4)).save(tmp_path / name, exif=exif)
        assert picture_size(tmp_path / name, name) == size


def test_photographs_that_were_turned_since_have_no_lens(tmp_path: Path) -> None:
    """The model was made of the pixels as they are stored; with its EXIF orientation a picture lies on its side."""
    colmap.write(tmp_path / "sparse" / "0", camera_to_world(4))
    exif = Image.Exif()
    exif[274] = 6
    for file in (tmp_path / "images").iterdir():
        Image.open(file).save(file, exif=exif)
    lacks(open_source("colmap", tmp_path), "has 24 x 32: it was turned")
