"""Recordings of logs: frames from picture files or from a video, each with the pose at its own time."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.plurals import plural
from egoequiv.pose.camera import Lens
from egoequiv.pose.clock import Nanoseconds
from egoequiv.pose.track import ColumnRule, ColumnTrack, Interpolation, PoseTrack, longest_gap_ns
from egoequiv.sources.pictures import open_picture
from egoequiv.sources.recording import Decoded, Image, Recording, single
from egoequiv.sources.trees import FolderTree, Tree, ZipTree
from egoequiv.sources.video_frames import VideoIndex, decode_video

Array = NDArray[np.float64]


class FrameReader(ABC):
    """The frames of one camera as they are in the log; it is sent to worker processes."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        """Decode frames, given in order."""

    def starts(self) -> Sequence[int]:
        """Frames from which decoding can begin."""
        return range(max(len(self), 1))

    def file_name(self, frame: int) -> str | None:
        """The name of the picture file of a frame, if it has one of its own."""
        return None

    def files_read(self) -> Collection[Path] | None:
        """The files that frames are decoded from; None where that is not known."""
        return None


@dataclass(frozen=True)
class PictureFiles(FrameReader):
    """Picture files in a folder or a zip archive."""

    tree: Tree
    files: tuple[str, ...]  # paths in the tree

    def __len__(self) -> int:
        return len(self.files)

    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        for frame in frames:
            path = self.files[frame]
            try:
                yield open_picture(io.BytesIO(self.tree.read(path)), self.tree.where(path))
            except BrokenFrameError as problem:
                yield problem
            except DataError as problem:
                yield BrokenFrameError(str(problem))

    def file_name(self, frame: int) -> str | None:
        return Path(self.files[frame]).name

    def files_read(self) -> Collection[Path] | None:
        if isinstance(self.tree, FolderTree):
            return [self.tree.root / file for file in self.files]
        return [self.tree.archive] if isinstance(self.tree, ZipTree) else None


@dataclass(frozen=True)
class VideoFrames(FrameReader):
    """The frames of a video file."""

    index: VideoIndex

    def __len__(self) -> int:
        return len(self.index)

    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        if len(frames):
            first = int(self.index.starts[np.searchsorted(self.index.starts, frames[0], side="right") - 1])
            yield from decode_video(self.index, first, frames)

    def starts(self) -> Sequence[int]:
        return [int(start) for start in self.index.starts]

    def files_read(self) -> Collection[Path] | None:
        return [self.index.path]


@dataclass(frozen=True)
class NoFrames(FrameReader):
    """In place of pictures, where a log has its poses alone."""

    def __len__(self) -> int:
        return 0

    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        for frame in frames:
            yield BrokenFrameError(f"frame {frame}: the log has poses alone, and no pictures")


@dataclass(frozen=True, eq=False)
class LoggedRecording(Recording):
    """Some frames of a camera, those whose pose is known, with poses, times and perhaps labels."""

    name: str
    poses: Array  # (N, P)
    times_s: Array | None  # (N,) since the first frame
    reader: FrameReader
    rows: NDArray[np.int64]  # (N,) frames of the reader, in order
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    numbers: NDArray[np.int64] | None = None  # (N,) of the frames in the log, where `rows` are not
    lens: Lens | None = None

    def image(self, frame: int) -> Image:
        return single(self.images(range(frame, frame + 1)))

    def images(self, frames: range) -> Iterator[Decoded]:
        return self.reader.read([int(row) for row in self.rows[frames.start : frames.stop]])

    def starts(self) -> Sequence[int]:
        """The first kept frame at or after each place where decoding can begin."""
        places = np.searchsorted(self.rows, np.asarray(self.reader.starts()))
        return [0, *np.unique(places[(places > 0) & (places < len(self.rows))]).tolist()]

    def file_name(self, frame: int) -> str | None:
        return self.reader.file_name(int(self.rows[frame]))

    def files_read(self) -> Collection[Path] | None:
        return self.reader.files_read()

    def part(self, name: str, frames: NDArray[np.int64]) -> LoggedRecording:
        """Some of its frames (K,) as a recording of their own."""
        times_s, start = self.times_s, {}
        if times_s is not None:
            if "start" in self.attributes:
                first_ns = int(self.attributes["start"].replace(".", ""))  # with all nine digits, see `start_of`
                start = start_of(np.array([first_ns + round(float(times_s[frames[0]]) * 1e9)]))
            times_s = times_s[frames] - times_s[frames[:1]]
        return replace(
            self,
            name=name,
            poses=self.poses[frames],
            times_s=times_s,
            rows=self.rows[frames],
            labels=None if self.labels is None else [self.labels[frame] for frame in frames],
            attributes={**self.attributes, **start},
            numbers=None if self.numbers is None else self.numbers[frames],
        )

    def log_frames(self) -> NDArray[np.int64] | None:
        return self.rows if self.numbers is None else self.numbers


@dataclass(frozen=True)
class Timing:
    """How the clock of the motion is brought to that of the frames."""

    offset_s: float = 0.0  # added to the times of poses and columns: positive if their clock is behind the camera's
    max_gap_s: float | None = None  # None: three usual steps of the stream
    interpolation: Interpolation = "cubic"
    rule: ColumnRule = "linear"

    def shifted(self, frame_ns: Nanoseconds) -> Nanoseconds:
        """The times of frames in the clock of the motion."""
        return frame_ns - round(self.offset_s * 1e9)


def values_at_frames(
    track: PoseTrack | ColumnTrack, frame_ns: Nanoseconds, timing: Timing, where: str
) -> tuple[Array, NDArray[np.int64], list[str]]:
    """Poses or columns of frames, each at the frame's own time.

    Args:
        track: the stream of poses or columns.
        frame_ns: (N,) the times of the frames.
        timing: offset, longest gap and rule.
        where: the recording, for messages.

    Returns:
        The values (K, P) of the frames that have one, the numbers of those frames (K,), and what was left out.

    """
    asked = timing.shifted(frame_ns)
    if isinstance(track, PoseTrack):
        values, known = track.at(asked, timing.max_gap_s, timing.interpolation)
    else:
        values, known = track.at(asked, timing.max_gap_s, timing.rule)
    rows = np.flatnonzero(known)
    notes: list[str] = []
    if len(rows) < len(asked):
        early, late = int((asked < track.times_ns[:1]).sum()), int((asked > track.times_ns[-1:]).sum())
        reasons = [f"{early} before the motion begins"] * (early > 0) + [f"{late} after it ends"] * (late > 0)
        if rest := len(asked) - len(rows) - early - late:
            gap_s = longest_gap_ns(track.times_ns, timing.max_gap_s) / 1e9
            reasons.append(f"{rest} in gaps of the motion longer than {gap_s:.3g} s (max_gap_s)")
        notes.append(f"{where}: {len(asked) - len(rows)} of {len(asked)} frames left out: {', '.join(reasons)}")
    return values[rows], rows, notes


def integrated_gaps(streams: Sequence[Nanoseconds], max_gap_s: float | None, where: str) -> list[str]:
    """A note on the gaps in streams of rates that are integrated over time; each stream is given by its times (N,)."""
    gaps = [np.diff(times_ns)[np.diff(times_ns) > longest_gap_ns(times_ns, max_gap_s)] for times_ns in streams]
    long = np.concatenate([np.empty(0), *gaps]) / 1e9
    if not len(long):
        return []
    return [
        f"{where}: the rates have {plural(len(long), 'gap')}, {long.sum():.3g} s together, the longest "
        f"{long.max():.3g} s: there "
        "the integral is a guess, as if they changed evenly in between"
    ]


def start_of(times_ns: Nanoseconds) -> dict[str, str]:
    """The attribute `start`: the time of the first frame in seconds of the log's clock, with all digits."""
    if not len(times_ns):
        return {}
    whole, rest = divmod(abs(int(times_ns[0])), 10**9)
    return {"start": f"{'-' if times_ns[0] < 0 else ''}{whole}.{rest:09d}"}


def seconds_since_first(times_ns: Nanoseconds) -> Array:
    """Times in seconds since the first of them; (N,) -> (N,)."""
    since: Array = (times_ns - times_ns[:1]) / 1e9
    return since
