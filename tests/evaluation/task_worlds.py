"""Stores whose features are made by hand, so that what a task should find is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.task import TaskData
from egoequiv.models import EgoNet, NetSpec
from egoequiv.pairs import MotionPatterns, Split
from egoequiv.store import FrameStore
from helpers import bare_store, grid_poses

FRAMES = 24  # of a recording: 4 elevations x 6 azimuths


@dataclass(frozen=True)
class MadeData(TaskData):
    """Task data with given features instead of a network's."""

    made: NDArray[np.float32] | None = None
    made_before: NDArray[np.float32] | None = None

    @property
    def features(self) -> NDArray[np.float32]:  # type: ignore[override]
        assert self.made is not None
        return self.made

    @property
    def untrained_features(self) -> NDArray[np.float32] | None:  # type: ignore[override]
        return super().untrained_features if self.made_before is None else self.made_before


def made_data(
    store: FrameStore,
    features: NDArray[np.floating],
    validation: NDArray[np.int64],
    patterns: MotionPatterns | None = None,
) -> MadeData:
    """Task data of a store without images; all frames outside of validation are for training."""
    train = np.setdiff1d(np.arange(len(store)), validation)
    net = EgoNet(NetSpec("norb", (1, 1, 1)))
    return MadeData(net, store, Split(train, validation, "made"), patterns, made=features.astype(np.float32))


def turning_world(recordings: int, noise: float = 0.0, seed: int = 0) -> tuple[FrameStore, NDArray[np.float64]]:
    """Recordings on the grid whose features turn with the azimuth and grow with the elevation: exactly equivariant."""
    rng = np.random.default_rng(seed)
    poses = np.tile(grid_poses(), (recordings, 1))
    recording = np.repeat(np.arange(recordings), FRAMES)
    phase, size = rng.uniform(0, 6, recordings)[recording], rng.uniform(1, 2, recordings)[recording]
    angle, height = np.deg2rad(poses[:, 1]) + phase, (poses[:, 0] - 30) / 10
    z = np.stack([size * np.cos(angle), size * np.sin(angle), height, size], axis=1)
    store = bare_store(poses, recording.tolist(), labels=(recording % 2).tolist())
    return store, z + noise * rng.normal(size=z.shape)


def telling_world(recordings: int = 12) -> tuple[FrameStore, NDArray[np.float64]]:
    """Two classes that lie the further apart the higher one looks from, against always the same noise."""
    rng = np.random.default_rng(3)
    poses = np.tile(grid_poses(), (recordings, 1))
    recording = np.repeat(np.arange(recordings), FRAMES)
    sign, height = 1 - 2.0 * (recording % 2), (poses[:, 0] - 30) / 10
    angle = np.deg2rad(poses[:, 1])
    telling = sign * 0.15 * 3**height + rng.uniform(-1, 1, len(poses))
    z = np.stack([10 * height, np.cos(angle), np.sin(angle), telling], axis=1)
    return bare_store(poses, recording.tolist(), labels=(recording % 2).tolist()), z
