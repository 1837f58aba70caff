"""The four kinds of area of a drive: their streets, speeds and density."""

from typing import NamedTuple

import numpy as np

Range = tuple[float, float]


class Area(NamedTuple):
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


AREAS = {  # in the order of the fields above
    "campus": Area(3, 1, 3.3, 2, (30, 65), (11, 22), 0.75, 0.45, (35, 90), 0.3, (2, 4), (5.5, 8), (70, 160), 0.2),
    "city": Area(3.3, 1, 5.9, 3.2, (60, 105), (11.5, 14), 0.55, 0, (90, 90), 0.5, (3, 6), (9, 12.5), (18, 50), 0.8),
    "residential": Area(
        2.7, 1, 4.7, 1.6, (40, 80), (9, 12), 0.75, 0.25, (60, 90), 0.3, (2, 4), (6.5, 9), (50, 130), 0.3
    ),
    "road": Area(3.6, 2, 10.6, 0, (120, 300), (420, 1100), 1, 1, (6, 22), 0, (0, 0), (19, 27), (25, 90), 0.6),
}
MEDIAN_M = 1.4  # half of the strip between the two directions of a road with two lanes each way


class Drive(NamedTuple):
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
