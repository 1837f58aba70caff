"""Batches: which rows each iteration sees, as a pure function of seed and iteration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from egoequiv.losses import StreamName
from egoequiv.training.config import TrainConfig
from egoequiv.training.streams import Stream

# The order of each stream has a random stream of its own, independent of the other streams of a method.
_STREAM_SEEDS: dict[StreamName, int] = {
    "labelled": 1,
    "motion": 2,
    "neighbour": 3,
    "clip": 4,
    "view": 5,
    "place": 6,
    "coming": 7,
}


class Order(Protocol):
    """Which rows each iteration sees."""

    def batch(self, iteration: int) -> NDArray[np.int64]:
        """The rows of one iteration, (B,)."""


def batch_orders(config: TrainConfig, streams: Mapping[StreamName, Stream]) -> dict[StreamName, Order]:
    """The order of each stream of a run."""
    orders: dict[StreamName, Order] = {}
    for name, stream in streams.items():
        seed = (config.pair_seed, _STREAM_SEEDS[name])
        if name == "clip":
            orders[name] = ClipOrder(stream.target, config.batch_size, config.clip_pairs, seed)
        else:
            orders[name] = BatchOrder(len(stream), config.batch_size, seed)
    return orders


class ClipOrder:
    """Batches of some pairs each from some clips, drawn at random; a function of seed and iteration alone."""

    def __init__(self, clip: NDArray[np.int64], batch_size: int, clip_pairs: int, seed: tuple[int, ...]) -> None:
        _, self._starts, self._counts = np.unique(clip, return_index=True, return_counts=True)
        self._batch_size, self._seed = batch_size, seed
        # At least two, where there are: a contrast needs frames of another clip.
        self._clips = min(max(2, batch_size // clip_pairs), len(self._starts), batch_size)

    def batch(self, iteration: int) -> NDArray[np.int64]:
        """The rows of one iteration, (B,), clip by clip; a pair may come twice."""
        rng = np.random.default_rng([*self._seed, iteration])
        chosen = rng.choice(len(self._starts), self._clips, replace=False)
        chosen = np.sort(np.resize(chosen, self._batch_size))
        rows: NDArray[np.int64] = self._starts[chosen] + (rng.random(len(chosen)) * self._counts[chosen]).astype(int)
        return rows


class BatchOrder:
    """An endless stream of row numbers: each pass over the rows in a new random order.

    The rows of an iteration follow from the seed and the iteration number alone, so a resumed run needs no saved
    sampler state, and two networks with the same seed see the same batches.
    """

    def __init__(self, rows: int, batch_size: int, seed: tuple[int, ...]) -> None:
        self._rows = rows
        self._batch_size = batch_size
        # Two passes are kept, because a batch may begin in one and end in the next.
        self._pass = lru_cache(maxsize=2)(lambda number: np.random.default_rng([*seed, number]).permutation(rows))

    def batch(self, iteration: int) -> NDArray[np.int64]:
        """The rows of one iteration, (B,)."""
        start = iteration * self._batch_size
        number, place = divmod(start, self._rows)
        pieces: list[NDArray[np.int64]] = []
        missing = self._batch_size
        while missing:
            piece = self._pass(number)[place : place + missing]
            pieces.append(piece)
            missing -= len(piece)
            number, place = number + 1, 0
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
