"""Poses and motions as columns of numbers."""

import numpy as np

from egoequiv.evaluation.read_targets import motion_targets, pose_targets
from egoequiv.pose import Axis, ColumnsSpace, GridSpace, NoMotion, PlanarSpace, SE2Space, SE3Space
from helpers import GRID


def test_cyclic_coordinates_become_sine_and_cosine() -> None:
    found = pose_targets(GRID, np.array([[30.0, 0.0], [40.0, 90.0], [50.0, 360.0]]))
    assert found.names == ("elevation_deg", "sin azimuth_deg", "cos azimuth_deg")
    np.testing.assert_allclose(found.values, [[30, 0, 1], [40, 1, 0], [50, 0, 1]], atol=1e-12)
    half = GridSpace((Axis("turn", "deg", 10.0, "on", "back", period=180.0),))
    np.testing.assert_allclose(pose_targets(half, np.array([[45.0]])).values, [[1, 0]], atol=1e-12)


def test_a_heading_comes_round_and_a_way_does_not() -> None:
    found = pose_targets(PlanarSpace(), np.array([[1000.0, 450.0]]))
    assert found.names == ("forward_m", "sin yaw_deg", "cos yaw_deg")
    np.testing.assert_allclose(found.values, [[1000, 1, 0]], atol=1e-12)
    assert pose_targets(SE2Space(), np.zeros((2, 3))).names == ("x_m", "y_m", "sin yaw_deg", "cos yaw_deg")
    assert pose_targets(ColumnsSpace(("steering_deg",)), np.ones((2, 1))).names == ("steering_deg",)
    assert pose_targets(NoMotion(), np.empty((2, 0))).values.shape == (2, 0)


def test_a_quaternion_and_its_negative_are_one_rotation() -> None:
    turn = [0.0, 0.6, 0.0, 0.8]
    found = pose_targets(SE3Space(), np.array([[1, 2, 3, *turn], [1, 2, 3, *(-t for t in turn)]], float))
    assert found.values[0].tolist() == found.values[1].tolist() == [1, 2, 3, *turn]


def test_small_motions_keep_their_unit_and_large_ones_come_round() -> None:
    small = motion_targets(GRID, np.array([[10.0, -60.0], [0.0, 60.0]]))
    assert small.names == ("elevation_deg", "azimuth_deg")
    assert small.values.tolist() == [[10.0, -60.0], [0.0, 60.0]]
    large = motion_targets(GRID, np.array([[10.0, 120.0]]))
    assert large.names == ("elevation_deg", "sin azimuth_deg", "cos azimuth_deg")
    np.testing.assert_allclose(large.values, [[10, np.sqrt(3) / 2, -0.5]])
    counted_on = motion_targets(PlanarSpace(), np.array([[3.0, 200.0]]))
    assert counted_on.names == ("forward_m", "yaw_deg")
    assert motion_targets(SE2Space(), np.array([[0.0, 0.0, 170.0]])).names[-1] == "cos yaw_deg"
    assert motion_targets(SE3Space(), np.zeros((1, 6))).names[-1] == "yaw_deg"
