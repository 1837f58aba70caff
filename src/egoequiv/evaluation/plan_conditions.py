"""How often walks reach their goal, by each way to walk: in one recording, or with the goal seen in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from egoequiv.evaluation.plan_models import Pairings, Planned, measure_errors, reliable
from egoequiv.evaluation.plan_walks import Errands, Planning, draw_errands, greedy_walks, random_walks
from egoequiv.evaluation.pose_grid import PoseGrid
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.planning.belief import Flags, Floats

STEP_COSTS = (0.06, 0.12, 0.25, 0.5)  # one of which is chosen on training recordings
MEASURED, CHOSEN = 40, 25  # pairs of training recordings for errors and for the choice of the step cost
EACH_CHOSEN = 8  # walks in each of the latter
WALKS, MOST_EACH = 1_000, 100  # in all, and in each recording at most
RECORDINGS = 200  # at most


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of N walks.

    Args:
        arrived: The moves to the goal, (N,); -1 where the walk did not come to it within its moves.
        stopped: Whether a walk that is not told says `there` at the goal within its moves, (N,); None where it cannot.
        paths: Some walks as places in order, (W, T); -1 after the end.
        step_cost: What was chosen on training recordings; None where nothing is.
    """

    arrived: Indices
    stopped: Flags | None = None
    paths: Indices | None = None
    step_cost: float | None = None


def errands_of(
    grid: PoseGrid, pairings: Pairings, frames: Indices, each: int, seed: int, most: int = RECORDINGS
) -> list[Errands]:
    """Errands in each pair of recordings, from and to frames (store rows) that are measured."""
    place = {int(number): k for k, number in enumerate(grid.recordings)}
    chosen = thinned(np.array(pairings, np.int64).reshape(-1, 2), most, [seed, 0x9A1])
    found = []
    for walked, seen in chosen.tolist():
        rng = np.random.default_rng([seed, walked, seen])
        begin, end = (np.isin(grid.rows[place[number]], frames) for number in (walked, seen))
        end &= grid.rows[place[walked]] >= 0  # the place can be walked to
        errands = draw_errands(grid, place[walked], place[seen], begin, end, each, rng)
        if len(errands.start):
            found.append(errands)
    return found


def walks_each(pairings: Pairings) -> int:
    """How many walks in each pair of recordings."""
    return min(max(WALKS // max(min(len(pairings), RECORDINGS), 1), 1), MOST_EACH)


def prepare(planned: Planned, training: PoseGrid, pairings: Pairings, seed: int) -> tuple[Planned, Planning]:
    """Measure errors, and choose the weights of features and the cost of a step, all on training recordings.

    Of the costs that do about as well there as the best, by two standard errors, the largest is taken: predictions are
    worse in new recordings, and near places then come first.
    """
    some = thinned(np.array(pairings, np.int64).reshape(-1, 2), MEASURED, [seed, 0x9A2]).tolist()
    every = training.rows[training.rows >= 0]
    errands = errands_of(training, pairings, every, EACH_CHOSEN, seed, CHOSEN)
    found: list[tuple[float, Planned, Planning]] = []
    for own in (planned, reliable(planned, measure_errors(planned, training, some))):
        spread = measure_errors(own, training, some).spread
        ways = [Planning(training.displacements, spread, cost) for cost in STEP_COSTS]
        shares = [float(np.mean(arrived >= 0)) for arrived in _told(own, ways, training, errands)]
        best = max(shares)
        least = best - 2 * (best * (1 - best) / sum(len(one.start) for one in errands)) ** 0.5
        largest = max(k for k, share in enumerate(shares) if share >= least)
        found.append((best, own, ways[largest]))
    _, chosen, way = max(found, key=lambda one: one[0])
    return chosen, way


def _told(planned: Planned, ways: Sequence[Planning], grid: PoseGrid, errands: list[Errands]) -> list[Indices]:
    """The moves to the goal of all errands, by each way to plan."""
    arrived: list[list[Indices]] = [[] for _ in ways]
    for own in errands:
        places, goals = planned.places(grid, own.walked), planned.z[grid.rows[own.seen, own.goal]]
        for found, way in zip(arrived, ways, strict=True):
            found.append(way.walk(places, own, goals, is_told=True).arrived)
    return [np.concatenate(found) for found in arrived]


def by_plans(planned: Planned, way: Planning, grid: PoseGrid, errands: list[Errands]) -> Outcome:
    """Walk by plans: told where the goal is reached, and not told."""
    arrived, stopped, paths = [], [], []
    for own in errands:
        places = planned.places(grid, own.walked)
        goals = planned.z[grid.rows[own.seen, own.goal]]
        told = way.walk(places, own, goals, is_told=True)
        alone = way.walk(places, own, goals, is_told=False)
        arrived.append(told.arrived)
        stopped.append(alone.says_there & (alone.ended == own.goal))
        paths.append(told.path[:1])
    longest = max(path.shape[1] for path in paths)
    strips = np.concatenate(
        [np.pad(path, ((0, 0), (0, longest - path.shape[1])), constant_values=-1) for path in paths]
    )
    return Outcome(np.concatenate(arrived), np.concatenate(stopped), strips, way.step_cost)


def greedily(planned: Planned, grid: PoseGrid, errands: list[Errands]) -> Outcome:
    """Walk without maps."""
    return Outcome(
        np.concatenate(
            [
                greedy_walks(
                    grid.after_in(own.walked),
                    own,
                    planned.z[grid.rows[own.walked]],
                    planned.z[grid.rows[own.seen, own.goal]],
                )
                for own in errands
            ]
        )
    )


def at_random(grid: PoseGrid, errands: list[Errands], seed: int) -> Outcome:
    """Walk by any motion."""
    rng = np.random.default_rng([seed, 0x9A3])
    return Outcome(np.concatenate([random_walks(grid.after_in(own.walked), own, rng) for own in errands]))


def excess_of(arrived: Indices, steps: Indices) -> Floats:
    """Moves beyond the shortest way of the walks that arrived."""
    reached = arrived >= 0
    return (arrived[reached] - steps[reached]).astype(np.float64)
