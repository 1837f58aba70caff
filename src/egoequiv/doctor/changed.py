"""A recording with a fault put into it: other pictures, or another motion, of the same frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import BrokenFrameError
from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Decoded, Image, Recording

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
View = Literal["as it is", "mirrored", "upside down"]

SKIPPED = 32  # pictures that are decoded and not used before decoding starts again further on
KEPT = 4  # pictures that are kept for frames that come late


@dataclass(frozen=True, eq=False)
class Case:
    """A sound recording into which a fault is put."""

    recording: Recording
    names: tuple[str, ...]  # of its pose columns, `Source.pose_columns`
    seed: int = 0  # of everything that is drawn


@dataclass(frozen=True, eq=False)
class Changed(Recording):
    """Frames whose pictures are those of another recording, in any order; it decodes them when they are needed."""

    pictures: Recording
    rows: Rows  # (N,) which picture each frame has
    name: str
    poses: Array  # (N, P)
    times_s: Array | None  # (N,)
    labels: Sequence[str] | None
    attributes: Mapping[str, str]
    view: View = "as it is"
    numbers: Rows | None = None  # (N,) of the frames in the log, see `Recording.log_frames`
    lens: Lens | None = None

    def image(self, frame: int) -> Image:
        return np.asarray(_seen(self.pictures.image(int(self.rows[frame])), self.view))

    def images(self, frames: range) -> Iterator[Decoded]:
        """Decode pictures in the order of the rows, each once as long as they are near each other."""
        kept: deque[tuple[int, Decoded]] = deque(maxlen=KEPT)
        stream: Iterator[Decoded] = iter(())
        position = -1  # of the next picture in the stream
        for row in (int(row) for row in self.rows[frames.start : frames.stop]):
            if row not in (number for number, _ in kept):
                if position < 0 or not position <= row < position + SKIPPED:
                    stream, position = self.pictures.images(range(row, len(self.pictures))), row
                while position <= row:
                    kept.append((position, next(stream)))
                    position += 1
            found = dict(kept)[row]
            yield found if isinstance(found, BrokenFrameError) else _seen(found, self.view)

    def starts(self) -> Sequence[int]:
        places = np.flatnonzero(np.isin(self.rows, np.asarray(self.pictures.starts())))
        return [0, *places[places > 0].tolist()]

    def file_name(self, frame: int) -> str | None:
        return self.pictures.file_name(int(self.rows[frame]))

    def files_read(self) -> Collection[Path] | None:
        """Those of the pictures, if all are as they were: others cannot be told by their files."""
        is_same = self.view == "as it is" and np.array_equal(self.rows, np.arange(len(self.pictures)))
        return self.pictures.files_read() if is_same else None

    def log_frames(self) -> Rows | None:
        return self.numbers


def changed(
    recording: Recording,
    *,
    rows: Rows | None = None,
    frames: Rows | None = None,
    poses: Array | None = None,
    motion: Recording | None = None,
    view: View = "as it is",
) -> Changed:
    """A recording with other pictures or another motion.

    Args:
        recording: the pictures, and by default the motion.
        rows: (N,) which picture each frame has; by default that of its own.
        frames: (N,) which frame the pose and time of each frame come from; by default all of them.
        poses: of all frames of `motion`, in place of its own.
        motion: the recording that poses and times come from.
        view: how each picture is turned.

    """
    motion = recording if motion is None else motion
    frames = np.arange(len(motion)) if frames is None else frames
    rows = frames if rows is None else rows
    poses = motion.poses if poses is None else poses
    numbers = motion.log_frames()
    if numbers is None and (np.diff(frames) != 1).any():
        numbers = np.arange(len(motion))
    times_s = None if motion.times_s is None else motion.times_s[frames] - motion.times_s[frames[:1]]
    return Changed(
        pictures=recording,
        rows=np.asarray(rows, np.int64),
        name=motion.name,
        poses=poses[frames],
        times_s=times_s,
        labels=None if recording.labels is None else [recording.labels[int(row)] for row in rows],
        attributes=motion.attributes,
        view=view,
        numbers=None if numbers is None else numbers[frames],
        lens=recording.lens,
    )


def _seen(picture: Image | PillowImage.Image, view: View) -> Image | PillowImage.Image:
    if view == "as it is":
        return picture
    pixels = np.asarray(picture)
    return np.ascontiguousarray(pixels[:, ::-1] if view == "mirrored" else pixels[::-1, ::-1])
