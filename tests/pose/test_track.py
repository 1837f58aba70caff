"""Interpolation of poses and columns at the times of frames."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import ColumnTrack, PoseTrack
from egoequiv.pose.conventions import (
    CONVENTIONS,
    are_rotations,
    are_unit_quaternions,
    axes_matrix,
    parse_transform,
)
from egoequiv.pose.track import bracket


def smooth(times_s: np.ndarray) -> tuple[np.ndarray, Rotation]:
    """A hand-held camera: sways by decimetres and turns by tens of degrees, up to 1.3 m/s2 and 170 deg/s2."""
    position = np.stack([0.3 * np.sin(2 * times_s), 0.2 * np.cos(1.7 * times_s), 0.1 * times_s], axis=1)
    angles = np.stack([30 * np.sin(2 * times_s), 20 * np.sin(1.5 * times_s), 10 * np.cos(times_s)], axis=1)
    return position, Rotation.from_euler("ZYX", angles, degrees=True)


def ns(times_s: np.ndarray) -> np.ndarray:
    return np.round(times_s * 1e9).astype(np.int64)


def errors(interpolation: str) -> tuple[float, float]:
    """The largest error in metres and degrees of 30 Hz frames between 10 Hz poses."""
    known, asked = np.arange(0, 20, 0.1), np.arange(0.2, 19.6, 1 / 30)
    position, rotation = smooth(known)
    track = PoseTrack.of(ns(known), position, rotation.as_quat(), "test")
    poses, usable = track.at(ns(asked), interpolation=interpolation)
    assert usable.all()
    true_position, true_rotation = smooth(asked)
    turned = (true_rotation.inv() * Rotation.from_quat(poses[:, 3:])).magnitude()
    return float(np.linalg.norm(poses[:, :3] - true_position, axis=1).max()), float(np.rad2deg(turned.max()))


def test_frames_at_30_hz_between_poses_at_10_hz() -> None:
    metres, degrees = errors("cubic")
    assert metres < 0.001
    assert degrees < 0.01


def test_straight_lines_are_worse_but_near() -> None:
    metres, degrees = errors("linear")
    assert 0.001 < metres < 0.003
    assert 0.01 < degrees < 0.3


def test_linear_interpolation_by_hand() -> None:
    quarter = Rotation.from_euler("z", [[0], [90]], degrees=True).as_quat()
    track = PoseTrack.of(np.array([0, 10]), np.array([[0.0, 0, 0], [2, 0, 0]]), quarter, "test")
    poses, known = track.at(np.array([0, 5, 10, 11]), max_gap_s=1.0)
    assert known.tolist() == [True, True, True, False]
    assert poses[1, :3].tolist() == [1.0, 0.0, 0.0]
    assert Rotation.from_quat(poses[1, 3:]).as_euler("ZYX", degrees=True)[0] == pytest.approx(45)


def test_a_pose_at_a_stamp_is_kept_exactly() -> None:
    times = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 5.0])
    position, rotation = smooth(times)
    track = PoseTrack.of(ns(times), position, rotation.as_quat(), "test")
    poses, known = track.at(ns(times))
    assert known.all()  # beside a gap too
    np.testing.assert_allclose(poses[:, :3], position, atol=1e-12)


def test_frames_in_a_gap_are_not_known() -> None:
    times = np.concatenate([np.arange(0, 1, 0.1), np.arange(3, 4, 0.1)])
    position, rotation = smooth(times)
    track = PoseTrack.of(ns(times), position, rotation.as_quat(), "test")
    _, known = track.at(ns(np.array([0.55, 0.95, 2.0, 2.99, 3.05])))
    assert known.tolist() == [True, False, False, False, True]
    assert track.at(ns(np.array([2.0])), max_gap_s=2.5)[1].tolist() == [True]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_axes_of_conventions_are_right_handed(name: str) -> None:
    matrix = axes_matrix(name)
    np.testing.assert_array_equal(np.cross(matrix[:, 0], matrix[:, 1]), matrix[:, 2])


def test_one_camera_in_two_conventions_is_one_track() -> None:
    position, rotation = smooth(np.arange(0, 1, 0.1))
    times = ns(np.arange(0, 1, 0.1))
    store = PoseTrack.of(times, position, rotation.as_quat(), "test")
    for name in CONVENTIONS:  # R_world_declared = R_world_store R_store_declared
        declared = rotation * Rotation.from_matrix(axes_matrix(name))
        track = PoseTrack.of(times, position, declared.as_quat()[:, [3, 0, 1, 2]], "test", axes=name, order="wxyz")
        np.testing.assert_allclose(track.quaternion, store.quaternion, atol=1e-12)


def test_a_camera_that_looks_along_z_looks_forward() -> None:
    """OpenCV: z forward, x right. A camera at the identity looks along the world's z; a store's x axis is that."""
    track = PoseTrack.of(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 0, 0, 1]]), "test", axes="opencv")
    axes = Rotation.from_quat(track.quaternion[0]).as_matrix()
    np.testing.assert_allclose(axes[:, 0], [0, 0, 1], atol=1e-12)  # forward
    np.testing.assert_allclose(axes[:, 1], [-1, 0, 0], atol=1e-12)  # left
    np.testing.assert_allclose(axes[:, 2], [0, -1, 0], atol=1e-12)  # up


def test_a_mounted_camera_follows_its_body() -> None:
    """A body turned left by 90 deg with a camera 1 m ahead of it that looks to the body's left."""
    mount = parse_transform("1 0 0 0 0 0.70710678 0.70710678")
    left = Rotation.from_euler("z", [[90]], degrees=True).as_quat()
    track = PoseTrack.of(np.array([0]), np.array([[5.0, 5, 0]]), left, "test", mount=mount)
    np.testing.assert_allclose(track.position_m[0], [5, 6, 0], atol=1e-7)
    assert Rotation.from_quat(track.quaternion[0]).magnitude() == pytest.approx(np.pi, abs=1e-6)


def test_what_is_no_rotation_is_refused() -> None:
    with pytest.raises(DataError, match=r"log, row 2.*length 0.5"):
        PoseTrack.of(np.arange(2), np.zeros((2, 3)), np.array([[0, 0, 0, 1], [0, 0, 0, 0.5]]), "log")
    with pytest.raises(DataError, match="not a rotation"):
        PoseTrack.of(np.arange(1), np.zeros((1, 3)), np.diag([1.0, 1, -1])[None], "log")  # mirrored
    with pytest.raises(DataError, match="pose 1: the position"):
        PoseTrack.of(np.arange(1), np.full((1, 3), np.nan), np.array([[0, 0, 0, 1]]), "log")
    with pytest.raises(ConfigError, match="right-handed"):
        axes_matrix("left,down,forward")
    with pytest.raises(ConfigError, match="expected opencv"):
        axes_matrix("sideways")
    with pytest.raises(ConfigError, match="7 numbers"):
        parse_transform("1 2 3")


def test_columns_by_hand() -> None:
    track = ColumnTrack(np.array([0, 10, 20]), np.array([[0.0], [1.0], [5.0]]), ("angle",))
    asked = np.array([0, 4, 6, 10, 15, 20, 25])
    assert track.at(asked, 1.0)[0][:6, 0].tolist() == pytest.approx([0, 0.4, 0.6, 1, 3, 5])
    assert track.at(asked, 1.0, "nearest")[0][:6, 0].tolist() == [0, 0, 1, 1, 1, 5]
    assert track.at(asked, 1.0, "hold")[0][:6, 0].tolist() == [0, 0, 0, 1, 1, 5]
    assert track.at(asked, 1.0)[1].tolist() == [True] * 6 + [False]


def test_a_column_that_is_not_a_number_is_not_known() -> None:
    track = ColumnTrack(np.array([0, 10, 20]), np.array([[0.0], [np.nan], [5.0]]), ("angle",))
    assert track.at(np.array([0, 5, 10, 20]), 1.0)[1].tolist() == [True, False, False, True]


def test_nothing_is_known_without_stamps() -> None:
    assert not bracket(np.empty(0, np.int64), np.array([1, 2])).inside.any()
    assert bracket(np.array([3]), np.array([1, 3, 5])).inside.tolist() == [False, True, False]


def test_numbers_that_would_overflow_are_not_rotations() -> None:
    holed = np.eye(3)
    holed[0, 1] = np.nan
    matrices = np.stack([np.eye(3), np.full((3, 3), 1e200), holed, np.diag([1.0, 1.0, -1.0])])
    assert are_rotations(matrices).tolist() == [True, False, False, False]
    unit = are_unit_quaternions(np.array([[0, 0, 0, 1.0], [1e200] * 4, [np.nan] * 4, [0.0] * 4, [0.5] * 4]))
    assert unit.tolist() == [True, False, False, False, True]
