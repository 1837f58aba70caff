"""Plain video files: frames with times and without poses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from egoequiv.errors import DataError
from egoequiv.plurals import plural
from egoequiv.pose import NoMotion
from egoequiv.sources.logged import LoggedRecording, VideoFrames, seconds_since_first
from egoequiv.sources.recording import Listed, Source
from egoequiv.sources.video_frames import SUFFIXES, VideoIndex, index_video


def video(path: Path) -> Source:
    """Read a video file, or every video file below a folder as a recording of its own.

    Frames have the times of the file, which need not be evenly spaced, and are turned as a player shows them. There are
    no poses: slowness and audits work, and motions can be estimated from the pictures.
    """
    path = Path(path)
    recordings: list[LoggedRecording] = []
    listed: list[Listed] = []
    notes: list[str] = []
    for name, file in _named(path):
        try:
            index = index_video(file)
        except DataError as problem:
            notes.append(f"recording {name} left out: {problem}")
            continue
        notes += index.notes
        poses = np.empty((len(index), 0))
        times_s = seconds_since_first(index.times_ns)
        recordings.append(LoggedRecording(name, poses, times_s, VideoFrames(index), np.arange(len(index))))
        listed.append(Listed("camera", name, described(index)))
    if not recordings:
        raise DataError(notes[0] if notes else f"{path} holds no video file ({', '.join(SUFFIXES)})")
    convention = "no poses: the pictures have times and no motion"
    return Source(
        *("video", NoMotion(), recordings, {"path": str(path)}),
        notes=tuple(notes),
        listed=tuple(listed),
        convention=convention,
    )


def described(index: VideoIndex) -> str:
    """A video in a line: its size as stored, rate, number of frames and codec."""
    height, width = index.size
    seconds = (index.times_ns[-1] - index.times_ns[0]) / 1e9
    rate = f"{(len(index) - 1) / seconds:.1f} Hz, " if seconds > 0 else ""
    return f"{width} x {height}, {rate}{plural(len(index), 'frame')}, {index.codec}"


def is_video(path: Path) -> bool:
    """A video file, or a folder with one."""
    if path.is_dir():
        return any(_looks_like_video(entry) for entry in path.iterdir())
    return _looks_like_video(path)


def _looks_like_video(file: Path) -> bool:
    if file.suffix.lower() not in SUFFIXES or not file.is_file():
        return False
    if file.suffix.lower() != ".ts":
        return True
    with file.open("rb") as opened:  # the suffix is that of TypeScript too; a transport stream begins with this byte
        return opened.read(1) == b"G"


def _named(path: Path) -> list[tuple[str, Path]]:
    """Every video file and the name of its recording: its path below the folder, with the suffix if it is needed."""
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if not path.is_dir():
        return [(path.stem, path)]
    files = sorted(file for file in path.rglob("*") if _looks_like_video(file))
    names = [file.relative_to(path).with_suffix("").as_posix() for file in files]
    times = Counter(names)
    return [
        (name if times[name] == 1 else file.relative_to(path).as_posix(), file)
        for name, file in zip(names, files, strict=True)
    ]
