"""A grid of poses where a store has none: views that an embedded world renders around each of its recordings."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from egoequiv.catalog import open_source
from egoequiv.errors import DataError
from egoequiv.evaluation.task import OnProgress, TaskData
from egoequiv.models.network import ALL
from egoequiv.pairs import Split
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.pose import Axis, GridSpace, PlanarSpace
from egoequiv.sources.recording import Recording
from egoequiv.store import FrameStore, fit_image

STEP_M, STEPS = 2.0, 9  # along the lane, from where the car is back to where it has been
TURN_DEG, TURNS = 7.5, 7  # of the camera, as many to the left of the lane as to the right
RECORDINGS = 60  # of training, and of validation, at most
SPACE = GridSpace(
    (
        Axis("forward", "m", STEP_M, plus="forward", minus="backward"),
        Axis("yaw", "deg", TURN_DEG, plus="left turn", minus="right turn"),
    )
)
NOTE = (
    f"walks are in the embedded drive, behind the middle frame of each recording: {STEPS} places of its lane, "
    f"{STEP_M:g} m apart, and {TURNS} directions, {TURN_DEG:g} deg apart; every view is rendered, with the traffic of "
    "that moment; a goal is reached at its own place and direction"
)


@runtime_checkable
class Walkable(Protocol):
    """A recording of a world that draws views near its frames."""

    name: str

    def __len__(self) -> int:
        """How many frames it has."""

    def around(self, frame: int, poses: NDArray[np.float64]) -> Recording:
        """Views near a frame."""


def can_render(store: FrameStore) -> bool:
    """Whether a store is of an embedded world that draws a view from any pose, in the motion space of its walks."""
    return store.meta.get("source") == "drive" and isinstance(store.space, PlanarSpace) and store.has_images


def rendered_grid(data: TaskData, on_progress: OnProgress) -> TaskData:
    """The same network on views around the recordings of its store; each is of training or of validation as before.

    Args:
        data: Of a store that `can_render`.
        on_progress: Called with ("views", views drawn, views in all).
    """
    drives = _drives(data.store)
    train, validation = (np.unique(data.store.recording[rows]) for rows in (data.split.train, data.split.validation))
    if len(np.intersect1d(train, validation)):
        raise DataError(
            f"{data.store.place}: the split {data.split.kind} divides recordings, so walks would be where the run was "
            "trained: train with split=by-recording"
        )
    chosen = [thinned(part, RECORDINGS, [0, 0x9B]) for part in (train, validation)]
    names = [data.store.recording_names[number] for part in chosen for number in part]
    store = _store_of(data.store, [drives[name] for name in names], on_progress)
    is_train = np.repeat(np.arange(len(names)) < len(chosen[0]), STEPS * TURNS)
    split = Split(np.flatnonzero(is_train), np.flatnonzero(~is_train), data.split.kind)
    own = replace(data.of_part(ALL), store=store, split=split, patterns=None, recognition=None, labelled=None)
    return own.of_part(data.part)


def _drives(store: FrameStore) -> dict[str, Walkable]:
    """The recordings of the world that a store was made of, by name."""
    world = open_source(str(store.meta["source"]), **store.meta["settings"])
    found: dict[str, Walkable] = {one.name: one for one in world.recordings if isinstance(one, Walkable)}
    missing = [name for name in store.recording_names if name not in found]
    if missing:
        raise DataError(f"{store.place}: the embedded drive has no recording {missing[0]!r}: ingest it again")
    return found


def _store_of(like: FrameStore, drives: list[Walkable], on_progress: OnProgress) -> FrameStore:
    """A store in memory of the views around the middle of each drive."""
    turns = TURN_DEG * (np.arange(TURNS) - TURNS // 2)
    poses = np.array(list(product(STEP_M * (np.arange(STEPS) - STEPS + 1), turns)))
    total = len(drives) * len(poses)
    images: NDArray[np.uint8] = np.empty((total, *like.image_shape), np.uint8)
    for number, drive in enumerate(drives):
        views = drive.around(len(drive) // 2, poses)
        for frame in range(len(poses)):
            images[number * len(poses) + frame] = fit_image(views.image(frame), *like.image_shape)
        on_progress("views", (number + 1) * len(poses), total)
    recording: Indices = np.repeat(np.arange(len(drives)), len(poses))
    return FrameStore(
        path=like.path,
        images=images,
        recording=recording,
        recording_names=tuple(drive.name for drive in drives),
        frame=np.tile(np.arange(len(poses)), len(drives)),
        times_s=None,
        poses=np.tile(poses, (len(drives), 1)),
        labels=np.full(total, -1),
        class_names=(),
        attributes={},
        space=SPACE,
        meta=like.meta,
        url=like.url,
    )
