"""One way to a goal: what is known so far, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.models.motion_model import Features
from egoequiv.planning.belief import Belief, guess_spread
from egoequiv.planning.displacements import Displacements
from egoequiv.planning.search import Found, beam_search

if TYPE_CHECKING:
    from egoequiv.planning.planner import Planner

Status = Literal["go", "there", "lost"]
# A goal that no plan brings nearer than this share of the median distance over all plans is of another thing. In the
# training recordings of two runs on small NORB, at most 3 % of the right goals count as lost, and 21 to 42 % of others.
LOST = 0.75


@dataclass(frozen=True)
class Plan:
    """What to do next: the motions to the goal, or that the goal is reached, or that it is not to be found.

    Args:
        status: `go` with motions to make; `there` where no motion brings the features nearer; `lost` where no plan
            brings them notably nearer, as for a goal of another thing.
        motions: The names of the motions, in order; none unless the status is `go`.
        distance: From the features of the view to those of the goal.
        predicted: The same after the motions, as the maps predict it.
    """

    status: Status
    motions: tuple[str, ...]
    distance: float
    predicted: float


class Trip:
    """One way to a goal: what is known so far."""

    def __init__(self, planner: Planner, goal: Features) -> None:
        self.planner, self.goal = planner, goal
        self.view = goal

    def look(self, view: Features) -> Plan:
        """Take in a view and plan on."""
        self.view = view
        distance = float(np.linalg.norm(view - self.goal))
        if self.planner.there is not None and distance <= self.planner.there:
            return Plan("there", (), distance, distance)
        return self._plan(distance)

    def block(self, motion: str) -> Plan:
        """A motion was not possible: plan without it."""
        raise NotImplementedError

    def move(self, motion: str) -> None:
        """A motion was made."""
        raise NotImplementedError

    def _plan(self, distance: float) -> Plan:
        raise NotImplementedError


class ExactTrip(Trip):
    """All net displacements, with what earlier views said of each place."""

    def __init__(self, planner: Planner, goal: Features, displacements: Displacements) -> None:
        super().__init__(planner, goal)
        self.displacements = displacements
        self.belief: Belief | None = None

    def _plan(self, distance: float) -> Plan:
        predicted = self.displacements.predict(self.planner.model, self.view[None])
        if self.belief is None:
            measured = self.planner.spread
            spread = guess_spread(self.displacements, predicted[0], self.goal) if measured is None else measured
            self.belief = Belief(
                self.displacements,
                spread,
                self.goal[None],
                is_measured=measured is not None,
                step_cost=self.planner.step_cost,
            )
        self.belief.see(predicted)
        if self.planner.there is not None:
            self.belief.rule_out_here(np.ones(1, bool))
        return self._best(distance)

    def _best(self, distance: float) -> Plan:
        assert self.belief is not None
        best, distances = self.belief.best(), self.belief.distances()[0]
        if best[0] < 0:
            return Plan("lost", (), distance, distance)
        expected = float(distances[self.belief.onward[0] == best[0]][0])
        if expected > LOST * float(np.median(distances[np.isfinite(distances)])):
            return Plan("lost", (), distance, expected)
        first = int(self.belief.next_motion(best)[0])
        if first < 0:
            return Plan("there", (), distance, distance)
        counts = self.belief.counts_to(best)[0]
        counts[first] -= 1
        order = [first, *(g for g in np.argsort(-counts, kind="stable") for _ in range(counts[g]))]
        return Plan("go", tuple(self.displacements.motions[g] for g in order), distance, expected)

    def block(self, motion: str) -> Plan:
        assert self.belief is not None
        self.belief.block(self._number(motion))
        return self._best(float(np.linalg.norm(self.view - self.goal)))

    def move(self, motion: str) -> None:
        assert self.belief is not None
        self.belief.move(self._number(motion))

    def _number(self, motion: str) -> NDArray[np.int64]:
        return np.array([self.displacements.motions.index(motion)])


class BeamTrip(Trip):
    """Sequences of motions; a motion that undoes the last one is not made."""

    def __init__(self, planner: Planner, goal: Features) -> None:
        super().__init__(planner, goal)
        self.blocked: set[str] = set()
        self.came_by: str | None = None

    def _plan(self, distance: float) -> Plan:
        found = self._search(self.blocked)
        if found.motions and self.came_by is not None and self._undoes(found.motions[0]):
            found = self._search({*self.blocked, found.motions[0]})
        if found.motions:
            return Plan("go", found.motions, distance, found.distance)
        usual = [
            np.linalg.norm(self.planner.model.after(self.view[None], m)[0] - self.goal) for m in self.planner.motions
        ]
        return Plan("lost" if distance > LOST * float(np.median(usual)) else "there", (), distance, distance)

    def _search(self, not_first: set[str]) -> Found:
        planner = self.planner
        return beam_search(
            planner.model, planner.motions, self.view, self.goal, planner.most_steps, not_first=not_first
        )

    def _undoes(self, motion: str) -> bool:
        model = self.planner.model
        if model.space is None or self.came_by is None:
            return False
        net = model.space.compose(model.motions[self.came_by], model.motions[motion])
        return bool(np.abs(net).max() <= 1e-3 * np.abs(model.motions[motion]).max())

    def block(self, motion: str) -> Plan:
        self.blocked.add(motion)
        return self._plan(float(np.linalg.norm(self.view - self.goal)))

    def move(self, motion: str) -> None:
        self.blocked, self.came_by = set(), motion
