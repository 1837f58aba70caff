"""The pose columns of a vehicle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from egoequiv.pose import DRIVING_POSES, PlanarSpace, SE2Space, SE3Space, driving_poses, integrate


def test_columns_by_hand() -> None:
    rotation = Rotation.from_quat([[0, 0, 0, 1], [0, 0, math.sqrt(0.5), math.sqrt(0.5)]])
    places = np.array([[0.0, 0, 0], [1, 2, 3]])
    poses = driving_poses(places, rotation, np.array([0.0, 4.0]), np.array([0.0, math.pi / 2]))
    half = math.sqrt(0.5)
    assert poses == pytest.approx(np.array([[0, 0, 0, 0, 0, 0, 1, 0, 0], [1, 2, 3, 0, 0, half, half, 4, 90]]))
    assert poses.shape[1] == len(DRIVING_POSES)


def test_every_space_of_a_vehicle_finds_its_columns() -> None:
    for space in (PlanarSpace(), SE2Space(), SE3Space()):
        assert set(space.pose_names) <= set(DRIVING_POSES)


def test_of_two_quaternions_for_one_turn_the_same_one_is_kept() -> None:
    signs = np.array([[1.0], [-1.0], [1.0]])
    rotation = Rotation.from_quat(np.tile([0.1, 0.2, 0.3, 0.9], (3, 1)) * signs)
    kept = driving_poses(np.zeros((3, 3)), rotation, np.zeros(3), np.zeros(3))[:, 3:7]
    assert np.array_equal(kept[0], kept[1])
    assert (kept[:, 3] > 0).all()
    assert Rotation.from_quat(kept).approx_equal(rotation).all()


def test_a_single_rotation_is_one_frame() -> None:
    poses = driving_poses(np.zeros((1, 3)), Rotation.identity(), np.zeros(1), np.zeros(1))
    assert poses.tolist() == [[0, 0, 0, 0, 0, 0, 1, 0, 0]]


def test_the_heading_is_not_wrapped() -> None:
    poses = driving_poses(np.zeros((1, 3)), Rotation.identity(1), np.zeros(1), np.array([5 * math.pi]))
    assert poses[0, 8] == pytest.approx(900)


def test_integrals_by_hand() -> None:
    # Over a gap of 2 s the mean of the speeds at its ends counts.
    assert integrate(np.array([10.0, 12.0, 12.0, -4.0]), np.array([0.0, 0.1, 2.1, 2.2])) == pytest.approx(
        [0, 1.1, 25.1, 25.5]
    )
    assert integrate(np.array([3.0]), np.array([7.0])).tolist() == [0.0]


@given(st.lists(st.floats(0.01, 5), min_size=1, max_size=20), st.floats(-30, 30), st.floats(-3, 3))
def test_an_even_change_of_speed_is_integrated_exactly(steps: list[float], speed: float, gain: float) -> None:
    times = np.concatenate([[0.0], np.cumsum(steps)])
    way = integrate(speed + gain * times, times)
    assert np.allclose(way, speed * times + gain * times**2 / 2, rtol=1e-9, atol=1e-6)
