"""How far predictions are off after each displacement, measured on recordings with known poses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.models.motion_model import Features
from egoequiv.planning.belief import Floats
from egoequiv.planning.displacements import Numbers
from egoequiv.planning.planner import Planner

FRAMES = 300  # that are predicted from, drawn at random


def measure_spread(
    planner: Planner, features: Features, poses: NDArray[np.float64], recordings: Numbers, seed: int = 0
) -> Floats:
    """The mean squared error of predicted features after each displacement of a planner, (K,).

    Args:
        planner: Whose motions commute.
        features: Mapped features of frames, (N, E): `model.embed(images)[:, model.mapped]`.
        poses: Their poses in the columns of the motion space, (N, P).
        recordings: Predictions are compared with frames of the same recording, (N,).
        seed: Of the frames that are predicted from.

    Returns:
        What `Planner(..., spread=...)` takes. A displacement that no two frames have gets the largest error found.

    Example:
        spread = measure_spread(Planner(model), features, store.poses, store.recording)
        planner = Planner(model, spread=spread)
    """
    displacements, space = planner.displacements, planner.model.space
    if displacements is None or space is None:
        raise DataError("errors are measured of motions that commute, and those of this planner do not")
    drawn = np.random.default_rng([seed, 0x5B]).permutation(len(features))[:FRAMES]
    total, count = np.zeros(len(displacements)), np.zeros(len(displacements))
    for i in drawn:
        others = np.flatnonzero(recordings == recordings[i])
        number = displacements.find(space.difference(np.broadcast_to(poses[i], poses[others].shape), poses[others]))
        others, number = others[number >= 0], number[number >= 0]
        predicted = displacements.predict(planner.model, features[[i]])[0, number]
        np.add.at(total, number, np.square(predicted - features[others]).sum(axis=1, dtype=np.float64))
        np.add.at(count, number, 1)
    if not (count[1:] > 0).any():
        raise DataError(f"no two of {len(features)} frames are apart by motions of this planner: give more frames")
    spread = total / np.maximum(count, 1)
    return np.where(count > 0, spread, spread.max())
