"""How long one step is compared with another, from points whose places are known."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.odometry.depth import length_ratio
from egoequiv.odometry.features import Features
from egoequiv.odometry.two_view import two_view_step
from odometry.clouds import LENS, SIZE, cloud, seen


def features(pixels: np.ndarray) -> Features:
    return Features(SIZE, pixels.astype(np.float32), np.zeros((len(pixels), 128), np.float32))


@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0])
def test_the_ratio_of_two_steps(ratio: float) -> None:
    points = cloud(150)
    turn = np.array([0.0, 0.0, 1.0])
    places = [np.zeros(3), np.array([0.6, 0.1, 0.0]), np.array([0.6, 0.1, 0.0]) + ratio * np.array([0.6, -0.1, 0.0])]
    pictures = [seen(points, place, k * turn) for k, place in enumerate(places)]
    rows = np.arange(len(points))
    one, two = (two_view_step(pictures[k], pictures[k + 1], LENS, SIZE) for k in (0, 1))
    found = length_ratio(one, (rows, rows), two, (rows, rows), [features(p) for p in pictures], LENS)
    assert found == pytest.approx(ratio, rel=0.02)


def test_a_camera_that_stood_still_has_no_ratio() -> None:
    points = cloud(60)
    pictures = [seen(points, place, np.zeros(3)) for place in (np.zeros(3), np.zeros(3), np.array([0.5, 0.0, 0.0]))]
    rows = np.arange(len(points))
    one, two = (two_view_step(pictures[k], pictures[k + 1], LENS, SIZE) for k in (0, 1))
    assert one.reason == "still"
    assert np.isnan(length_ratio(one, (rows, rows), two, (rows, rows), [features(p) for p in pictures], LENS))


def test_a_broken_picture_tells_nothing() -> None:
    points = cloud(60)
    pictures = [seen(points, np.array([0.3 * k, 0.0, 0.0]), np.zeros(3)) for k in range(3)]
    rows = np.arange(len(points))
    one, two = (two_view_step(pictures[k], pictures[k + 1], LENS, SIZE) for k in (0, 1))
    seen_ones = [features(pictures[0]), None, features(pictures[2])]
    assert np.isnan(length_ratio(one, (rows, rows), two, (rows, rows), seen_ones, LENS))
