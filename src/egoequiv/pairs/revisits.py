"""Frames of one place: the same position and heading, also in other laps, recordings and days that share a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.near_copies import small_pictures
from egoequiv.pairs.places import positions_of, usual_place_m
from egoequiv.pairs.shared import comparable_places
from egoequiv.store import FrameStore

PLACE_S = 0.3  # a place is as large as the way of the camera in this time
SLACK = 1.1  # of a step between frames
TURN_DEG = 20.0  # between two headings at one place
APART = 10.0  # sizes of a place between what is in different maps, or in different recordings without positions
QUATERNION, YAW = ("qx", "qy", "qz", "qw"), "yaw_deg"
LOOKED_AT, SAME = 400, 0.75  # frames whose heights are checked; from which share on pictures show the same
MOST = 48  # frames of one place among which a partner is drawn
Coordinates = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PlacePairs:
    """Pairs of frames of one place; coordinates in sizes of a place: below 1 apart is one place, beyond 2 is not."""

    i: Indices  # (N,) store rows, each frame once
    j: Indices  # (N,)
    place_i: Coordinates  # (N, P)
    place_j: Coordinates  # (N, P)
    again: int  # how many frames have a partner that was seen at another time, or in another recording

    def __len__(self) -> int:
        return len(self.i)


def place_coordinates(store: FrameStore, place_m: float | None = None) -> tuple[NDArray[np.float64], float | None]:
    """Where frames were taken and which way the camera looked, (N, P), in sizes of a place, and that size in metres.

    Without positions, a place is a short time of a recording.

    Args:
        store: The frames.
        place_m: How far apart two frames of one place are at most; None: the way of 0.3 s.
    """
    positions = place_positions(store)
    if positions is None:
        times = store.frame.astype(np.float64) if store.times_s is None else np.asarray(store.times_s)
        size = 1.0 if store.times_s is None else PLACE_S
        return np.column_stack([times / size, APART * 1e6 * store.recording]), None
    size = place_m or usual_size_m(store)
    maps = np.unique(comparable_places(store), return_inverse=True)[1]
    columns = [(positions - positions.mean(0)) / size, maps[:, None] * 1e6 * APART, *_heading_columns(store)]
    return np.concatenate(columns, axis=1), size


def usual_size_m(store: FrameStore) -> float:
    """How large a place is: the way of 0.3 s, and at least a step between frames; without times, two steps."""
    usual, positions = usual_place_m(store), positions_of(store)
    if store.times_s is None or positions is None:
        return max(usual, 1e-9)
    order = np.lexsort((store.times_s, store.recording))
    steps = np.linalg.norm(np.diff(positions[order], axis=0), axis=1)[np.diff(store.recording[order]) == 0]
    step = float(np.median(steps)) if len(steps) else 0.0
    return max(PLACE_S * usual, SLACK * step, 1e-9)


def place_positions(store: FrameStore) -> NDArray[np.float64] | None:
    """Positions as far as they say whether two frames show one place, (N, 2) or (N, 3); None where there are none.

    The height of a vehicle often drifts while its way over ground does not. So heights are left out where frames that
    are one above the other show the same.
    """
    positions = positions_of(store)
    if positions is not None and not (np.isfinite(positions).all() and np.isfinite(store.poses).all()):
        raise DataError(f"{store.place}: poses are not finite, so places are not known: ingest the log again")
    if positions is None or positions.shape[1] < 3 or not store.has_images:
        return positions
    size = usual_size_m(store)
    flat = np.column_stack([positions[:, :2] / size, *_heading_columns(store)])
    i, j = _one_above_the_other(store, flat, positions[:, 2] / size)
    return positions[:, :2] if len(i) and share_that_resemble(store, i, j) > SAME else positions


def _one_above_the_other(
    store: FrameStore, flat: NDArray[np.float64], height: NDArray[np.float64]
) -> tuple[Indices, Indices]:
    """Some pairs of frames of other times that are at one place but for their height, in sizes of a place."""
    from scipy.spatial import KDTree

    tree, every = KDTree(flat), np.arange(len(store))
    pairs = []
    for row in np.unique(np.linspace(0, len(store) - 1, LOOKED_AT).astype(np.int64)):
        near = np.array(tree.query_ball_point(flat[row], 1.0))
        near = near[np.abs(height[near] - height[row]) > 1.0]
        near = near[_is_another_time(store, every, int(row), near)]
        if len(near):
            pairs.append((row, near[len(near) // 2]))
    i, j = np.array(pairs, np.int64).reshape(-1, 2).T
    return i, j


def share_that_resemble(store: FrameStore, i: Indices, j: Indices) -> float:
    """How often frames of a pair resemble each other more than one of them resembles frames at random; 0.5 is chance.

    Small gray pictures are compared by their cosine.
    """
    others = np.random.default_rng(0).integers(len(store), size=(len(i), 8))
    first, second = small_pictures(store, i), small_pictures(store, j)
    paired = (first * second).sum(1)[:, None]
    strangers = small_pictures(store, others.ravel()).reshape(*others.shape, -1)
    return float((paired > np.einsum("nd,nkd->nk", first, strangers)).mean())


def _heading_columns(store: FrameStore) -> list[NDArray[np.float64]]:
    """The heading in sizes of a place; nothing where it is not known."""
    heading = _heading(store)  # the distance of two rotations is 2 sqrt(2) sin(angle / 2)
    return [] if heading is None else [heading / (2 * np.sqrt(2) * np.sin(np.radians(TURN_DEG) / 2))]


def _heading(store: FrameStore) -> NDArray[np.float64] | None:
    """The rotation of each camera as the nine numbers of its matrix, (N, 9); of a planar pose, by its yaw."""
    from scipy.spatial.transform import Rotation  # here, because most commands need none of it

    poses = store.pose_columns
    if {*QUATERNION} <= poses.keys():
        rotation = Rotation.from_quat(np.stack([poses[name] for name in QUATERNION], axis=1))
    elif YAW in poses:
        rotation = Rotation.from_euler("z", poses[YAW][:, None], degrees=True)
    else:
        return None
    matrices: NDArray[np.float64] = rotation.as_matrix().reshape(-1, 9)
    return matrices


def find_place_pairs(store: FrameStore, frames: Indices, *, place_m: float | None, seed: int) -> PlacePairs:
    """A partner of the same place for each frame that has one, drawn among all of them.

    Args:
        store: The frames.
        frames: Store rows; partners are among these too.
        place_m: How far apart two frames of one place are at most; None: the way of 0.3 s.
        seed: Draws the partners.
    """
    from scipy.spatial import KDTree

    coordinates = place_coordinates(store, place_m)[0][frames]
    if not np.isfinite(coordinates).all():
        raise DataError(f"{store.place}: poses are not finite, so places are not known: ingest the log again")
    rng = np.random.default_rng([seed, 0x91ACE])
    # Several frames of one place, not the nearest alone: those are its neighbours in the same recording.
    tree = KDTree(coordinates)
    partner, again = np.full(len(frames), -1), 0
    for start in range(0, len(frames), 1024):
        near = tree.query_ball_point(coordinates[start : start + 1024], 1.0)
        for own, others in enumerate(near, start):
            others = np.array([other for other in others if other != own], np.int64)
            if not len(others):
                continue
            late = others[_is_another_time(store, frames, own, others)]
            again += len(late) > 0
            # Where a place was seen again, half of the partners are from then.
            among = late if len(late) and rng.random() < 0.5 else others
            partner[own] = among[rng.integers(len(among))]
    found = np.flatnonzero(partner >= 0)
    i, j = found, partner[found]
    place = coordinates.astype(np.float32)
    return PlacePairs(frames[i], frames[j], place[i], place[j], int(again))


def _is_another_time(store: FrameStore, frames: Indices, own: int, others: Indices) -> NDArray[np.bool_]:
    """Which of the others are of another recording, or much later or earlier in the same one."""
    rows, row = frames[others], frames[own]
    other: NDArray[np.bool_] = store.recording[rows] != store.recording[row]
    if store.times_s is not None:
        other = other | (np.abs(store.times_s[rows] - store.times_s[row]) > 10 * PLACE_S)
    return other


def find_coming_pairs(store: FrameStore, frames: Indices, gap_s: float) -> tuple[Indices, Indices]:
    """Each frame and the one `gap_s` after it in its recording, (N,) each; frames without times have none."""
    if store.times_s is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = frames[np.lexsort((store.times_s[frames], store.recording[frames]))]
    # Recordings one after the other on one clock, further apart than any gap.
    begin = np.asarray(store.times_s)
    length = float(np.ptp(begin)) + 10 * gap_s + 1
    clock = begin[order] - begin.min() + store.recording[order] * length
    at = np.searchsorted(clock, clock + gap_s).clip(1, len(order) - 1)
    at = np.where(np.abs(clock[at - 1] - clock - gap_s) < np.abs(clock[at] - clock - gap_s), at - 1, at)
    close = np.abs(clock[at] - clock - gap_s) <= 0.25 * gap_s
    return order[close], order[at[close]]
