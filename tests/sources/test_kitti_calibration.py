"""Where a camera sits on the car, from the calibration files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from egoequiv.sources.kitti_calibration import FILES, R_OPTICAL_VEHICLE, t_imu_camera
from egoequiv.sources.trees import FolderTree
from helpers import data_error

IDENTITY = "1 0 0 0 1 0 0 0 1"
TO_OPTICAL = "0 -1 0 0 0 -1 1 0 0"  # x ahead, y left, z up -> x right, y down, z ahead
IMU, VELO, CAM = FILES


def write(folder: Path, **changes: str | None) -> FolderTree:
    """Calibration of a car whose laser sits 1 m behind, 2 m left and 3 m above the IMU, the camera half a metre on."""
    lines = {
        IMU: {"calib_time": "25-May-2012 16:47:16", "R": IDENTITY, "T": "1 -2 -3"},
        VELO: {"R": TO_OPTICAL, "T": "0 0 -0.5", "delta_f": "0 0"},
        CAM: {
            "R_rect_00": IDENTITY,
            "P_rect_00": "700 0 300 0 0 700 100 0 0 0 1 0",
            "P_rect_01": "700 0 300 -350 0 700 100 0 0 0 1 0",
            "P_rect_02": "700 0 300 42 0 700 100 0.2 0 0 1 0.003",
            "P_rect_03": "700 0 300 -308 0 700 100 2 0 0 1 0.003",
        },
    }
    for place, value in changes.items():
        file, _, key = place.partition("/")
        if value is None:
            del lines[file][key]
        else:
            lines[file][key] = value
    folder.mkdir(exist_ok=True)
    for file, rows in lines.items():
        (folder / file).write_text("".join(f"{key}: {value}\n" for key, value in rows.items()))
    return FolderTree(folder)


@pytest.mark.parametrize(("camera", "left_m"), [(0, 0.0), (1, -0.5), (2, 0.06), (3, -0.44)])
def test_the_place_of_each_camera_by_hand(tmp_path: Path, camera: int, left_m: float) -> None:
    # A point p of the IMU is p + (1, -2, -3) for the laser, so the laser is at (-1, 2, 3); the camera half a metre on.
    transform = t_imu_camera(write(tmp_path), "", camera)
    assert transform[:3, 3] == pytest.approx([-0.5, 2 + left_m, 3])
    assert transform[:3, :3] == pytest.approx(np.eye(3))  # it looks ahead, upright
    assert transform[3].tolist() == [0, 0, 0, 1]


def test_a_camera_that_looks_down_by_hand(tmp_path: Path) -> None:
    # Rectification by an angle about the optical x axis (right): the new z axis (ahead) comes from below or above.
    c, s = math.cos(0.1), math.sin(0.1)
    tree = write(tmp_path, **{f"{CAM}/R_rect_00": f"1 0 0 0 {c} {-s} 0 {s} {c}"})
    ahead = t_imu_camera(tree, "", 0)[:3, :3] @ [1, 0, 0]
    # The row of z is (0, s, c): ahead and s down, for optical y is down.
    assert ahead == pytest.approx([c, 0, -s])


def test_a_turned_laser_turns_the_camera(tmp_path: Path) -> None:
    tree = write(tmp_path, **{f"{IMU}/R": "0 1 0 -1 0 0 0 0 1", f"{IMU}/T": "0 0 0"})
    transform = t_imu_camera(tree, "", 0)
    # p_velo = (p_y, -p_x, p_z): the laser's ahead is the IMU's left.
    assert transform[:3, :3] @ [1, 0, 0] == pytest.approx([0, 1, 0])
    assert transform[:3, 3] == pytest.approx([0, 0.5, 0])


def test_a_folder_inside_the_tree(tmp_path: Path) -> None:
    write(tmp_path / "2011_09_26")
    assert t_imu_camera(FolderTree(tmp_path), "2011_09_26", 0)[:3, 3] == pytest.approx([-0.5, 2, 3])


def test_the_axes_of_a_camera() -> None:
    assert (R_OPTICAL_VEHICLE @ [1, 0, 0]).tolist() == [0, 0, 1]  # ahead is z
    assert (R_OPTICAL_VEHICLE @ [0, 1, 0]).tolist() == [-1, 0, 0]  # left is -x
    assert (R_OPTICAL_VEHICLE @ [0, 0, 1]).tolist() == [0, -1, 0]  # up is -y


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    tree = write(tmp_path)
    (tmp_path / file).unlink()
    with data_error(str(tmp_path / file), "cannot be read"):
        t_imu_camera(tree, "", 0)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (f"{IMU}/R", None, "there is no line 'R'"),
        (f"{VELO}/T", None, "there is no line 'T'"),
        (f"{CAM}/R_rect_00", None, "there is no line 'R_rect_00'"),
        (f"{CAM}/P_rect_02", None, "there is no line 'P_rect_02'"),
        (f"{IMU}/T", "1 2 three", "row 3: T contains something that is not a number"),
        (f"{IMU}/T", "1 2", "row 3: expected 3 finite numbers for T"),
        (f"{VELO}/R", IDENTITY + " 0", "row 1: expected 9 finite numbers for R"),
        (f"{VELO}/T", "1 nan 3", "row 2: expected 3 finite numbers for T"),
        (f"{VELO}/R", "0 0 0 0 0 0 0 0 0", "row 1: the values of R are damaged"),
        (f"{VELO}/R", "2 0 0 0 1 0 0 0 1", "row 1: the values of R are damaged"),
        (f"{VELO}/R", "-1 0 0 0 1 0 0 0 1", "row 1: the values of R are damaged"),
        (f"{CAM}/P_rect_02", "0 0 300 42 0 700 100 0 0 0 1 0", "row 4: the values of P_rect_02 are damaged"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, place: str, value: str | None, words: str) -> None:
    tree = write(tmp_path, **{place: value})
    with data_error(str(tmp_path / place.split("/")[0]), words):
        t_imu_camera(tree, "", 2)


def test_lines_that_are_not_needed_may_be_anything(tmp_path: Path) -> None:
    tree = write(tmp_path, **{f"{CAM}/P_rect_03": "rubbish", f"{CAM}/D_00": "more rubbish", f"{VELO}/delta_f": ""})
    assert t_imu_camera(tree, "", 1)[:3, 3] == pytest.approx([-0.5, 1.5, 3])
