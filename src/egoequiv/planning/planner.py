"""From this view to that one: motions whose composed maps bring the features nearest to those of the goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.planning.belief import STEP_COST, Floats
from egoequiv.planning.displacements import Displacements, do_commute, net_displacements
from egoequiv.planning.trips import BeamTrip, ExactTrip, Plan, Status, Trip

if TYPE_CHECKING:
    from torch import Tensor

Look = NDArray[Any]  # an image (H, W, C) of uint8, or mapped features (E,)
Move = Callable[[str], Look | None]  # makes a motion and returns the new view; None where it is not possible
MOST_MOVES = 50


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
        step_cost: With `spread`, how much better a place must fit for each step that it is further away.

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
        step_cost: float = STEP_COST,
    ) -> None:
        if not isinstance(model, MotionModel):
            raise ConfigError(
                f"expected a model, found {model!r}: open a run or an export with egoequiv.open_model(path)"
            )
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
        if not 0 <= step_cost < inf:
            raise ConfigError(f"the cost of a step must be a number, 0 or more, found {step_cost}")
        self.spread, self.step_cost = spread, step_cost

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
        found = self.model.embed(look[None])[0, self.model.mapped]
        if not np.isfinite(found).all():
            raise DataError("the features of the view are not finite; the network has diverged, train it again")
        return found

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
