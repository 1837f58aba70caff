"""How cars move: ours along its route with its speeds and stops, one ahead of it, and those in the other lanes."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from egoequiv_worlds.render import Array
from egoequiv_worlds.street import Drive, lane_offset_m
from egoequiv_worlds.street.route import BEHIND_M, STEP_M, Line, Route, route
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things.streets import PAINTS, some_kind

SIDEWAYS_MPS2 = 2.3  # the sideways acceleration that the driver accepts in a bend
SPEED_UP_MPS2 = 1.4
BRAKE_MPS2 = 1.9
TICK_S = 0.01
SMOOTH_S = 0.25
AFTER_S = 10.0  # known beyond the end of the recording, for the cars ahead
SLOWEST_MPS = 1e-3
Placed = tuple[str, int, Array, float]  # kind, paint, place (2,) and heading of a car


class Track(NamedTuple):
    """The car's true motion in ticks of TICK_S: how far along its lane it is."""

    lane: Line
    lengths_m: Array  # (T,)

    def lengths_at(self, times_s: Array) -> Array:
        """How far along the lane the car is at given times."""
        return np.asarray(np.interp(times_s, TICK_S * np.arange(len(self.lengths_m)), self.lengths_m))


class Motion(NamedTuple):
    """The true motion at N instants; angles in radians as in the OXTS convention, pitch positive nose down."""

    places_m: Array  # (N, 2), east and north
    yaw_rad: Array
    pitch_rad: Array
    roll_rad: Array
    speed_mps: Array
    yaw_rate: Array
    acceleration_mps2: Array


def leader(drive: Drive) -> tuple[float, float] | None:
    """How many seconds earlier and how many metres ahead a car before ours moves as ours does, if there is one."""
    rng = drive.generator(24)
    if rng.random() >= drive.style.leader_share:
        return None
    return float(rng.uniform(1.0, 2.2)), float(rng.uniform(8.5, 12.0))


@lru_cache(maxsize=8)
def track(drive: Drive) -> Track:
    """Drive along the route: as fast as the bends allow, waiting at some junctions."""
    way, rng = route(drive), drive.generator(20)
    phases, waves_m = rng.uniform(0, 2 * np.pi, 3), rng.uniform(5.0, 14.0, 3) * drive.style.cruise_mps[1]
    waves = zip(waves_m, phases, strict=True)
    sway = sum(np.sin(2 * np.pi * way.middle.lengths_m / wave + phase) for wave, phase in waves)
    lane = way.middle.beside(-lane_offset_m(drive.style, 0) + 0.07 * sway)  # not exactly in the middle of its lane
    limit, stops = speed_limit(drive, lane), _stops(drive, way, lane)
    at = [int(np.searchsorted(lane.lengths_m, place_m)) for place_m, _ in stops]
    limit[at] = 0.0
    clock = travel_times(within_reach(limit, lane.lengths_m), lane.lengths_m)
    for k, (_, wait_s) in zip(at, stops, strict=True):
        clock[k + 1 :] += wait_s
    start = float(lane.lengths_m[np.argmin(np.abs(way.middle.lengths_m - BEHIND_M))])
    clock -= np.interp(start, lane.lengths_m, clock)
    # each wait is two entries, between which the car stands
    after, ends = [k + 1 for k in at], [clock[k] + wait_s for k, (_, wait_s) in zip(at, stops, strict=True)]
    times, lengths = np.insert(clock, after, ends), np.insert(lane.lengths_m, after, lane.lengths_m[at])
    ticks = np.arange(-1.0, drive.seconds + AFTER_S + 1.0, TICK_S)
    smooth = gaussian_filter1d(np.interp(ticks, times, lengths), SMOOTH_S / TICK_S, mode="nearest")
    return Track(lane, smooth[round(1.0 / TICK_S) :])


def speed_limit(drive: Drive, lane: Line) -> Array:
    """The speed (M,) that the area and the bends allow along a lane."""
    rng, style = drive.generator(21), drive.style
    knots_m = np.arange(0.0, lane.lengths_m[-1] + 120.0, 60.0)
    cruise = np.interp(lane.lengths_m, knots_m, rng.uniform(*style.cruise_mps, len(knots_m)))
    bends = gaussian_filter1d(np.abs(lane.curvatures), 2.0 / STEP_M, mode="nearest")
    return np.asarray(np.minimum(cruise, np.sqrt(SIDEWAYS_MPS2 / np.maximum(bends, 1e-6))))


def within_reach(limit: Array, lengths_m: Array) -> Array:
    """The speeds under a limit that a car can reach by speeding up and braking."""
    speed, steps = limit.copy(), np.diff(lengths_m)
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
    speed, acceleration = (after - before) / elapsed, (after - 2 * now + before) / span**2 * (times_s >= span)
    places, yaw = driven.lane.at(now)
    (_, yaw_before), (_, yaw_after) = driven.lane.at(before), driven.lane.at(after)
    yaw_rate = (yaw_after - yaw_before) / elapsed
    bump_pitch, bump_roll = bumps(drive, now)
    pitch = bump_pitch - 0.004 * acceleration  # braking presses the nose down
    roll = bump_roll + 0.004 * speed * yaw_rate  # a left turn lifts the left side
    return Motion(places, yaw, pitch, roll, speed, yaw_rate, acceleration)


def bumps(drive: Drive, lengths_m: Array) -> tuple[Array, Array]:
    """Pitch and roll from an uneven road; a car that stands still is still."""
    rng = drive.generator(22)
    waves, phases = rng.uniform(4.0, 35.0, (2, 4)), rng.uniform(0.0, 2 * np.pi, (2, 4))
    sizes = 0.0011 * rng.uniform(0.4, 1.0, (2, 4))
    pitch, roll = ((sizes[k] * np.sin(2 * np.pi * lengths_m[:, None] / waves[k] + phases[k])).sum(1) for k in (0, 1))
    return pitch, roll


def _stops(drive: Drive, way: Route, lane: Line) -> list[tuple[float, float]]:
    """Where along the lane the car waits, and for how many seconds."""
    rng, style, ahead = drive.generator(23), drive.style, leader(drive)
    queue_m = 0.0 if ahead is None else ahead[1]  # our car waits behind the one at the line
    stops = []
    for junction in way.junctions:
        waits, wait_s = rng.random() < style.stop_share, rng.uniform(*style.stop_s)
        place_m = junction.begin_m - 5.0 - style.pavement_m - queue_m
        along = float(np.interp(place_m, way.middle.lengths_m, lane.lengths_m))
        if waits and place_m > BEHIND_M + 12.0:
            stops.append((along, wait_s))
    return stops


class Stream(NamedTuple):
    """Cars one behind the other in a lane; the lane's clock gives the position of each."""

    lane: Line
    backwards: bool
    clock_s: Array  # (M,), when a car that started at the first point of the lane passes each
    offsets_s: Array  # (C,), how far each car is ahead on the clock at time 0
    pace: float  # the speed of the clock for them
    kinds: tuple[str, ...]
    paints: tuple[int, ...]

    def at(self, time_s: float) -> list[Placed]:
        """The cars that are on the lane at a time."""
        clock = self.offsets_s + (-1.0 if self.backwards else 1.0) * self.pace * time_s
        on_lane = np.flatnonzero((clock > 0.0) & (clock < self.clock_s[-1]))
        places, headings = self.lane.at(np.interp(clock[on_lane], self.clock_s, self.lane.lengths_m))
        turn, seen = np.pi if self.backwards else 0.0, zip(on_lane, places, headings, strict=True)
        return [(self.kinds[car], self.paints[car], place, float(heading) + turn) for car, place, heading in seen]


@lru_cache(maxsize=8)
def traffic(drive: Drive) -> tuple[list[Stream], str, int]:
    """The streams of a drive, and the kind and the paint of the car before ours, where there is one."""
    rng, lanes = drive.generator(70), drive.style.lanes_each_way
    streams = [_stream(drive, rng, lane, True) for lane in range(lanes)]
    streams += [_stream(drive, rng, lane, False) for lane in range(1, lanes)]
    return streams, some_kind(Dice(rng), 0.2 if drive.area == "road" else 0.0), int(rng.integers(len(PAINTS)))


def moving(drive: Drive, time_s: float) -> list[Placed]:
    """Every car on the move at a time."""
    streams, kind, paint = traffic(drive)
    cars, ahead = [car for stream in streams for car in stream.at(time_s)], leader(drive)
    if ahead is not None:
        driven = track(drive)
        place, heading = driven.lane.at(driven.lengths_at(np.asarray(time_s + ahead[0])) + ahead[1])
        cars.append((kind, paint, place, float(heading)))
    return cars


def _stream(drive: Drive, rng: np.random.Generator, lane: int, backwards: bool) -> Stream:
    """One lane full of cars; lane 0 is the outermost."""
    style = drive.style
    line = route(drive).middle.beside((1.0 if backwards else -1.0) * lane_offset_m(style, lane))
    speed = within_reach(speed_limit(drive, line), line.lengths_m)
    clock = travel_times(speed, line.lengths_m)
    pace = float(rng.uniform(0.85, 1.1)) if backwards else float(rng.uniform(1.05, 1.25))
    mean_mps, reach_s = line.lengths_m[-1] / clock[-1], pace * (drive.seconds + 5.0)
    first, last = (0.0, clock[-1] + reach_s) if backwards else (-reach_s, clock[-1])
    offsets, at_s = [], first + rng.uniform(0.0, style.headway_m[0]) / mean_mps
    while at_s < last:
        offsets.append(at_s)
        at_s += max(rng.uniform(*style.headway_m) / mean_mps, 1.6)
    lorries = {"road": 0.22, "city": 0.06}.get(drive.area, 0.03)
    kinds = tuple(some_kind(Dice(rng), lorries) for _ in offsets)
    paints = tuple(int(value) for value in rng.integers(len(PAINTS), size=len(offsets)))
    return Stream(line, backwards, clock, np.array(offsets), pace, kinds, paints)
