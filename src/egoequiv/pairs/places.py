"""Places: where frames were taken, and a division of frames that keeps places apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pairs.candidates import Indices, recordings_of
from egoequiv.pairs.shared import comparable_places
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

COLUMNS = ("x_m", "y_m", "z_m")  # the third may be missing
STEPS, EXTENT = 2, 0.05  # the size of a place where frames have no times: steps, and share of the recording's extent
NUMBERS = (10, 6, 4, 3, 2)  # of places that are tried, in this order
ENOUGH = 0.5  # of the wanted validation frames: with fewer, there are too many places


def positions_of(store: FrameStore) -> Array | None:
    """Where each frame was taken, in metres, (N, 2) or (N, 3); None if the poses do not say."""
    if not {*COLUMNS[:2]} <= store.pose_columns.keys():
        return None
    return np.stack([store.pose_columns[name] for name in COLUMNS if name in store.pose_columns], axis=1)


def usual_place_m(store: FrameStore, max_gap_s: float = 1.0) -> float:
    """How near two frames are that show one place: as far as the camera moves in `max_gap_s`, on average.

    If frames have no times, or no recording lasts so long: twice the median distance between successive frames, and at
    least a twentieth of the extent of a recording (the diagonal of its bounding box; the median over recordings).
    """
    positions = positions_of(store)
    if positions is None:
        raise _no_positions(store)
    moves, steps, extents = [], [], []
    for rows in recordings_of(store, np.arange(len(store))):
        own = positions[rows]
        if store.times_s is not None:
            order = np.argsort(store.times_s[rows], kind="stable")
            own, times = own[order], store.times_s[rows][order]
            later = np.searchsorted(times, times[times + max_gap_s <= times[-1]] + max_gap_s)
            moves.append(np.linalg.norm(own[later] - own[: len(later)], axis=1))
        steps.append(np.linalg.norm(np.diff(own, axis=0), axis=1))
        extents.append(float(np.linalg.norm(np.ptp(own, axis=0))))
    if sum(map(len, moves)):
        return float(np.concatenate(moves).mean())
    step = float(np.median(np.concatenate(steps))) if sum(map(len, steps)) else 0.0
    return max(STEPS * step, EXTENT * float(np.median(extents)))


def distance_m(positions: Array, others: Array) -> Array:
    """How far each position is from the nearest of the others; (N, D), (M, D) -> (N,)."""
    from scipy.spatial import KDTree  # here, because most commands need none of it

    if not len(others):
        return np.full(len(positions), np.inf)
    found: Array = KDTree(others).query(positions)[0]
    return found


def divide_places(
    store: FrameStore, frames: Indices, rng: np.random.Generator, train_fraction: float, place_m: float
) -> tuple[Indices, Indices]:
    """Training and validation frames of different places: no two of them are within `place_m` of each other.

    k-means divides the positions into places, and some of them are for training. Frames of the others that are within
    `place_m` of a training frame are in neither part. The more places, the more of the way both parts see, but the
    more frames are lost between them: the first of `NUMBERS` that loses few enough is taken. Positions in maps that are
    said to differ are not compared.
    """
    positions = positions_of(store)
    if positions is None:
        raise _no_positions(store)
    positions, wanted = (
        _apart(positions[frames], comparable_places(store)[frames], place_m),
        (1 - train_fraction) * len(frames),
    )
    distinct, best = len(np.unique(positions, axis=0)), (0, np.empty(0, bool), np.empty(0, bool))
    for number in NUMBERS:
        if number > distinct:
            continue
        in_train = _some_places(positions, number, rng, train_fraction)
        in_validation = ~in_train
        in_validation[in_validation] = distance_m(positions[~in_train], positions[in_train]) > place_m
        kept = int(in_validation.sum())
        if kept > best[0]:
            best = (kept, in_train, in_validation)
        if kept >= ENOUGH * wanted:
            break
    if not best[0]:
        raise DataError(
            f"split 'by-place': all frames of {store.place} are within {place_m:.3g} m of each other or of frames "
            "between them: lower place_m, or choose another split"
        )
    return frames[best[1]], frames[best[2]]


def _apart(positions: Array, maps: Indices, place_m: float) -> Array:
    """Positions (N, D + 1) in which different maps are further from each other than they are wide, and than a place."""
    codes, number = np.unique(maps, return_inverse=True)
    if len(codes) < 2:
        return positions
    step = 2 * float(np.linalg.norm(np.ptp(positions, axis=0))) + 2 * place_m + 1.0
    return np.column_stack([positions, number * step])


def _some_places(positions: Array, number: int, rng: np.random.Generator, fraction: float) -> Mask:
    """Which frames are at some of the places, but not all, that have about this fraction of the frames."""
    from sklearn.cluster import KMeans  # here, because the import takes a second

    centred = positions - positions.mean(axis=0)  # so that large map coordinates cost no digits
    place = KMeans(number, n_init=3, random_state=int(rng.integers(2**31))).fit_predict(centred)
    order = rng.permutation(number)
    have = np.cumsum(np.bincount(place, minlength=number)[order])[:-1]
    most = int(np.abs(have - fraction * len(positions)).argmin())
    return np.isin(place, order[: most + 1])


def _no_positions(store: FrameStore) -> DataError:
    have = ", ".join(store.pose_columns) or "none"
    return DataError(
        f"split 'by-place' needs the pose columns x_m and y_m, {store.place} has: {have}: choose by-recording, by-time "
        "or paper"
    )
