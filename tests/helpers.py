"""What tests of several modules share: a tiny world on a grid, stores without files, and NORB files of a few images."""

from __future__ import annotations

import gzip
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose import Axis, GridSpace, MotionSpace
from egoequiv.sources import Recording, Source
from egoequiv.store import FrameStore

ELEVATIONS, AZIMUTHS = 4, 6
KINDS = ("ball", "bar", "cross")
GRID = GridSpace(
    (
        Axis("elevation", "deg", step=10.0, plus="up", minus="down"),
        Axis("azimuth", "deg", step=360.0 / AZIMUTHS, plus="right", minus="left", period=360.0),
    )
)
HANG_S = 600  # no test waits for longer
BYTE_MAGIC, INT_MAGIC = 0x1E3D4C55, 0x1E3D4C54


def grid_poses(elevations: int = ELEVATIONS, azimuths: int = AZIMUTHS) -> NDArray[np.float64]:
    """Every pose of the grid, (E * A, 2), the azimuth changing fastest."""
    return np.array([[30.0 + 10.0 * e, 360.0 / azimuths * a] for e in range(elevations) for a in range(azimuths)])


@dataclass(frozen=True, eq=False)
class GridRecording(Recording):
    """One drawn shape under one light; its pictures change smoothly with the pose."""

    name: str
    kind: int
    light: float = 1.0
    size: int = 12
    color: bool = False
    poses: NDArray[np.float64] = field(default_factory=grid_poses)
    times_s: NDArray[np.float64] | None = None
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    def image(self, frame: int) -> NDArray[np.uint8]:
        elevation, azimuth = np.deg2rad(np.nan_to_num(self.poses[frame], posinf=0.0))
        y, x = np.mgrid[0 : self.size, 0 : self.size] / (self.size - 1) - 0.5
        across = x - 0.25 * np.cos(azimuth)
        down = y - 0.25 * np.sin(azimuth) - 0.5 * (elevation - 0.8)
        blob = np.exp(-25 * (across**2 * (1 + 3 * (self.kind == 1)) + down**2 * (1 + 3 * (self.kind == 2))))
        stripes = 0.2 * np.cos(10 * x * (1 + self.kind) + azimuth)
        gray = np.clip(self.light * (60 + 140 * blob + 60 * stripes), 0, 255)
        if self.color:
            gray = np.stack([gray, 255 - gray, gray / 2], axis=-1)
        return gray.astype(np.uint8)


@dataclass(frozen=True, eq=False)
class FailingRecording(GridRecording):
    """A recording whose frame `bad` cannot be decoded."""

    bad: int = 7

    def image(self, frame: int) -> NDArray[np.uint8]:
        if frame == self.bad:
            raise DataError(f"{self.name}: frame {frame} is damaged")
        return super().image(frame)


def grid_recording(kind: int, take: int, **changes: object) -> GridRecording:
    """Take number `take` of a shape, with labels and attributes."""
    name = f"{KINDS[kind]}/take-{take}"
    settings: dict[str, object] = {
        "labels": (KINDS[kind],) * (ELEVATIONS * AZIMUTHS),
        "attributes": {"shape": KINDS[kind], "take": str(take)},
        "light": 1.0 + 0.1 * take,
    }
    return GridRecording(name, kind, **(settings | changes))  # type: ignore[arg-type]


def grid_source(**changes: object) -> Source:
    """Three shapes in two takes each, on a whole grid of 4 x 6 poses: 144 frames of 12 x 12."""
    recordings = [grid_recording(kind, take, **changes) for kind in range(len(KINDS)) for take in range(2)]
    return Source("grid", GRID, recordings, {"takes": 2})


def bare_store(
    poses: NDArray[np.float64],
    recording: Sequence[int],
    times_s: Sequence[float] | None = None,
    space: MotionSpace = GRID,
    labels: Sequence[int] | None = None,
) -> FrameStore:
    """A store in memory with empty images, for what looks at poses, times and recordings only."""
    count = len(poses)
    codes = np.asarray(recording, np.int64)
    marks = np.full(count, -1, np.int64) if labels is None else np.asarray(labels, np.int64)
    return FrameStore(
        path=Path("bare-store"),
        images=np.zeros((count, 1, 1, 1), np.uint8),
        recording=codes,
        recording_names=tuple(f"recording-{k}" for k in range(int(codes.max(initial=-1)) + 1)),
        frame=np.arange(count),
        times_s=None if times_s is None else np.asarray(times_s, np.float64),
        poses=np.asarray(poses, np.float64).reshape(count, len(space.pose_names)),
        labels=marks,
        class_names=tuple(f"class-{k}" for k in range(int(marks.max(initial=-1)) + 1)),
        attributes={},
        space=space,
        meta={},
    )


def wait_for(is_so: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for an event, which may take long on a busy machine; only a hang reaches the limit.

    With a process, its end without the event is an error at once.
    """
    until = time.monotonic() + HANG_S
    while not is_so():
        ended = process is not None and process.poll() is not None
        if ended and not is_so():
            said = process.stderr.read() if process is not None and process.stderr is not None else ""
            raise AssertionError(f"the process has ended before the event: {said}")
        assert time.monotonic() < until, "nothing has happened"
        time.sleep(0.01)


@contextmanager
def started(command: Sequence[str], **settings: Any) -> Iterator[subprocess.Popen[str]]:
    """A process in a group of its own, as a terminal starts it; all of the group is killed in the end, hung or not."""
    with subprocess.Popen(command, text=True, start_new_session=True, **settings) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def read_line(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints, one line at a time; only a hang reaches the limit."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], HANG_S)[0], "the process prints nothing"
    return process.stdout.readline()


def draw_small_toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table of NORB draw the embedded toys at the size that its tests look at, which is much faster."""
    from egoequiv.catalog import open_source
    from egoequiv.experiments import norb

    def open_small(name: str, *arguments: object, **settings: object) -> Source:
        return open_source(name, *arguments, **settings, **({"size": 32} if name == "turntable" else {}))

    monkeypatch.setattr(norb, "open_source", open_small)


def draw_small_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tables of drives and scenes draw pictures a tenth as wide, which is much faster."""
    from egoequiv.catalog import open_source
    from egoequiv.experiments import driving

    def open_small(name: str, *arguments: object, **settings: object) -> Source:
        small = {"width": 124, "height": 38} if name in ("drive", "places") else {}
        return open_source(name, *arguments, **settings, **small)

    monkeypatch.setattr(driving, "open_source", open_small)


def draw_few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the task of places compute its intervals from fewer draws; the tests of statistics check all of them."""
    places = import_module("egoequiv.evaluation.places")
    monkeypatch.setattr(places, "block_interval", partial(places.block_interval, draws=100))


def walk_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the task `plan` take few walks, because they take most of the time of a table."""
    from egoequiv.evaluation import plan_conditions

    for name, few in (("WALKS", 60), ("TRIED_EACH", 4)):
        monkeypatch.setattr(plan_conditions, name, few)


def draw_small_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tables beyond the paper draw small embedded worlds: 5 toys, 45 views, 16 pixels; a narrow drive."""
    from egoequiv.catalog import open_source
    from egoequiv.experiments.beyond import worlds

    small: dict[str, dict[str, object]] = {
        "turntable": {"toys_per_category": 1, "elevations": 5, "azimuths": 9, "size": 16},
        "drive": {"width": 62, "height": 19},
    }

    def open_small(name: str, *arguments: object, **settings: object) -> Source:
        return open_source(name, *arguments, **settings, **small.get(name, {}))

    monkeypatch.setattr(worlds, "open_source", open_small)


@contextmanager
def data_error(*words: str) -> Iterator[None]:
    """Expect a DataError of one line that holds all the given words."""
    with pytest.raises(DataError) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    assert [word for word in words if word not in message] == [], message


def matrix_bytes(values: NDArray[np.uint8] | NDArray[np.int32], magic: int | None = None) -> bytes:
    """A matrix in the format of NORB: magic, number of dimensions, at least three sizes, values; little-endian."""
    if magic is None:
        magic = BYTE_MAGIC if values.dtype == np.uint8 else INT_MAGIC
    sizes = list(values.shape) + [1] * (3 - values.ndim)
    return struct.pack(f"<{2 + len(sizes)}i", magic, values.ndim, *sizes) + values.tobytes()


@dataclass(frozen=True)
class NorbFiles:
    """The three files of one part of a tiny NORB, and what was written into them."""

    folder: Path
    dat: Path
    cat: Path
    info: Path
    category: NDArray[np.int32]  # (N,)
    rows: NDArray[np.int32]  # (N, 4)
    images: NDArray[np.uint8]  # (N, 2, 6, 8)

    def path(self, kind: str) -> Path:
        return {"dat": self.dat, "cat": self.cat, "info": self.info}[kind]

    def content(self, kind: str) -> bytes:
        """What a file holds, unpacked."""
        path = self.path(kind)
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()

    def put(self, kind: str, content: bytes) -> None:
        """Replace what a file holds, packed if the file is."""
        path = self.path(kind)
        path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)


def write_norb(folder: Path, part: str = "training", packed: bool = False, instance: int = 4) -> NorbFiles:
    """Write an official-format NORB of two toys, two lightings and 2 x 3 poses, its records in random order."""
    rng = np.random.default_rng(5)
    grid = [(c, instance, e, a, light) for c in (0, 3) for light in (0, 5) for e in (0, 8) for a in (0, 2, 34)]
    records = rng.permutation(np.array(grid, np.int32))
    category, rows = np.ascontiguousarray(records[:, 0]), np.ascontiguousarray(records[:, 1:])
    images = rng.integers(0, 256, (len(records), 2, 6, 8), np.uint8)
    stem = "smallnorb-5x46789x9x18x6x2x96x96"
    ending = ".mat.gz" if packed else ".mat"
    dat, cat, info = (folder / f"{stem}-{part}-{kind}{ending}" for kind in ("dat", "cat", "info"))
    files = NorbFiles(folder, dat, cat, info, category, rows, images)
    for kind, values in (("dat", images), ("cat", category), ("info", rows)):
        files.put(kind, matrix_bytes(values))
    return files
