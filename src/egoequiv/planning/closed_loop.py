"""Many walks side by side where every move has a picture: plan, move, look again, as `Planner.reach` does for one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egoequiv.models.motion_model import Features
from egoequiv.planning.belief import STEP_COST, Belief, Flags, Floats
from egoequiv.planning.displacements import Displacements, Numbers


@dataclass(frozen=True, eq=False)
class Places:
    """The places of one recording: where motions lead, and what the maps predict from each.

    Args:
        after: The place that each motion leads to from each, (C, G); -1 where it is not possible.
        predicted: Features after each displacement, (C, K, E); the first are those of the place itself.
    """

    after: Numbers
    predicted: Features


@dataclass(frozen=True, eq=False)
class Walks:
    """What became of N walks.

    Args:
        arrived: After how many moves each came to its goal, (N,); -1 if it did not within its moves.
        says_there: Whether it ended by saying that it was there, (N,).
        ended: The place where it ended, (N,).
        path: The places in order, (N, T); -1 after the end.
    """

    arrived: Numbers
    says_there: Flags
    ended: Numbers
    path: Numbers


def walk_all(
    displacements: Displacements,
    spread: Floats,
    places: Places,
    start: Numbers,
    goal: Numbers,
    goal_features: Features,
    most_moves: Numbers,
    *,
    is_told: bool,
    step_cost: float | Floats = STEP_COST,
) -> Walks:
    """Walk from each start to each goal.

    Args:
        displacements: What is planned with.
        spread: The squared error of predictions, (K,).
        places: The recording that is walked in.
        start: Places, (N,).
        goal: Places, (N,); used to see who has arrived, not to plan.
        goal_features: Of the views of the goals, perhaps in another recording, (N, E).
        most_moves: (N,).
        is_told: Whether a walk ends when it comes to its goal; a place where it does not end is then not the goal.
            Otherwise it ends where it says so itself.
        step_cost: See `Belief`.
    """
    belief = Belief(displacements, spread, goal_features, step_cost=step_cost)
    here, moves = start.copy(), np.zeros(len(start), np.int64)
    arrived, says_there = np.where(here == goal, 0, -1), np.zeros(len(start), bool)
    path = [here.copy()]
    on = np.arange(len(start)) if not is_told else np.flatnonzero(arrived < 0)  # the walks that go on
    belief.keep(np.isin(np.arange(len(start)), on))
    while len(on):
        motion = _look_and_plan(belief, places, here[on], is_told=is_told)
        says_there[on] = motion < 0
        goes_on = (motion >= 0) & (moves[on] < most_moves[on])
        belief.move(np.where(goes_on, motion, -1))
        here[on] = np.where(goes_on, places.after[here[on], np.maximum(motion, 0)], here[on])
        moves[on] += goes_on
        is_here = goes_on & (here[on] == goal[on]) & (arrived[on] < 0)
        arrived[on] = np.where(is_here, moves[on], arrived[on])
        path.append(np.full(len(start), -1))
        path[-1][on[goes_on]] = here[on[goes_on]]
        if is_told:
            goes_on &= ~is_here & (moves[on] < most_moves[on])
        belief.keep(goes_on)
        on = on[goes_on]
    return Walks(arrived, says_there, here, np.stack(path, axis=1))


def _look_and_plan(belief: Belief, places: Places, here: Numbers, *, is_told: bool) -> Numbers:
    """The next motion of each walk, (N,), -1 to stay; one that is not possible is told, and another is chosen."""
    belief.see(places.predicted, here)
    if is_told:
        belief.rule_out_here(np.ones(len(here), bool))
    while True:
        motion = belief.next_motion(belief.best())
        is_blocked = (motion >= 0) & (places.after[here, np.maximum(motion, 0)] < 0)
        if not is_blocked.any():
            return motion
        belief.block(np.where(is_blocked, motion, -1))
