"""Chains of frames: where one motion ends, another begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices, thinned

MOST = 200_000  # chains of one sequence of motions; of more, so many at random
SEED = 0xC4A1


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
