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
        chains = _extend(thinned(chains, most, SEED), pairs.of(motion))
    return thinned(chains, most, SEED)


def first_successors(pairs: MotionPairs, motion: str, frames: int) -> Indices:
    """Where a motion leads from each of `frames` store rows, -1 for nowhere; the first of several; (N,)."""
    own = pairs.of(motion)
    order = np.lexsort((own.j, own.i))
    starts, at = np.unique(own.i[order], return_index=True)
    successor = np.full(frames, -1, np.int64)
    successor[starts] = own.j[order][at]
    return successor


def _extend(chains: Indices, pairs: MotionPairs) -> Indices:
    """Go on from the end of each chain by every pair that begins there; (N, L) -> (M, L + 1)."""
    order = np.argsort(pairs.i, kind="stable")
    begins, ends = pairs.i[order], pairs.j[order]
    low = np.searchsorted(begins, chains[:, -1], side="left")
    count = np.searchsorted(begins, chains[:, -1], side="right") - low
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.column_stack([np.repeat(chains, count, axis=0), ends[np.repeat(low, count) + within]])
