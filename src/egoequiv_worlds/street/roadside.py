"""What stands along a road, and where there is still room: trees, lamps, parked cars, gardens, signs and rails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from egoequiv_worlds.render.arrays import Array
from egoequiv_worlds.render.faces import PAVING, Blobs, Faces, faces, placed
from egoequiv_worlds.street.areas import Drive
from egoequiv_worlds.street.buildings import garage, house
from egoequiv_worlds.street.furniture import (
    Plant,
    bench,
    broadleaf,
    bush,
    conifer,
    fence,
    green,
    guard_rail,
    hedge,
    lamp,
    sign,
    traffic_light,
)
from egoequiv_worlds.street.route import EASE_M, Line, Route
from egoequiv_worlds.street.vehicles import PAINTS, length_m, some_kind, vehicle

CELL_M = 1.5
RIM_M = 0.4  # adjacent objects may share the cells at their edges


class Spot(NamedTuple):
    """A place beside a road: where it is, the direction of local x, and how far along the road."""

    place: Array  # (2,)
    heading_rad: float
    along_m: float


@dataclass(eq=False)
class Site:
    """Collects faces and blobs, and refuses objects that would be on a road or inside another object."""

    drive: Drive
    way: Route
    rng: np.random.Generator
    faces: list[Faces] = field(default_factory=list)
    blobs: list[Blobs] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.roads = [self.way.middle, *self.way.streets]
        self._middles = cKDTree(np.concatenate([road.points[::2] for road in self.roads]))

    def kerb_m(self, places: Array) -> Array:
        """How far places (P, 2) lie from the nearest kerb, negative on a road."""
        distance: Array = self._middles.query(places)[0]
        return distance - self.drive.style.half_width_m

    def reserve(self, spot: Spot, width: float, depth: float, least_m: float) -> bool:
        """Take a rectangle at a spot, from y = 0 backwards, if it is free and keeps its distance from the kerbs."""
        columns, rows = int(width / CELL_M) + 1, int(depth / CELL_M) + 1
        x = np.tile(np.linspace(-width / 2 + RIM_M, width / 2 - RIM_M, columns), rows)
        y = np.repeat(np.linspace(0.0, depth - RIM_M, rows), columns)
        cos, sin = np.cos(spot.heading_rad), np.sin(spot.heading_rad)
        inside = np.column_stack([cos * x - sin * y, sin * x + cos * y]) + spot.place
        if self.kerb_m(inside).min() < least_m:
            return False
        at = np.floor(inside / CELL_M).astype(np.int64)
        cells = set((at[:, 0] * 1_000_003 + at[:, 1]).tolist())  # one number a cell
        if not self.taken.isdisjoint(cells):
            return False
        self.taken |= cells
        return True

    def put(self, shape: Faces, spot: Spot) -> None:
        """Place faces made in local metres at a spot."""
        self.faces.append(placed(shape, spot.place, spot.heading_rad))

    def plant(self, plant: Plant) -> None:
        """Add a plant that is already in its place."""
        self.faces.append(plant.faces)
        self.blobs.append(plant.blobs)


def beside(road: Line, along_m: float, side: int, from_middle_m: float) -> Spot:
    """The spot at a length along a road, on its left (1) or right (-1), looking at the road along local -y."""
    place, heading = road.at(np.asarray(along_m))
    away = float(heading) + (0.0 if side > 0 else np.pi)
    return Spot(place + from_middle_m * np.array([-np.sin(away), np.cos(away)]), away, along_m)


def sides(site: Site) -> Iterator[tuple[Line, int]]:
    """Every road with its left and its right side."""
    for road in site.roads:
        for side in (1, -1):
            yield road, side


def path(site: Site, spot: Spot, length_m: float) -> None:
    """A paved way from a door to the pavement."""
    if length_m > 1.0:
        corners = [(-1.2, -length_m, 0.015), (1.2, -length_m, 0.015), (1.2, 0, 0.015), (-1.2, 0, 0.015)]
        site.put(faces([corners], (0.38, 0.36, 0.33), PAVING), spot)


def front_garden(site: Site, road: Line, side: int, at: float, width: float, front_m: float, season: float) -> None:
    """A hedge, a fence or nothing towards the street, a way to the door, perhaps a drive with a garage or a car."""
    rng, style = site.rng, site.drive.style
    line_m = style.half_width_m + style.pavement_m + 0.5
    colour = green(rng, 0.0)
    kind = rng.choice(["hedge", "fence", "bushes", "open"], p=[0.4, 0.25, 0.2, 0.15])
    gap = rng.uniform(0.3, 0.6) * width
    for start, end in ((-1.5, gap - 0.8), (gap + 0.8, width + 1.5)):
        if end - start < 1.5 or kind == "open":
            continue
        spot = beside(road, at + (start + end) / 2, side, line_m)
        if site.kerb_m(spot.place[None])[0] < style.pavement_m:
            continue
        half = (end - start) / 2
        if kind == "hedge" and site.reserve(spot, 2 * half, 0.4, style.pavement_m):
            site.put(hedge(2 * half, rng.uniform(0.9, 1.7), colour), spot)
        elif kind == "fence" and site.reserve(spot, 2 * half, 0.4, style.pavement_m):
            site.put(fence(np.array([(-half, 0.0), (half, 0.0)]), rng.uniform(0.8, 1.2), (0.6, 0.58, 0.52)), spot)
        elif kind == "bushes":
            x, y = spot.place
            site.plant(bush(rng, (x, y), rng.uniform(0.5, 1.0), season))
    path(site, beside(road, at + gap, side, line_m + front_m - 0.5), front_m)
    beside_house = beside(road, at + width + 2.4, side, line_m + front_m)
    if rng.random() < 0.5 and site.reserve(beside_house, 3.6, 6.2, style.pavement_m + 2.0):
        site.put(garage(rng), beside_house)
        path(site, beside_house, front_m)
        if rng.random() < 0.5:
            nose = beside_house.heading_rad + np.pi / 2
            back = beside_house.place - 2.6 * np.array([np.cos(nose), np.sin(nose)])
            car = vehicle(some_kind(rng, 0.0), int(rng.integers(len(PAINTS))))
            site.faces.append(placed(car, back, nose))


def trees(
    site: Site, road: Line, side: int, every_m: tuple[float, float], away_m: tuple[float, float],
    tall_m: tuple[float, float], season: float,
) -> None:  # fmt: skip
    """Trees at some distance from the kerb where there is room."""
    rng, style = site.rng, site.drive.style
    at = rng.uniform(0.0, every_m[1])
    while at < road.lengths_m[-1]:
        spot = beside(road, at, side, style.half_width_m + rng.uniform(*away_m))
        if site.reserve(spot, 1.0, 1.0, min(away_m[0], style.pavement_m + 0.8) * 0.9):
            place, tall = (float(spot.place[0]), float(spot.place[1])), rng.uniform(*tall_m)
            wild = site.drive.area != "city" and rng.random() < 0.2
            site.plant(conifer(rng, place, tall) if wild else broadleaf(rng, place, tall, season))
        at += rng.uniform(*every_m)


def lamps(
    site: Site, road: Line, side: int, every_m: float, tall_m: float, reach_m: float, away_m: float = 0.6
) -> None:
    """Street lamps at equal distances."""
    style = site.drive.style
    for at in np.arange(site.rng.uniform(4.0, every_m), road.lengths_m[-1], every_m):
        spot = beside(road, float(at), side, style.half_width_m + away_m)
        if site.reserve(spot, 0.5, 0.3, 0.4):
            site.put(lamp(tall_m, reach_m), spot)


def parked_cars(site: Site, road: Line, side: int, share: float) -> None:
    """Cars along the kerb, as many as a share of the places; none near a junction."""
    rng, style = site.rng, site.drive.style
    middle = max(style.half_width_m - 1.0, style.lane_m + 0.9)  # on a narrow road half on the pavement
    at = 4.0
    while at < road.lengths_m[-1] - 4.0:
        kind = some_kind(rng, 0.0)
        at += length_m(kind) / 2
        spot = beside(road, at, side, middle)
        if rng.random() < share and not _at_junction(site, road, at) and _alone(site, road, spot.place):
            car = vehicle(kind, int(rng.integers(len(PAINTS))))
            turned = np.pi if rng.random() < 0.15 else 0.0
            ahead = spot.heading_rad + np.pi + turned
            site.faces.append(placed(car, spot.place, ahead + rng.normal(0.0, 0.01)))
        at += length_m(kind) / 2 + rng.uniform(0.8, 1.8)


def _at_junction(site: Site, road: Line, at_m: float) -> bool:
    """Whether a length along the route is at a turn or a crossing."""
    if road is not site.way.middle:
        return at_m < site.drive.style.half_width_m + 14.0
    return any(j.begin_m - EASE_M - 10.0 < at_m < j.end_m + EASE_M + 9.0 for j in site.way.junctions)


def _alone(site: Site, road: Line, place: Array) -> bool:
    """Whether no other road runs through a place beside a road."""
    keep_m = site.drive.style.half_width_m + 3.0
    others = [other for other in site.roads if other is not road]
    return all(np.hypot(*(other.points[::4] - place).T).min() > keep_m for other in others)


def junction_lights(site: Site) -> None:
    """Traffic lights where the car comes to a junction."""
    style = site.drive.style
    for junction in site.way.junctions:
        spot = beside(site.way.middle, junction.begin_m - 3.0, -1, style.half_width_m + 0.5)
        lights = traffic_light(bool(site.rng.random() < 0.5))
        site.put(lights, spot)


def signs(site: Site, share: float) -> None:
    """Road signs before some of the junctions."""
    for junction in site.way.junctions:
        if site.rng.random() < share:
            spot = beside(
                site.way.middle,
                junction.begin_m - site.rng.uniform(12.0, 22.0),
                -1,
                site.drive.style.half_width_m + 0.5,
            )
            site.put(sign(int(site.rng.integers(4))), spot)


def benches(site: Site, road: Line, side: int) -> None:
    """Benches and bushes on a lawn."""
    rng, style = site.rng, site.drive.style
    for at in np.arange(rng.uniform(0.0, 30.0), road.lengths_m[-1], 28.0):
        spot = beside(road, float(at), side, style.half_width_m + style.pavement_m + rng.uniform(0.8, 4.0))
        if site.reserve(spot, 1.6, 0.6, style.pavement_m + 0.3):
            if rng.random() < 0.4:
                site.put(bench(), spot)
            else:
                site.plant(bush(rng, (float(spot.place[0]), float(spot.place[1])), rng.uniform(0.5, 1.1), 0.1))


def rails(site: Site, road: Line, side: int, away_m: float, share: float) -> None:
    """Guard rails in long stretches along a share of the road."""
    stretch_m = 120.0
    for start in np.arange(0.0, road.lengths_m[-1] - 4.0, stretch_m):
        if site.rng.random() < share:
            lengths = np.arange(start, min(start + stretch_m, road.lengths_m[-1]) + 0.1, 4.0)
            points = np.stack([beside(road, float(at), side, away_m).place for at in lengths])
            site.faces.append(guard_rail(points))


def thickets(site: Site, road: Line, side: int) -> None:
    """Rows of bushes here and there."""
    rng, style = site.rng, site.drive.style
    at = 0.0
    while at < road.lengths_m[-1]:
        if rng.random() < 0.35:  # a thicket
            for _ in range(int(rng.integers(5, 16))):
                at += rng.uniform(1.5, 3.0)
                x, y = beside(road, at, side, style.half_width_m + rng.uniform(3.5, 7.0)).place
                site.plant(bush(rng, (float(x), float(y)), rng.uniform(0.8, 2.0), 0.15))
        at += rng.uniform(20.0, 70.0)


def farms(site: Site, road: Line, side: int) -> None:
    """A few houses and barns out in the fields."""
    rng = site.rng
    for at in np.arange(rng.uniform(0.0, 200.0), road.lengths_m[-1], 260.0):
        for _ in range(3):
            spot = beside(road, float(at) + rng.uniform(-25, 25), side, rng.uniform(60.0, 130.0))
            width = rng.uniform(9.0, 22.0)
            if site.reserve(spot, width, 11.0, 30.0):
                site.put(house(rng, width, 11.0), spot)
