"""Rigid motions in the plane and in space: by hand, against matrices, and by the laws they obey."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from egoequiv.pose import SE2Space, SE3Space
from helpers import data_error

Array = NDArray[np.float64]

SE2, SE3 = SE2Space(), SE3Space()
metres = st.floats(-1000, 1000, allow_subnormal=False)
degrees = st.floats(-720, 720, allow_subnormal=False)
planar_poses = st.tuples(metres, metres, degrees).map(np.array)
components = st.floats(-1, 1, allow_subnormal=False)
quaternions = (
    st.tuples(components, components, components, components)
    .map(np.array)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)
space_poses = st.tuples(st.tuples(metres, metres, metres).map(np.array), quaternions).map(np.concatenate)


def close(one: Array, other: Array, tolerance: float = 1e-6) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=tolerance))


def planar_matrix(pose: Array) -> Array:
    """A motion or pose (x, y, yaw_deg) as a matrix."""
    c, s = math.cos(math.radians(pose[2])), math.sin(math.radians(pose[2]))
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0, 0, 1]])


def pose_matrix(pose: Array) -> Array:
    """A pose with a quaternion as a matrix, by the textbook."""
    x, y, z, w = pose[3:]
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = pose[:3]
    return matrix


def motion_matrix(motion: Array) -> Array:
    """A motion with a rotation vector as a matrix, by the formula of Rodrigues."""
    vector = np.deg2rad(motion[3:])
    angle = float(np.linalg.norm(vector))
    a, b, c = vector / angle if angle else vector
    cross = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    matrix[:3, 3] = motion[:3]
    return matrix


def flat_pose(x: float, y: float, yaw_deg: float) -> Array:
    """A pose in the plane as one in space."""
    half = math.radians(yaw_deg) / 2
    return np.array([x, y, 0, 0, 0, math.sin(half), math.cos(half)])


@pytest.mark.parametrize(
    ("pose_i", "pose_j", "motion"),
    [
        ([0, 0, 0], [8, 8, 90], [8, 8, 90]),  # a quarter turn to the left with radius 8, from facing east
        ([10, 20, 90], [2, 28, 180], [8, 8, 90]),  # the same from facing north: it ends to the west
        ([10, 20, 90], [18, 28, 0], [8, -8, -90]),  # a quarter turn to the right
        ([5, 5, 90], [5, 15, 90], [10, 0, 0]),  # north is ahead of who faces north
        ([5, 5, 0], [15, 5, 0], [10, 0, 0]),  # and east of who faces east
        ([5, 5, 0], [5, 15, 0], [0, 10, 0]),
        ([5, 5, 180], [7, 5, 180], [-2, 0, 0]),  # reversing
        ([0, 0, 170], [0, 0, -170], [0, 0, 20]),  # over the seam
        ([0, 0, 10], [0, 0, 190], [0, 0, -180]),  # half a turn has one name
        ([0, 0, 10], [0, 0, 380], [0, 0, 10]),  # a full turn more is no more
    ],
)
def test_motions_in_the_plane_by_hand(pose_i: list[float], pose_j: list[float], motion: list[float]) -> None:
    assert SE2.difference(np.array(pose_i), np.array(pose_j)) == pytest.approx(motion, abs=1e-9)
    lifted = SE3.difference(flat_pose(*pose_i), flat_pose(*pose_j))
    if motion[2] != -180:
        assert lifted == pytest.approx([*motion[:2], 0, 0, 0, motion[2]], abs=1e-9)


def test_compose_and_invert_in_the_plane_by_hand() -> None:
    assert SE2.compose(np.array([8.0, 8.0, 90.0]), np.array([2.0, 0.0, 170.0])) == pytest.approx([8, 10, -100])
    assert SE2.invert(np.array([8.0, 8.0, 90.0])) == pytest.approx([-8, 8, -90])


def test_pitch_and_roll_by_hand() -> None:
    level = np.array([0.0, 0, 0, 0, 0, 0, 1])
    s, c = math.sin(math.pi / 12), math.cos(math.pi / 12)  # half of 30 degrees
    roll, pitch, yaw = (axis for axis in SE3.axes if axis.unit == "deg")
    # About the axis to the left, ahead goes over into down.
    nose_down = np.array([0, 0, 0, 0, s, 0, c])
    assert SE3.difference(level, nose_down) == pytest.approx([0, 0, 0, 0, 30, 0])
    assert motion_matrix(SE3.difference(level, nose_down))[:3, :3] @ [1, 0, 0] == pytest.approx(
        [math.cos(math.pi / 6), 0, -0.5]
    )
    assert pitch.in_words(30.0) == "tilt down 30°"
    # About the axis ahead, the left side goes up.
    right_side_down = np.array([0, 0, 0, s, 0, 0, c])
    assert SE3.difference(level, right_side_down) == pytest.approx([0, 0, 0, 30, 0, 0])
    assert motion_matrix(SE3.difference(level, right_side_down))[:3, :3] @ [0, 1, 0] == pytest.approx(
        [0, math.cos(math.pi / 6), 0.5]
    )
    assert roll.in_words(30.0) == "roll right 30°"
    assert pitch.in_words(-30.0) == "tilt up 30°"
    assert (yaw.in_words(15.0), yaw.in_words(-15.0)) == ("pan left 15°", "pan right 15°")
    # Who looks down by 30 degrees and goes 2 m down along its nose has gone ahead.
    along = np.array([2 * math.cos(math.pi / 6), 0, -1.0, 0, s, 0, c])
    assert SE3.difference(nose_down, along) == pytest.approx([2, 0, 0, 0, 0, 0])


def test_names_and_words() -> None:
    assert SE2.pose_names == ("x_m", "y_m", "yaw_deg")
    assert SE3.pose_names == ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")
    assert [axis.name for axis in SE2.axes] == ["forward", "left", "yaw"]
    assert [axis.name for axis in SE3.axes] == ["forward", "left", "up", "roll", "pitch", "yaw"]
    forward, left, turn = SE2.axes
    assert forward.in_words(14.4) == "forward 14.4 m"
    assert forward.in_words(-2) == "backward 2.0 m"
    assert left.in_words(-0.5) == "shift right 0.5 m"
    assert turn.in_words(16) == "left turn 16°"
    assert SE3.axes[2].in_words(-1) == "sink 1.0 m"


@pytest.mark.parametrize("space", [SE2, SE3])
def test_components_of_one_unit_are_on_one_scale(space: SE2Space | SE3Space) -> None:
    units = [[axis.unit for axis in space.axes[scale]] for scale in space.scales]
    assert [set(each) for each in units] == [{"m"}, {"deg"}]
    assert sum(map(len, units)) == len(space.axes)


@given(planar_poses, planar_poses)
def test_a_motion_in_the_plane_is_the_quotient_of_two_matrices(a: Array, b: Array) -> None:
    motion = SE2.difference(a, b)
    assert close(planar_matrix(motion), np.linalg.inv(planar_matrix(a)) @ planar_matrix(b))
    assert -180 <= motion[2] < 180


@given(space_poses, space_poses)
def test_a_motion_in_space_is_the_quotient_of_two_matrices(a: Array, b: Array) -> None:
    motion = SE3.difference(a, b)
    assert close(motion_matrix(motion), np.linalg.inv(pose_matrix(a)) @ pose_matrix(b))
    assert np.linalg.norm(motion[3:]) <= 180 + 1e-9


@given(planar_poses, planar_poses, planar_poses)
def test_motions_in_the_plane_form_a_group(a: Array, b: Array, c: Array) -> None:
    ab, bc, ac = SE2.difference(a, b), SE2.difference(b, c), SE2.difference(a, c)
    assert close(planar_matrix(SE2.compose(ab, bc)), planar_matrix(ac))
    assert close(planar_matrix(SE2.invert(ab)), planar_matrix(SE2.difference(b, a)))
    assert close(planar_matrix(SE2.compose(ab, SE2.invert(ab))), np.eye(3))
    assert close(planar_matrix(SE2.compose(SE2.invert(ab), ab)), np.eye(3))
    assert -180 <= SE2.compose(ab, bc)[2] < 180
    assert -180 <= SE2.invert(ab)[2] < 180


@given(space_poses, space_poses, space_poses)
def test_motions_in_space_form_a_group(a: Array, b: Array, c: Array) -> None:
    ab, bc, ac = SE3.difference(a, b), SE3.difference(b, c), SE3.difference(a, c)
    assert close(motion_matrix(SE3.compose(ab, bc)), motion_matrix(ac))
    assert close(motion_matrix(SE3.invert(ab)), motion_matrix(SE3.difference(b, a)))
    assert close(motion_matrix(SE3.compose(ab, SE3.invert(ab))), np.eye(4))


@given(planar_poses, planar_poses, planar_poses)
def test_another_map_of_the_plane_changes_no_motion(world: Array, a: Array, b: Array) -> None:
    moved_a, moved_b = (
        np.array([*(planar_matrix(world) @ [pose[0], pose[1], 1])[:2], pose[2] + world[2]]) for pose in (a, b)
    )
    assert close(planar_matrix(SE2.difference(moved_a, moved_b)), planar_matrix(SE2.difference(a, b)))


@given(space_poses, space_poses, space_poses)
def test_another_map_of_space_changes_no_motion(world: Array, a: Array, b: Array) -> None:
    def moved(pose: Array) -> Array:
        place = pose_matrix(world) @ [*pose[:3], 1]
        (x1, y1, z1, w1), (x2, y2, z2, w2) = world[3:], pose[3:]
        product = [
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        ]
        return np.array([*place[:3], *product])

    assert close(motion_matrix(SE3.difference(moved(a), moved(b))), motion_matrix(SE3.difference(a, b)))


@given(planar_poses, planar_poses)
def test_the_plane_is_a_part_of_space(a: Array, b: Array) -> None:
    flat = SE2.difference(a, b)
    assume(abs(flat[2]) < 179.999)  # half a turn has two names in space
    lifted = SE3.difference(flat_pose(*a), flat_pose(*b))
    assert close(lifted, np.array([flat[0], flat[1], 0, 0, 0, flat[2]]))
    other = SE2.compose(flat, flat)
    assume(abs(other[2]) < 179.999)
    assert close(SE3.compose(lifted, lifted), np.array([other[0], other[1], 0, 0, 0, other[2]]))
    back = SE2.invert(flat)
    assert close(SE3.invert(lifted), np.array([back[0], back[1], 0, 0, 0, back[2]]))


@given(planar_poses)
def test_standing_still_in_the_plane_is_exactly_no_motion(pose: Array) -> None:
    assert SE2.difference(pose, pose).tolist() == [0, 0, 0]
    assert SE2.within_one_step(SE2.difference(pose, pose))


@given(space_poses)
def test_standing_still_in_space_is_no_motion(pose: Array) -> None:
    assert close(SE3.difference(pose, pose), np.zeros(6), 1e-12)
    flipped = pose * np.array([1, 1, 1, -1, -1, -1, -1])  # q and -q turn alike
    assert close(SE3.difference(pose, flipped), np.zeros(6), 1e-5)


@pytest.mark.parametrize("angle", [np.nextafter(-180.0, -np.inf), np.nextafter(180.0, np.inf), 180.0, -180.0, 540.0])
def test_half_a_turn_is_minus_180_and_a_hair_beside_it_is_in_range(angle: float) -> None:
    turn = SE2.difference(np.zeros(3), np.array([0.0, 0.0, angle]))[2]
    assert turn == pytest.approx(-180)
    assert -180 <= turn < 180
    assert -180 <= SE2.compose(np.zeros(3), np.array([0.0, 0.0, angle]))[2] < 180
    assert -180 <= SE2.invert(np.array([0.0, 0.0, angle]))[2] < 180


def test_a_far_map_costs_no_digits() -> None:
    a, b = np.array([458_000.0, 5_428_000.0, 33.0]), np.array([458_001.0, 5_428_000.0, 33.0])
    expected = [math.cos(math.radians(33)), -math.sin(math.radians(33)), 0]
    assert SE2.difference(a, b) == pytest.approx(expected, abs=1e-12)


def test_what_is_not_a_number_stays_so() -> None:
    assert np.isnan(SE2.difference(np.zeros(3), np.array([0.0, 0.0, np.nan]))[2])


@pytest.mark.parametrize("space", [SE2, SE3])
def test_many_at_once_equal_one_at_a_time(space: SE2Space | SE3Space) -> None:
    rng = np.random.default_rng(3)
    poses = rng.normal(size=(2, 3, len(space.pose_names)))
    motions = space.difference(poses[:, :, None], poses[0])
    assert motions.shape == (2, 3, 3, len(space.axes))
    composed, inverted = space.compose(motions[:, :1], motions), space.invert(motions)
    assert composed.shape == inverted.shape == motions.shape
    for i, j, k in np.ndindex(2, 3, 3):
        assert close(motions[i, j, k], space.difference(poses[i, j], poses[0, k]), 1e-12)
        assert close(composed[i, j, k], space.compose(motions[i, 0, k], motions[i, j, k]), 1e-12)
        assert close(inverted[i, j, k], space.invert(motions[i, j, k]), 1e-12)
    assert space.within_one_step(motions).shape == (2, 3, 3)


@pytest.mark.parametrize("space", [SE2, SE3])
def test_no_poses_give_no_motions(space: SE2Space | SE3Space) -> None:
    none = np.empty((0, len(space.pose_names)))
    motions = space.difference(none, none)
    assert motions.shape == (0, len(space.axes))
    assert space.compose(motions, motions).shape == space.invert(motions).shape == motions.shape


@pytest.mark.parametrize("space", [SE2, SE3])
def test_inputs_are_left_alone(space: SE2Space | SE3Space) -> None:
    poses = np.random.default_rng(4).normal(size=(2, 5, len(space.pose_names)))
    motions = np.random.default_rng(4).normal(size=(5, len(space.axes)))
    before = poses.copy(), motions.copy()
    space.difference(poses[0], poses[1])
    space.compose(motions, motions)
    space.invert(motions)
    assert np.array_equal(poses, before[0])
    assert np.array_equal(motions, before[1])


def test_a_quaternion_of_zeros_is_named() -> None:
    poses = np.zeros((2, 7))
    with data_error("quaternion 0 0 0 0"):
        SE3Space().difference(poses, poses)
