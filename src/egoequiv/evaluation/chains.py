"""Chains of motions: frames where one ends and another begins, and what a sequence of them connects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.task import TaskData
from egoequiv.pairs import DeclaredPatterns, MotionPairs, atomic_names, composite_names
from egoequiv.pairs.candidates import Indices, thinned

MOST = 200_000  # chains of one sequence of motions; of more, so many at random
SEED = 0xC4A1
Motions = tuple[str, ...]  # made one after the other


def find_chains(pairs: MotionPairs, motions: Sequence[str], most: int = MOST) -> Indices:
    """All frames (store rows) x, g1 x, g2 g1 x, ... that the pairs connect, one chain a row; (N, len(motions) + 1).

    A frame of a track may have several successors by one motion, and chains multiply: of more than `most`, so many
    are drawn at random, always the same ones.
    """
    first = pairs.of(motions[0])
    chains = np.stack([first.i, first.j], axis=1)
    for motion in motions[1:]:
        own, chains = pairs.of(motion), thinned(chains, most, SEED)
        chain, pair = joined(own.i, chains[:, -1])
        chains = np.column_stack([chains[chain], own.j[pair]])
    return thinned(chains, most, SEED)


def first_successors(pairs: MotionPairs, motion: str, frames: int) -> Indices:
    """Where a motion leads from each of `frames` store rows, -1 for nowhere; the first of several; (N,)."""
    own = pairs.of(motion)
    order = np.lexsort((own.j, own.i))
    starts, at = np.unique(own.i[order], return_index=True)
    successor = np.full(frames, -1, np.int64)
    successor[starts] = own.j[order][at]
    return successor


def joined(keys: Indices, wanted: Indices) -> tuple[Indices, Indices]:
    """All (w, k) with wanted[w] == keys[k], in the order of `wanted` and then of `keys`; (N,), (M,) -> two of (A,)."""
    order = np.argsort(keys, kind="stable")
    first, last = (np.searchsorted(keys[order], wanted, side=side) for side in ("left", "right"))
    found = np.repeat(np.arange(len(wanted)), last - first)
    within = np.arange(len(found)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    return found, order[first[found] + within]


def name_of(motions: Motions) -> str:
    """Such as `up+right`, or `up x 3`."""
    return f"{motions[0]} x {len(motions)}" if len(motions) > 1 and len(set(motions)) == 1 else "+".join(motions)


class MotionChains(ABC):
    """The elementary motions of a store, and which frames a sequence of them connects."""

    elementary: Motions  # that training may know of
    known: Motions  # all, their inverses too where these are motions of their own
    composites: tuple[Motions, ...]  # sequences of two that are of interest

    @abstractmethod
    def ends(self, sequences: Sequence[Motions]) -> list[tuple[Indices, Indices]]:
        """For each sequence the store rows (i, j) with x_j = g_n ... g_1 x_i."""

    def there_and_back(self, motion: str) -> str:
        """What going and coming back is called."""
        return f"{motion}, and back"

    def parse(self, name: str) -> Motions:
        """The motions of a name such as `up+right`."""
        parts = tuple(name.split("+"))
        for part in parts:
            if part not in self.known:
                raise ConfigError(f"motion {name!r}: {part!r} is not known here; choose from {', '.join(self.known)}")
        return parts


class GridChains(MotionChains):
    """On a grid poses say what a sequence of motions comes to; the frames between need not be there."""

    def __init__(self, data: TaskData) -> None:
        self._data, self._space = data, data.store.space
        self._named = self._space.named_motions()
        self.elementary, self.known = atomic_names(self._space), tuple(self._named)
        self.composites = tuple(self.parse(name) for name in composite_names(self._space))

    def there_and_back(self, motion: str) -> str:
        undone = self._space.invert(self._named[motion])
        return next(f"{motion}, then {name}" for name in self.known if np.allclose(self._named[name], undone))

    def ends(self, sequences: Sequence[Motions]) -> list[tuple[Indices, Indices]]:
        space, still = self._space, np.zeros(len(self._space.axes))
        motions = [reduce(space.compose, (self._named[name] for name in sequence), still) for sequence in sequences]
        # Two sequences may come to the same motion, and a pair of frames is assigned to one pattern.
        distinct, number = np.unique(np.round(motions, 9), axis=0, return_inverse=True)
        names = tuple(str(k) for k in range(len(distinct)))
        pairs = self._data.pairs(patterns=DeclaredPatterns(names, distinct, space.tolerance(), space))
        found = [pairs.of(names[k]) for k in number.ravel()]
        return [(own.i, own.j) for own in found]


class TrackChains(MotionChains):
    """On a track a sequence is made of pairs: a frame whose successor by one motion has a successor by the next."""

    def __init__(self, pairs: MotionPairs) -> None:
        self._pairs = pairs
        self.elementary = self.known = pairs.names
        self.composites = tuple((g, h) for g in pairs.names for h in pairs.names if g != h)

    def ends(self, sequences: Sequence[Motions]) -> list[tuple[Indices, Indices]]:
        # Many ways may lead from one frame to another; the pair of them is one all the same.
        found = [np.unique(find_chains(self._pairs, sequence)[:, [0, -1]], axis=0) for sequence in sequences]
        return [(pairs[:, 0], pairs[:, 1]) for pairs in found]


def find_motion_chains(data: TaskData) -> MotionChains:
    """The chains among validation frames: by declared motions on a grid, by the patterns on a track."""
    store = data.store
    if not store.space.axes:
        raise DataError(f"{store.path} has no poses, so no motions to put together: ingest frames with poses")
    if store.space.named_motions():
        return GridChains(data)
    if data.patterns is None:
        raise DataError(f"{store.path} has neither times nor named motions, so no motions to put together")
    return TrackChains(data.pairs())
