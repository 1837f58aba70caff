"""Where the goal is, relative to the start: what every view along the way says, put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.planning.displacements import Displacements, Numbers

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
NOT_SEEN = np.inf


class Belief:
    """The score of each place as the goal, for N walks side by side; places are displacements from the start.

    A view says of each place what the maps predict there. Errors of predictions from one recording resemble each other,
    so that their sum would be too sure: of each place, the view counts that is the most reliable one for it. That is
    the place itself where it was visited, and a near one otherwise.

    Args:
        displacements: The places, K of them.
        spread: How far off predictions are for each displacement, (K,): lower is more reliable.
        walks: How many.
        step_cost: What a place has to score more for each step that it is further away.
    """

    def __init__(self, displacements: Displacements, spread: Floats, walks: int = 1, step_cost: float = 0.0) -> None:
        self.displacements, self.spread, self.step_cost = displacements, spread, step_cost
        shape = (walks, len(displacements))
        self.at: Numbers = np.zeros(walks, np.int64)  # the place of each walk now
        self.score: Floats = np.full(shape, -np.inf)
        self.trust: Floats = np.full(shape, NOT_SEEN)
        self.is_out: Flags = np.zeros(shape, bool)

    @property
    def onward(self) -> Numbers:
        """The displacement that leads from here to each place, (N, K); -1 where none does."""
        found: Numbers = self.displacements.onward[self.at]
        return found

    def see(self, scores: Floats) -> None:
        """Take in a view: the score of each displacement from here, (N, K)."""
        onward = self.onward
        spread = np.where(onward >= 0, self.spread[onward], NOT_SEEN)
        is_better = spread < self.trust
        self.score = np.where(is_better, np.take_along_axis(scores, np.maximum(onward, 0), axis=1), self.score)
        self.trust = np.minimum(spread, self.trust)

    def best(self) -> Numbers:
        """The displacement from here to the best place, (N,), fewest steps first; -1 where no place is left."""
        onward = self.onward
        steps = np.where(onward >= 0, self.displacements.steps[onward], 0)
        score = np.where(self.is_out | (onward < 0), -np.inf, self.score - self.step_cost * steps)
        top = score.max(axis=1, keepdims=True)
        place = np.where(score >= top, steps, np.iinfo(np.int64).max).argmin(axis=1)
        chosen = np.take_along_axis(onward, place[:, None], axis=1)[:, 0]
        return np.where(np.isfinite(top[:, 0]), chosen, -1)

    def next_motions(self, displacement: Numbers) -> Numbers:
        """The motions of a displacement from here, (N, G): those it takes most of first, -1 where it takes no more.

        A motion that leaves the places is left out.
        """
        counts = self.displacements.counts[np.maximum(displacement, 0)] * (displacement >= 0)[:, None]
        counts = np.where(self._after_motions() >= 0, counts, 0)
        order = np.argsort(-counts, axis=1, kind="stable")
        return np.where(np.take_along_axis(counts, order, axis=1) > 0, order, -1)

    def _after_motions(self) -> Numbers:
        """The place that each motion leads to from here, (N, G)."""
        found: Numbers = self.displacements.next_places[self.at]
        return found

    def move(self, motion: Numbers) -> None:
        """Go on by the motions of these numbers, (N,); -1 stays."""
        reached = np.take_along_axis(self._after_motions(), np.maximum(motion, 0)[:, None], axis=1)[:, 0]
        self.at = np.where(motion >= 0, reached, self.at)

    def block(self, motion: Numbers) -> None:
        """The motions of these numbers, (N,), are not possible from here: places beyond are ruled out; -1 is none."""
        onward = self.onward
        counts = self.displacements.counts[onward, np.maximum(motion, 0)[:, None]]
        self.is_out |= (motion >= 0)[:, None] & (onward >= 0) & (counts > 0)

    def rule_out_here(self, walks: Flags) -> None:
        """The goal is not where these walks are now, (N,)."""
        self.is_out[walks, self.at[walks]] = True
