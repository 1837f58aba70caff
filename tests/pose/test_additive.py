"""Spaces whose motions add up: the planar pose of a car, raw columns, and no motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError
from egoequiv.pose import ColumnsSpace, MotionSpace, NoMotion, PlanarSpace, space_from_description

PLANAR = PlanarSpace()
SENSORS = ColumnsSpace(("steering_deg", "throttle"))
# Quarters are exact in binary, so the laws below hold without a tolerance.
quarters = st.integers(-40_000, 40_000).map(lambda n: n / 4)
vectors = st.tuples(quarters, quarters).map(np.array)
spaces = st.sampled_from([PLANAR, SENSORS])


def test_a_quarter_turn_to_the_left_by_hand() -> None:
    radius = 8.0
    start, end = np.array([100.0, 350.0]), np.array([100.0 + radius * math.pi / 2, 440.0])
    assert PLANAR.difference(start, end) == pytest.approx([4 * math.pi, 90.0])
    assert PLANAR.difference(end, start) == pytest.approx([-4 * math.pi, -90.0])


def test_the_heading_counts_on_beyond_a_full_turn() -> None:
    assert PLANAR.difference(np.array([0.0, -350.0]), np.array([60.0, 400.0])).tolist() == [60, 750]
    assert PLANAR.compose(np.array([1.0, 300.0]), np.array([2.0, 300.0])).tolist() == [3, 600]
    assert PLANAR.invert(np.array([1.0, 300.0])).tolist() == [-1, -300]


def test_the_columns_and_words_of_the_planar_space() -> None:
    assert PLANAR.pose_names == ("forward_m", "yaw_deg")
    assert [(axis.name, axis.unit) for axis in PLANAR.axes] == [("forward", "m"), ("yaw", "deg")]
    forward, yaw = PLANAR.axes
    assert forward.in_words(14.38) == "forward 14.4 m"
    assert forward.in_words(-2.0) == "backward 2.0 m"
    assert forward.in_words(0.0) == "forward 0 m"
    assert forward.in_words(-0.0312) == "backward 0.031 m"
    assert forward.in_words(0.124) == "forward 0.12 m"
    assert forward.in_words(0.9) == "forward 0.9 m"
    assert forward.in_words(0.996) == "forward 1.0 m"
    assert forward.in_words(4e-5) == "forward 0 m"
    assert yaw.in_words(0.44) == "left turn 0.4°"
    assert yaw.in_words(-0.96) == "right turn 1°"
    assert yaw.in_words(16.2) == "left turn 16°"
    assert yaw.in_words(-15.4) == "right turn 15°"


def test_sensor_columns_have_units_and_words() -> None:
    space = ColumnsSpace(("steering_deg", "throttle", "wheel_speed_mps", "gear_ratio", "_m"))
    assert space.pose_names == ("steering_deg", "throttle", "wheel_speed_mps", "gear_ratio", "_m")
    assert [(axis.name, axis.unit) for axis in space.axes] == [
        ("steering", "deg"),
        ("throttle", ""),
        ("wheel_speed", "mps"),
        ("gear_ratio", ""),
        ("_m", ""),
    ]
    steering, throttle, speed, _, _ = space.axes
    assert steering.in_words(-12.0) == "less steering 12°"
    assert throttle.in_words(0.25) == "more throttle 0.25"
    assert speed.in_words(3.0) == "more wheel_speed 3.0 mps"
    assert space.difference(np.arange(5.0), np.array([5.0, 1.0, 0.0, 3.5, 4.0])).tolist() == [5, 0, -2, 0.5, 0]


@pytest.mark.parametrize("columns", [(), ("",), ("a", ""), ("a", "b", "a")])
def test_columns_must_have_names_each_its_own(columns: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="needs columns, each named once"):
        ColumnsSpace(columns)


@given(spaces, vectors, vectors, vectors)
def test_differences_form_a_group(space: MotionSpace, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    ab, bc, ac = space.difference(a, b), space.difference(b, c), space.difference(a, c)
    assert space.compose(ab, bc).tolist() == ac.tolist()
    assert space.invert(ab).tolist() == space.difference(b, a).tolist()
    assert space.compose(ab, space.invert(ab)).tolist() == [0, 0]
    assert space.compose(a, space.difference(a, b)).tolist() == b.tolist()


@given(spaces, vectors, vectors, vectors)
def test_a_motion_does_not_depend_on_where_counting_begins(
    space: MotionSpace, a: np.ndarray, b: np.ndarray, origin: np.ndarray
) -> None:
    assert space.difference(a + origin, b + origin).tolist() == space.difference(a, b).tolist()


def test_many_poses_at_once() -> None:
    poses = np.arange(12.0).reshape(2, 3, 2) ** 2
    motions = PLANAR.difference(poses[:, None], poses[0, 1])
    assert motions.shape == (2, 1, 3, 2)
    assert motions[1, 0, 2].tolist() == PLANAR.difference(poses[1, 2], poses[0, 1]).tolist()
    assert PLANAR.difference([0, 10], [3, 5]).tolist() == [3.0, -5.0]  # type: ignore[arg-type]
    assert PLANAR.difference(np.empty((0, 2)), np.empty((0, 2))).shape == (0, 2)


def test_only_standing_still_is_one_step_where_poses_know_no_steps() -> None:
    motions = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, -0.1]])
    assert PLANAR.within_one_step(motions).tolist() == [True, False, False]
    assert PLANAR.named_motions() == {}
    assert PLANAR.tolerance().tolist() == [0.0, 0.0]


def test_pictures_without_poses_are_nobody_s_neighbours() -> None:
    space = NoMotion()
    poses = np.empty((3, 0))
    assert (space.pose_names, space.axes) == ((), ())
    assert space.difference(poses, poses).shape == (3, 0)
    assert space.within_one_step(space.difference(poses, poses)).tolist() == [False, False, False]
    assert space.within_one_step(np.empty((2, 3, 0))).shape == (2, 3)


def test_the_motion_of_an_angle_is_the_shorter_way_round() -> None:
    space = ColumnsSpace(("azimuth", "zoom"), (360.0, 0.0))
    assert space.difference(np.array([338.0, 400.0]), np.array([0.0, 0.0])).tolist() == [22, -400]
    assert space.compose(np.array([100.0, 300.0]), np.array([100.0, 300.0])).tolist() == [-160, 600]
    assert space_from_description(space.describe()) == space
    with pytest.raises(ConfigError, match="2 columns cannot have the periods"):
        ColumnsSpace(("azimuth", "zoom"), (360.0,))


def test_integrated_columns_have_plain_words() -> None:
    steering, throttle = ColumnsSpace(("steering over time", "throttle over time")).axes
    assert [steering.in_words(0.5), steering.in_words(-0.5)] == ["steer right 0.5", "steer left 0.5"]
    assert [throttle.in_words(0.5), throttle.in_words(-0.5)] == ["throttle 0.5", "negative throttle 0.5"]
