"""The four kinds of area of a drive: their streets, speeds and density."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Range = tuple[float, float]


@dataclass(frozen=True)
class Area:
    """What one kind of area is like; lengths in metres, speeds in metres a second."""

    lane_m: float
    lanes_each_way: int
    half_width_m: float  # from the middle of the road to its kerb, parking included
    pavement_m: float  # the footpath beside the kerb
    block_m: Range  # between one junction or bend and the next
    turn_radius_m: Range
    turn_share: float  # share of the junctions at which the car turns
    bend_share: float  # share of the turns that are bends of the road without side streets
    bend_deg: Range
    stop_share: float  # share of the junctions at which the car waits
    stop_s: Range
    cruise_mps: Range
    headway_m: Range  # between two moving cars of one lane
    leader_share: float  # share of the drives with a car ahead


_NAMES = ("campus", "city", "residential", "road")
_TABLE: Mapping[str, tuple[Any, Any, Any, Any]] = {
    "lane_m": (3.0, 3.3, 2.7, 3.6),
    "lanes_each_way": (1, 1, 1, 2),
    "half_width_m": (3.3, 5.9, 4.7, 10.6),
    "pavement_m": (2.0, 3.2, 1.6, 0.0),
    "block_m": ((30.0, 65.0), (60.0, 105.0), (40.0, 80.0), (120.0, 300.0)),
    "turn_radius_m": ((11.0, 22.0), (11.5, 14.0), (9.0, 12.0), (420.0, 1100.0)),
    "turn_share": (0.75, 0.55, 0.75, 1.0),
    "bend_share": (0.45, 0.0, 0.25, 1.0),
    "bend_deg": ((35.0, 90.0), (90.0, 90.0), (60.0, 90.0), (6.0, 22.0)),
    "stop_share": (0.3, 0.5, 0.3, 0.0),
    "stop_s": ((2.0, 4.0), (3.0, 6.0), (2.0, 4.0), (0.0, 0.0)),
    "cruise_mps": ((5.5, 8.0), (9.0, 12.5), (6.5, 9.0), (19.0, 27.0)),
    "headway_m": ((70.0, 160.0), (18.0, 50.0), (50.0, 130.0), (25.0, 90.0)),
    "leader_share": (0.2, 0.8, 0.3, 0.6),
}
AREAS: Mapping[str, Area] = {
    name: Area(**{key: values[k] for key, values in _TABLE.items()}) for k, name in enumerate(_NAMES)
}

MEDIAN_M = 1.4  # half of the strip between the two directions of a road with two lanes each way


@dataclass(frozen=True)
class Drive:
    """Which drive it is; enough to build its world again anywhere."""

    area: str
    instance: int
    seed: int
    seconds: float

    @property
    def style(self) -> Area:
        return AREAS[self.area]

    def generator(self, *purpose: int) -> np.random.Generator:
        """Random numbers that depend on the drive and on what they are for, and on nothing else."""
        return np.random.default_rng([self.seed, list(AREAS).index(self.area), self.instance, *purpose])


def lane_offset_m(style: Area, lane: int) -> float:
    """How far the middle of a lane lies from the middle of the road; lane 0 is the outermost one."""
    inner = MEDIAN_M if style.lanes_each_way > 1 else 0.0
    return inner + (style.lanes_each_way - lane - 0.5) * style.lane_m
