"""Walks to a goal on a grid of poses: by plans, by looking at neighbours, and at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from egoequiv.evaluation.pose_grid import PoseGrid
from egoequiv.models.motion_model import Features
from egoequiv.pairs.candidates import Indices
from egoequiv.planning.belief import Flags, Floats

SLACK = 2  # moves beyond twice the shortest way


@dataclass(frozen=True, eq=False)
class Errands:
    """Ways to walk in one recording: from a place to where a goal view was taken."""

    walked: int  # the recording that is walked in, by its place among those of the grid
    seen: int  # the recording that the goal view is of
    start: Indices  # (N,) places
    goal: Indices  # (N,) places
    steps: Indices  # (N,) the shortest way

    def repeated(self, times: int) -> Errands:
        """All of them so many times, one round after the other."""
        start, goal, steps = (np.tile(each, times) for each in (self.start, self.goal, self.steps))
        return Errands(self.walked, self.seen, start, goal, steps)

    @property
    def most_moves(self) -> Indices:
        """Twice the shortest way, and two more."""
        return 2 * self.steps + SLACK


def draw_errands(
    grid: PoseGrid, walked: int, seen: int, may_begin: Flags, may_end: Flags, count: int, rng: np.random.Generator
) -> Errands:
    """So many errands at random, from and to places that are allowed, (C,) each, between which a way leads.

    Start and goal are not one place. Where the recording lacks pictures, the shortest way goes round these places.
    """
    begin = np.flatnonzero(may_begin)
    steps = grid.steps_in(walked, begin)
    starts, goals = np.nonzero(may_end[None] & (grid.between[begin] > 0) & (steps > 0))
    chosen = rng.choice(len(starts), min(count, len(starts)), replace=False)
    start, goal = starts[chosen], goals[chosen]
    return Errands(walked, seen, begin[start], goal, steps[start, goal])


Choose = Callable[[int, Sequence[int], set[int]], int]  # (here, neighbours, visited) -> the next place


def random_walks(after: Indices, errands: Errands, rng: np.random.Generator) -> Indices:
    """After how many moves walks arrive that take any possible motion, (N,); -1 for not within their moves."""

    def any_of(_here: int, neighbours: Sequence[int], _visited: set[int]) -> int:
        return int(rng.choice(neighbours))

    return np.array([_arrival(after, errands, n, any_of) for n in range(len(errands.start))], np.int64)


def greedy_walks(after: Indices, errands: Errands, views: Features, goals: Features) -> Indices:
    """The same for walks that know no maps: they try neighbours, and every try is a move, as is every way back.

    A walk goes to a neighbour that it has not seen. If that one is nearer to the goal in feature space, the walk goes
    on from there, otherwise it goes back and tries another. With no neighbour left it goes on to the nearest one.

    Args:
        after: Where motions lead, (C, G).
        errands: N of them.
        views: Features of the places, (C, E).
        goals: Features of the goal views, (N, E).
    """
    found = []
    for n in range(len(errands.start)):
        distance = np.linalg.norm(views - goals[n], axis=1)
        base = int(errands.start[n])

        def nearer(here: int, neighbours: Sequence[int], visited: set[int], distance: Floats = distance) -> int:
            nonlocal base
            if here != base and distance[here] >= distance[base]:
                return base  # no better: back
            base = here
            fresh = [place for place in neighbours if place not in visited]
            if fresh:
                return fresh[0]
            base = min(neighbours, key=lambda place: float(distance[place]))
            return base

        found.append(_arrival(after, errands, n, nearer))
    return np.array(found, np.int64)


def _arrival(after: Indices, errands: Errands, n: int, choose: Choose) -> int:
    """After how many moves one walk is at its goal; -1 for not within its moves."""
    here, visited = int(errands.start[n]), {int(errands.start[n])}
    for moves in range(1, int(errands.most_moves[n]) + 1):
        neighbours = [int(place) for place in after[here] if place >= 0]
        if not neighbours:
            return -1
        here = choose(here, neighbours, visited)
        visited.add(here)
        if here == errands.goal[n]:
            return moves
    return -1
