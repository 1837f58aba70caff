"""Neighbour pairs for slowness: frames close in time or on the grid, and random pairs that are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pairs.candidates import Indices, close_pairs
from egoequiv.store import FrameStore


@dataclass(frozen=True)
class NeighbourPairs:
    """Pairs of store rows, each marked as neighbours or not."""

    i: Indices  # (N,)
    j: Indices  # (N,)
    is_neighbour: NDArray[np.bool_]  # (N,)

    def __len__(self) -> int:
        return len(self.i)


def are_neighbours(store: FrameStore, i: Indices, j: Indices, max_gap_s: float = 2.0) -> NDArray[np.bool_]:
    """Whether frames are of one recording and within `max_gap_s`, or one grid step if frames have no time."""
    same: NDArray[np.bool_] = (store.recording[i] == store.recording[j]) & (i != j)
    if store.times_s is not None:
        return same & (np.abs(store.times_s[j] - store.times_s[i]) <= max_gap_s)
    return same & store.space.within_one_step(store.space.difference(store.poses[i], store.poses[j]))


def sample_neighbour_pairs(
    store: FrameStore,
    frames: Indices,
    *,
    count: int = 50_000,
    positive_fraction: float = 0.25,
    max_gap_s: float = 2.0,
    seed: int = 0,
) -> NeighbourPairs:
    """Draw `count` pairs in random order; `positive_fraction` of them are neighbours (the paper's 1:3)."""
    rng = np.random.default_rng(seed)
    positive_i, positive_j = _all_neighbours(store, frames, max_gap_s)
    if not len(positive_i):
        raise DataError(
            f"{store.place}: no two of {len(frames)} frames are neighbours; slowness needs some in both parts"
        )
    wanted = min(round(count * positive_fraction), len(positive_i))
    chosen = rng.choice(len(positive_i), wanted, replace=False)
    negatives = round(wanted * (1 - positive_fraction) / positive_fraction)
    negative_i, negative_j = _not_neighbours(store, frames, negatives, max_gap_s, rng)
    i = np.concatenate([positive_i[chosen], negative_i])
    j = np.concatenate([positive_j[chosen], negative_j])
    is_neighbour = np.arange(len(i)) < wanted
    order = rng.permutation(len(i))
    return NeighbourPairs(i[order], j[order], is_neighbour[order])


def _all_neighbours(store: FrameStore, frames: Indices, max_gap_s: float) -> tuple[Indices, Indices]:
    found_i, found_j = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for i, j in close_pairs(store, frames, max_gap_s):
        near = are_neighbours(store, i, j, max_gap_s)
        found_i.append(i[near])
        found_j.append(j[near])
    return np.concatenate(found_i), np.concatenate(found_j)


def _not_neighbours(
    store: FrameStore, frames: Indices, count: int, max_gap_s: float, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Random pairs of different frames that are not neighbours."""
    i, j = np.empty(0, np.int64), np.empty(0, np.int64)
    for _ in range(100):
        if len(i) >= count:
            return i[:count], j[:count]
        new_i, new_j = rng.choice(frames, (2, 2 * (count - len(i)) + 16))
        apart = (new_i != new_j) & ~are_neighbours(store, new_i, new_j, max_gap_s)
        i, j = np.concatenate([i, new_i[apart]]), np.concatenate([j, new_j[apart]])
    raise DataError(
        f"{store.place}: nearly all training frames are neighbours of each other; slowness needs others too"
    )
