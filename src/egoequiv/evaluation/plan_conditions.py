"""How often walks reach their goal, by each way to walk: in one recording, or with the goal seen in another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egoequiv.evaluation.plan_models import Pairings, Planned, measure_errors, reliable
from egoequiv.evaluation.plan_walks import Errands, Planning, draw_errands, greedy_walks, random_walks
from egoequiv.evaluation.pose_grid import PoseGrid
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.planning.belief import Flags, Floats

MEASURED = 40  # pairs of training recordings, at most
WALKS, MOST_EACH = 1_000, 100  # in all, and in each recording at most
RECORDINGS = 200  # at most


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of N walks.

    Args:
        arrived: The moves to the goal, (N,); -1 where the walk did not come to it within its moves.
        stopped: Whether a walk that is not told says `there` at the goal within its moves, (N,); None where it cannot.
        paths: Some walks as places in order, (W, T); -1 after the end.
    """

    arrived: Indices
    stopped: Flags | None = None
    paths: Indices | None = None


def errands_of(grid: PoseGrid, pairings: Pairings, frames: Indices, each: int, seed: int) -> list[Errands]:
    """Errands in each pair of recordings, from and to frames (store rows) that are measured."""
    place = {int(number): k for k, number in enumerate(grid.recordings)}
    chosen = thinned(np.array(pairings, np.int64).reshape(-1, 2), RECORDINGS, [seed, 0x9A1])
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
    """Measure errors on training recordings: how far predictions are off, and which features they say reliably."""
    some = thinned(np.array(pairings, np.int64).reshape(-1, 2), MEASURED, [seed, 0x9A2]).tolist()
    weighted = reliable(planned, measure_errors(planned, training, some))
    return weighted, Planning(training.displacements, measure_errors(weighted, training, some).spread)


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
    return Outcome(np.concatenate(arrived), np.concatenate(stopped), strips)


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
