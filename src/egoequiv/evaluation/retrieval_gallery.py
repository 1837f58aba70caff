"""What the figure of retrieval shows: some queries with the nearest pairs, their pictures, and their motions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.findings import thumbnails
from egoequiv.evaluation.pair_search import Neighbours
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices
from egoequiv.pose import MotionSpace
from egoequiv.store import FrameStore

SHOWN = 12
# Where going along an axis points to on paper, by the word for it; an axis of no such word has no arrow of its own.
POINTS_TO = {
    "up": (0.0, 1.0),
    "rise": (0.0, 1.0),
    "forward": (0.0, 1.0),
    "right": (1.0, 0.0),
    "left turn": (-1.0, 0.0),
    "shift left": (-1.0, 0.0),
    "pan left": (-1.0, 0.0),
}


def retrieval_gallery(
    store: FrameStore, pairs: MotionPairs, neighbours: Mapping[str, Neighbours], seed: int = 0
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Details and arrays: Q queries at random, of every motion, with the nearest pair in each of S spaces.

    Nothing is chosen by whether it succeeds. A column of the arrays is the query or its nearest pair; images are of
    both frames, arrows point across and up, and `gallery_right` says whether a pair has the motion of the query.
    """
    first = next(iter(neighbours.values()))
    shown = choose_queries(pairs, first, SHOWN, seed)
    chosen = np.column_stack([first.query[shown], *(near.nearest[shown, 0] for near in neighbours.values())])
    i, j = pairs.i[chosen], pairs.j[chosen]
    motions = store.space.difference(store.poses[i], store.poses[j])
    scale = motion_scale(store, pairs)
    words = [[motion_words(store.space, motion, scale) for motion in row] for row in motions]
    arrows = [[arrow_of(store.space, motion, scale) for motion in row] for row in motions]
    arrays: dict[str, NDArray[Any]] = {
        "gallery_arrows": np.array(arrows),
        "gallery_right": (pairs.pattern[chosen] == pairs.pattern[chosen[:, :1]]).astype(np.uint8),
    }
    if store.has_images:
        arrays["gallery_images"] = thumbnails(store, np.stack([i, j], axis=-1))
    return {"gallery_spaces": list(neighbours), "gallery_words": words}, arrays


def choose_queries(pairs: MotionPairs, neighbours: Neighbours, count: int, seed: int) -> Indices:
    """At most `count` rows of `neighbours` at random, of each motion as many as possible; motion by motion."""
    pattern = pairs.pattern[neighbours.query]
    rng = np.random.default_rng([seed, 0xF16])
    turn = np.empty(len(pattern))
    for number in np.unique(pattern):  # the first of every motion, then the second of every motion, and so on
        own = np.flatnonzero(pattern == number)
        turn[own] = rng.permutation(len(own))
    chosen = np.lexsort((pattern, turn))[:count]
    return chosen[np.argsort(pattern[chosen], kind="stable")]


def motion_scale(store: FrameStore, pairs: MotionPairs) -> NDArray[np.float64]:
    """The size of each component of a motion that an arrow of full length stands for, (M,)."""
    known = pairs.pattern >= 0
    motion = store.space.difference(store.poses[pairs.i[known]], store.poses[pairs.j[known]])
    size = np.quantile(np.abs(motion), 0.95, axis=0) if len(motion) else np.ones(motion.shape[1])
    return np.where(size > 0, size, 1.0)


def arrow_of(space: MotionSpace, motion: NDArray[np.float64], scale: NDArray[np.float64]) -> tuple[float, float]:
    """Where the arrow of a motion points to: across and up, at most 1 long."""
    across = up = 0.0
    for axis, amount in zip(space.axes, motion / scale, strict=True):
        x, y = POINTS_TO.get(axis.plus, (0.0, 0.0))
        across, up = across + x * float(amount), up + y * float(amount)
    longest = max(1.0, float(np.hypot(across, up)))
    return across / longest, up / longest


def motion_words(space: MotionSpace, motion: NDArray[np.float64], scale: NDArray[np.float64]) -> str:
    """The components that a motion has, in words; those that are small beside another on their scale are left out."""
    words = [
        axis.in_words(float(amount))
        for own in space.scales
        for axis, amount, whole in zip(space.axes[own], motion[own], scale[own], strict=True)
        if abs(amount) > 0.02 * whole and abs(amount) >= np.abs(motion[own]).max() / 4
    ]
    return ", ".join(words) or "standing still"
