"""Exact search for the pairs of frames whose difference is nearest to that of a query pair, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import TooFewPairsError
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore

Differences = Callable[[Indices], NDArray[np.float64]]  # numbers of pairs (B,) -> their differences (B, D)
WIDEST = 10_000_000  # values of differences held at once, for the queries and again for the pairs
MOST_AT_ONCE = 4_096  # pairs compared with at once


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest pairs of each query pair that has enough to choose from; all of them are numbers of pairs."""

    query: Indices  # (Q,)
    nearest: Indices  # (Q, K), nearest first
    distance: NDArray[np.float64]  # (Q, K), Euclidean
    allowed: Indices  # (Q,) how many pairs were compared with
    same_motion: Indices  # (Q,) how many of those have the motion of the query
    dropped: int = 0  # queries that had fewer than K pairs to be compared with


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Which pairs are too near to a query to be a find: of its group, and where a gap is given, close in time too."""

    group: Indices  # (N,) of every frame of the store
    group_name: str
    gap_s: float | None  # None: the whole group

    def describe(self) -> str:
        """In words."""
        if self.gap_s is None:
            return f"pairs of the query's own {self.group_name} are left out"
        return (
            f"pairs of the query's own {self.group_name} are left out unless more than {self.gap_s:g} s lie between "
            "the two"
        )

    def mask(self, store: FrameStore, pairs: MotionPairs, query: Indices, other: Indices) -> NDArray[np.bool_]:
        """Whether the pairs `other` (C,) are too near to the pairs `query` (Q,); (Q, C)."""
        near: NDArray[np.bool_] = self.group[pairs.i[query]][:, None] == self.group[pairs.i[other]][None]
        if self.gap_s is not None and store.times_s is not None:
            q, c = np.nonzero(near)
            first, last = (pick(store.times_s[pairs.i], store.times_s[pairs.j]) for pick in (np.minimum, np.maximum))
            # The time between the end of one pair and the begin of the other; below 0 where they overlap.
            apart = np.maximum(first[query[q]], first[other[c]]) - np.minimum(last[query[q]], last[other[c]])
            near[q, c] = apart <= self.gap_s
        near |= query[:, None] == other[None]
        return near


def feature_differences(features: FrameFeatures, pairs: MotionPairs) -> Differences:
    """z_j - z_i of pairs."""
    return lambda rows: np.asarray(features.of(pairs.j[rows]), np.float64) - features.of(pairs.i[rows])


def pixel_differences(store: FrameStore, pairs: MotionPairs) -> Differences:
    """x_j - x_i of pairs, pixel by pixel; read when needed, so that memory does not grow with their number."""

    def differences(rows: Indices) -> NDArray[np.float64]:
        i, j = (store.images[side[rows]].reshape(len(rows), -1).astype(np.float64) for side in (pairs.i, pairs.j))
        return j - i

    return differences


def draw_queries(pairs: MotionPairs, most: int, seed: int = 0) -> Indices:
    """At most `most` pairs that have a motion, at random; their numbers."""
    known = np.flatnonzero(pairs.pattern >= 0)
    return np.sort(np.random.default_rng([seed, 0x9E1]).permutation(known)[:most])


def nearest_pairs(
    store: FrameStore,
    pairs: MotionPairs,
    differences: Differences,
    queries: Indices,
    exclusion: Exclusion,
    *,
    k: int = 10,
    seed: int = 0,
    on_progress: OnProgress = silent,
    what: str = "pairs",
) -> Neighbours:
    """The k pairs whose differences are nearest to those of each query, by exact search in blocks.

    The pairs are gone through in random order, so that where differences are equal, as in a collapsed feature space,
    the first found is a random one and not one of the first motion.
    """
    order = np.random.default_rng([seed, 0x0DE]).permutation(len(pairs))
    step = int(np.clip(WIDEST // differences(queries[:1]).shape[1], 1, MOST_AT_ONCE))

    def search(queries: Indices) -> tuple[Indices, NDArray[np.float64], Indices, Indices]:
        """Nearest pairs, their distances, and how many pairs were allowed, in all and of the same motion."""
        wanted = differences(queries)
        size = np.square(wanted).sum(axis=1)[:, None]
        nearest, squared = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
        allowed, same = np.zeros(len(queries), np.int64), np.zeros(len(queries), np.int64)
        for start in range(0, len(order), step):
            block = order[start : start + step]
            there = differences(block)
            apart = size + np.square(there).sum(axis=1)[None] - 2 * (wanted @ there.T)
            barred = exclusion.mask(store, pairs, queries, block)
            apart[barred] = np.inf
            allowed += (~barred).sum(axis=1)
            same += (~barred & (pairs.pattern[queries][:, None] == pairs.pattern[block][None])).sum(axis=1)
            both = np.concatenate([squared, apart], axis=1)
            numbers = np.concatenate([nearest, np.broadcast_to(block, apart.shape)], axis=1)
            best = np.argpartition(both, k - 1, axis=1)[:, :k]
            squared, nearest = np.take_along_axis(both, best, axis=1), np.take_along_axis(numbers, best, axis=1)
            on_progress(what, min(start + step, len(order)), len(order))
        rank = np.argsort(squared, axis=1, kind="stable")
        distance = np.sqrt(np.maximum(np.take_along_axis(squared, rank, axis=1), 0))
        return np.take_along_axis(nearest, rank, axis=1), distance, allowed, same

    found = [search(queries[start : start + step]) for start in range(0, len(queries), step)]
    nearest, distance, allowed, same = (np.concatenate(column) for column in zip(*found, strict=True))
    enough = allowed >= k
    if not enough.any():
        raise TooFewPairsError(
            f"{store.path}: no query has {k} pairs to be compared with, at most {allowed.max()}: "
            f"{exclusion.describe()}; measure on more recordings"
        )
    return Neighbours(
        queries[enough], nearest[enough], distance[enough], allowed[enough], same[enough], int((~enough).sum())
    )
