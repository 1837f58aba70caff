"""Pairs of frames that a sequence of motions leads from one to the other, on grids and on tracks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.chains import find_chains
from egoequiv.evaluation.task import TaskData
from egoequiv.pairs import DeclaredPatterns, MotionPairs, atomic_names, composite_names
from egoequiv.pairs.candidates import Indices

Motions = tuple[str, ...]  # made one after the other


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
