"""The other cars on the road: one ahead, oncoming ones, and those in the next lane."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from egoequiv_worlds.render import Array
from egoequiv_worlds.street.areas import Drive, lane_offset_m
from egoequiv_worlds.street.motion import leader, speed_limit, track, travel_times, within_reach
from egoequiv_worlds.street.route import Line, route
from egoequiv_worlds.things.dice import Dice
from egoequiv_worlds.things.vehicles import PAINTS, some_kind


@dataclass(frozen=True, eq=False)
class Stream:
    """Cars one behind the other in a lane; the lane's clock gives the position of each."""

    lane: Line
    backwards: bool
    clock_s: Array  # (M,), when a car that started at the first point of the lane passes each
    offsets_s: Array  # (C,), how far each car is ahead on the clock at time 0
    pace: float  # the speed of the clock for them
    kinds: tuple[str, ...]
    paints: tuple[int, ...]

    def at(self, time_s: float) -> list[tuple[str, int, Array, float]]:
        """Kind, paint, place (2,) and heading of each car that is on the lane at a time."""
        clock = self.offsets_s + (-1.0 if self.backwards else 1.0) * self.pace * time_s
        on_lane = np.flatnonzero((clock > 0.0) & (clock < self.clock_s[-1]))
        places, headings = self.lane.at(np.interp(clock[on_lane], self.clock_s, self.lane.lengths_m))
        turn = np.pi if self.backwards else 0.0
        return [
            (self.kinds[car], self.paints[car], place, float(heading) + turn)
            for car, place, heading in zip(on_lane, places, headings, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Traffic:
    """Everything that moves besides our own car."""

    streams: tuple[Stream, ...]
    leading: tuple[str, int]  # the kind and the paint of the car before ours, where there is one


@lru_cache(maxsize=8)
def traffic(drive: Drive) -> Traffic:
    """Generate the traffic of a drive."""
    rng, style = drive.generator(70), drive.style
    streams = [_stream(drive, rng, lane, True) for lane in range(style.lanes_each_way)]
    streams += [_stream(drive, rng, lane, False) for lane in range(1, style.lanes_each_way)]
    leading = some_kind(Dice(rng), 0.2 if drive.area == "road" else 0.0), int(rng.integers(len(PAINTS)))
    return Traffic(tuple(streams), leading)


def moving(drive: Drive, time_s: float) -> list[tuple[str, int, Array, float]]:
    """Kind, paint, place and heading of every car on the move at a time."""
    around = traffic(drive)
    cars = [car for stream in around.streams for car in stream.at(time_s)]
    before = leader(drive)
    if before is not None:
        driven = track(drive)
        place, heading = driven.lane.at(driven.lengths_at(np.asarray(time_s + before.ahead_s)) + before.ahead_m)
        cars.append((*around.leading, place, float(heading)))
    return cars


def _stream(drive: Drive, rng: np.random.Generator, lane: int, backwards: bool) -> Stream:
    """One lane full of cars; lane 0 is the outermost."""
    style = drive.style
    line = route(drive).middle.beside((1.0 if backwards else -1.0) * lane_offset_m(style, lane))
    speed = within_reach(speed_limit(drive, line), line.lengths_m)
    clock = travel_times(speed, line.lengths_m)
    pace = float(rng.uniform(0.85, 1.1)) if backwards else float(rng.uniform(1.05, 1.25))
    mean_mps = line.lengths_m[-1] / clock[-1]
    reach_s = pace * (drive.seconds + 5.0)
    first, last = (0.0, clock[-1] + reach_s) if backwards else (-reach_s, clock[-1])
    offsets = []
    at_s = first + rng.uniform(0.0, style.headway_m[0]) / mean_mps
    while at_s < last:
        offsets.append(at_s)
        at_s += max(rng.uniform(*style.headway_m) / mean_mps, 1.6)
    count = len(offsets)
    return Stream(
        lane=line,
        backwards=backwards,
        clock_s=clock,
        offsets_s=np.array(offsets),
        pace=pace,
        kinds=tuple(some_kind(Dice(rng), _lorries(drive)) for _ in range(count)),
        paints=tuple(int(value) for value in rng.integers(len(PAINTS), size=count)),
    )


def _lorries(drive: Drive) -> float:
    return {"road": 0.22, "city": 0.06}.get(drive.area, 0.03)
