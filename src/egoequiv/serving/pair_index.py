"""Pair retrieval: which pairs of frames changed in the same way as a given pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from egoequiv.pairs.candidates import Indices
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.limits import Refusal
from egoequiv.serving.moves import Moves

DRAWN = 1_500  # points of the motion scatter
FRAMES_APART = 20  # between pairs of one recording that are found together


@dataclass(frozen=True)
class FoundPair:
    """Two frames, how far their change is from the wanted one, and their motion."""

    i: int
    j: int
    distance: float
    motion: str | None  # its name, if it has one
    vector: list[float]


class PairIndex:
    """Pairs of searched frames by the differences of their features."""

    def __init__(self, gallery: Gallery, moves: Moves, mapped: slice) -> None:
        """Take what frames are searched, their motions, and which features the motions change."""
        i, j, vectors = moves.pairs
        searched = (gallery.place_of(i) >= 0) & (gallery.place_of(j) >= 0)
        self._i, self._j, self._vectors = i[searched], j[searched], vectors[searched]
        self._kind, self._moves, self._gallery, self._mapped = moves.assign(self._vectors), moves, gallery, mapped
        self._differences = self._features(self._j) - self._features(self._i)

    def __len__(self) -> int:
        return len(self._i)

    def nearest(self, i: int, j: int, count: int) -> list[FoundPair]:
        """The pairs of other recordings whose features changed most nearly as from frame i to frame j."""
        store = self._gallery.store
        if store.recording[self._gallery.check(i)] != store.recording[self._gallery.check(j)]:
            raise Refusal(422, f"frames {i} and {j} are of two recordings: a pair is of one")
        for row in (i, j):
            if self._gallery.known(row) is None:
                raise Refusal(422, f"frame {row} is not among the {len(self._gallery.rows)} frames that are searched")
        wanted = (self._features(np.array([j])) - self._features(np.array([i])))[0]
        squared = np.square(self._differences - wanted).sum(axis=1)
        if len(store.recording_names) > 1:
            squared[store.recording[self._i] == store.recording[i]] = np.inf
        squared[(self._i == i) & (self._j == j)] = np.inf
        best = self._apart(np.argsort(squared, kind="stable")[: int(np.isfinite(squared).sum())], count)
        return [self._pair(k, float(np.sqrt(squared[k]))) for k in best]

    def _apart(self, order: Indices, count: int) -> list[int]:
        """The first pairs of an order; of a video no two that begin within a few frames, which show the same."""
        store = self._gallery.store
        if store.space.named_motions():
            return [int(k) for k in order[:count]]
        kept: list[int] = []
        for k in order.tolist():
            begin = self._i[[*kept, k]]
            same = store.recording[begin[:-1]] == store.recording[begin[-1]]
            if not (same & (np.abs(store.frame[begin[:-1]] - store.frame[begin[-1]]) < FRAMES_APART)).any():
                kept.append(k)
            if len(kept) == count:
                break
        return kept

    def motion(self, i: int, j: int) -> tuple[str | None, list[float]]:
        """The motion from frame i to frame j: its name, if it has one, and the vector."""
        poses = self._gallery.store.poses
        vector = self._gallery.store.space.difference(poses[i : i + 1], poses[j : j + 1])
        kind = int(self._moves.assign(vector)[0])
        return None if kind < 0 else self._moves.names[kind], vector[0].tolist()

    def scatter(self) -> dict[str, Any]:
        """Motions along the last component and the first, each with a pair that has it; equal ones are one point."""
        axes = self._gallery.store.space.axes
        if not axes or not len(self):
            return {"axes": [], "points": []}
        across, up = len(axes) - 1, 0
        if self._gallery.store.space.named_motions():  # a grid has few motions, and many pairs of each
            _, first, counts = np.unique(self._vectors.round(6), axis=0, return_index=True, return_counts=True)
        else:
            first = np.unique(np.linspace(0, len(self) - 1, min(len(self), DRAWN)).astype(np.int64))
            counts = np.ones(len(first), np.int64)
        points = [
            {
                "x": float(self._vectors[k, across]),
                "y": float(self._vectors[k, up]) if up != across else 0.0,
                "count": int(count),
                "motion": None if self._kind[k] < 0 else self._moves.names[self._kind[k]],
                "i": int(self._i[k]),
                "j": int(self._j[k]),
            }
            for k, count in zip(first.tolist(), counts.tolist(), strict=True)
        ]
        drawn = (across, up) if up != across else (across,)
        titles = [f"{axes[k].name} ({axes[k].unit})" if axes[k].unit else axes[k].name for k in drawn]
        return {"axes": titles, "points": points}

    def _features(self, rows: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.float32]]:
        features: np.ndarray[Any, np.dtype[np.float32]] = self._gallery.features[self._gallery.place_of(rows)]
        return features[:, self._mapped]

    def _pair(self, k: int, distance: float) -> FoundPair:
        name = None if self._kind[k] < 0 else self._moves.names[self._kind[k]]
        return FoundPair(int(self._i[k]), int(self._j[k]), distance, name, self._vectors[k].tolist())
