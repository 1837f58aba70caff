"""The motion prior: where the last matches and the motion since then say that the camera should be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SLACK = 0.3  # standard deviation of the way, as a share of it: speeds differ between traverses
LOST = 0.02  # how likely the camera is anywhere else
REACH = 4.0  # standard deviations that are looked at


def filter_places(distance: Array, travelled: Array, along: Array, allowed: Mask | None = None) -> Array:
    """Distances of places after the motion prior: -log of the belief that a query is at a reference, (Q, R).

    A hidden Markov model over reference frames, filtered forwards, so that a query is judged by itself and by those
    before it. Between two queries the belief moves along the reference by the way of the camera, give or take `SLACK`,
    and with a chance of `LOST` it is anywhere. A picture changes the belief by exp(-d / s), where s is the standard
    deviation of its distances to all references.

    Args:
        distance: (Q, R) of features or pixels, queries in order.
        travelled: (Q,) how far the camera had come at each query, in any unit.
        along: (R,) how far it had come at each reference, in the same unit, in ascending order.
        allowed: (Q, R), which references a query is compared with; by default all.
    """
    count = distance.shape[1]
    allowed = np.ones(distance.shape, bool) if allowed is None else allowed
    steps = np.diff(along)
    step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0
    belief = np.full(count, 1.0 / count)
    found = np.full(distance.shape, np.inf)
    before = travelled[0]
    for query, now in enumerate(travelled):
        own = allowed[query]
        if not own.any():
            continue  # nothing to compare with yet
        belief = (1 - LOST) * _moved(belief, along, float(now - before), step) + LOST / count
        belief = belief * own * _likelihood(distance[query], own)
        belief /= belief.sum()
        with np.errstate(divide="ignore"):
            found[query] = -np.log(belief)
        before = now
    return found


def _likelihood(distance: Array, own: Mask) -> Array:
    """How much more likely each reference is by the picture alone; (R,) -> (R,)."""
    among = distance[own]
    spread = float(among.std())
    return np.exp(-np.maximum(distance - among.min(), 0.0) / spread) if spread > 0 else np.ones(len(distance))


def _moved(belief: Array, along: Array, way: float, step: float) -> Array:
    """The belief after the camera has gone some way; what would leave the reference at its end is lost."""
    std = SLACK * abs(way) + step / 2
    low = np.searchsorted(along, along + way - REACH * std)
    high = np.searchsorted(along, along + way + REACH * std)
    width = int((high - low).max(initial=0))
    if not width:
        return np.zeros_like(belief)
    to = low[:, None] + np.arange(width)
    inside = to < high[:, None]
    to = np.where(inside, to, 0)
    weight = np.where(inside, np.exp(-0.5 * ((along[to] - along[:, None] - way) / std) ** 2), 0.0)
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    moved: Array = np.bincount(to.ravel(), (weight * belief[:, None]).ravel(), minlength=len(belief)).astype(np.float64)
    return moved
