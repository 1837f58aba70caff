"""Motions of unknown length: by hand, against SE(3), and by the laws they obey."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from egoequiv.pairs.naming import name_motions
from egoequiv.pose import ScaleFreeSpace, SE3Space, space_from_description, space_named

Array = NDArray[np.float64]

SPACE = ScaleFreeSpace()
component = st.floats(-10, 10, allow_subnormal=False)
angle = st.floats(-50, 50, allow_subnormal=False)
direction = st.tuples(component, component, component).map(np.array).filter(lambda d: np.linalg.norm(d) > 0.1)
motions = st.tuples(direction.map(lambda d: d / np.linalg.norm(d)), st.tuples(angle, angle, angle).map(np.array)).map(
    np.concatenate
)


def pose(x: float, y: float, z: float, yaw_deg: float = 0.0) -> Array:
    half = math.radians(yaw_deg) / 2
    return np.array([x, y, z, 0, 0, math.sin(half), math.cos(half)])


@pytest.mark.parametrize(
    ("first", "second", "motion"),
    [
        (pose(0, 0, 0), pose(7, 0, 0), [1, 0, 0, 0, 0, 0]),  # ahead, however far
        (pose(5, 5, 5), pose(5, 5.2, 5), [0, 1, 0, 0, 0, 0]),  # to the left
        (pose(0, 0, 0), pose(3, 0, 4, 10), [0.6, 0, 0.8, 0, 0, 10]),
        (pose(0, 0, 0, 90), pose(0, 2, 0, 120), [1, 0, 0, 0, 0, 30]),  # north is ahead of who faces north
        (pose(0, 0, 0), pose(0.04, 0, 0, 5), [0, 0, 0, 0, 0, 5]),  # shorter than a twentieth of a step: no direction
        (pose(0, 0, 0), pose(0.06, 0, 0), [1, 0, 0, 0, 0, 0]),
    ],
)
def test_motions_by_hand(first: Array, second: Array, motion: list[float]) -> None:
    assert np.allclose(SPACE.difference(first, second), motion)


def test_the_unit_of_positions_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    quaternions = rng.normal(size=(20, 4))
    one = np.concatenate([rng.normal(size=(20, 3)), quaternions], axis=1)
    other = one * np.array([3.7, 3.7, 3.7, 1, 1, 1, 1])
    assert np.allclose(SPACE.difference(one[:-1], one[1:]), SPACE.difference(other[:-1], other[1:]))
    rigid = SE3Space().difference(one[:-1], one[1:])
    assert np.allclose(SPACE.difference(one[:-1], one[1:])[:, 3:], rigid[:, 3:])


@given(motions)
def test_a_motion_and_its_inverse_leave_no_motion(motion: Array) -> None:
    assert np.allclose(SPACE.invert(SPACE.invert(motion)), motion, atol=1e-6)
    assert np.allclose(SPACE.compose(motion, SPACE.invert(motion)), 0, atol=1e-6)


@given(motions, motions)
def test_two_steps_have_one_direction(first: Array, second: Array) -> None:
    length = np.linalg.norm(SPACE.compose(first, second)[:3])
    assert length == pytest.approx(1) or length == 0


def test_two_steps_count_alike() -> None:
    left = SPACE.compose(np.array([1.0, 0, 0, 0, 0, 90]), np.array([1.0, 0, 0, 0, 0, 0]))  # ahead, then ahead again
    assert np.allclose(left, [math.sqrt(0.5), math.sqrt(0.5), 0, 0, 0, 90])


def test_names_have_no_length() -> None:
    found = np.array([[0.98, 0.05, 0, 0, 0, 0.5], [0.9, 0.1, 0, 0, 0, 12], [0.02, 0.01, 0, 0, 0, -12], [0.0] * 6])
    spread = np.array([0.5, 0.5, 0.5, 5, 5, 5])
    assert name_motions(SPACE, found, spread) == ("forward", "pan left 12° and forward", "pan right 12°", "still")


def test_the_space_is_found_by_its_name() -> None:
    assert space_named("scale-free") == SPACE
    assert space_from_description(SPACE.describe()) == SPACE
    assert SPACE.pose_names == SE3Space().pose_names
