"""Batches: which rows each iteration sees, as a pure function of seed and iteration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from egoequiv.losses import StreamName
from egoequiv.training.config import TrainConfig

# The order of each stream has a random stream of its own, independent of the other streams of a method.
_STREAM_SEEDS: dict[StreamName, int] = {"labelled": 1, "motion": 2, "neighbour": 3}


def batch_orders(config: TrainConfig, rows: Mapping[StreamName, int]) -> dict[StreamName, BatchOrder]:
    """The order of each stream of a run, from the number of its rows."""
    return {
        name: BatchOrder(count, config.batch_size, (config.pair_seed, _STREAM_SEEDS[name]))
        for name, count in rows.items()
    }


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
