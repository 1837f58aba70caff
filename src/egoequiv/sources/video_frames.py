"""Frames of video files, decoded one after another from the nearest key frame, and turned upright."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.pose.clock import Nanoseconds
from egoequiv.sources.recording import Decoded

SUFFIXES = (".mp4", ".mkv", ".mov", ".avi", ".webm", ".m4v", ".mpg", ".mpeg", ".ts")


def av() -> ModuleType:
    """The package that decodes video; one line says what to install where it is missing."""
    try:
        import av as found
    except ImportError as problem:
        raise ConfigError("to read video, install PyAV: pip install 'egoequiv[video]'") from problem
    return found


_BLOCK = 512  # bytes, in which stat counts what is on disk
_SPARSE, _SMALL = 100, 1 << 28  # a video that is mostly holes: less than a hundredth of it, of a size that matters


@dataclass(frozen=True)
class VideoIndex:
    """The frames of a video in the order in which they are shown; no picture is decoded for it."""

    path: Path
    pts: NDArray[np.int64]  # (N,) the time of each frame in ticks of the stream, in order
    times_ns: Nanoseconds  # (N,) since the first tick
    starts: NDArray[np.int64]  # frames at which decoding can begin (key frames), the first of them 0
    size: tuple[int, int]  # height and width
    codec: str
    rate_hz: float  # as the file says; 0 where it does not
    hidden: int = 0  # frames before the first one that are in the file but cut off by its edit list

    def __len__(self) -> int:
        return len(self.pts)


def index_video(path: Path) -> VideoIndex:
    """Read the times and key frames of a video file from its packets."""
    status = _stat(path)
    on_disk = status.st_blocks * _BLOCK
    if 0 < on_disk * _SPARSE < status.st_size - _SMALL:  # to look for packets in what was never written takes hours
        raise DataError(f"{path} has {status.st_size:,} bytes, of which {on_disk:,} were written: copy it again")
    return _indexed(path, status.st_mtime_ns, status.st_size)


def _stat(path: Path) -> Any:
    try:
        return path.stat()
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}") from problem


@lru_cache(maxsize=64)
def _indexed(path: Path, mtime_ns: int, size: int) -> VideoIndex:  # noqa: ARG001
    library = av()
    try:
        with library.open(str(path)) as container:
            if not container.streams.video:
                raise DataError(f"{path} has no video stream")
            stream = container.streams.video[0]
            if stream.codec_context is None:
                raise DataError(f"{path}: no decoder is known for its video; convert it to H.264")
            found = [
                (p.pts, p.is_keyframe, p.is_discard) for p in container.demux(stream) if p.pts is not None and p.size
            ]
            base, codec = stream.time_base, stream.codec_context.codec.canonical_name
            shape = (stream.codec_context.height, stream.codec_context.width)
            rate = float(stream.average_rate or 0)
    except (library.FFmpegError, ValueError, OverflowError, UnicodeError) as problem:
        raise DataError(f"{path} cannot be read as video ({_reason(problem)})") from problem
    packets = [(time, is_key) for time, is_key, is_cut in found if not is_cut]
    if not packets or base is None:
        raise DataError(f"{path} has no video frames")
    order = sorted(dict(reversed(packets)).items())
    pts = np.array([time for time, _ in order], np.int64)
    starts = np.flatnonzero([is_key for _, is_key in order])
    starts = np.union1d(starts, [0])
    times_ns = np.array([round(int(tick) * base * 10**9) for tick in pts], np.int64)
    hidden = len({time for time, _, is_cut in found if is_cut and time < pts[0]})
    return VideoIndex(path, pts, times_ns, starts, shape, codec, rate, hidden)


def decode_video(index: VideoIndex, first: int, wanted: Sequence[int]) -> Iterator[Decoded]:
    """Decode the wanted frames, which are in order, beginning at frame `first`, at or before them.

    A frame that the decoder does not give back is an error in its place.
    """
    library = av()
    asked = iter(wanted)
    number = next(asked, None)
    reason = "the decoder gave no picture"
    try:
        with library.open(str(index.path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "NONE"  # pieces of a video are decoded side by side already
            if index.pts[first] > index.pts[0]:
                container.seek(int(index.pts[first]), stream=stream, backward=True, any_frame=False)
            for frame in _shown(container, stream):
                if number is None:
                    return
                while number is not None and index.pts[number] < frame.pts:
                    yield _missing(index, number, reason)
                    number = next(asked, None)
                if number is not None and index.pts[number] == frame.pts:
                    yield _upright(frame)
                    number = next(asked, None)
    except (library.FFmpegError, ValueError, OverflowError, UnicodeError) as problem:
        reason = _reason(problem)
    while number is not None:
        yield _missing(index, number, reason)
        number = next(asked, None)


def _shown(container: Any, stream: Any) -> Iterator[Any]:
    """Frames in the order in which they are shown; damaged packets are passed over."""
    damage = av().FFmpegError
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except damage:
            continue
        yield from (frame for frame in frames if frame.pts is not None)


def _upright(frame: Any) -> NDArray[np.uint8]:
    """The picture as it is shown: phones store it as the sensor lies, beside a matrix that turns or mirrors it."""
    pixels: NDArray[np.uint8] = frame.to_ndarray(format="gray" if frame.format.name.startswith("gray") else "rgb24")
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return pixels
    # A pixel stored at (x, y) is shown at (a x + c y, b x + d y), up to a shift.
    a, b, _, c, d = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    if abs(b) + abs(c) > abs(a) + abs(d):
        pixels, a, d = np.swapaxes(pixels, 0, 1), c, b
    return np.ascontiguousarray(pixels[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1])


def _missing(index: VideoIndex, number: int, reason: str) -> BrokenFrameError:
    return BrokenFrameError(f"{index.path}, frame {number}: {reason}")


def _reason(problem: BaseException) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]
