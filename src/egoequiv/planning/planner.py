"""From this view to that one: motions whose composed maps bring the features nearest to those of the goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.planning.belief import Belief, Floats, guess_spread
from egoequiv.planning.displacements import Displacements, do_commute, net_displacements
from egoequiv.planning.search import Found, beam_search

if TYPE_CHECKING:
    from torch import Tensor

Status = Literal["go", "there", "lost"]
Look = NDArray[Any]  # an image (H, W, C) of uint8, or mapped features (E,)
Move = Callable[[str], Look | None]  # makes a motion and returns the new view; None where it is not possible
# A goal that no plan brings nearer than this share of the median distance over all plans is of another thing. In the
# training recordings of two runs on small NORB, at most 3 % of the right goals count as lost, and 21 to 42 % of others.
LOST = 0.75
MOST_MOVES = 50


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


@dataclass(frozen=True)
class Walk:
    """A walk to a goal: plan, move, look again.

    Args:
        status: `there`, `lost`, or `go` where moves ran out.
        motions: Those that were made, in order.
        blocked: Those that were tried and not possible, each with the number of moves before it.
        distances: To the goal, at the start and after every move.
    """

    status: Status
    motions: tuple[str, ...]
    blocked: tuple[tuple[int, str], ...]
    distances: tuple[float, ...]


class Planner:
    """Plans motions to a goal view.

    Where the order of motions does not matter, all net displacements of up to `most_steps` are compared, the shortest
    first; otherwise sequences are searched with a beam. On the way, `reach` keeps what earlier views said of every
    place, so that it does not go back and forth.

    Args:
        model: An encoder with maps.
        motions: The names of the motions that can be made; all of the model by default.
        most_steps: The longest plan.
        there: The goal is reached where features are at most this far from its own, and not elsewhere; None: where no
            motion brings them nearer.
        largest: The largest net motion along each component, (M,), such as the extent of a grid; None: no limit.
        spread: The mean squared error of predicted features after each of `displacements`, (K,), as measured on some
            recordings: walks then find their goal more often. None: the place with the nearest features is the goal.

    Example:
        planner = Planner(open_run_model("my-run"))
        print(planner.plan(view, goal).motions)  # such as ('up', 'right', 'right')
    """

    def __init__(
        self,
        model: MotionModel,
        motions: Sequence[str] | None = None,
        *,
        most_steps: int = 12,
        there: float | None = None,
        largest: Motion | None = None,
        spread: Floats | None = None,
    ) -> None:
        if most_steps < 1:
            raise ConfigError(f"a plan needs at least one step, found most_steps={most_steps}")
        if there is not None and not there >= 0:
            raise ConfigError(f"the distance that counts as there must be 0 or more, found {there}")
        self.model, self.most_steps, self.there = model, most_steps, there
        self.motions = _named(model, motions)
        vectors = {name: model.motions[name] for name in self.motions}
        self.displacements: Displacements | None = None
        if model.space is not None and do_commute(model.space, vectors):
            self.displacements = net_displacements(model.space, vectors, most_steps, largest)
        places = 0 if self.displacements is None else len(self.displacements)
        if spread is not None and (spread.shape != (places,) or not (spread >= 0).all()):
            raise ConfigError(f"expected the spread of {places} displacements, 0 or more each, found {spread.shape}")
        self.spread = spread

    def features(self, look: Look) -> Features:
        """The mapped features (E,) of an image (H, W, C); features are returned as they are."""
        dim = self.model.mapped.stop - self.model.mapped.start
        if look.ndim == 1 and look.dtype.kind == "f":
            if look.shape != (dim,) or not np.isfinite(look).all():
                raise DataError(f"expected {dim} finite features that maps act on, found {look.shape}")
            return look.astype(np.float32)
        if look.dtype != np.uint8 or look.shape != tuple(self.model.image_shape):
            shape = " x ".join(map(str, self.model.image_shape))
            raise DataError(f"expected an image of uint8, {shape}, or {dim} features; found {look.dtype} {look.shape}")
        return self.model.embed(look[None])[0, self.model.mapped]

    def plan(self, view: Look, goal: Look) -> Plan:
        """The motions from a view to a goal.

        Args:
            view: The view now: an image (H, W, C) of uint8, or its mapped features (E,).
            goal: The same of the goal.
        """
        return self._trip(goal).look(self.features(view))

    def reach(self, view: Look, goal: Look, move: Move, most_moves: int = MOST_MOVES) -> Walk:
        """Walk to a goal: plan, make the first motion, look again.

        Args:
            view: The view at the start.
            goal: The goal.
            move: Makes a motion and returns the new view; None where it is not possible.
            most_moves: After so many the walk ends.
        """
        trip = self._trip(goal)
        made: list[str] = []
        blocked: list[tuple[int, str]] = []
        plan = trip.look(self.features(view))
        distances = [plan.distance]
        while plan.status == "go" and len(made) < most_moves:
            seen = move(plan.motions[0])
            if seen is None:
                blocked.append((len(made), plan.motions[0]))
                plan = trip.block(plan.motions[0])
                continue
            trip.move(plan.motions[0])
            made.append(plan.motions[0])
            plan = trip.look(self.features(seen))
            distances.append(plan.distance)
        return Walk(plan.status, tuple(made), tuple(blocked), tuple(distances))

    def get_cost(self, info_dict: dict[str, Any], action_candidates: Tensor) -> Tensor:
        """How far candidates end from the goal, as solvers of stable-worldmodel ask for it; see `planning.cost`."""
        from egoequiv.planning.cost import cost_of_actions

        return cost_of_actions(self, info_dict, action_candidates)

    def _trip(self, goal: Look) -> Trip:
        features = self.features(goal)
        return BeamTrip(self, features) if self.displacements is None else ExactTrip(self, features, self.displacements)


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
            self.belief = Belief(self.displacements, spread, self.goal[None], is_measured=measured is not None)
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
        way = list(self.displacements.way(int(best[0])))
        way.remove(self.displacements.motions[first])
        return Plan("go", (self.displacements.motions[first], *way), distance, expected)

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


def _named(model: MotionModel, motions: Sequence[str] | None) -> tuple[str, ...]:
    """The motions to choose from; refused where there are none or one is not known."""
    if not model.motions:
        raise ConfigError("this model has no maps of motions to plan with: train recording+motion")
    names = tuple(model.motions if motions is None else motions)
    unknown = [name for name in names if name not in model.motions]
    if unknown or not names or len(set(names)) < len(names):
        named = f"{unknown[0]!r} is not known" if unknown else "name some, each once"
        raise ConfigError(f"motions to plan with: {named}; choose from {', '.join(model.motions)}")
    return names
