"""Anything that holds frames, as a user names it: pictures, globs, folders, videos, logs and stores."""

from __future__ import annotations

import glob
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoequiv.catalog import open_log
from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import readable
from egoequiv.sources import Recording
from egoequiv.sources.check import check_source
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.lerobot import is_lerobot
from egoequiv.sources.logged import LoggedRecording, PictureFiles, seconds_since_first
from egoequiv.sources.recording import Decoded
from egoequiv.sources.sequences import in_order_of_capture
from egoequiv.sources.table_frames import PICTURE_SUFFIXES, frame_stamps
from egoequiv.sources.trees import FolderTree
from egoequiv.sources.video_frames import SUFFIXES as VIDEO_SUFFIXES
from egoequiv.store.frame_store import ATTRIBUTE_PREFIX, FILE, LOG_FRAME, FrameStore
from egoequiv.store.logs import is_store

INPUT = "input"  # the column: which of several inputs a frame comes from, as the user has named it
Rows = NDArray[np.int64]


class Frames(ABC):
    """Frames in order that come from one input: of one recording, or of a whole store."""

    place: str  # as the user has named it

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def known(self, rows: Rows) -> pa.Table:
        """What is known of some frames, one row for each: recording, frame, and perhaps more."""

    @abstractmethod
    def images(self) -> Iterator[Decoded]:
        """Every frame, decoded one after another."""


@dataclass(frozen=True, eq=False)
class StoreFrames(Frames):
    """All frames of a store, in its order."""

    place: str
    store: FrameStore

    def __len__(self) -> int:
        return len(self.store)

    def known(self, rows: Rows) -> pa.Table:
        store = self.store
        names = pa.array(store.recording_names, pa.string())
        columns: dict[str, pa.Array] = {
            "recording": names.take(pa.array(store.recording[rows])),
            "frame": pa.array(store.frame[rows]),
        }
        if store.log_frame is not None:
            columns[LOG_FRAME] = pa.array(store.log_frame[rows])
        if store.files is not None:
            columns[FILE] = pa.array([str(name) or None for name in store.files[rows]], pa.string())
        if store.times_s is not None:
            columns["time_s"] = pa.array(store.times_s[rows])
        if store.class_names:
            codes = pa.array(store.labels[rows], mask=store.labels[rows] < 0)
            columns["label"] = pa.array(store.class_names, pa.string()).take(codes)
        for name, values in store.attributes.items():
            columns[ATTRIBUTE_PREFIX + name] = pa.array([str(value) or None for value in values[rows]], pa.string())
        return pa.table(columns)

    def images(self) -> Iterator[Decoded]:
        for image in self.store.images:
            yield image[..., 0] if image.shape[-1] == 1 else image


@dataclass(frozen=True, eq=False)
class RecordingFrames(Frames):
    """The frames of a recording of a log, or of pictures."""

    place: str
    recording: Recording

    def __len__(self) -> int:
        return len(self.recording)

    def known(self, rows: Rows) -> pa.Table:
        one = self.recording
        columns: dict[str, pa.Array] = {
            "recording": pa.array([readable(one.name)] * len(rows), pa.string()),
            "frame": pa.array(rows),
        }
        numbers = one.log_frames()
        if numbers is not None and not np.array_equal(numbers, np.arange(len(numbers))):
            columns[LOG_FRAME] = pa.array(np.asarray(numbers, np.int64)[rows])
        files = [one.file_name(int(row)) for row in rows]
        if any(name is not None for name in files):
            columns[FILE] = pa.array([None if name is None else readable(name) for name in files], pa.string())
        if one.times_s is not None:
            columns["time_s"] = pa.array(np.asarray(one.times_s, np.float64)[rows])
        if one.labels is not None:
            columns["label"] = pa.array([one.labels[int(row)] for row in rows], pa.string())
        for name, value in one.attributes.items():
            columns[ATTRIBUTE_PREFIX + name] = pa.array([readable(value) or None] * len(rows), pa.string())
        return pa.table(columns)

    def images(self) -> Iterator[Decoded]:
        return decoded_frames(self.recording, range(len(self.recording)))


@dataclass
class OpenedInputs:
    """What the inputs hold, in the order in which it is read."""

    frames: list[Frames] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what readers of logs left out, and what they chose
    titles: dict[str, str] = field(default_factory=dict)  # of each input that is a log, its format in words

    def __len__(self) -> int:
        return sum(map(len, self.frames))


def open_inputs(
    places: Sequence[str], source: str | None = None, settings: Mapping[str, Any] | None = None
) -> OpenedInputs:
    """Open what a user names, before any frame is decoded.

    Args:
        places: pictures, globs, folders, videos, logs, stores and URLs of stores. Pictures that follow each other are
            read in the natural order of their names, folder by folder; everything else in the order given.
        source: the format of logs; by default it is guessed.
        settings: of the source.

    Returns:
        The frames of all of them. Two of the same are read once.

    Example:
        >>> len(open_inputs(["photos/*.jpg", "drive.mp4"]))  # doctest: +SKIP
        1310

    """
    opened, settings = OpenedInputs(), settings or {}
    found = dict.fromkeys((place, path) for place in places for path in _expanded(place))
    read_logs = False
    for is_picture, group in groupby(found, key=lambda one: _is_picture(one[1])):
        if is_picture:
            opened.frames += _pictures(list(group), opened.notes)
            continue
        for place, path in group:
            if is_store(path):
                store = FrameStore.open(path)
                if not store.has_images:
                    raise DataError(f"{store.place} holds poses but no images: ingest it with images")
                opened.frames.append(StoreFrames(place, store))
            else:
                opened.frames += _log(place, path, source, settings, opened)
                read_logs = True
    if (source or settings) and not read_logs:
        raise ConfigError(
            f"--{'source' if source else 'read'} says how a log is read, and there is none among {', '.join(places)}: "
            "leave it out"
        )
    return opened


def _expanded(place: str) -> list[str]:
    """The paths of an input: itself, or what a glob matches, in natural order."""
    if is_store(place) or Path(place).exists() or not glob.has_magic(place):
        return [place]
    found = sorted(glob.glob(place, recursive=True), key=in_order_of_capture)
    if not found:
        raise DataError(f"no file matches {place}")
    return found


def _is_picture(path: str) -> bool:
    return path.lower().endswith(PICTURE_SUFFIXES) and Path(path).is_file()


def _pictures(found: Sequence[tuple[str, str]], notes: list[str]) -> Iterator[Frames]:
    """Picture files as recordings, one for each folder that they are in."""
    own = {Path(path): place for place, path in reversed(found)}  # each once, under the first name for it
    ordered = sorted(own, key=lambda path: (in_order_of_capture(str(path.parent)), in_order_of_capture(path.name)))
    for folder, group in groupby(ordered, key=lambda path: path.parent):
        files = list(group)
        reader = PictureFiles(FolderTree(folder), tuple(path.name for path in files))
        stamps = frame_stamps(reader, None, None, notes)
        times_s = None if stamps is None else seconds_since_first(stamps)
        name = str(folder) if folder.name else folder.resolve().name or "pictures"
        is_glob = own[files[0]] != str(files[0])  # otherwise they were named themselves, and their folder says more
        rows = np.arange(len(reader))
        yield RecordingFrames(
            own[files[0]] if is_glob else name,
            LoggedRecording(name, np.empty((len(rows), 0)), times_s, reader, rows),
        )


def _log(
    place: str, path: str, name: str | None, settings: Mapping[str, Any], opened: OpenedInputs
) -> Iterator[Frames]:
    if name is None and path.lower().endswith(VIDEO_SUFFIXES) and is_lerobot(Path(path)):
        name = "video"  # the file that was named, not the data set that it is a part of
    source, opened.titles[path] = open_log(path, name, **settings)
    check_source(source)
    if not source.has_images:
        raise DataError(f"{path} holds poses but no images: there is nothing to embed")
    opened.notes += [f"{path}: {note}" for note in source.notes]
    for recording in source.recordings:
        yield RecordingFrames(place, recording)
