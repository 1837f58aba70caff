"""Features of some frames of a store, looked up by their store rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.statistics import FEWEST_GROUPS
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.shared import groups_of_recordings
from egoequiv.store import FrameStore
from egoequiv.store.shrinking import shrink

Features = NDArray[np.float32] | NDArray[np.float64]
SIDE = 16  # pixels of the images that a probe reads as a baseline, at most
AT_ONCE = 256  # images made smaller
BLOCKS = 10  # of time, where recordings are too few for folds


@dataclass(frozen=True, eq=False)
class FrameFeatures:
    """The features of some frames; any numbers will do, so a baseline is nothing but other features."""

    store: FrameStore
    frames: Indices  # (N,) store rows, each once
    z: Features  # (N, D)

    def __post_init__(self) -> None:
        if len(self.frames) != len(self.z) or self.z.ndim != 2:
            raise ValueError(f"{len(self.frames)} frames need features (N, D), found {self.z.shape}")
        if not np.isfinite(self.z).all():
            frame = int(self.frames[np.flatnonzero(~np.isfinite(self.z).all(axis=1))[0]])
            raise DataError(
                f"{self.store.path}: the features of frame {frame} are not finite; the network has diverged, "
                "train it again"
            )

    @cached_property
    def _place(self) -> Indices:
        place = np.full(len(self.store), -1)
        place[self.frames] = np.arange(len(self.frames))
        return place

    def places(self, rows: Indices) -> Indices:
        """The places of store rows among the frames, (M,)."""
        found: Indices = self._place[rows]
        if (found < 0).any():
            raise ValueError(f"frame {int(rows[found < 0][0])} has no features here")
        return found

    def of(self, rows: Indices) -> Features:
        """The features of store rows, (M, D)."""
        chosen: Features = self.z[self.places(rows)]
        return chosen


def small_images(store: FrameStore, frames: Indices) -> FrameFeatures:
    """The pixels of frames as features, of images of at most `SIDE` x `SIDE`."""
    small = _shrunk(store, frames)
    return FrameFeatures(store, frames, small.reshape(len(frames), -1).astype(np.float32))


def gray_images(store: FrameStore, frames: Indices) -> FrameFeatures:
    """The same in gray."""
    small = _shrunk(store, frames).mean(axis=3, dtype=np.float32)
    return FrameFeatures(store, frames, small.reshape(len(frames), -1))


def _shrunk(store: FrameStore, frames: Indices) -> NDArray[np.uint8]:
    blocks = np.split(frames, range(AT_ONCE, len(frames), AT_ONCE))
    return np.concatenate([shrink(np.asarray(store.images[rows]), SIDE, SIDE) for rows in blocks])


def groups_of(store: FrameStore, hold_out: str) -> Indices:
    """The group of every frame, (N,): its recording, its label, or the value of an attribute such as `toy`.

    Recordings that ran at the same time, such as cameras of one rig, are one group. It is -1 for frames that have no
    label or no value: their group is not known.
    """
    return groups_of_recordings(store) if hold_out == "recording" else store.classes(hold_out)[0]


def fold_groups(store: FrameStore, rows: Indices) -> Indices:
    """The groups that a penalty is chosen over, (M,): recordings; where they are fewer than five, blocks of their time.

    Frames without times have no blocks: photographs may be in any order. Blocks are for folds alone, never for an
    interval: neighbouring ones resemble each other, and an interval over them would be much too narrow.
    """
    recording = groups_of_recordings(store)[rows]
    names = np.unique(recording)
    if len(names) >= FEWEST_GROUPS or store.times_s is None:
        return recording
    groups = np.empty(len(rows), np.int64)
    each = -(-BLOCKS // max(len(names), 1))
    for number, name in enumerate(names):
        own = np.flatnonzero(recording == name)
        own = own[np.argsort(store.frame[rows[own]], kind="stable")]
        groups[own] = number * each + np.arange(len(own)) * each // len(own)
    return groups
