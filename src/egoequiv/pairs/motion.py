"""Motion pairs: which frames are related by which motion pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.pairs.candidates import Indices, half_a_step_s, motion_candidates
from egoequiv.pairs.patterns import MotionPatterns
from egoequiv.store import FrameStore


@dataclass(frozen=True)
class MotionPairs:
    """Pairs of store rows with x_j = g x_i, where g is the pattern; -1 means a motion of no pattern."""

    i: Indices  # (N,)
    j: Indices  # (N,)
    pattern: NDArray[np.int64]  # (N,)
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.i)

    def of(self, name: str) -> MotionPairs:
        """Only the pairs of one pattern."""
        return self.take(self.pattern == self.names.index(name))

    def take(self, rows: Indices | NDArray[np.bool_]) -> MotionPairs:
        """Only these pairs, by their numbers or a mask (N,)."""
        return MotionPairs(self.i[rows], self.j[rows], self.pattern[rows], self.names)

    def counts(self) -> dict[str, int]:
        """How many pairs each pattern has."""
        return {name: int((self.pattern == number).sum()) for number, name in enumerate(self.names)}


def find_motion_pairs(
    store: FrameStore, frames: Indices, patterns: MotionPatterns, max_gap_s: float = 1.0
) -> MotionPairs:
    """All pairs of `frames` (store rows) of one recording whose motion is one of the patterns.

    Args:
        store: a store with poses.
        frames: the store rows to use, such as the training part of a split.
        patterns: declared or mined patterns. If they use other motions as negatives, pairs of no pattern are
            included too, with the pattern -1.
        max_gap_s: the largest time between the two frames of a pair, if frames have times.

    Returns:
        Pairs of store rows, sorted by pattern.

    Example:
        >>> pairs = find_motion_pairs(store, make_split(store).train, declare_patterns(store.space, ["up", "right"]))
        >>> pairs.counts()
        {'up': 3204, 'right': 3644}
    """
    found: list[tuple[Indices, Indices, NDArray[np.int64]]] = []
    for i, j in motion_candidates(store, frames, max_gap_s + half_a_step_s(store)):
        pattern = patterns.assign(store.space.difference(store.poses[i], store.poses[j]))
        kept = np.flatnonzero((pattern >= 0) | patterns.others_are_negatives)
        found.append((i[kept], j[kept], pattern[kept]))
    if not found:
        empty = np.empty(0, np.int64)
        return MotionPairs(empty, empty, empty, patterns.names)
    i, j, pattern = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((j, i, pattern))
    return MotionPairs(i[order], j[order], pattern[order], patterns.names)


def thin_out(pairs: MotionPairs, count: int, positive_fraction: float, seed: int) -> MotionPairs:
    """At most `count` pairs; `positive_fraction` of them have a pattern (the paper's 1:3) if there are others."""
    rng = np.random.default_rng([seed, 0x9A125])
    positive, negative = np.flatnonzero(pairs.pattern >= 0), np.flatnonzero(pairs.pattern < 0)
    if len(negative):
        wanted = min(len(positive), int(count * positive_fraction))
        others = min(len(negative), int(wanted * (1 - positive_fraction) / positive_fraction))
        negative = rng.choice(negative, others, replace=False)
    else:
        wanted = min(len(positive), count)
    positive = positive if wanted == len(positive) else rng.choice(positive, wanted, replace=False)
    kept = np.sort(np.concatenate([positive, negative]))
    return pairs.take(kept)
