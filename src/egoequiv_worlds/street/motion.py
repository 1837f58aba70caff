"""How the car moves along its route: speeds, stops, and its true place at every instant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from egoequiv_worlds.render import Array
from egoequiv_worlds.street.areas import Drive, lane_offset_m
from egoequiv_worlds.street.route import BEHIND_M, STEP_M, Line, Route, route

SIDEWAYS_MPS2 = 2.3  # the sideways acceleration that the driver accepts in a bend
SPEED_UP_MPS2 = 1.4
BRAKE_MPS2 = 1.9
TICK_S = 0.01
SMOOTH_S = 0.25
AFTER_S = 10.0  # known beyond the end of the recording, for the cars ahead
SLOWEST_MPS = 1e-3


@dataclass(frozen=True, eq=False)
class Track:
    """The car's true motion in ticks of TICK_S: how far along its lane it is."""

    lane: Line
    lengths_m: Array  # (T,)

    def lengths_at(self, times_s: Array) -> Array:
        """How far along the lane the car is at given times."""
        ticks = TICK_S * np.arange(len(self.lengths_m))
        length: Array = np.interp(times_s, ticks, self.lengths_m)
        return length


@dataclass(frozen=True, eq=False)
class Motion:
    """The true motion at N instants; angles in radians as in the OXTS convention, pitch positive nose down."""

    places_m: Array  # (N, 2), east and north
    yaw_rad: Array
    pitch_rad: Array
    roll_rad: Array
    speed_mps: Array
    yaw_rate: Array
    acceleration_mps2: Array


class Leader(NamedTuple):
    """A car ahead of ours that moves as ours does, some seconds earlier and some metres ahead."""

    ahead_s: float
    ahead_m: float


def leader(drive: Drive) -> Leader | None:
    """The car ahead of ours, if there is one."""
    rng = drive.generator(24)
    if rng.random() >= drive.style.leader_share:
        return None
    return Leader(float(rng.uniform(1.0, 2.2)), float(rng.uniform(8.5, 12.0)))


@lru_cache(maxsize=8)
def track(drive: Drive) -> Track:
    """Drive along the route: as fast as the bends allow, waiting at some junctions."""
    way = route(drive)
    lane = own_lane(drive)
    limit = speed_limit(drive, lane)
    stops = _stops(drive, way, lane)
    held = limit.copy()
    for place_m, _ in stops:
        held[np.searchsorted(lane.lengths_m, place_m)] = 0.0
    speed = within_reach(held, lane.lengths_m)
    clock = travel_times(speed, lane.lengths_m)
    for place_m, wait_s in stops:
        clock[np.searchsorted(lane.lengths_m, place_m) + 1 :] += wait_s
    start = float(lane.lengths_m[np.argmin(np.abs(way.middle.lengths_m - BEHIND_M))])
    clock -= np.interp(start, lane.lengths_m, clock)
    times, lengths = _with_waits(clock, lane.lengths_m, stops)
    ticks = np.arange(-1.0, drive.seconds + AFTER_S + 1.0, TICK_S)
    smooth = gaussian_filter1d(np.interp(ticks, times, lengths), SMOOTH_S / TICK_S, mode="nearest")
    return Track(lane, smooth[round(1.0 / TICK_S) :])


def own_lane(drive: Drive) -> Line:
    """The line the car follows: its lane, but not exactly in the middle."""
    middle = route(drive).middle
    rng = drive.generator(20)
    phases, waves_m = rng.uniform(0, 2 * np.pi, 3), rng.uniform(5.0, 14.0, 3) * drive.style.cruise_mps[1]
    sway = sum(np.sin(2 * np.pi * middle.lengths_m / wave + phase) for wave, phase in zip(waves_m, phases, strict=True))
    return middle.beside(-lane_offset_m(drive.style, 0) + 0.07 * sway)


def speed_limit(drive: Drive, lane: Line) -> Array:
    """The speed (M,) that the area and the bends allow along a lane."""
    rng, style = drive.generator(21), drive.style
    knots_m = np.arange(0.0, lane.lengths_m[-1] + 120.0, 60.0)
    cruise = np.interp(lane.lengths_m, knots_m, rng.uniform(*style.cruise_mps, len(knots_m)))
    bends = gaussian_filter1d(np.abs(lane.curvatures), 2.0 / STEP_M, mode="nearest")
    return np.asarray(np.minimum(cruise, np.sqrt(SIDEWAYS_MPS2 / np.maximum(bends, 1e-6))))


def within_reach(limit: Array, lengths_m: Array) -> Array:
    """The speeds under a limit that a car can reach by speeding up and braking."""
    speed = limit.copy()
    steps = np.diff(lengths_m)
    for k in range(1, len(speed)):
        speed[k] = min(speed[k], np.sqrt(speed[k - 1] ** 2 + 2 * SPEED_UP_MPS2 * steps[k - 1]))
    for k in range(len(speed) - 2, -1, -1):
        speed[k] = min(speed[k], np.sqrt(speed[k + 1] ** 2 + 2 * BRAKE_MPS2 * steps[k]))
    return speed


def travel_times(speed: Array, lengths_m: Array) -> Array:
    """When a car that starts at the first place is at each, (M,)."""
    mean = np.maximum((speed[:-1] + speed[1:]) / 2, SLOWEST_MPS)
    return np.concatenate([[0.0], np.cumsum(np.diff(lengths_m) / mean)])


def motion(drive: Drive, times_s: Array) -> Motion:
    """The true motion of the car at given times since the drive began."""
    driven, span = track(drive), 0.05
    before, now, after = (driven.lengths_at(np.maximum(times_s + d, 0.0)) for d in (-span, 0.0, span))
    elapsed = np.minimum(times_s, span) + span
    speed = (after - before) / elapsed
    acceleration = (after - 2 * now + before) / span**2 * (times_s >= span)
    places, yaw = driven.lane.at(now)
    _, yaw_before = driven.lane.at(before)
    _, yaw_after = driven.lane.at(after)
    yaw_rate = (yaw_after - yaw_before) / elapsed
    bump_pitch, bump_roll = bumps(drive, now)
    pitch = bump_pitch - 0.004 * acceleration  # braking presses the nose down
    roll = bump_roll + 0.004 * speed * yaw_rate  # a left turn lifts the left side
    return Motion(places, yaw, pitch, roll, speed, yaw_rate, acceleration)


def bumps(drive: Drive, lengths_m: Array) -> tuple[Array, Array]:
    """Pitch and roll from an uneven road; a car that stands still is still."""
    rng = drive.generator(22)
    waves = rng.uniform(4.0, 35.0, (2, 4))
    phases = rng.uniform(0.0, 2 * np.pi, (2, 4))
    sizes = 0.0011 * rng.uniform(0.4, 1.0, (2, 4))
    both = [(sizes[k] * np.sin(2 * np.pi * lengths_m[:, None] / waves[k] + phases[k])).sum(axis=1) for k in (0, 1)]
    return both[0], both[1]


def _stops(drive: Drive, way: Route, lane: Line) -> list[tuple[float, float]]:
    """Where along the lane the car waits, and for how many seconds."""
    rng, style, ahead = drive.generator(23), drive.style, leader(drive)
    queue_m = 0.0 if ahead is None else ahead.ahead_m  # our car waits behind the one at the line
    stops = []
    for junction in way.junctions:
        waits, wait_s = rng.random() < style.stop_share, rng.uniform(*style.stop_s)
        place_m = junction.begin_m - 5.0 - style.pavement_m - queue_m
        along = float(np.interp(place_m, way.middle.lengths_m, lane.lengths_m))
        if waits and place_m > BEHIND_M + 12.0:
            stops.append((along, wait_s))
    return stops


def _with_waits(clock: Array, lengths_m: Array, stops: list[tuple[float, float]]) -> tuple[Array, Array]:
    """Times and places with each wait as two entries, so that between them the car stands."""
    at = [int(np.searchsorted(lengths_m, place_m)) for place_m, _ in stops]
    ends = [clock[k] + wait_s for k, (_, wait_s) in zip(at, stops, strict=True)]
    after = [k + 1 for k in at]
    return np.insert(clock, after, ends), np.insert(lengths_m, after, lengths_m[at])
