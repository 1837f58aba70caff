"""Sources whose frames cost nothing to make, so that their number can grow without waiting for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from egoequiv.catalog import open_source
from egoequiv.pose import PlanarSpace
from egoequiv.sources import Recording, Source
from egoequiv.sources.recording import Image


@dataclass(frozen=True, eq=False)
class NoiseRecording(Recording):
    """Noise in place of pictures, beside poses and labels."""

    name: str
    poses: NDArray[np.float64]
    side: int = 96
    labels: Sequence[str] | None = None
    times_s: NDArray[np.float64] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    def image(self, frame: int) -> Image:
        return np.random.default_rng(frame).integers(0, 256, (self.side, self.side), np.uint8)


def noise_toys(recordings: int, side: int = 96) -> Source:
    """The index of the turntable, five toys under as many lightings as it takes, with noise for pictures."""
    toys = open_source("turntable", toys_per_category=1, lightings=-(-recordings // 5))
    noise = [
        NoiseRecording(r.name, r.poses, side, r.labels, attributes=r.attributes) for r in toys.recordings[:recordings]
    ]
    return Source("noise", toys.space, noise)


def long_log(recordings: int, frames: int) -> Source:
    """Poses only, of cars that drive at random, at 30 Hz."""
    logs = []
    for number in range(recordings):
        rng = np.random.default_rng(number)
        slow = np.repeat(rng.normal(size=(2, frames // 90 + 1)), 90, axis=1)[:, :frames]  # new speed and turn every 3 s
        poses = np.cumsum(np.stack([np.abs(7 + 4 * slow[0]), 8 * slow[1]], axis=1) / 30, axis=0)
        logs.append(NoiseRecording(f"log-{number}", poses, times_s=np.arange(frames) / 30))
    return Source("long-log", PlanarSpace(), logs, has_images=False)
