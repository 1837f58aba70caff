"""The frames beside a table: folders of pictures and videos, found on disk, and the times of their frames."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.clock import Nanoseconds, read_clock
from egoequiv.remarks import Remark
from egoequiv.sources import table_columns as usual
from egoequiv.sources.logged import FrameReader, PictureFiles, VideoFrames
from egoequiv.sources.sequences import in_order_of_capture
from egoequiv.sources.table_columns import find, words_of
from egoequiv.sources.table_settings import TableSettings
from egoequiv.sources.table_units import time_unit_of
from egoequiv.sources.tables import TEXT_SUFFIXES, Numbers, read_table
from egoequiv.sources.trees import FolderTree
from egoequiv.sources.video_frames import SUFFIXES as VIDEO_SUFFIXES
from egoequiv.sources.video_frames import index_video

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".gif")
TIME_FILES = ("times", "timestamps", "frames", "images", "rgb", "image_times", "frame_times")
_STAMP = re.compile(r"(?:.*[^\d.])?(\d{9,}(?:\.\d+)?|\d+\.\d+)")  # at the end of a name, long enough to be a time
_MOST_STAMP = 4e18  # nanoseconds since 1970, in the year 2096
_DEPTH = 4


@dataclass(frozen=True)
class OnDisk:
    """What lies below a folder: pictures by folder, and videos, as paths from it."""

    root: Path
    pictures: Mapping[str, tuple[str, ...]]  # from each folder to its pictures, in natural order
    videos: tuple[str, ...]

    @cached_property
    def by_tail(self) -> Mapping[str, str]:
        """Pictures by every end of their path, with and without the suffix; "" where two have the same."""
        found: dict[str, str] = {}
        for path in (path for paths in self.pictures.values() for path in paths):
            parts = path.split("/")
            stem = PurePosixPath(path).stem
            tails = {"/".join(parts[-k:]) for k in range(1, len(parts) + 1)}
            tails |= {"/".join([*parts[-k:-1], stem]) for k in range(1, len(parts) + 1)}
            for tail in tails:
                found[tail] = "" if tail in found else path
        return found

    @cached_property
    def cameras(self) -> list[str]:
        """Folders of pictures and videos, those with most frames first."""
        folders = sorted(self.pictures, key=lambda name: (-len(self.pictures[name]), in_order_of_capture(name)))
        return [*folders, *self.videos]

    def reader(self, camera: str) -> FrameReader:
        """The frames of a folder of pictures, or of a video."""
        if camera in self.pictures:
            return PictureFiles(FolderTree(self.root), self.pictures[camera])
        return VideoFrames(index_video(self.root / camera))

    def named(self, name: str) -> str | None:
        """The camera of a name: its path, the name of its folder, or that of its video with or without the suffix."""
        clean = name.strip("/") if name != "." else ""
        by_end = [c for c in self.cameras if clean and clean in (PurePosixPath(c).name, PurePosixPath(c).stem)]
        return clean if clean in self.cameras else by_end[0] if len(by_end) == 1 else None


def look_below(root: Path, depth: int = _DEPTH) -> OnDisk:
    """List pictures and videos below a folder; hidden files and folders are passed over."""
    pictures: dict[str, tuple[str, ...]] = {}
    videos: list[str] = []
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        if (real := os.path.realpath(folder)) in seen:
            folders.clear()
            continue  # linked from elsewhere, or a link to a folder above
        seen.add(real)
        below = Path(folder).relative_to(root).as_posix()
        prefix = "" if below == "." else below + "/"
        folders[:] = sorted(name for name in folders if _is_shown(name) and prefix.count("/") < depth)
        shown = [name for name in files if _is_shown(name)]
        found = sorted((name for name in shown if name.lower().endswith(PICTURE_SUFFIXES)), key=in_order_of_capture)
        if found:
            pictures[prefix.rstrip("/")] = tuple(prefix + name for name in found)
        clips = sorted((name for name in shown if name.lower().endswith(VIDEO_SUFFIXES)), key=in_order_of_capture)
        videos += [prefix + name for name in clips]
    return OnDisk(root, pictures, tuple(videos))


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "__MACOSX"))


def choose_camera(disk: OnDisk, asked: str, like: str, notes: list[str]) -> str:
    """The requested camera; else the one named like the table, or the first; a choice is noted."""
    if not disk.cameras:
        raise DataError(f"{disk.root} has neither pictures nor a video that belong to the table")
    if asked:
        found = disk.named(asked)
        if found is None:
            raise ConfigError(f"camera={asked}: {disk.root} has {', '.join(c or '.' for c in disk.cameras[:10])}")
        return found
    chosen = next((c for c in disk.cameras if like and PurePosixPath(c).stem == like), disk.cameras[0])
    if len(disk.cameras) > 1:
        other = next(c for c in disk.cameras if c != chosen)
        notes.append(Remark(f"camera {chosen or '.'} of {len(disk.cameras)}: choose with --read camera={other or '.'}"))
    return chosen


def resolve_file(disk: OnDisk, name: str, outside: bool) -> str | None:
    """The picture that a table names, as a path from the root; None where it is missing.

    A path of the machine that recorded it is followed as far as its end names one picture below the root.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part not in (".", "/")]
    for start in range(len(parts)):
        if ".." not in parts[start:] and (found := disk.by_tail.get("/".join(parts[start:]))):
            return found
    leaves = path.is_absolute() or re.match(r"[A-Za-z]:/", str(path)) is not None or ".." in parts
    if not leaves:
        return None
    if not outside:
        raise DataError(
            f"{name!r} lies outside of {disk.root}: move the pictures there, or allow it: --read outside=true"
        )
    there = disk.root / str(path)
    return str(there) if there.suffix.lower() in PICTURE_SUFFIXES and there.is_file() else None


def stamps_in_names(files: Iterable[str]) -> Numbers | None:
    """The times that the names of pictures end in, such as 1305031102.175304.jpg; None unless all do."""
    found = [_STAMP.fullmatch(PurePosixPath(name).stem) for name in files]
    texts = [match[1] for match in found if match]
    if not texts or len(texts) < len(found) or len(set(texts)) < len(texts) or max(map(float, texts)) > _MOST_STAMP:
        return None
    whole = all(text.isdigit() for text in texts)
    return np.array([int(text) for text in texts], np.int64) if whole else np.array(texts, np.float64)


def numbers_in_names(files: Iterable[str]) -> list[int] | None:
    """The frame numbers that the names of pictures end in; None unless all do and they differ."""
    found = [re.search(r"(\d+)\D*$", PurePosixPath(name).stem) for name in files]
    numbers = [int(match[1]) for match in found if match]
    return numbers if numbers and len(set(numbers)) == len(found) else None


@dataclass(frozen=True)
class FrameTimes:
    """The times of frames: by name of the picture, or one for each frame in order."""

    by_file: Mapping[str, int | float]
    in_order: Numbers
    origin: str
    unit: str = "auto"

    def of(self, files: Sequence[str | None]) -> Numbers | None:
        """The stamps of frames; None unless every one is known."""
        if self.by_file:
            known = [self.by_file.get(PurePosixPath(name).name) if name else None for name in files]
            return None if None in known else np.array(known)
        return self.in_order if len(self.in_order) == len(files) else None


def find_times(folders: Sequence[Path], settings: TableSettings, used: Path | None) -> FrameTimes | None:
    """The second table that has the times of frames: the one that is declared, or one with a usual name."""
    if settings.times:
        return read_times(folders[0] / settings.times)
    names = [stem + ending for stem in TIME_FILES for ending in (*TEXT_SUFFIXES, ".jsonl", ".parquet")]
    for path in (folder / name for folder in folders for name in names):
        if path.is_file() and path != used:
            try:
                return read_times(path)
            except DataError:
                continue
    return None


def read_times(path: Path) -> FrameTimes:
    """A table with a time and perhaps a file in each row; text without a header has one or two words in a line."""
    bare = _bare_times(path) if path.suffix.lower() == ".txt" else None
    if bare is not None:
        return bare
    table = read_table(path)
    time = find(words_of(table), usual.TIME)
    file = find(words_of(table), usual.FILE)
    if not time:
        raise DataError(f"{path} has no column of times: it has {', '.join(table.columns)}")
    stamps = table.times(time)
    by_file = {}
    if file:
        names = [PurePosixPath(name.replace("\\", "/")).name for name in table.texts(file)]
        by_file = dict(zip(names, stamps.tolist(), strict=True))
    return FrameTimes(by_file, stamps, f"{path.name}, column {time}", time_unit_of(table, time))


def _bare_times(path: Path) -> FrameTimes | None:
    """Lines such as `0.104` or `1305031102.175304 rgb/1305031102.175304.png`; None where they are something else."""
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        rows = [words for words in lines if words and not words[0].startswith("#")]
        if not rows or any(len(words) != len(rows[0]) or len(words) > 2 for words in rows):
            return None
        whole = all(words[0].isdigit() for words in rows)
        texts = np.array([words[0] for words in rows])
        stamps: Numbers = texts.astype(np.int64) if whole else texts.astype(np.float64)
    except (OSError, ValueError, OverflowError):
        return None
    named = {
        PurePosixPath(words[1]).name: stamp for words, stamp in zip(rows, stamps.tolist(), strict=True) if words[1:]
    }
    return FrameTimes(named, stamps, path.name)


def frame_stamps(
    reader: FrameReader,
    times: FrameTimes | None,
    rate_hz: float | None,
    notes: list[str],
    numbers: NDArray[np.int64] | None = None,
) -> Nanoseconds | None:
    """The time of each frame of a reader: from a table, the video, the names of the pictures, or a rate.

    At a rate, pictures that are missing leave a gap: by the `numbers` of frames, or else by those in their names.
    """
    files = [str(name) for name in reader.files] if isinstance(reader, PictureFiles) else [None] * len(reader)
    found: Nanoseconds | None = None
    if times and (stamps := times.of(files)) is not None:
        found = _clock(stamps, times.origin, notes, times.unit)
    if found is None and isinstance(reader, VideoFrames):
        notes += reader.index.notes
        return reader.index.times_ns
    if found is None and (stamps := stamps_in_names([name or "" for name in files])) is not None:
        found = _clock(stamps, "stamps in the names of pictures", notes)
    if found is None and rate_hz is not None:
        places = _places_in_names(files) if numbers is None else numbers
        found = np.round(places * 1e9 / rate_hz).astype(np.int64)
    return found


def _places_in_names(files: Sequence[str | None]) -> NDArray[np.int64]:
    """The places of pictures by the numbers in their names, where those grow in even steps; else 0, 1, ..."""
    numbers = np.array(numbers_in_names([name or "" for name in files]) or [], np.int64)
    steps = np.diff(numbers)
    usual = int(np.median(steps)) if len(steps) else 0
    if usual < 1 or (steps < 1).any() or (steps % usual).any():
        return np.arange(len(files))
    places: NDArray[np.int64] = (numbers - numbers[0]) // usual
    return places


def _clock(stamps: Numbers, where: str, notes: list[str], unit: str = "auto") -> Nanoseconds | None:
    found = read_clock(stamps, where, unit)
    if not np.array_equal(found.rows, np.arange(len(stamps))):
        notes.append(f"{where}: frames are not in order of time, so these times are not used")
        return None
    notes += found.notes
    return found.times_ns
