"""Class votes of the nearest neighbours in feature space, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Votes:
    """How the nearest neighbours of each query vote."""

    counts: NDArray[np.int64]  # (Q, C), rows sum to k
    guess: NDArray[np.int64]  # (Q,) the class with most votes; among equals, the one with the nearer voters

    @property
    def uncertainty_bits(self) -> NDArray[np.float64]:
        """The entropy of each histogram in bits: 0 where all agree; (Q,)."""
        share = self.counts / self.counts.sum(axis=1, keepdims=True)
        bits: NDArray[np.float64] = -(share * np.log2(share, where=share > 0, out=np.zeros_like(share))).sum(axis=1)
        return np.abs(bits)  # no minus zero


class NeighbourVotes:
    """The k nearest of many labelled vectors vote on the class of others.

    The search is scikit-learn's brute force: on 100,000 vectors of 200 features it is the fastest that was tried, and
    exact, because it computes in double precision (`torch.cdist` does not, and errs where features have a large mean).
    """

    def __init__(self, vectors: Matrix, classes: NDArray[np.int64], class_count: int, k: int) -> None:
        """Take vectors (N, F) and their classes (N,)."""
        from sklearn.neighbors import NearestNeighbors  # here, because the import takes seconds

        if not np.isfinite(vectors).all():
            raise DataError("some features are not finite; the network has diverged, train it again")
        self._classes, self._class_count, self._k = classes, class_count, k
        self._index = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(vectors)

    def __call__(self, queries: Matrix) -> Votes:
        """The votes on each query; (Q, F)."""
        nearest = self._index.kneighbors(queries, return_distance=False)  # nearest first
        cast = self._classes[nearest]
        counts, weights = (np.zeros((len(queries), self._class_count)) for _ in range(2))
        rows = np.broadcast_to(np.arange(len(queries))[:, None], cast.shape)
        np.add.at(counts, (rows, cast), 1)
        # A nearer vote weighs more, by so little that it decides between equal numbers of votes only.
        np.add.at(weights, (rows, cast), 1 + np.arange(self._k, 0, -1) / (self._k + 1) ** 2)
        return Votes(counts.astype(np.int64), weights.argmax(axis=1))
