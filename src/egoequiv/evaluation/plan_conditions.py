"""How often walks reach their goal, by each way to walk: in one recording, or with the goal seen in another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from egoequiv.evaluation.plan_models import Pairings, Planned, measure_errors, reliable
from egoequiv.evaluation.plan_walks import Errands, draw_errands, greedy_walks, random_walks
from egoequiv.evaluation.pose_grid import PoseGrid
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.planning.belief import Flags, Floats

MEASURED = 40  # pairs of recordings for the settings, at most
STEP_COSTS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0)  # of which one is chosen on recordings for the settings
TRIED, TRIED_EACH = 20, 20  # pairs of recordings that it is chosen on, and walks in each
WALKS, MOST_EACH = 1_000, 100  # in all, and in each recording at most
RECORDINGS = 200  # at most
OnWalks = Callable[[int], None]  # called with the number of walks that were made


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of N walks."""

    arrived: Indices  # (N,) the moves to the goal; -1 where the walk did not come to it within its moves
    stopped: Flags | None = None  # (N,) whether a walk that is not told says `there` at the goal within its moves
    paths: Indices | None = None  # (W, T) some walks as places in order; -1 after the end
    step_cost: float | None = None  # of the plans, as chosen for it; None without plans


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


def prepare(planned: Planned, tuning: PoseGrid, pairings: Pairings, seed: int) -> Planned:
    """Measure errors: how far predictions are off, and which features they say reliably."""
    some = thinned(np.array(pairings, np.int64).reshape(-1, 2), MEASURED, [seed, 0x9A2]).tolist()
    weighted = reliable(planned, measure_errors(planned, tuning, some))
    return replace(weighted, spread=measure_errors(weighted, tuning, some).spread)


@dataclass(frozen=True, eq=False)
class Routes:
    """What is walked under one condition: errands that are reported, and those that a setting is chosen on."""

    tuning: PoseGrid  # the places of recordings for the settings
    tuned: Pairings  # pairs of them, as in the condition
    grid: PoseGrid  # the places that are reported
    errands: list[Errands]  # on it
    tried: list[Errands]  # on those for the settings
    seed: int  # of what is drawn at random

    @property
    def walks(self) -> int:
        """How many are reported."""
        return sum(len(own.start) for own in self.errands)

    @property
    def planned_walks(self) -> int:
        """How many are made by one way to plan."""
        return 2 * self.walks + len(STEP_COSTS) * sum(len(own.start) for own in self.tried)

    def by_plans(self, planned: Planned, on_walks: OnWalks) -> Outcome:
        """Walk by plans, told where the goal is reached and not told; all settings are from the recordings for them."""
        weighted = prepare(planned, self.tuning, self.tuned, self.seed)
        chosen = with_step_cost(weighted, self.tuning, self.tried, on_walks)
        arrived, stopped, paths = [], [], []
        for own in self.errands:
            told, alone = chosen.walks(self.grid, own, [True, False])
            arrived.append(told.arrived)
            stopped.append(alone.says_there & (alone.ended == own.goal))
            paths.append(told.path[:1])
            on_walks(2 * len(own.start))
        longest = max(path.shape[1] for path in paths)
        strips = [np.pad(path, ((0, 0), (0, longest - path.shape[1])), constant_values=-1) for path in paths]
        cost = float(chosen.step_cost)
        return Outcome(np.concatenate(arrived), np.concatenate(stopped), np.concatenate(strips), cost)

    def greedily(self, planned: Planned) -> Outcome:
        """Walk without maps."""
        z, rows = planned.z, self.grid.rows
        arrived = [
            greedy_walks(self.grid.after_in(own.walked), own, z[rows[own.walked]], z[rows[own.seen, own.goal]])
            for own in self.errands
        ]
        return Outcome(np.concatenate(arrived))

    def at_random(self) -> Outcome:
        """Walk by any motion."""
        rng = np.random.default_rng([self.seed, 0x9A3])
        arrived = [random_walks(self.grid.after_in(own.walked), own, rng) for own in self.errands]
        return Outcome(np.concatenate(arrived))


def tried_errands(tuning: PoseGrid, pairings: Pairings, seed: int) -> list[Errands]:
    """Errands in recordings on which the cost of a step is chosen, the same for all features."""
    some = thinned(np.array(pairings, np.int64).reshape(-1, 2), TRIED, [seed, 0x9A4]).tolist()
    return errands_of(tuning, some, tuning.rows[tuning.rows >= 0], TRIED_EACH, seed)


def with_step_cost(planned: Planned, tuning: PoseGrid, errands: list[Errands], on_walks: OnWalks) -> Planned:
    """The same with the cost of a step by which most walks come to their goal; of equal ones with the fewest moves."""
    reached, moves = np.zeros(len(STEP_COSTS)), np.zeros(len(STEP_COSTS))
    for own in errands:
        every = own.repeated(len(STEP_COSTS))
        costs = np.repeat(STEP_COSTS, len(own.start))
        (found,) = replace(planned, step_cost=costs).walks(tuning, every, [True])
        arrived = found.arrived.reshape(len(STEP_COSTS), -1)
        reached += (arrived >= 0).sum(axis=1)
        moves += np.where(arrived >= 0, arrived, every.most_moves.reshape(arrived.shape)).sum(axis=1)
        on_walks(len(every.start))
    best = int(np.lexsort((moves, -reached))[0])
    return replace(planned, step_cost=STEP_COSTS[best]) if errands else planned


def excess_of(arrived: Indices, steps: Indices) -> Floats:
    """Moves beyond the shortest way of the walks that arrived."""
    reached = arrived >= 0
    return (arrived[reached] - steps[reached]).astype(np.float64)
