"""The weighted mean of predictions and its distance to the goal, in one pass: the inner loop of all walks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.compiled import compiled


@compiled
def average_in(
    mean: NDArray[np.float32],
    squared: NDArray[np.float64],
    predicted: NDArray[np.float32],
    rows: NDArray[np.int64],
    onward: NDArray[np.int64],
    share: NDArray[np.float32],
    goal: NDArray[np.float32],
) -> None:
    """Take new predictions into the mean of N walks at K places, and write how far it is from the goal.

    Args:
        mean: (N, K, E), changed.
        squared: Squared distances to the goal, (N, K), changed where a share is not 0.
        predicted: Features after each displacement from views, (C, K, E).
        rows: The view of each walk, (N,).
        onward: The displacement to each place, (N, K).
        share: The weight of the new prediction among all so far, (N, K); 0 for none.
        goal: (N, E).
    """
    walks, places, dim = mean.shape
    for n in range(walks):
        for k in range(places):
            weight = share[n, k]
            if weight == 0:
                continue
            total = 0.0
            for e in range(dim):
                mean[n, k, e] += weight * (predicted[rows[n], onward[n, k], e] - mean[n, k, e])
                off = mean[n, k, e] - goal[n, e]
                total += off * off
            squared[n, k] = total
