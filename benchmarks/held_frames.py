"""A source whose frames are already in memory, so that only ingest itself is timed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import PlanarSpace
from egoequiv.sources import Recording, Source
from egoequiv.sources.recording import Image


@dataclass(frozen=True)
class HeldRecording(Recording):
    """Frames held in memory."""

    name: str
    poses: NDArray[np.float64]
    images: list[Image]
    labels: None = None
    times_s: NDArray[np.float64] | None = None
    attributes: dict[str, str] | None = None

    def image(self, frame: int) -> Image:
        return self.images[frame]


def held_source(images: list[Image], like: Source) -> Source:
    """One recording of the given images."""
    poses = np.concatenate([recording.poses for recording in like.recordings])
    return Source("held", like.space, [HeldRecording("held", poses, images, attributes={})])


def long_log(recordings: int, frames: int) -> Source:
    """Poses alone of cars that wander about at 30 Hz."""
    logs = []
    for number in range(recordings):
        rng = np.random.default_rng(number)
        slow = np.repeat(rng.normal(size=(2, frames // 90 + 1)), 90, axis=1)[:, :frames]  # a new mood every 3 s
        poses = np.cumsum(np.stack([np.abs(7 + 4 * slow[0]), 8 * slow[1]], axis=1) / 30, axis=0)
        logs.append(HeldRecording(f"log-{number}", poses, [], times_s=np.arange(frames) / 30, attributes={}))
    return Source("long-log", PlanarSpace(), logs, has_images=False)
