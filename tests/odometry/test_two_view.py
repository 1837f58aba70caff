"""The motion between two pictures of a known cloud of points."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.odometry.two_view import two_view_step
from odometry.clouds import LENS, SIZE, angle_deg, cloud, seen

ORIGIN, NONE = np.zeros(3), np.zeros(3)


@pytest.mark.parametrize(
    ("position", "rotation_deg"),
    [
        ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),  # ahead
        ([1.0, 0.0, 0.0], [0.0, 0.0, 3.0]),  # a left turn
        ([0.3, 0.8, 0.0], [0.5, -1.0, -2.0]),  # aside, and turned about every axis
        ([-0.7, 0.0, 0.1], [0.0, 0.0, 0.0]),  # back
        ([0.0, 0.0, 0.5], [4.0, 0.0, 0.0]),  # up, with a roll
    ],
)
def test_exact_points_give_the_exact_motion(position: list[float], rotation_deg: list[float]) -> None:
    points = cloud(200)
    step = two_view_step(
        seen(points, ORIGIN, NONE), seen(points, np.array(position), np.array(rotation_deg)), LENS, SIZE
    )
    assert step.reason == ""
    assert np.allclose(step.rotation_deg, rotation_deg, atol=0.01)
    assert angle_deg(step.direction, np.array(position)) < 0.1
    assert step.inliers == step.matches == 200


@pytest.mark.parametrize("seed", range(4))
def test_noise_and_wrong_matches_cost_little(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, position, rotation_deg = cloud(250, seed), np.array([1.0, 0.2, 0.0]), np.array([0.2, 0.3, -1.5])
    first, second = seen(points, ORIGIN, NONE), seen(points, position, rotation_deg)
    second += rng.normal(0, 0.4, second.shape)
    second[:60] = rng.uniform([0, 0], [640, 480], (60, 2))  # a quarter is wrong
    step = two_view_step(first, second, LENS, SIZE)
    assert np.linalg.norm(step.rotation_deg - rotation_deg) < 0.15
    assert angle_deg(step.direction, position) < 4
    assert 180 <= step.inliers <= 215
    assert np.abs(step.rotation_deg - rotation_deg).max() < 5 * step.rotation_error_deg


def test_errors_are_of_the_right_size() -> None:
    points, position, rotation_deg = cloud(150), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 2.0])
    off, said = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first = seen(points, ORIGIN, NONE) + rng.normal(0, 0.4, (150, 2))
        step = two_view_step(first, seen(points, position, rotation_deg) + rng.normal(0, 0.4, (150, 2)), LENS, SIZE)
        off.append(step.rotation_deg - rotation_deg)
        said.append(step.rotation_error_deg)
    true = np.sqrt(np.square(off).mean())
    assert (
        0.5 * true < np.median(said) < 8 * true
    )  # larger than for independent noise, because that of real points is not


def test_a_rotation_alone_has_no_direction() -> None:
    points = cloud(200)
    second = seen(points, ORIGIN, np.array([0.0, 1.0, 5.0])) + np.random.default_rng(0).normal(0, 0.3, (200, 2))
    step = two_view_step(seen(points, ORIGIN, NONE), second, LENS, SIZE)
    assert np.allclose(step.rotation_deg, [0, 1, 5], atol=0.1)
    assert np.isnan(step.direction).all()
    assert step.reason == "rotation alone"


@pytest.mark.parametrize("seed", range(4))
def test_points_of_one_plane_never_give_a_wrong_rotation(seed: int) -> None:
    """A wall that passes by fits two motions; the pictures do not say which."""
    points, rng = cloud(200, seed, plane=True), np.random.default_rng(seed)
    for position, yaw in (([0.2, 1.0, 0.0], 2.0), ([1.0, 0.0, 0.0], 1.0)):
        second = seen(points, np.array(position), np.array([0.0, 0.0, yaw])) + rng.normal(0, 0.3, (200, 2))
        step = two_view_step(seen(points, ORIGIN, NONE), second, LENS, SIZE)
        told = np.isfinite(step.rotation_deg).all()
        assert (abs(step.rotation_deg[2] - yaw) < 0.5) if told else (step.reason == "two motions fit")


def test_standing_still_is_no_motion() -> None:
    points = seen(cloud(100), ORIGIN, NONE)
    step = two_view_step(points, points + 0.05, LENS, SIZE)
    assert step.reason == "still"
    assert not step.rotation_deg.any()
    assert not step.direction.any()


def test_too_few_and_random_points_tell_nothing() -> None:
    points = seen(cloud(10), ORIGIN, NONE)
    few = two_view_step(points, points + 5, LENS, SIZE)
    assert (few.reason, few.matches) == ("few matches", 10)
    assert np.isnan(few.rotation_deg).all()
    rng = np.random.default_rng(1)
    wrong = two_view_step(*(rng.uniform([0, 0], [640, 480], (60, 2)) for _ in range(2)), LENS, SIZE)
    assert np.isnan(wrong.rotation_deg).all()
    assert wrong.reason in ("few inliers", "rotation not certain")
