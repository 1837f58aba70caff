"""Net displacements: what a few motions in any order amount to, where their order does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.pose import MotionSpace

Numbers = NDArray[np.int64]
MOST = 5_000  # displacements that are searched exactly
SAME = 1e-3  # of the smallest motion along an axis: vectors that differ by less are one displacement
ROWS = 65_536  # features mapped at a time


def do_commute(space: MotionSpace, motions: Mapping[str, Motion]) -> bool:
    """Whether motions lead to the same pose in any order."""
    vectors = np.stack(list(motions.values()))
    count = len(vectors)
    first, second = np.repeat(vectors, count, axis=0), np.tile(vectors, (count, 1))
    grain = _grain(vectors)
    return _keys(space, space.compose(first, second), grain) == _keys(space, space.compose(second, first), grain)


@dataclass(frozen=True, eq=False)
class Displacements:
    """What up to so many motions amount to, the fewest motions first; number 0 is to stay.

    Args:
        space: Composes motions.
        motions: The names of the motions, G of them.
        vectors: The net motions, (K, M).
        counts: How often each motion is in the shortest way, (K, G).
        before: The displacement before the last motion of that way, (K,); 0 for 0.
        last: The number of that last motion, (K,); -1 for 0.
        grain: How far displacements may differ and be the same, (M,).
    """

    space: MotionSpace
    motions: tuple[str, ...]
    vectors: Motion
    counts: Numbers
    before: Numbers
    last: Numbers
    grain: Motion

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def steps(self) -> Numbers:
        """How many motions each takes, (K,)."""
        taken: Numbers = self.counts.sum(axis=1)
        return taken

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {key: number for number, key in enumerate(_keys(self.space, self.vectors, self.grain))}

    def find(self, vectors: Motion) -> Numbers:
        """The numbers of net motions (N, M) among the displacements, (N,); -1 for others."""
        keys = _keys(self.space, vectors, self.grain)
        return np.array([self._numbers.get(key, -1) for key in keys], np.int64)

    @cached_property
    def onward(self) -> Numbers:
        """From where a displacement k has led, which one leads on to the place h; (K, K), -1 where none does."""
        back = self.space.invert(self.vectors)
        rows = [self.find(self.space.compose(np.broadcast_to(one, self.vectors.shape), self.vectors)) for one in back]
        return np.stack(rows)

    @cached_property
    def next_places(self) -> Numbers:
        """The place that each motion leads to from each place, (K, G); -1 for one that is not among them."""
        single = np.array(
            [int(np.flatnonzero(self.steps * (self.last == g) == 1)[0]) for g in range(len(self.motions))]
        )
        moved = [self.space.compose(self.vectors, np.broadcast_to(self.vectors[k], self.vectors.shape)) for k in single]
        return np.stack([self.find(vectors) for vectors in moved], axis=1)

    @cached_property
    def rings(self) -> Numbers:
        """How many times each motion leads once round, back to where it began, (G,); 0 where it does not."""
        found = np.zeros(len(self.motions), np.int64)
        for g in range(len(self.motions)):
            place, taken = int(self.next_places[0, g]), 1
            while place > 0 and taken <= len(self):
                place, taken = int(self.next_places[place, g]), taken + 1
            found[g] = taken if place == 0 else 0
        return found

    def along(self, motion: int) -> Numbers:
        """How often a motion leads to each displacement round its ring, (K,), from 0 to less than once round."""
        found: Numbers = (self.counts[:, motion] - self.counts[:, self.opposite[motion]]) % self.rings[motion]
        return found

    @cached_property
    def opposite(self) -> Numbers:
        """The motion that undoes each, (G,); -1 for none."""
        undone = self.next_places[np.maximum(self.next_places[0], 0)] == 0  # (G, G)
        return np.where(undone.any(axis=1), undone.argmax(axis=1), -1)

    def predict(self, model: MotionModel, features: Features) -> Features:
        """The features after each displacement, (N, E) -> (N, K, E), by composed maps."""
        count, dim = features.shape
        found = np.empty((count, len(self), dim), np.float32)
        found[:, 0] = features
        if model.takes_any:
            each = max(1, ROWS // max(count, 1))
            for start in range(1, len(self), each):
                own = self.vectors[start : start + each]
                repeated = np.repeat(features, len(own), axis=0)
                mapped = model.after(repeated, np.tile(own, (count, 1)))
                found[:, start : start + each] = mapped.reshape(count, len(own), dim)
            return found
        for taken in range(1, int(self.steps.max(initial=0)) + 1):
            for g, name in enumerate(self.motions):
                rows = np.flatnonzero((self.steps == taken) & (self.last == g))
                if len(rows):
                    mapped = model.after(found[:, self.before[rows]].reshape(-1, dim), name)
                    found[:, rows] = mapped.reshape(count, len(rows), dim)
        return found

    def composed_maps(self, model: MotionModel) -> NDArray[np.float64]:
        """The affine map of each displacement, (K, E + 1, E), the bias last, of a model whose maps are affine."""
        dim = model.mapped.stop - model.mapped.start
        basis = np.concatenate([np.eye(dim), np.zeros((1, dim))]).astype(np.float32)
        moved = self.predict(model, basis).astype(np.float64)  # (E + 1, K, E)
        moved[:-1] -= moved[-1:]
        return np.ascontiguousarray(moved.transpose(1, 0, 2))


def net_displacements(
    space: MotionSpace, motions: Mapping[str, Motion], most_steps: int, largest: Motion | None = None
) -> Displacements:
    """All net motions of up to `most_steps` motions that commute, each by a shortest way.

    Args:
        space: Composes motions.
        motions: By name, (M,) each.
        most_steps: Of one way.
        largest: The largest net motion along each component, (M,), such as the extent of a grid; None: no limit.
    """
    names, vectors = tuple(motions), np.stack(list(motions.values()))
    if not do_commute(space, motions):
        raise ConfigError(f"the motions {', '.join(names)} do not commute: their net displacements are too many")
    grain = _grain(vectors)
    found = [(np.zeros(vectors.shape[1]), np.zeros(len(names), np.int64), 0, -1)]
    seen = set(_keys(space, found[0][0][None], grain))
    first = 0
    for _ in range(most_steps):
        start, first = first, len(found)
        for before in range(start, first):
            reached = space.compose(np.broadcast_to(found[before][0], vectors.shape), vectors)
            for g, key in enumerate(_keys(space, reached, grain)):
                if key in seen or (largest is not None and (np.abs(reached[g]) > largest + grain).any()):
                    continue
                seen.add(key)
                counts = found[before][1].copy()
                counts[g] += 1
                found.append((reached[g], counts, before, g))
        if len(found) > MOST:
            raise ConfigError(
                f"{most_steps} steps of {len(names)} motions lead to more than {MOST:,} places: plan fewer steps, or "
                "name fewer motions"
            )
    reached_by, counted, before_each, last_each = (np.array(column) for column in zip(*found, strict=True))
    return Displacements(space, names, reached_by, counted, before_each, last_each, grain)


def _grain(vectors: Motion) -> Motion:
    """Of each component, (M,): what differs by less is the same; the smallest motion along it counts."""
    sizes = np.where(vectors == 0, np.inf, np.abs(vectors)).min(axis=0)
    return np.where(np.isfinite(sizes), SAME * sizes, 1.0)


def _keys(space: MotionSpace, vectors: Motion, grain: Motion) -> list[tuple[int, ...]]:
    """Whole numbers that are equal for equal motions; half a turn to the left is half a turn to the right."""
    shifted = space.compose(vectors, np.zeros_like(vectors)) + grain / 4  # -180 and 179.999 are then on one side
    wrapped = space.compose(shifted, np.zeros_like(vectors))
    rows: list[list[int]] = np.rint(wrapped / grain).astype(np.int64).tolist()
    return [tuple(row) for row in rows]
