"""What benchmarks work on: a folder, the amount of data, and stores that are made when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from egoequiv.catalog import open_source
from egoequiv.store import FrameStore, ingest


@dataclass(frozen=True)
class Scale:
    """How much is measured, and how often."""

    rounds: int = 9  # of comparisons that take a second or so
    few_rounds: int = 3  # of those that take long
    iterations: Mapping[str, int] = field(default_factory=lambda: {"norb": 300, "kitti": 20})  # in one round
    contrast_iterations: Mapping[int, int] = field(default_factory=lambda: {32: 10, 96: 2})  # by the side of images
    toys: Mapping[str, Any] = field(default_factory=lambda: {"toys_per_category": 2, "lightings": 3})
    drives: Mapping[str, Any] = field(default_factory=lambda: {"drives_per_area": 2, "seconds": 12})
    drawn: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {"drive": {"drives_per_area": 1}, "places": {"images_per_class": 40}}
    )
    logs: Mapping[str, Any] = field(default_factory=lambda: {"drives_per_area": 1, "seconds": 12})  # 480 frames
    picture_size: tuple[int, int] = (1242, 375)  # width and height of KITTI's
    pictures: Mapping[str, int] = field(default_factory=lambda: {"png": 800, "jpg": 3_200})
    video_frames: int = 1_800  # of 640 x 480
    pairs: int = 20_000  # for rho
    voters: int = 100_000  # labelled pairs of next-view
    log_frames: int = 12_000  # of each of three logs whose motions are clustered
    memory_recordings: int = 15  # of 162 frames of 96 x 96, at 1x
    memory_pictures: int = 800  # that are ingested, at 1x
    memory_log_frames: int = 20_812  # at 1x; at 16x they have ten million motions
    memory_doctor_frames: int = 600  # of the recording that the doctor examines, at 1x
    ddp_iterations: int = 200


QUICK = Scale(
    rounds=3,
    few_rounds=2,
    iterations={"norb": 50, "kitti": 5},
    contrast_iterations={32: 1, 96: 1},
    toys={"toys_per_category": 1, "lightings": 2},
    drives={"drives_per_area": 1, "seconds": 8},
    drawn={"drive": {"drives_per_area": 1, "seconds": 12}, "places": {"images_per_class": 24}},
    logs={"drives_per_area": 1, "seconds": 8},
    pictures={"png": 400, "jpg": 400},
    video_frames=450,
    pairs=4_000,
    voters=5_000,
    log_frames=2_000,
    memory_recordings=2,
    memory_pictures=400,
    memory_log_frames=2_000,
    memory_doctor_frames=100,
    ddp_iterations=60,
)


class Workbench:
    """A folder to work in, a scale, and the stores that several benchmarks share."""

    def __init__(self, folder: Path, scale: Scale) -> None:
        self.folder = folder
        self.scale = scale

    def new_folder(self) -> Path:
        """An empty folder of its own."""
        return Path(mkdtemp(dir=self.folder))

    @cached_property
    def toys(self) -> FrameStore:
        """Toys on a turntable, for the NORB network."""
        return ingest(open_source("turntable", **self.scale.toys), self.folder / "toys", workers=2)

    def toys_of(self, size: int) -> FrameStore:
        """Toys on a turntable, of images of this side."""
        path = self.folder / f"toys-{size}"
        if path.exists():
            return FrameStore.open(path)
        return ingest(open_source("turntable", **self.scale.toys), path, size=(size, size), workers=2)

    @cached_property
    def drives(self) -> FrameStore:
        """Drives of 32 x 32, for the KITTI network."""
        return ingest(open_source("drive", **self.scale.drives), self.folder / "drives", size=(32, 32), workers=2)

    def store_for(self, network: str) -> FrameStore:
        """The store that a network is trained on."""
        return {"norb": lambda: self.toys, "kitti": lambda: self.drives}[network]()
