"""A frame store as a source: its recordings with their frames, poses and times."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Image, Recording, Source
from egoequiv.store import FrameStore


@dataclass(frozen=True)
class StoredRecording(Recording):
    """One recording of a store; it opens the store itself, so that it can be sent to another process."""

    place: str
    name: str
    rows: NDArray[np.int64]
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64] | None
    lens: Lens | None = None
    labels: None = None
    attributes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _images(self) -> NDArray[np.uint8]:
        return FrameStore.open(self.place).images

    def image(self, frame: int) -> Image:
        image = np.asarray(self._images[int(self.rows[frame])])
        return image[..., 0] if image.shape[-1] == 1 else image

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_images"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)


def store_as_source(store: FrameStore) -> Source:
    """The recordings of a store, frames in order."""
    names = tuple(store.pose_columns)
    columns = np.stack([store.pose_columns[name] for name in names], axis=1) if names else np.empty((len(store), 0))
    recordings: list[Recording] = []
    for number, name in enumerate(store.recording_names):
        rows = np.flatnonzero(store.recording == number)
        rows = rows[np.argsort(store.frame[rows], kind="stable")]
        times = None if store.times_s is None else store.times_s[rows]
        recordings.append(StoredRecording(store.place, name, rows, columns[rows], times, store.lens(name)))
    return Source(
        str(store.meta["source"]),
        store.space,
        recordings,
        pose_names=names,
        has_images=store.has_images,
        notes=tuple(str(note) for note in store.meta.get("notes", [])),
        convention=str(store.meta.get("convention", "")),
    )
