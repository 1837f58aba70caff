"""Beam search for motions whose order matters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.models.motion_model import Features, MotionModel

WIDTH = 64  # sequences that are kept at each length


@dataclass(frozen=True)
class Found:
    """The sequence of motions that ends nearest to the goal, and how near; the shortest of those that end as near."""

    motions: tuple[str, ...]
    distance: float


def beam_search(
    model: MotionModel,
    motions: Sequence[str],
    view: Features,
    goal: Features,
    most_steps: int,
    *,
    not_first: Collection[str] = (),
    width: int = WIDTH,
) -> Found:
    """Sequences of maps, the nearest to the goal kept at each length.

    Args:
        model: Its maps.
        motions: The names of the motions to choose from.
        view: Mapped features (E,).
        goal: Mapped features (E,).
        most_steps: The longest sequence.
        not_first: Motions that are not possible now.
        width: How many sequences are kept.
    """
    best = Found((), float(_distance(view[None], goal)[0]))
    features = view[None]
    ways: list[tuple[str, ...]] = [()]
    for taken in range(most_steps):
        allowed = [name for name in motions if taken or name not in not_first]
        if not allowed:
            break
        reached = np.concatenate([model.after(features, name) for name in allowed])
        ways = [(*way, name) for name in allowed for way in ways]
        distance = _distance(reached, goal)
        kept = np.argsort(distance, kind="stable")[:width]
        features, ways = reached[kept], [ways[k] for k in kept]
        if distance[kept[0]] < best.distance:
            best = Found(ways[0], float(distance[kept[0]]))
    return best


def _distance(features: Features, goal: Features) -> NDArray[np.float64]:
    """From each row (N, E) to the goal, (N,)."""
    away: NDArray[np.float64] = np.linalg.norm(np.asarray(features, np.float64) - goal, axis=1)
    return away
