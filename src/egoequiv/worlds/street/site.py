"""The layout of a drive: which objects are where, and where there is still room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from egoequiv.worlds.street.areas import Drive
from egoequiv.worlds.street.greenery import Plant
from egoequiv.worlds.street.route import Line, Route
from egoequiv.worlds.street.shapes import Blobs, Faces, placed

Array = NDArray[np.float64]
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
