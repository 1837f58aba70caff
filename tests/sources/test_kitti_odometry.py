"""KITTI odometry: poses worked out by hand, and nothing matched that does not belong together."""

from __future__ import annotations

import pickle
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.transform import Rotation

from egoequiv.errors import BrokenFrameError, ConfigError
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.sources.kitti_odometry import kitti_odometry
from helpers import data_error

FORWARD, YAW = DRIVING_POSES.index("forward_m"), DRIVING_POSES.index("yaw_deg")


def camera_rows(
    right_m: Collection[float], ahead_m: Collection[float], left_deg: Collection[float]
) -> NDArray[np.float64]:
    """Rows of a poses file for a car on a plane, in the axes of its first camera: x right, y down, z ahead."""
    rows = []
    for x, z, angle in zip(right_m, ahead_m, left_deg, strict=True):
        c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
        rows.append([c, 0, -s, x, 0, 1, 0, 0, s, 0, c, z])  # to the left is from z (ahead) to -x
    return np.array(rows)


def straight(count: int = 4, step_m: float = 1.0) -> NDArray[np.float64]:
    return camera_rows([0] * count, [step_m * k for k in range(count)], [0] * count)


def write(
    root: Path,
    name: str = "00",
    rows: NDArray[np.float64] | None = None,
    images: Collection[int] | None = None,
    times: Collection[float] | None = None,
    camera: int = 0,
) -> None:
    """Write one sequence in the official layout."""
    rows = straight() if rows is None else rows
    sequence = root / "sequences" / name
    (sequence / f"image_{camera}").mkdir(parents=True)
    for k in range(len(rows)) if images is None else images:
        picture = Image.new("RGB" if camera > 1 else "L", (6, 4), (10 * k, 0, 0) if camera > 1 else 10 * k)
        picture.save(sequence / f"image_{camera}" / f"{k:06d}.png")
    (sequence / "calib.txt").write_text("".join(f"P{k}: 7.2 0 2.8 {-4 * k} 0 7.2 1.7 0 0 0 1 0\n" for k in range(4)))
    times = [0.1 * k for k in range(len(rows))] if times is None else times
    (sequence / "times.txt").write_text("".join(f"{time:e}\n" for time in times))
    (root / "poses").mkdir(exist_ok=True)
    (root / "poses" / f"{name}.txt").write_text("".join(" ".join(f"{v:e}" for v in row) + "\n" for row in rows))


def read(root: Path, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    write(root, rows=rows)
    return kitti_odometry(root).recordings[0].poses


def test_a_sequence_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    write(tmp_path, "05")
    source = kitti_odometry(tmp_path)
    assert source.name == "kitti-odometry"
    assert source.space == PlanarSpace()
    assert source.pose_columns == DRIVING_POSES
    assert source.notes == ()
    assert dict(source.settings) == {"path": str(tmp_path), "sequences": "all", "camera": 0}
    (recording,) = source.recordings
    assert recording.name == "odometry/05"
    assert recording.attributes == {"sequence": "05"}
    assert recording.labels is None
    assert recording.times_s is not None
    assert recording.times_s.tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert [np.unique(recording.image(k)).tolist() for k in range(4)] == [[0], [10], [20], [30]]
    assert recording.image(0).shape == (4, 6)


def test_straight_ahead(tmp_path: Path) -> None:
    poses = read(tmp_path, straight(4, 1.5))
    expected = np.zeros((4, 9))
    expected[:, 0] = expected[:, FORWARD] = [0, 1.5, 3, 4.5]  # x is forward
    expected[:, 6] = 1  # no turn
    np.testing.assert_allclose(poses, expected, atol=1e-9)


def test_reversing_goes_back_along_the_same_heading(tmp_path: Path) -> None:
    poses = read(tmp_path, camera_rows([0] * 5, [0, 2, 3, 2, -1], [0] * 5))
    np.testing.assert_allclose(poses[:, FORWARD], [0, 2, 3, 2, -1], atol=1e-9)
    np.testing.assert_allclose(poses[:, YAW], 0, atol=1e-9)


def test_a_quarter_circle_to_the_left(tmp_path: Path) -> None:
    """A circle of radius 10 m about the point 10 m to the left, in three steps of 30 degrees."""
    angle = np.array([0.0, 30.0, 60.0, 90.0])
    rad = np.deg2rad(angle)
    poses = read(tmp_path, camera_rows(10 * np.cos(rad) - 10, 10 * np.sin(rad), angle))
    np.testing.assert_allclose(poses[-1, :3], [10, 10, 0], atol=1e-5)  # ahead and to the left
    np.testing.assert_allclose(poses[:, YAW], angle, atol=1e-4)
    chord_m = 2 * 10 * np.sin(np.deg2rad(15))  # a chord lies along the mean of the headings at its ends
    np.testing.assert_allclose(poses[:, FORWARD], chord_m * np.arange(4), atol=1e-4)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(poses[-1, 3:7], [0, 0, half, half], atol=1e-5)


def test_a_turn_to_the_right_counts_down(tmp_path: Path) -> None:
    poses = read(tmp_path, camera_rows([0, 1, 3], [0, 2, 3], [0, -40, -80]))
    np.testing.assert_allclose(poses[:, YAW], [0, -40, -80], atol=1e-4)
    np.testing.assert_allclose(poses[1, :3], [2, -1, 0], atol=1e-6)  # right is negative y


def test_the_heading_counts_on_beyond_a_full_turn(tmp_path: Path) -> None:
    angle = np.arange(0, 800, 50.0)
    poses = read(tmp_path, camera_rows(0 * angle, 0 * angle, angle))
    np.testing.assert_allclose(poses[:, YAW], angle, atol=1e-3)
    np.testing.assert_allclose(poses[:, FORWARD], 0, atol=1e-9)


def test_sliding_sideways_is_not_driving_forward(tmp_path: Path) -> None:
    poses = read(tmp_path, camera_rows([0, 1, 2], [0, 0, 0], [0, 0, 0]))
    np.testing.assert_allclose(poses[:, FORWARD], 0, atol=1e-9)
    np.testing.assert_allclose(poses[:, 1], [0, -1, -2], atol=1e-9)


def test_up_a_hill_the_whole_way_counts(tmp_path: Path) -> None:
    rows = straight(3)
    climb = Rotation.from_euler("x", 30, degrees=True).as_matrix()  # the camera looks up: z turns towards -y
    for k, row in enumerate(rows):
        row.reshape(3, 4)[:, :3] = climb
        row.reshape(3, 4)[:, 3] = climb @ [0, 0, 2.0 * k]
    level = np.vstack([straight(1), rows])  # the first camera is level, so the hill is seen as one
    poses = read(tmp_path, level)
    np.testing.assert_allclose(poses[1:, 2], [0, 1, 2], atol=1e-5)  # z is up: sin 30 of 2 m a step
    np.testing.assert_allclose(poses[1:, FORWARD] - poses[1, FORWARD], [0, 2, 4], atol=1e-5)
    np.testing.assert_allclose(poses[:, YAW], 0, atol=1e-6)


def test_the_world_is_the_first_vehicle_wherever_the_file_begins(tmp_path: Path) -> None:
    rows = camera_rows([0, -1, -3], [0, 2, 3], [0, 40, 80])
    moved = np.eye(4)
    moved[:3, :3] = Rotation.from_euler("xyz", [5, 70, -10], degrees=True).as_matrix()
    moved[:3, 3] = [4, -2, 9]
    homogeneous = np.concatenate([rows.reshape(-1, 3, 4), np.tile([[[0, 0, 0, 1.0]]], (3, 1, 1))], axis=1)
    poses = read(tmp_path / "here", rows)
    np.testing.assert_allclose(read(tmp_path / "there", (moved @ homogeneous)[:, :3].reshape(-1, 12)), poses, atol=1e-4)


def test_the_parent_of_the_dataset_folder_will_do(tmp_path: Path) -> None:
    write(tmp_path / "dataset")
    assert kitti_odometry(tmp_path).frame_count == 4
    assert kitti_odometry(tmp_path / "dataset").frame_count == 4


@pytest.mark.parametrize("camera", [0, 1, 2, 3])
def test_every_camera(tmp_path: Path, camera: int) -> None:
    write(tmp_path, camera=camera)
    recording = kitti_odometry(tmp_path, camera=camera).recordings[0]
    assert recording.image(3).shape == ((4, 6) if camera < 2 else (4, 6, 3))
    with data_error("image_" + str((camera + 1) % 4), "00"):
        kitti_odometry(tmp_path, camera=(camera + 1) % 4)


@pytest.mark.parametrize("camera", [-1, 4])
def test_there_are_four_cameras(tmp_path: Path, camera: int) -> None:
    write(tmp_path)
    with pytest.raises(ConfigError, match=f"camera={camera}"):
        kitti_odometry(tmp_path, camera=camera)


def test_sequences_are_chosen_by_name(tmp_path: Path) -> None:
    for name in ("00", "03", "05"):
        write(tmp_path, name)
    assert [r.name for r in kitti_odometry(tmp_path).recordings] == ["odometry/00", "odometry/03", "odometry/05"]
    assert [r.name for r in kitti_odometry(tmp_path, sequences="05, 00").recordings] == ["odometry/05", "odometry/00"]
    with data_error(str(tmp_path), "'07'", "00, 03, 05"):
        kitti_odometry(tmp_path, sequences="00,07")
    with data_error(str(tmp_path), "''", "00, 03, 05"):
        kitti_odometry(tmp_path, sequences="")
    with pytest.raises(ConfigError, match="twice"):
        kitti_odometry(tmp_path, sequences="00,00")


def test_sequences_without_poses_or_images_are_left_out_with_a_note(tmp_path: Path) -> None:
    for name in ("00", "01", "11", "12"):
        write(tmp_path, name)
    for name in ("11", "12"):
        (tmp_path / "poses" / f"{name}.txt").unlink()
    (tmp_path / "sequences" / "01" / "image_0").rename(tmp_path / "sequences" / "01" / "image_1")
    source = kitti_odometry(tmp_path)
    assert [r.name for r in source.recordings] == ["odometry/00"]
    assert source.notes == (
        "sequences without poses, left out: 2 (11, 12)",
        "sequences without an image_0 folder, left out: 1 (01)",
    )
    with data_error("sequence 11", str(tmp_path / "poses" / "11.txt"), "missing"):
        kitti_odometry(tmp_path, sequences="00,11")
    with data_error("sequence 01", str(tmp_path / "sequences" / "01" / "image_0"), "missing"):
        kitti_odometry(tmp_path, sequences="01")


def test_images_missing_from_the_middle_are_matched_by_number(tmp_path: Path) -> None:
    write(tmp_path, rows=straight(6), images=[0, 1, 4, 5])
    source = kitti_odometry(tmp_path)
    (recording,) = source.recordings
    np.testing.assert_allclose(recording.poses[:, FORWARD], [0, 1, 4, 5])
    assert recording.times_s is not None
    assert recording.times_s.tolist() == pytest.approx([0, 0.1, 0.4, 0.5])
    assert np.unique(recording.image(2)).tolist() == [40]
    assert source.notes == ("sequence 00: poses without an image, left out: 2 of 6",)


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (range(5), "5 images, numbered 0 to 4"),
        (range(1, 6), "5 images, numbered 1 to 5"),
        (range(1, 7), "6 images, numbered 1 to 6"),
        (range(7), "7 images, numbered 0 to 6"),
        ((), "0 images"),
    ],
)
def test_images_that_do_not_cover_the_poses_are_refused(tmp_path: Path, images: Collection[int], words: str) -> None:
    write(tmp_path, rows=straight(6), images=images)
    folder, poses = tmp_path / "sequences" / "00" / "image_0", tmp_path / "poses" / "00.txt"
    with data_error(str(folder), words, str(poses), "6 rows"):
        kitti_odometry(tmp_path)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_times_of_another_number_are_refused(tmp_path: Path, count: int) -> None:
    write(tmp_path, times=[0.1 * k for k in range(count)])
    times, poses = tmp_path / "sequences" / "00" / "times.txt", tmp_path / "poses" / "00.txt"
    with data_error(str(times), f"{count} rows", str(poses), "has 4"):
        kitti_odometry(tmp_path)


@pytest.mark.parametrize("late", [0.1, 0.05])
def test_time_must_go_on(tmp_path: Path, late: float) -> None:
    write(tmp_path, times=[0, 0.1, late, 0.3])
    with data_error(str(tmp_path / "sequences" / "00" / "times.txt"), "row 3", f"{late} s", "0.1 s"):
        kitti_odometry(tmp_path)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1 0 0 0 0 1 0 0 0 0 1 x7", ("row 2", "'x7'")),
        ("1 0 0 0 0 1 0 0 0 0 1 nan", ("row 2", "'nan'")),
        ("1 0 0 0 0 1 0 0 0 0 1 -inf", ("row 2", "'-inf'")),
        ("1 0 0 0 0 1 0 0 0 0 1", ("row 2", "12 numbers", "found 11")),
        ("", ("row 2", "12 numbers", "found 0")),
        ("2 0 0 0 0 1 0 0 0 0 1 3", ("row 2", "not a rotation", "2 0 0")),
        ("-1 0 0 0 0 1 0 0 0 0 1 3", ("row 2", "not a rotation", "-1 0 0")),
        ("0 0 0 0 0 0 0 0 0 0 0 0", ("row 2", "not a rotation")),
    ],
)
def test_a_bad_pose_is_named(tmp_path: Path, row: str, words: tuple[str, ...]) -> None:
    write(tmp_path)
    path = tmp_path / "poses" / "00.txt"
    lines = path.read_text().splitlines()
    lines[1] = row
    path.write_text("\n".join(lines))
    with data_error(str(path), *words):
        kitti_odometry(tmp_path)


@pytest.mark.parametrize("name", ["poses/00.txt", "sequences/00/times.txt"])
def test_a_file_of_numbers_that_is_empty_or_not_text_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).write_bytes(b"\n")
    with data_error(str(tmp_path / name), "empty"):
        kitti_odometry(tmp_path)
    (tmp_path / name).write_bytes(b"\xff\xfe\x00")
    with data_error(str(tmp_path / name), "text"):
        kitti_odometry(tmp_path)


def test_missing_times_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "sequences" / "00" / "times.txt").unlink()
    with data_error(str(tmp_path / "sequences" / "00" / "times.txt"), "missing"):
        kitti_odometry(tmp_path)


def test_a_blank_line_at_the_end_is_no_row(tmp_path: Path) -> None:
    write(tmp_path)
    for name in ("poses/00.txt", "sequences/00/times.txt"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "\n \n")
    assert kitti_odometry(tmp_path).frame_count == 4


def test_a_sequence_of_one_frame_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "00", straight(1))
    with data_error(str(tmp_path), "no sequence to use", "sequence 00: a single frame"):
        kitti_odometry(tmp_path)
    write(tmp_path, "01")
    source = kitti_odometry(tmp_path)
    assert [r.name for r in source.recordings] == ["odometry/01"]
    assert source.notes == ("sequence 00: a single frame has no motion, left out",)


def test_where_there_is_no_sequence_it_says_so(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with data_error(str(path), "sequences/00/image_0"):
            kitti_odometry(path)
    (tmp_path / "sequences").mkdir()
    with data_error(str(tmp_path), "no sequence to use", "empty"):
        kitti_odometry(tmp_path)


@pytest.mark.parametrize("name", ["preview.png", "0001.jpg", "-3.png"])
def test_an_image_of_an_odd_name_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    folder = tmp_path / "sequences" / "00" / "image_0"
    (folder / name).write_bytes(b"")
    with data_error(str(folder), name):
        kitti_odometry(tmp_path)


def test_hidden_and_other_files_are_not_images(tmp_path: Path) -> None:
    write(tmp_path)
    folder = tmp_path / "sequences" / "00" / "image_0"
    for name in (".000009.png", "Thumbs.db"):
        (folder / name).write_bytes(b"")
    (tmp_path / "sequences" / ".cache").mkdir()
    (tmp_path / "sequences" / "readme.txt").write_text("")
    source = kitti_odometry(tmp_path)
    assert source.frame_count == 4
    assert source.notes == ()


def test_a_recording_survives_pickling(tmp_path: Path) -> None:
    write(tmp_path)
    recording = kitti_odometry(tmp_path).recordings[0]
    again = pickle.loads(pickle.dumps(recording))
    assert again.image(2).tolist() == recording.image(2).tolist()
    assert again.poses.tolist() == recording.poses.tolist()


def test_a_broken_image_is_named_when_it_is_read(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "sequences" / "00" / "image_0" / "000002.png"
    path.write_bytes(path.read_bytes()[:40])
    recording = kitti_odometry(tmp_path).recordings[0]
    assert recording.image(1).shape == (4, 6)
    with pytest.raises(BrokenFrameError, match=r"000002\.png: "):
        recording.image(2)
