"""Features that follow from the pose and the recording of the frames of a small grid, for what is measured on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.pairs import MotionPairs, declare_patterns, find_motion_pairs
from egoequiv.store import FrameStore
from helpers import bare_store, grid_poses

MOTIONS = ("up", "right", "up+left")


def grid_store(recordings: int = 6) -> FrameStore:
    """Recordings on a whole grid of 4 x 6 poses, without pictures."""
    poses = np.tile(grid_poses(), (recordings, 1))
    return bare_store(poses, np.repeat(np.arange(recordings), len(grid_poses())).tolist())


def equivariant(store: FrameStore) -> NDArray[np.float64]:
    """Elevation, the azimuth as a point of a circle, and a place for each recording: every motion is a linear map.

    The places are points of a plane, so that a map which three recordings determine holds for all of them.
    """
    elevation, azimuth = np.deg2rad(store.poses.T)
    place = 10 * np.column_stack([np.cos(2.4 * store.recording), np.sin(2.4 * store.recording)])
    return np.column_stack([4 * elevation, np.cos(azimuth), np.sin(azimuth), place])


def features_of(store: FrameStore, z: NDArray[np.float64] | None = None) -> FrameFeatures:
    return FrameFeatures(store, np.arange(len(store)), equivariant(store) if z is None else z)


def pairs_of(store: FrameStore, motions: tuple[str, ...] = MOTIONS) -> MotionPairs:
    return find_motion_pairs(store, np.arange(len(store)), declare_patterns(store.space, motions))
