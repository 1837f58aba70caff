"""Routes: smooth lines that never come back to themselves, and the cars along them."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv_worlds.street import AREAS, Drive, lane_offset_m
from egoequiv_worlds.street.motion import BRAKE_MPS2, moving, track, travel_times, within_reach
from egoequiv_worlds.street.route import STEP_M, route, straight


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("instance", range(3))
def test_a_route_is_smooth_and_keeps_away_from_itself(area: str, instance: int) -> None:
    middle = route(Drive(area, instance, 0, 60.0)).middle
    steps = np.hypot(*np.diff(middle.points, axis=0).T)
    assert np.allclose(steps, STEP_M, rtol=1e-3)
    assert np.abs(middle.curvatures).max() < 1.0 / 7.0
    places = middle.points[::20]
    away = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    along = np.abs(np.subtract.outer(np.arange(len(places)), np.arange(len(places)))) * 20 * STEP_M
    assert away[along > 100.0].min() > 20.0


def test_a_line_beside_another_keeps_its_distance() -> None:
    middle = route(Drive("residential", 0, 0, 20.0)).middle
    left = middle.beside(2.0)
    off = left.points - middle.points
    normal = np.stack([-np.sin(middle.headings_rad), np.cos(middle.headings_rad)], axis=1)
    assert np.allclose((off * normal).sum(axis=1), 2.0)
    # A line two metres to the left of a left turn by the angle T is shorter by 2 T.
    turned = middle.headings_rad[-1] - middle.headings_rad[0]
    assert left.lengths_m[-1] == pytest.approx(middle.lengths_m[-1] - 2.0 * turned, abs=0.05)


def test_a_line_goes_straight_on_beyond_its_ends() -> None:
    line = straight(np.array([1.0, 2.0]), np.array([1.0, 12.0]))
    place, heading = line.at(np.array([-3.0, 5.0, 14.0]))
    assert np.allclose(place, [(1, -1), (1, 7), (1, 16)])
    assert np.allclose(heading, np.pi / 2)


def test_speeds_within_reach_by_hand() -> None:
    lengths = np.array([0.0, 1.0, 2.0, 3.0])
    speed = within_reach(np.array([9.0, 9.0, 9.0, 0.0]), lengths)
    assert np.allclose(speed, [np.sqrt(6 * BRAKE_MPS2), np.sqrt(4 * BRAKE_MPS2), np.sqrt(2 * BRAKE_MPS2), 0.0])
    assert np.allclose(travel_times(np.array([1.0, 3.0]), np.array([0.0, 4.0])), [0.0, 2.0])


@pytest.mark.parametrize("area", AREAS)
def test_no_car_drives_through_ours(area: str) -> None:
    for instance in range(3):
        drive = Drive(area, instance, 0, 30.0)
        driven = track(drive)
        for time_s in np.arange(0.0, 30.0, 0.5):
            own, _ = driven.lane.at(driven.lengths_at(np.asarray(time_s)))
            for _, _, place, _ in moving(drive, float(time_s)):
                assert np.hypot(*(place - own)) > 2.4


def test_traffic_comes_towards_us_on_the_left() -> None:
    drive = Drive("road", 0, 0, 20.0)
    driven = track(drive)
    own, heading = driven.lane.at(driven.lengths_at(np.asarray(5.0)))
    left = np.array([-np.sin(heading), np.cos(heading)])
    oncoming = [
        (place - own) @ left
        for _, _, place, other in moving(drive, 5.0)
        if np.cos(other - heading) < -0.9 and np.hypot(*(place - own)) < 60.0
    ]
    assert oncoming
    assert min(oncoming) > lane_offset_m(AREAS["road"], 0)
