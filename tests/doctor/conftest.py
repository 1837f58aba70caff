"""A small drive of the embedded world, rendered once, and a made-up recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.doctor.glance import Glances, glance
from egoequiv.errors import BrokenFrameError
from egoequiv.pose import DRIVING_POSES
from egoequiv.sources import Recording
from egoequiv_worlds import drive


@dataclass(frozen=True, eq=False)
class Kept(Recording):
    """A recording in memory; the frames in `broken` cannot be decoded."""

    name: str
    pictures: NDArray[np.uint8]  # (N, H, W)
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64] | None
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    broken: tuple[int, ...] = ()

    def image(self, frame: int) -> NDArray[np.uint8]:
        if frame in self.broken:
            raise BrokenFrameError(f"picture {frame} is damaged")
        return self.pictures[frame]


def look(recording: Recording) -> Glances:
    """Look at all pictures of a recording."""
    pictures = recording.images(range(len(recording)))
    return Glances.of([None if isinstance(each, BrokenFrameError) else glance(each) for each in pictures])


@pytest.fixture(scope="session")
def street() -> Kept:
    """A drive of 20 seconds through the residential area, with a stop from 5 to 9 s."""
    recording = drive(seed=5, drives_per_area=1, seconds=20.0, width=160, height=48).recordings[2]
    pictures = np.stack([recording.image(frame) for frame in range(len(recording))])
    return Kept("street", pictures, recording.poses, recording.times_s)


@pytest.fixture(scope="session")
def names() -> tuple[str, ...]:
    return DRIVING_POSES
