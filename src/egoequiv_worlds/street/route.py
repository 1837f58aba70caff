"""Routes: the middle line of the road that a drive follows, and the streets that meet it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from egoequiv_worlds.render import Array
from egoequiv_worlds.street import Area, Drive

STEP_M = 0.5  # between the points of a line
EASE_M = 5.0  # over which curvature comes and goes
BEHIND_M = 60.0  # of road before the car's first place
AHEAD_M = {"campus": 150.0, "city": 170.0, "residential": 150.0, "road": 420.0}  # of road after its last place
STREET_M = 95.0  # how far a side street leads away
NO_TURN = 0.0


class Line(NamedTuple):
    """A smooth curve in the plane, sampled in steps of STEP_M or nearly so."""

    points: Array  # (M, 2)
    headings_rad: Array  # (M,), continuous, 0 = east, counter-clockwise
    lengths_m: Array  # (M,), from the first point

    def at(self, length_m: Array) -> tuple[Array, Array]:
        """Places (..., 2) and headings (...) at lengths along the line; beyond its ends it goes straight on."""
        inside = np.clip(length_m, 0.0, self.lengths_m[-1])
        heading = np.interp(inside, self.lengths_m, self.headings_rad)
        place = np.stack([np.interp(inside, self.lengths_m, self.points[:, k]) for k in (0, 1)], axis=-1)
        over = np.asarray(length_m - inside)[..., None]
        return place + over * np.stack([np.cos(heading), np.sin(heading)], axis=-1), heading

    def beside(self, left_m: float | Array) -> Line:
        """The line that runs beside this one, to its left where `left_m` is positive."""
        normals = np.stack([-np.sin(self.headings_rad), np.cos(self.headings_rad)], axis=1)
        points = self.points + np.broadcast_to(left_m, len(self.points))[:, None] * normals
        steps = np.diff(points, axis=0)
        lengths = np.concatenate([[0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])
        headings = np.unwrap(np.arctan2(np.gradient(points[:, 1]), np.gradient(points[:, 0])))
        whole_turns = 2 * np.pi * np.rint((self.headings_rad[0] - headings[0]) / (2 * np.pi))
        return Line(points, headings + whole_turns, lengths)

    @property
    def curvatures(self) -> Array:
        """Curvature (M,) in 1/m, positive to the left."""
        return np.asarray(np.gradient(self.headings_rad) / np.maximum(np.gradient(self.lengths_m), 1e-6))


class Junction(NamedTuple):
    """A place along the route where streets meet it, or where the road only bends."""

    begin_m: float  # where the turn begins, or the middle of a junction the route crosses
    end_m: float
    has_streets: bool
    turns: bool


class Route(NamedTuple):
    """The road of a drive and the streets that branch off; `middle` begins BEHIND_M before the car does."""

    middle: Line
    junctions: tuple[Junction, ...]
    streets: tuple[Line, ...]  # two for each junction that has streets, in order

    def until(self, length_m: float) -> Route:
        """The route up to a length."""
        middle, end = self.middle, int(np.searchsorted(self.middle.lengths_m, length_m)) + 1
        junctions = tuple(junction for junction in self.junctions if junction.begin_m < length_m)
        streets = 2 * sum(junction.has_streets for junction in junctions)
        near = Line(middle.points[:end], middle.headings_rad[:end], middle.lengths_m[:end])
        return Route(near, junctions, self.streets[:streets])


@lru_cache(maxsize=8)
def route(drive: Drive) -> Route:
    """Generate the route of a drive."""
    style = drive.style
    wanted_m = BEHIND_M + AHEAD_M[drive.area] + 1.15 * style.cruise_mps[1] * (drive.seconds + 12.0)
    pieces, junctions = _pieces(drive, wanted_m)
    curvature = np.concatenate([np.full(round(length / STEP_M), bend) for length, bend in pieces])
    ease = round(EASE_M / STEP_M) | 1
    curvature = np.convolve(np.pad(curvature, ease // 2, mode="edge"), np.full(ease, 1.0 / ease), mode="valid")
    turned = np.concatenate([[0.0], np.cumsum(curvature[:-1] + curvature[1:]) / 2 * STEP_M])
    headings = drive.generator(10).uniform(-np.pi, np.pi) + turned
    halfway = (headings[:-1] + headings[1:]) / 2
    steps = STEP_M * np.stack([np.cos(halfway), np.sin(halfway)], axis=1)
    points = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    middle = Line(points, headings, np.arange(len(points), dtype=np.float64) * STEP_M)
    streets = [street for junction in junctions if junction.has_streets for street in _streets(middle, junction, style)]
    return Route(middle, tuple(junctions), tuple(streets))


def _pieces(drive: Drive, wanted_m: float) -> tuple[list[tuple[float, float]], list[Junction]]:
    """Segments of one curvature (length in m, curvature in 1/m), and the junctions between them.

    The heading stays within a quarter turn of where it began, so that a route never crosses itself.
    """
    rng, style = drive.generator(11), drive.style
    pieces, junctions, share = [(BEHIND_M, NO_TURN)], [], 0.5  # the first block is half as long
    gone_m, heading_deg, sway_deg = BEHIND_M, 0.0, 100.0
    while gone_m < wanted_m:
        block, share = rng.uniform(*style.block_m) * share, 1.0
        turns, bends = rng.random() < style.turn_share, rng.random() < style.bend_share
        angle_deg, left = rng.uniform(*style.bend_deg) if bends else 90.0, rng.random() < 0.5
        if abs(heading_deg + (angle_deg if left else -angle_deg)) > sway_deg:
            left = not left
        radius = rng.uniform(*style.turn_radius_m)
        length = np.radians(angle_deg) * radius if turns else 2.0 * style.half_width_m
        heading_deg += (angle_deg if left else -angle_deg) if turns else 0.0
        pieces += [(block, NO_TURN), (length, (1.0 if left else -1.0) / radius if turns else NO_TURN)]
        begin_m, gone_m = gone_m + block, gone_m + block + length
        junctions.append(Junction(begin_m, gone_m, has_streets=not (turns and bends), turns=turns))
    return pieces, junctions


def _streets(middle: Line, junction: Junction, style: Area) -> list[Line]:
    """The side streets of a junction: straight on and back where the route turns, left and right where it does not."""
    place, heading = middle.at(np.array([junction.begin_m - EASE_M, junction.end_m + EASE_M]))
    along_in, along_out = (np.array([np.cos(angle), np.sin(angle)]) for angle in heading)
    if not junction.turns:
        corner, across = place.mean(axis=0), np.array([-along_in[1], along_in[0]])
        return [straight(corner, corner + across * STREET_M), straight(corner, corner - across * STREET_M)]
    reach = np.linalg.solve(np.stack([along_in, -along_out], axis=1), place[1] - place[0])
    corner, back_m = place[0] + reach[0] * along_in, style.half_width_m + 4.0
    ends = (corner - back_m * along_in, corner + STREET_M * along_in)
    return [straight(*ends), straight(corner + back_m * along_out, corner - STREET_M * along_out)]


def straight(start: Array, end: Array) -> Line:
    """A straight line between two places."""
    length = float(np.hypot(*(end - start)))
    lengths = np.linspace(0.0, length, max(2, round(length / STEP_M) + 1))
    heading = np.arctan2(end[1] - start[1], end[0] - start[0])
    points = start + (end - start) * (lengths / length)[:, None]
    return Line(points, np.full(len(points), heading), lengths)
