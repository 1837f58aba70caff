"""Frames of video files, decoded one after another from the nearest key frame, and turned upright.

In MP4 and Matroska the packets say when each frame is shown, so that no picture is decoded to find the frames. In AVI
and in MPEG program and transport streams they do not, or a jump to a key frame ends behind it: there, all frames are
decoded once to count them, and from the first one on whenever some are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose.clock import Nanoseconds
from egoequiv.remarks import Remark
from egoequiv.sources.recording import Decoded

SUFFIXES = (".mp4", ".mkv", ".mov", ".avi", ".webm", ".m4v", ".mpg", ".mpeg", ".ts")


def av() -> ModuleType:
    """The package that decodes video; one line says what to install where it is missing."""
    try:
        import av as found
    except ImportError as problem:
        raise ConfigError("to read video, install PyAV: pip install 'egoequiv[video]'") from problem
    return found


_STAMPED = {"mp4", "matroska"}  # containers whose packets have the times of the frames that are shown
_BLOCK = 512  # bytes, in which stat counts what is on disk
_SPARSE, _SMALL = 100, 1 << 28  # a video that is mostly holes: less than a hundredth of it, of a size that matters


@dataclass(frozen=True)
class VideoIndex:
    """The frames of a video in the order in which they are shown."""

    path: Path
    pts: NDArray[np.int64]  # (N,) the time of each frame in ticks of the stream, in order; its place if `is_counted`
    times_ns: Nanoseconds  # (N,) since the first tick
    starts: NDArray[np.int64]  # frames at which decoding can begin (key frames), the first of them 0
    size: tuple[int, int]  # height and width
    codec: str
    rate_hz: float  # as the file says; 0 where it does not
    hidden: int = 0  # frames before the first one that are in the file but cut off by its edit list
    is_counted: bool = False  # whether frames are found by counting them from the first one, and not by their times
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pts)


def index_video(path: Path) -> VideoIndex:
    """Read the times and key frames of a video file: from its packets, or where they lack them, by decoding it once."""
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
            if stream.time_base is None:
                raise DataError(f"{path} has no video frames")
            if _STAMPED.isdisjoint(container.format.name.split(",")):
                return _counted(path, container, stream)
            return _stamped(path, container, stream)
    except (library.FFmpegError, ValueError, OverflowError, UnicodeError) as problem:
        raise DataError(f"{path} cannot be read as video ({_reason(problem)})") from problem


def _stamped(path: Path, container: Any, stream: Any) -> VideoIndex:
    """The frames by the times of their packets; no picture is decoded."""
    found = [(p.pts, p.is_keyframe, p.is_discard) for p in container.demux(stream) if p.pts is not None and p.size]
    packets = [(time, is_key) for time, is_key, is_cut in found if not is_cut]
    if not packets:
        raise DataError(f"{path} has no video frames")
    order = sorted(dict(reversed(packets)).items())
    pts = np.array([time for time, _ in order], np.int64)
    starts = np.union1d(np.flatnonzero([is_key for _, is_key in order]), [0])
    hidden = len({time for time, _, is_cut in found if is_cut and time < pts[0]})
    return VideoIndex(path, pts, _nanoseconds(pts, stream.time_base), starts, *_facts(stream), hidden)


def _counted(path: Path, container: Any, stream: Any) -> VideoIndex:
    """The frames as the decoder gives them, with their times, or where these are in disorder at an even rate."""
    stream.thread_type = "NONE"  # as in `decode_video`, so that damage leaves the same frames
    damaged: list[str] = []
    ticks = [frame.pts for frame in _decoded(container, stream, damaged)]
    if not ticks:
        raise DataError(f"{path} has no video frames")
    size, codec, rate_hz = _facts(stream)
    notes: list[str] = []
    if damaged:
        lost = plural(len(damaged), "packet")
        notes.append(f"{path}: {lost} of the video cannot be decoded ({damaged[0]}); left out")
    if None not in ticks and all(a < b for a, b in pairwise(ticks)):
        times_ns = _nanoseconds(np.array(ticks, np.int64), stream.time_base)
    elif rate_hz > 0:
        times_ns = np.round(np.arange(len(ticks)) * (1e9 / rate_hz)).astype(np.int64)
        problem = "the times of its frames are missing or in disorder"
        notes.append(Remark(f"{path}: {problem}; they are taken as even, {rate_hz:g} frames a second"))
    else:
        raise DataError(
            f"{path} has neither times of frames nor a rate: convert it with ffmpeg -i {path.name} -c:v libx264 "
            f"{path.stem}.mp4"
        )
    places = np.arange(len(ticks), dtype=np.int64)
    return VideoIndex(path, places, times_ns, places[:1], size, codec, rate_hz, is_counted=True, notes=tuple(notes))


def _facts(stream: Any) -> tuple[tuple[int, int], str, float]:
    """Height and width, the codec, and the rate as the file says."""
    context = stream.codec_context
    return (context.height, context.width), context.codec.canonical_name, float(stream.average_rate or 0)


def _nanoseconds(ticks: NDArray[np.int64], base: Fraction) -> Nanoseconds:
    return np.array([round(int(tick) * base * 10**9) for tick in ticks], np.int64)


def decode_video(index: VideoIndex, first: int, wanted: Sequence[int]) -> Iterator[Decoded]:
    """Decode the wanted frames, which are in order, beginning at frame `first`, at or before them.

    A frame that the decoder does not give back is an error in its place.
    """
    library = av()
    asked = iter(wanted)
    number = next(asked, None)
    reason = "the decoder gave no picture"
    is_jump = bool(index.pts[first] > index.pts[0])
    try:
        with library.open(str(index.path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "NONE"  # pieces of a video are decoded side by side already
            if is_jump:
                container.seek(int(index.pts[first]), stream=stream, backward=True, any_frame=False)
            for place, frame in _shown(container, stream, index.is_counted):
                if is_jump and number is not None and place > index.pts[number]:
                    break
                is_jump = False
                while number is not None and index.pts[number] < place:
                    yield _missing(index, number, reason)
                    number = next(asked, None)
                if number is not None and index.pts[number] == place:
                    yield _upright(frame)
                    number = next(asked, None)
                if number is None:  # at once: the frame after the last one may be a key frame, the longest to decode
                    return
    except (library.FFmpegError, ValueError, OverflowError, UnicodeError) as problem:
        reason = _reason(problem)
    if is_jump:  # it ended behind the first frame, or nowhere
        yield from decode_video(index, 0, wanted)
        return
    while number is not None:
        yield _missing(index, number, reason)
        number = next(asked, None)


def _shown(container: Any, stream: Any, is_counted: bool) -> Iterator[tuple[int, Any]]:
    """Frames in the order in which they are shown, each with its time or its place."""
    frames = _decoded(container, stream, [])
    if is_counted:
        yield from enumerate(frames)
    else:
        yield from ((frame.pts, frame) for frame in frames if frame.pts is not None)


def _decoded(container: Any, stream: Any, damaged: list[str]) -> Iterator[Any]:
    """Frames as the decoder gives them; damaged packets are passed over, and why is added to a list."""
    damage = av().FFmpegError
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except damage as problem:
            damaged.append(_reason(problem))
            continue
        yield from frames


def _upright(frame: Any) -> NDArray[np.uint8]:
    """The picture as it is shown: phones store it as the sensor lies, beside a matrix that turns or mirrors it."""
    form = "gray" if frame.format.name.startswith("gray") else "rgb24"
    # By default the colours of each frame are converted by threads of its own, which takes twice the processor time.
    pixels: NDArray[np.uint8] = frame.to_ndarray(format=form, threads=1)
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
