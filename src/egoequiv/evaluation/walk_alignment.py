"""Two walks along one route brought into line by their pictures: each query frame with a reference frame, in order."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from egoequiv.pairs.candidates import Indices

Array = NDArray[np.float64]

NOWHERE = -1  # the place of a query frame before the reference begins, or after it ends
# Costs of a path, in standard deviations of the distances of pictures.
UNEVEN = 1.0  # of going twice the usual step along the reference, or of standing still
JUMP = 10.0  # of one step at most: the camera of the reference stood still, or a part of the way is missing
OUTSIDE = -0.5  # of a query frame that is nowhere: wrong matches are about as near, right ones much nearer

# Chosen on true pairs (Gardens Point, laps of a race car, a loop of KITTI, with frames dropped and repeated) and on 366
# pairs of recordings of different places: of those, none has a gain of 0.6.
LEAST_GAIN = 0.6  # standard deviations
SHUFFLES = 2
STRETCH = 15  # frames
NEAR = -1.5  # standard deviations: matched pictures of a stretch are at least so near, on average
LEAST_NEAR = 0.8  # of all stretches


@dataclass(frozen=True, eq=False)
class Alignment:
    """Which reference frame each query frame is matched with, and how much the pictures say for it."""

    place: Indices  # (Q,) rows of the reference, never falling; NOWHERE before the reference begins or after it ends
    gain: float  # how much less a query frame costs than with the reference reversed or shuffled, standard deviations
    near: float  # the share of stretches of the query whose matched pictures are clearly nearer than others

    @property
    def is_convincing(self) -> bool:
        """Whether the order of the reference explains the pictures clearly better than another, nearly all the way."""
        return self.gain >= LEAST_GAIN and self.near >= LEAST_NEAR


def align_walks(distance: Array, seed: int = 0) -> Alignment:
    """Find the cheapest monotone path through the distances of pictures, and compare it with those of other orders.

    A path gives each query frame a reference frame that is not before that of the query frame before. It costs the
    distances along it, and more the less even its steps are. Both walks may begin and end anywhere on the way.

    Args:
        distance: (Q, R) of the pictures of query and reference frames, both in the order of capture.
        seed: of the shuffled orders.
    """
    near = _standardised(distance)
    costs = _cheapest(near)
    place = _path(costs)
    rng = np.random.default_rng([seed, 0xA119])
    orders = [np.arange(near.shape[1])[::-1], *(rng.permutation(near.shape[1]) for _ in range(SHUFFLES))]
    others = min(_cost_a_frame(_cheapest(near[:, order])) for order in orders)
    return Alignment(place, others - _cost_a_frame(costs), _share_near(near, place))


def _standardised(distance: Array) -> Array:
    """Distances less the means of their query and of their reference frame, with standard deviation 1."""
    found = distance - distance.mean(axis=1, keepdims=True)
    found -= found.mean(axis=0, keepdims=True)
    std = float(found.std())
    return found / std if std > np.finfo(np.float32).eps else np.zeros_like(found)


def _cheapest(near: Array) -> Array:
    """The least cost of the paths that end with query q at reference r, (Q, R)."""
    costs = near.copy()
    usual = near.shape[1] / len(near)
    for query in range(1, len(near)):
        reached = _moved(costs[query - 1], usual)
        reached[0] = min(reached[0], query * OUTSIDE)
        costs[query] += reached
    return costs


def _moved(before: Array, usual: float) -> Array:
    """The least cost of coming to each reference frame from one that is not after it, (R,) -> (R,)."""
    count, weight = len(before), UNEVEN / max(usual, 1.0)
    found = np.minimum.accumulate(before) + JUMP
    least = ceil(usual)
    for step in range(min(least, count)):
        found[step:] = np.minimum(found[step:], before[: count - step] + weight * (usual - step))
    # Longer steps cost in proportion to their length, so that one running minimum finds the best for all.
    way = weight * np.arange(count)
    found[least:] = np.minimum(
        found[least:], np.minimum.accumulate(before - way)[: count - least] + way[least:] - weight * usual
    )
    return found


def _ends(costs: Array) -> Array:
    """The cost of paths that leave the reference at its end after query q, (Q,)."""
    return costs[:, -1] + OUTSIDE * np.arange(len(costs))[::-1]


def _cost_a_frame(costs: Array) -> float:
    """The cost of the best path for each query frame."""
    return float(min(costs[-1].min(), _ends(costs).min()) / len(costs))


def _path(costs: Array) -> Indices:
    """The best path, traced back from its end."""
    count, length = costs.shape
    usual = length / count
    ends = _ends(costs)
    is_inside = costs[-1].min() <= ends.min()
    query, here = (count - 1, int(costs[-1].argmin())) if is_inside else (int(ends.argmin()), length - 1)
    place = np.full(count, NOWHERE)
    place[query] = here
    while query:
        off = np.abs(here - np.arange(here + 1) - usual) * UNEVEN / max(usual, 1.0)
        before = costs[query - 1, : here + 1] + np.minimum(off, JUMP)
        if not here and query * OUTSIDE < before[0]:
            break  # the reference begins here
        query, here = query - 1, int(before.argmin())
        place[query] = here
    return place


def _share_near(near: Array, place: Indices) -> float:
    """The share of stretches whose matched pictures are clearly nearer than others; 0 for no match."""
    matched = np.flatnonzero(place != NOWHERE)
    if not len(matched):
        return 0.0
    own = near[matched, place[matched]]
    length = min(STRETCH, len(own))
    return float((np.convolve(own, np.full(length, 1 / length), "valid") <= NEAR).mean())
