"""Where the goal is, relative to the start: what every view along the way says, put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.models.motion_model import Features
from egoequiv.planning.displacements import Displacements, Numbers

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SHARPNESS = 2.0  # the weight of a prediction is its spread to the power of minus this
LEAST_SPREAD = 0.01  # of the largest: a prediction is not trusted more than this
MISSED = 0.3  # of the squared change of features by one motion: what maps miss, where it was not measured
# By how much a place must score more for each step that it is further away, where it was not chosen on training
# recordings. Of 0.06, 0.12, 0.25, 0.5 and 1 the best for a run on small NORB that learned from lightings 0 and 1 and
# walked under 2 and 3, with the goal in the same light.
STEP_COST = 0.5


def guess_spread(displacements: Displacements, predicted: Features, goal: Features) -> Floats:
    """The squared error of predictions where it was not measured, (K,).

    The maps are taken to miss a share of what a motion changes in the features. Errors of several motions add up, and
    level off where any view is as near as the predicted one.

    Args:
        displacements: K of them.
        predicted: Features after each displacement from some view, (K, E); the first is the view.
        goal: Features (E,).
    """
    changed = np.square(predicted - predicted[0]).sum(axis=1, dtype=np.float64)
    usual = max(float(np.median(np.square(predicted - goal).sum(axis=1, dtype=np.float64))), 1e-12)
    single = np.array([changed[displacements.next_places[0, g]] for g in range(len(displacements.motions))])
    added = MISSED * (displacements.counts @ single)
    leveled: Floats = usual * added / (usual + added)
    return leveled


class Belief:
    """The score of each place as the goal, for N walks side by side; places are displacements from the start.

    A view says of each place which features the maps predict there. The predictions of all views so far are averaged,
    each with the weight that its displacement deserves, and compared with the goal. A place that was visited counts as
    it looked; a place near the way is known better than one that is far from it.

    Args:
        displacements: The places, K of them.
        spread: The mean squared error of predictions after each displacement, (K,).
        goal: The features of the goal of each walk, (N, E).
        is_measured: Whether the spread was measured. Then the likelihood of the goal decides, and near places come
            first; otherwise the spread only weighs predictions, and the distance to the goal decides.
        step_cost: By how much a place must score more for each step that it is further away; one number, or one for
            each walk, (N,).
    """

    def __init__(
        self,
        displacements: Displacements,
        spread: Floats,
        goal: Features,
        *,
        is_measured: bool = True,
        step_cost: float | Floats = STEP_COST,
    ) -> None:
        self.displacements, self.goal, self.is_measured = displacements, goal.astype(np.float32), is_measured
        self._spread = np.maximum(spread, LEAST_SPREAD * max(float(spread.max()), 1e-12))
        walks, places = len(goal), len(displacements)
        self.step_cost: Floats = np.broadcast_to(np.asarray(step_cost, np.float64), (walks,))
        self.at: Numbers = np.zeros(walks, np.int64)  # the place of each walk now
        # Where on its ring each motion was found closed: how often it leads there from the start; -1 for nowhere.
        self.closed_at: Numbers = np.full((walks, len(displacements.motions)), -1, np.int64)
        self.is_out: Flags = np.zeros((walks, places), bool)
        self.is_seen: Flags = np.zeros((walks, places), bool)
        self.spread: Floats = np.full((walks, places), np.inf)  # of the best prediction of each place
        self.weight = np.zeros((walks, places), np.float32)
        self.predicted = np.zeros((walks, places, goal.shape[1]), np.float32)  # the weighted mean
        self.squared: Floats = np.full((walks, places), np.inf)  # its distance to the goal

    @property
    def onward(self) -> Numbers:
        """The displacement that leads from here to each place, (N, K); -1 where none does."""
        found: Numbers = self.displacements.onward[self.at]
        return found

    def see(self, predicted: Features, rows: Numbers | None = None) -> None:
        """Take in a view of each walk: the predicted features after each displacement from here.

        Args:
            predicted: (N, K, E), or of any views, (C, K, E), of which `rows` says which each walk sees.
            rows: (N,); None: one after the other.
        """
        from egoequiv.planning.averaging import average_in  # here, because it imports numba, which takes a second

        walks, onward = np.arange(len(self.at)), self.onward
        is_known = (onward >= 0) & ~self.is_seen[walks, self.at][:, None]  # a view counts once
        self.is_seen[walks, self.at] = True
        spread = np.where(onward >= 0, self._spread[onward], np.inf)
        weight = np.where(is_known, (spread / self._spread.max()) ** -SHARPNESS, 0.0).astype(np.float32)
        self.weight += weight
        share = (weight / np.maximum(self.weight, 1e-30)).astype(np.float32)
        views = walks if rows is None else rows
        average_in(self.predicted, self.squared, predicted, views, onward, share, self.goal)
        self.spread = np.minimum(self.spread, spread)

    def keep(self, walks: Flags) -> None:
        """Go on with some of the walks, (N,)."""
        for name in (
            "goal",
            "step_cost",
            "at",
            "closed_at",
            "is_out",
            "is_seen",
            "spread",
            "weight",
            "predicted",
            "squared",
        ):
            setattr(self, name, getattr(self, name)[walks])

    def distances(self) -> Floats:
        """From what is predicted at each place to the goal, (N, K); infinite where nothing is."""
        away: Floats = np.sqrt(self.squared)
        return away

    def best(self) -> Numbers:
        """The displacement from here to the best place, (N,), fewest steps first; -1 where no place is left."""
        onward = self.onward
        is_cut = (self.closed_at >= 0).any()
        steps = self.counts_to(onward).sum(axis=2) if is_cut else self.displacements.steps[onward]
        steps = np.where(onward >= 0, steps, 0)
        is_open = (self.weight > 0) & (onward >= 0) & ~self.is_out
        fit = self._fit(is_open)
        score = np.where(is_open, fit - (self.step_cost[:, None] * steps if self.is_measured else 0.0), -np.inf)
        # To stay, a place must be the best one whatever the ways to the others cost: it is the end of the walk.
        score[(onward == 0) & (fit < fit.max(axis=1, keepdims=True))] = -np.inf
        top = score.max(axis=1, keepdims=True)
        place = np.where(score >= top, steps, np.iinfo(np.int64).max).argmin(axis=1)
        chosen = np.take_along_axis(onward, place[:, None], axis=1)[:, 0]
        return np.where(np.isfinite(top[:, 0]), chosen, -1)

    def _fit(self, is_open: Flags) -> Floats:
        """How well each place fits the goal, (N, K): the log-likelihood of one feature, twice; or the distance."""
        squared = np.where(is_open, self.squared, 0.0)
        spread = np.where(is_open, self.spread, 1.0)
        fit = -(squared / spread + np.log(spread)) if self.is_measured else -squared
        return np.where(is_open, fit, -np.inf)

    def counts_to(self, displacement: Numbers) -> Numbers:
        """How often each motion is in the way to displacements from here, (N, ...) -> (N, ..., G).

        A way that would pass where a ring was found closed goes round the other side.
        """
        found: Numbers = self.displacements.counts[np.maximum(displacement, 0)]
        taken = found.copy()
        for g in self._cut_rings():
            back = self.displacements.opposite[g]
            is_cut = self._is_closed(g, taken[..., g])
            found[..., back] = np.where(is_cut, self.displacements.rings[g] - taken[..., g], found[..., back])
            found[..., g] = np.where(is_cut, 0, found[..., g])
        return found

    def _cut_rings(self) -> list[int]:
        """The motions along rings that some walk has found closed somewhere."""
        cut = {int(g) for g in np.nonzero(self.closed_at >= 0)[1]}
        return sorted(cut | {int(self.displacements.opposite[g]) for g in cut})

    def _is_closed(self, motion: int, times: Numbers) -> Flags:
        """Whether a motion, made so often from here, (N, ...), passes where its ring was found closed."""
        ring, back = self.displacements.rings[motion], self.displacements.opposite[motion]
        here = self.displacements.along(motion)[self.at]
        found = np.zeros(times.shape, bool)
        for closed, first in (
            (self.closed_at[:, motion] >= 0, self.closed_at[:, motion]),
            (self.closed_at[:, back] >= 0, -self.closed_at[:, back] - 1),  # the same step, from its other end
        ):
            until = ((first - here) % ring).reshape(-1, *(1,) * (times.ndim - 1))
            found |= closed.reshape(until.shape) & (until < times)
        return found

    def next_motion(self, displacement: Numbers) -> Numbers:
        """The motion to make first on the way to the displacements from here, (N,); -1 to stay.

        It is the one that the way takes most of, among those that do not leave the places.
        """
        counts = self.counts_to(displacement) * (displacement > 0)[:, None]
        counts = np.where(self.displacements.next_places[self.at] >= 0, counts, 0)
        return np.where(counts.max(axis=1) > 0, counts.argmax(axis=1), -1)

    def move(self, motion: Numbers) -> None:
        """Go on by the motions of these numbers, (N,); -1 stays."""
        reached = self.displacements.next_places[self.at, np.maximum(motion, 0)]
        self.at = np.where(motion >= 0, reached, self.at)

    def block(self, motion: Numbers) -> None:
        """The motions of these numbers, (N,), are not possible from here; -1 is none.

        Places beyond are ruled out. On a ring, they may be reached by the way round the other side; those that neither
        way leads to are ruled out.
        """
        walks, chosen, onward = np.arange(len(motion)), np.maximum(motion, 0), self.onward
        is_ring = (self.displacements.rings[chosen] > 0) & (self.displacements.opposite[chosen] >= 0)
        counts = self.displacements.counts[onward]  # (N, K, G)
        is_beyond = counts[walks, :, chosen] > 0
        self.is_out |= ((motion >= 0) & ~is_ring)[:, None] & (onward >= 0) & is_beyond
        for g in np.unique(chosen[(motion >= 0) & is_ring]):
            own = (motion == g) & is_ring
            self.closed_at[own, g] = self.displacements.along(g)[self.at[own]]
            ring, back = self.displacements.rings[g], self.displacements.opposite[g]
            ahead = (counts[..., g] - counts[..., back]) % ring
            is_shut = (ahead > 0) & self._is_closed(g, ahead) & self._is_closed(back, (ring - ahead) % ring)
            self.is_out |= own[:, None] & (onward >= 0) & is_shut

    def rule_out_here(self, walks: Flags) -> None:
        """The goal is not where these walks are now, (N,)."""
        self.is_out[walks, self.at[walks]] = True
