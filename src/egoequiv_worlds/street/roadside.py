"""What stands along a road, and where there is still room: trees, lamps, parked cars, gardens, signs and rails."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, pi, sin

import numpy as np
from scipy.spatial import cKDTree

from egoequiv_worlds.render.solids import Solids, Spot, plain
from egoequiv_worlds.street import Drive, Range
from egoequiv_worlds.street.roads import WALK_Z, pieces
from egoequiv_worlds.street.route import EASE_M, Line, Route
from egoequiv_worlds.things import Dice
from egoequiv_worlds.things import streets as furniture
from egoequiv_worlds.things.buildings import garage, house
from egoequiv_worlds.things.nature import broadleaf, bush, conifer, hedge
from egoequiv_worlds.things.streets import PAINTS, SHAPES, car, some_kind, vehicle

CELL_M = 1.5
RIM_M = 0.4  # adjacent objects may share the cells at their edges
PATH = plain((0.38, 0.36, 0.33), 0.3)


@dataclass(eq=False)
class Site:
    """Collects solids, and refuses objects that would be on a road or inside another object."""

    drive: Drive
    way: Route
    solids: Solids
    dice: Dice
    taken: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.roads = [self.way.middle, *self.way.streets]
        self._middles = cKDTree(np.concatenate([road.points[::2] for road in self.roads]))

    def reserve(self, spot: Spot, width: float, depth: float, least_m: float) -> bool:
        """Take a rectangle at a spot, from y = 0 backwards, if it is free and keeps its distance from the kerbs."""
        columns, rows = int(width / CELL_M) + 1, int(depth / CELL_M) + 1
        x = np.tile(np.linspace(-width / 2 + RIM_M, width / 2 - RIM_M, columns), rows)
        y = np.repeat(np.linspace(0.0, depth - RIM_M, rows), columns)
        c, s = cos(spot.yaw_rad), sin(spot.yaw_rad)
        inside = np.column_stack([spot.x + c * x - s * y, spot.y + s * x + c * y])
        if self._middles.query(inside)[0].min() - self.drive.style.half_width_m < least_m:
            return False
        at = np.floor(inside / CELL_M).astype(np.int64)
        cells = set((at[:, 0] * 1_000_003 + at[:, 1]).tolist())  # one number a cell
        if not self.taken.isdisjoint(cells):
            return False
        self.taken |= cells
        return True

    def beside(self, road: Line, along_m: float, side: int, from_middle_m: float) -> Spot:
        """The spot at a length along a road, on its left (1) or right (-1), looking at the road along local -y."""
        (x, y), heading = road.at(np.asarray(along_m))
        away = float(heading) + (0.0 if side > 0 else pi)
        return Spot(self.solids, float(x) - from_middle_m * sin(away), float(y) + from_middle_m * cos(away), away)

    def kerbs(self) -> list[Kerb]:
        """The left and the right side of every road."""
        return [Kerb(self, road, side) for road in self.roads for side in (1, -1)]

    def junction_lights(self) -> None:
        """Traffic lights where the car comes to a junction."""
        for junction in self.way.junctions:
            spot = self.beside(self.way.middle, junction.begin_m - 3.0, -1, self.drive.style.half_width_m + 0.5)
            furniture.traffic_light(spot, self.dice.chance(0.5))

    def signs(self, share: float) -> None:
        """Road signs before some of the junctions."""
        for junction in self.way.junctions:
            if self.dice.chance(share):
                at = junction.begin_m - self.dice.between(12.0, 22.0)
                spot = self.beside(self.way.middle, at, -1, self.drive.style.half_width_m + 0.5)
                furniture.sign(spot, self.dice.count(0, 3))


def path(spot: Spot, length_m: float) -> None:
    """A paved way from a door to the pavement."""
    if length_m > 1.0:
        spot.box(0, -length_m / 2, WALK_Z - 0.19, (2.4, length_m, 0.2), PATH, casts=False)


class Kerb:
    """One side of a road, its left (1) or its right (-1), and what may stand along it."""

    def __init__(self, site: Site, road: Line, side: int) -> None:
        self.site, self.road, self.side = site, road, side
        self.dice, self.style, self.end_m = site.dice, site.drive.style, road.lengths_m[-1]
        self.half_m = self.style.half_width_m

    def spot(self, along_m: float, from_middle_m: float) -> Spot:
        """A spot that looks at the road."""
        return self.site.beside(self.road, float(along_m), self.side, from_middle_m)

    def front_garden(self, at: float, width: float, front_m: float) -> None:
        """A hedge, a fence or nothing towards the street, a way to the door, perhaps a drive with a garage or a car."""
        dice, walk_m = self.dice, self.style.pavement_m
        line_m, kind = self.half_m + walk_m + 0.5, dice.one_of(("hedge", "hedge", "fence", "bushes", "open"))
        gap, tall = dice.between(0.3, 0.6) * width, dice.between(0.9, 1.7)
        for start, end in ((-1.5, gap - 0.8), (gap + 0.8, width + 1.5)):
            spot = self.spot(at + (start + end) / 2, line_m)
            if end - start < 1.5 or kind == "open" or not self.site.reserve(spot, end - start, 0.4, walk_m):
                continue
            if kind == "hedge":
                hedge(spot, dice, end - start, tall)
            elif kind == "fence":
                furniture.fence(spot, dice, end - start)
            else:
                bush(spot, dice, dice.between(0.4, 0.8))
        path(self.spot(at + gap, line_m + front_m - 0.5), front_m)
        spot = self.spot(at + width + 2.4, line_m + front_m)
        if dice.chance(0.5) and self.site.reserve(spot, 3.6, 6.2, walk_m + 2.0):
            garage(spot, dice)
            path(spot, front_m)
            if dice.chance(0.5):
                car(spot.at(0, -2.6, pi / 2), dice, 0.0)

    def trees(self, every_m: Range, away_m: Range, tall_m: Range, season: float = 0.2) -> None:
        """Trees at some distance from the kerb where there is room."""
        dice, at = self.dice, self.dice.between(0.0, every_m[1])
        while at < self.end_m:
            spot = self.spot(at, self.half_m + dice.between(*away_m))
            if self.site.reserve(spot, 1.0, 1.0, min(away_m[0], self.style.pavement_m + 0.8) * 0.9):
                tall = dice.between(*tall_m)
                if self.site.drive.area != "city" and dice.chance(0.2):
                    conifer(spot, dice, tall)
                else:
                    broadleaf(spot, dice, tall, season=season)
            at += dice.between(*every_m)

    def lamps(self, every_m: float, tall_m: float, reach_m: float, away_m: float = 0.6) -> None:
        """Street lamps at equal distances."""
        for at in np.arange(self.dice.between(4.0, every_m), self.end_m, every_m):
            spot = self.spot(at, self.half_m + away_m)
            if self.site.reserve(spot, 0.5, 0.3, 0.4):
                furniture.lamp_post(spot, tall_m, reach_m)

    def parked_cars(self, share: float) -> None:
        """Cars along the kerb, as many as a share of the places; none near a junction or on another road."""
        dice, at = self.dice, 4.0
        middle = max(self.half_m - 1.0, self.style.lane_m + 0.9)  # on a narrow road half on the pavement
        while at < self.end_m - 4.0:
            kind = some_kind(dice)
            long = SHAPES[kind][0]
            at += long / 2
            spot = self.spot(at, middle)
            if dice.chance(share) and self._is_free(at, spot):
                turned = 0.0 if dice.chance(0.15) else pi
                ahead = spot.at(0, 0, turned + dice.between(-0.02, 0.02))
                ahead.put(vehicle(kind, dice.count(0, len(PAINTS) - 1)))
            at += long / 2 + dice.between(0.8, 1.8)

    def _is_free(self, at_m: float, spot: Spot) -> bool:
        """Whether a place beside the road is at no turn or crossing, and no other road runs through it."""
        junctions = [(j.begin_m - EASE_M - 10.0, j.end_m + EASE_M + 9.0) for j in self.site.way.junctions]
        taken = junctions if self.road is self.site.way.middle else [(-1.0, self.half_m + 14.0)]
        if any(begin_m < at_m < end_m for begin_m, end_m in taken):
            return False
        others = [other.points[::4] for other in self.site.roads if other is not self.road]
        return all(np.hypot(*(points - (spot.x, spot.y)).T).min() > self.half_m + 3.0 for points in others)

    def benches(self) -> None:
        """Benches and bushes on a lawn."""
        dice, walk_m = self.dice, self.style.pavement_m
        for at in np.arange(dice.between(0.0, 30.0), self.end_m, 28.0):
            spot = self.spot(at, self.half_m + walk_m + dice.between(0.8, 4.0))
            if self.site.reserve(spot, 1.6, 0.6, walk_m + 0.3):
                if dice.chance(0.4):
                    furniture.bench(spot)
                else:
                    bush(spot, dice, dice.between(0.5, 1.1), season=0.1)

    def rails(self, left_m: float, share: float) -> None:
        """Guard rails along a share of the road, to the left of its middle where `left_m` is positive."""
        for spot, long, _ in pieces(self.site.solids, self.road.beside(left_m), 0.0):
            if self.dice.chance(share):
                furniture.guard_rail(spot.at(0, 0, pi / 2 if left_m > 0.0 else -pi / 2), long)

    def thickets(self) -> None:
        """Rows of bushes here and there."""
        dice, at = self.dice, 0.0
        while at < self.end_m:
            if dice.chance(0.35):
                for _ in range(dice.count(5, 15)):
                    at += dice.between(1.5, 3.0)
                    spot = self.spot(at, self.half_m + dice.between(3.5, 7.0))
                    bush(spot, dice, dice.between(0.8, 2.0), season=0.15)
            at += dice.between(20.0, 70.0)

    def farms(self) -> None:
        """A few houses and barns out in the fields."""
        dice = self.dice
        for at in np.arange(dice.between(0.0, 200.0), self.end_m, 260.0):
            for _ in range(3):
                spot = self.spot(float(at) + dice.between(-25, 25), dice.between(60.0, 130.0))
                width = dice.between(9.0, 22.0)
                if self.site.reserve(spot, width, 11.0, 30.0):
                    house(spot, dice, width, 11.0)
