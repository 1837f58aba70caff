"""Poses from steps, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from egoequiv.odometry.chain import bridged, chains, gaps, step_lengths
from egoequiv.odometry.steps import VisualSteps
from egoequiv.odometry.two_view import Step

AHEAD = (1.0, 0.0, 0.0)
UNKNOWN = (math.nan,) * 3


def steps(
    yaw_deg: list[float],
    ratio: list[float] | None = None,
    direction: list[tuple[float, float, float]] | None = None,
    every: int = 1,
    reason: list[str] | None = None,
) -> VisualSteps:
    count = len(yaw_deg)
    rotation = np.zeros((count, 3))
    rotation[:, 2] = yaw_deg
    rotation[np.isnan(yaw_deg)] = np.nan
    return VisualSteps(
        first=every * np.arange(count),
        second=every * np.arange(1, count + 1),
        rotation_deg=rotation,
        direction=np.array(direction or [AHEAD] * count),
        rotation_error_deg=np.linspace(0.1, 0.2, count),
        direction_error_deg=np.ones(count),
        length_ratio=np.array(ratio or [math.nan] * count),
        matches=np.full(count, 100),
        inliers=np.arange(count) + 50,
        flow=np.full(count, 0.02),
        reason=np.array(reason or [""] * count),
    )


def test_a_square_leads_back() -> None:
    chain = chains(steps([90.0] * 4), None)[0]
    assert np.allclose(chain.poses[:, :3], [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]], atol=1e-12)
    assert np.allclose(np.abs(chain.poses[4, 3:]), [0, 0, 0, 1], atol=1e-12)
    assert chain.inliers.tolist() == [50, 51, 52, 53, 53]


def test_lengths_follow_the_ratios_and_the_usual_one_is_one() -> None:
    found = step_lengths(steps([0.0] * 5, [math.nan, 2.0, 1.0, 0.5, math.nan]))
    assert np.allclose(found, [0.5, 1, 1, 0.5, 0.5] / np.median([0.5, 1, 1, 0.5, 0.5]))


def test_standing_still_and_turning_alone_have_no_length() -> None:
    found = step_lengths(
        steps(
            [0.0, 0, 5, 0],
            [math.nan, math.nan, math.nan, 3.0],
            [AHEAD, (0.0, 0.0, 0.0), UNKNOWN, AHEAD],
            reason=["", "still", "rotation alone", ""],
        )
    )
    assert np.allclose(found, [1, 0, 0, 1])  # the last speed, because the step before has no length to compare with


def test_the_scale_does_not_run_away() -> None:
    found = step_lengths(steps([0.0] * 60, [math.nan] + [1.5] * 59))
    assert found.max() / found.min() <= 8 + 1e-9


def test_an_unknown_direction_is_the_last_one() -> None:
    left = (0.0, 1.0, 0.0)
    chain = chains(steps([0.0] * 3, None, [left, UNKNOWN, left], reason=["", "direction not certain", ""]), None)[0]
    assert np.allclose(chain.poses[:, 1], [0, 1, 2, 3])


def test_frames_between_the_keys_have_poses_at_their_own_times() -> None:
    times = np.array([0.0, 0.02, 0.1, 0.12, 0.2, 0.22, 0.3])
    chain = chains(steps([0.0] * 3, every=2), times)[0]
    assert chain.frames == range(7)
    assert np.allclose(chain.poses[:, 0], times / 0.1, atol=1e-9)


def test_a_step_that_cannot_be_told_cuts_the_recording() -> None:
    found = chains(steps([0.0, 0, 0, math.nan, 0, 0, math.nan, 0]), None)
    assert [chain.frames for chain in found] == [range(4), range(4, 7)]
    assert not found[1].poses[0, :3].any()  # each begins at its own origin


def test_given_lengths_are_in_metres() -> None:
    chain = chains(steps([0.0] * 3), None, np.array([2.0, 3.0, 4.0]))[0]
    assert np.allclose(chain.poses[:, 0], [0, 2, 5, 9])


def test_short_gaps_are_bridged_and_long_ones_are_not() -> None:
    nan = math.nan
    found = steps([nan, 1, nan, nan, 1, nan, nan, nan, nan, 1, nan, 1, nan])
    assert gaps(found) == [(2, 3), (10, 10)]  # not at the ends, and not four in a row
    direct = Step(np.array([0.0, 0.0, 7.0]), np.array(AHEAD), 0.3, 1.0, 40, 30, 0.1)
    over = bridged(found, {(2, 3): direct, (10, 10): Step.unknown("few matches")})
    assert over.first.tolist() == [0, 1, 2, *range(4, 13)]
    assert over.second.tolist() == [1, 2, 4, *range(5, 14)]
    assert over.rotation_deg[2, 2] == 7
    chain = chains(over, None)[0]
    assert chain.frames == range(1, 6)
    assert chain.poses[2, 0] == pytest.approx(0.5 * (chain.poses[1, 0] + chain.poses[3, 0]), rel=0.2)
