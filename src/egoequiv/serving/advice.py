"""What is made of a store before it can advise: the votes for the next view, and the planner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.next_view import NEIGHBOURS, NextViewSelector
from egoequiv.models.motion_model import MotionModel
from egoequiv.pairs import MotionPairs, MotionPatterns, find_motion_pairs, make_split
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.planning import Planner, measure_spread
from egoequiv.pose import GridSpace
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.moves import Moves

MOST_PAIRS = 6_000  # of each move: the votes of more take longer and say the same
SEED = 0xAD


class MovePatterns(MotionPatterns):
    """The named motions of a model, as patterns of a store."""

    others_are_negatives = False

    def __init__(self, moves: Moves) -> None:
        self.names, self.space, self._moves = moves.names, moves.store.space, moves

    def assign(self, motion: NDArray[np.float64]) -> NDArray[np.int64]:
        return self._moves.assign(motion)


def fit_selector(gallery: Gallery, moves: Moves, training: Indices | None) -> NextViewSelector:
    """A selector over the searched frames that are training frames (all rows of the store are numbered here by place).

    Args:
        gallery: The searched frames and their features.
        moves: The motions to choose from; those with too few labelled pairs are left out.
        training: Rows of the store; by default the training part of its default split.

    Returns:
        A selector whose features are given, not computed.
    """
    store = gallery.store
    classes, names = store.classes()
    if not moves.names:
        raise DataError("there are no named motions, or the store has no poses")
    rows = np.intersect1d(make_split(store).train if training is None else training, gallery.rows)
    rows = rows[classes[rows] >= 0]
    found = find_motion_pairs(store, rows, MovePatterns(moves))
    kept = [thinned(np.flatnonzero(found.pattern == k), MOST_PAIRS, SEED) for k in range(len(moves.names))]
    enough = [k for k, own in enumerate(kept) if len(own) >= NEIGHBOURS]
    if not enough:
        raise DataError(f"no motion has {NEIGHBOURS} pairs of labelled training frames")
    pairs = MotionPairs(
        i=np.concatenate([gallery.place_of(found.i[kept[k]]) for k in enough]),
        j=np.concatenate([gallery.place_of(found.j[kept[k]]) for k in enough]),
        pattern=np.concatenate([np.full(len(kept[k]), number) for number, k in enumerate(enough)]),
        names=tuple(moves.names[k] for k in enough),
    )
    frames = thinned(gallery.place_of(rows), MOST_PAIRS, SEED)
    return NextViewSelector(gallery.features, classes[gallery.rows], names, frames, pairs)


def make_planner(model: MotionModel, gallery: Gallery | None, training: Indices | None) -> Planner:
    """The planner of a model; of a grid it knows the extent, and how far predictions are off on training frames."""
    if gallery is None or not isinstance(gallery.store.space, GridSpace):
        return Planner(model)
    store, largest = gallery.store, _extent(gallery.store.space, gallery.store.poses)
    planner = Planner(model, largest=largest)
    rows = gallery.rows if training is None else np.intersect1d(gallery.rows, training)
    try:
        features = gallery.features[gallery.place_of(rows)][:, model.mapped]
        spread = measure_spread(planner, features, store.poses[rows], store.recording[rows])
    except DataError:  # there are too few frames to measure it on
        return planner
    return Planner(model, largest=largest, spread=spread)


def _extent(space: GridSpace, poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest motion along each axis of a grid, (M,): its length, or half the period of an axis that wraps."""
    lengths = np.ptp(poses, axis=0)
    periods = [axis.period for axis in space.grid_axes]
    return np.array([own if period is None else period / 2 for period, own in zip(periods, lengths, strict=True)])
