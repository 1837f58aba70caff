"""A few labels in a table: classes or numbers for some frames of a store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose.clock import UNITS_NS, nearest_in_time
from egoequiv.sources import table_columns as usual
from egoequiv.sources.table_columns import declared, find, words_of
from egoequiv.sources.tables import SUFFIXES, Table, read_table
from egoequiv.store.frame_store import FrameStore
from egoequiv.store.starts import starts_s

Indices = NDArray[np.int64]
_PLACE = re.compile(rf"(.*(?:{'|'.join(map(re.escape, SUFFIXES))}))(?::(class:)?(.+))?", re.IGNORECASE | re.DOTALL)
_FEW = 10  # distinct whole numbers that may be meant as classes
_EPOCH_S = (1e9, 4e9)


@dataclass(frozen=True)
class LabelPlace:
    """Where labels are: `labels.csv`, `labels.csv:COLUMN`, or `labels.csv:class:COLUMN` where numbers are classes."""

    path: Path
    column: str = ""
    is_class: bool = False

    @classmethod
    def parse(cls, place: str | None) -> LabelPlace | None:
        """What a place says; None where it is not a table of labels."""
        found = _PLACE.fullmatch(place) if place is not None and "://" not in place else None
        return None if found is None else cls(Path(found[1]), found[3] or "", bool(found[2]))


def with_labels(store: FrameStore, place: str) -> FrameStore:
    """The same frames with the labels of a table; it has a fingerprint of its own.

    Args:
        store: The frames.
        place: Such as `labels.csv` or `labels.csv:steering`. A row belongs to the frame that its file, its recording
            and frame, or its time names. Texts are classes, and replace those of the store; numbers are kept beside.

    Returns:
        A view of the store; `label_notes` say what could not be matched.

    Example:
        >>> with_labels(FrameStore.open("drives"), "weather.csv").class_names  # doctest: +SKIP
        ('rain', 'sun')

    """
    parsed = LabelPlace.parse(place)
    if parsed is None:
        raise ConfigError(f"{place} is not a table of labels: expected a file that ends in {', '.join(SUFFIXES)}")
    table = read_table(parsed.path)
    keys = _keys(table)
    column = _value_column(table, parsed, set(keys.values()))
    rows, notes = _rows_of_frames(store, table, keys)
    texts = table.texts(column)
    notes = [*table.notes, *notes]
    marks = f"{column}:{parsed.is_class}:".encode() + parsed.path.read_bytes()
    # The store's own fingerprint stays readable in it: a run has learned from those frames, whatever their labels.
    known = f"{store.fingerprint()} {sha256(marks).hexdigest()}"
    values = _by_frame(table, column, rows, texts)
    if not values:
        raise DataError(f"{parsed.path}, column {column!r}: no frame of {store.place} has a value")
    if parsed.is_class or not table.is_numeric(column):
        names = sorted({texts[row] for row in values.values()})
        labels = np.full(len(store), -1, np.int64)
        labels[list(values)] = [names.index(texts[row]) for row in values.values()]
        return replace(
            store, labels=labels, class_names=tuple(names), label_notes=tuple(notes), known_fingerprint=known
        )
    every = table.numbers(column).astype(np.float64)
    distinct = np.unique(every[np.isfinite(every)])
    if len(distinct) <= _FEW and (distinct == np.floor(distinct)).all():
        notes.append(
            f"{parsed.path.name}, column {column!r}: its {len(distinct)} whole numbers are taken as numbers; as "
            f"classes: {parsed.path.name}:class:{column}"
        )
    numbers = np.full(len(store), np.nan)
    numbers[list(values)] = every[list(values.values())]
    numbers[~np.isfinite(numbers)] = np.nan
    return replace(store, numbers={column: numbers}, label_notes=tuple(notes), known_fingerprint=known)


def _keys(table: Table) -> Mapping[str, str]:
    """The columns that say to which frame a row belongs, by what they are."""
    words = words_of(table)
    keys: dict[str, str] = {}
    for what, patterns in (("file", usual.FILE), ("frame", usual.FRAME), ("time", usual.TIME)):
        if name := find(words, patterns, keys.values()):
            keys[what] = name
    if name := find(words, usual.RECORDING, keys.values()):
        keys["recording"] = name
    if not keys.keys() & {"file", "frame", "time"}:
        raise DataError(
            f"{table.path} has no column that names frames: expected file, frame (with recording) or time, found "
            f"{', '.join(table.columns)}"
        )
    return keys


def _value_column(table: Table, place: LabelPlace, keys: set[str]) -> str:
    if place.column:
        return declared(table, place.column, "labels", (1,))[0]
    rest = [name for name in table.columns if name not in keys]
    found = find(words_of(table), usual.LABEL, keys)
    if not found and len(rest) != 1:
        raise ConfigError(
            f"{table.path}: which column is the label? Name one of {', '.join(rest) or 'none'}: "
            f"{table.path.name}:COLUMN"
        )
    return found or rest[0]


def _rows_of_frames(store: FrameStore, table: Table, keys: Mapping[str, str]) -> tuple[Indices, list[str]]:
    """The store row of each row of the table, -1 where it belongs to none, and how many do not."""
    recording = np.full(len(table), -1, np.int64)  # -1: not said
    if "recording" in keys:
        numbers = {name: number for number, name in enumerate(store.recording_names)}
        recording = np.array([numbers.get(name, -2) for name in table.texts(keys["recording"])], np.int64)
    notes: list[str] = []
    if "file" in keys and store.files is not None:
        rows = _by_file(store, table, keys["file"], recording)
    elif "frame" in keys:
        rows = _by_number(store, table, keys["frame"], recording)
    elif "time" in keys:
        rows = _by_time(store, table, keys["time"], recording, notes)
    else:
        raise DataError(f"{store.place} does not know the files of its frames: name frames or times in {table.path}")
    lost = np.flatnonzero(rows < 0)
    notes.append(f"{table.path.name}: {plural(len(rows) - len(lost), 'row belongs', 'rows belong')} to a frame")
    if len(lost):
        notes.append(
            f"{table.path.name}: {len(lost):,} of {len(rows):,} rows belong to no frame of the store and are left out, "
            f"the first in line {table.lines[lost[0]]}"
        )
    if len(lost) == len(rows):
        raise DataError(f"{table.path}: none of its {len(rows)} rows belongs to a frame of {store.place}")
    return rows, notes


def _by_file(store: FrameStore, table: Table, column: str, recording: Indices) -> Indices:
    """By the name of the picture; where recordings share names, also by the recording or the folder."""
    assert store.files is not None
    places: dict[str, list[int]] = {}
    for row, name in enumerate(store.files.tolist()):
        places.setdefault(name, []).append(row)
    found = np.full(len(table), -1, np.int64)
    for row, text in enumerate(table.texts(column)):
        path = PurePosixPath(text.replace("\\", "/"))
        there = places.get(path.name, [])
        if recording[row] != -1:
            there = [one for one in there if store.recording[one] == recording[row]]
        elif len(there) > 1:
            named = [one for one in there if str(path.parent).endswith(store.recording_names[store.recording[one]])]
            if not named:
                raise DataError(
                    f"{table.where(row, column)}: {len(there)} frames come from a file {path.name!r}: add a column "
                    "recording, or the folder to its name"
                )
            there = named
        if len(there) > 1:
            raise DataError(f"{table.where(row, column)}: {text!r} names {len(there)} frames: add a column recording")
        if there:
            found[row] = there[0]
    return found


def _alone(store: FrameStore, table: Table, recording: Indices, column: str) -> Indices:
    """The recordings of rows; those that name none are of the only one."""
    if (recording == -1).any() and len(store.recording_names) > 1:
        raise DataError(
            f"{table.path}: {store.place} has {len(store.recording_names)} recordings, and {column!r} alone does not "
            "say which: add a column recording"
        )
    return np.where(recording == -1, 0, recording)


def _by_number(store: FrameStore, table: Table, column: str, recording: Indices) -> Indices:
    """By the number of the frame in the log, which counts frames that are not in the store too."""
    numbers = table.numbers(column).astype(np.float64)
    frames = store.frame if store.log_frame is None else store.log_frame
    rows = {(int(r), float(f)): row for row, (r, f) in enumerate(zip(store.recording, frames, strict=True))}
    own = _alone(store, table, recording, column)
    return np.array([rows.get((int(r), float(f)), -1) for r, f in zip(own, numbers, strict=True)], np.int64)


def _by_time(store: FrameStore, table: Table, column: str, recording: Indices, notes: list[str]) -> Indices:
    """The nearest frame in time, at most half a step away."""
    if store.times_s is None:
        raise DataError(f"{store.place} has no times: name files or frames in {table.path}")
    seconds = _in_seconds(table.times(column))
    own = _alone(store, table, recording, column)
    found = np.full(len(table), -1, np.int64)
    for number in np.unique(own[own >= 0]):
        frames = np.flatnonzero(store.recording == number)
        times = store.times_s[frames]
        asked = np.flatnonzero(own == number)
        since = _since_first(store, table, frames, seconds[asked], notes)
        order = np.argsort(times)
        near = nearest_in_time(times[order], since)
        half = float(np.median(np.diff(times[order]))) / 2 if len(times) > 1 else 0.0
        is_near = np.abs(times[order][near] - since) <= half * (1 + 1e-6)
        found[asked[is_near]] = frames[order[near[is_near]]]
    return found


def _since_first(
    store: FrameStore, table: Table, frames: Indices, seconds: NDArray[np.float64], notes: list[str]
) -> NDArray[np.float64]:
    """Times as seconds since the first frame of a recording that is in the store.

    They are of the log's clock; or, where they do not meet it, seconds since the log's first frame.
    """
    assert store.times_s is not None
    start = float(starts_s(store)[frames[0]])
    times = store.times_s[frames]
    if isfinite(start):
        since = seconds - start
        step = float(np.median(np.diff(np.sort(times)))) if len(times) > 1 else 0.0
        inside = (since >= times.min() - step) & (since <= times.max() + step)
        is_date = _middle(seconds) >= _EPOCH_S[0]
        if inside.any() and not is_date and abs(start) > step / 2:
            notes.append(
                f"{table.path.name}: times are of the log's clock, in which the first frame is at {start:.3f} s"
            )
        if inside.any() or is_date:
            return since
    first = 0 if store.log_frame is None else int(store.log_frame[frames].min())
    if first > 0:
        name = store.recording_names[store.recording[frames[0]]]
        raise DataError(
            f"{table.path}: the first {first} frames of recording {name!r} are not in {store.place}, so times since "
            "its first frame match none: name frames or files, or give times of the log's clock"
        )
    return seconds


def _in_seconds(values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Stamps since 1970 in any unit, or seconds; the steps between a few labels say nothing of the unit."""
    numbers = values.astype(np.float64)
    middle = _middle(np.abs(numbers))
    scales = [scale / 1e9 for scale in UNITS_NS.values() if _EPOCH_S[0] <= middle * scale / 1e9 <= _EPOCH_S[1]]
    return numbers * (scales[0] if scales else 1.0)


def _middle(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else 0.0


def _by_frame(table: Table, column: str, rows: Indices, texts: list[str]) -> dict[int, int]:
    """The row of the table for each store row that has a value; two values for one frame are an error."""
    found: dict[int, int] = {}
    for row, place in enumerate(rows.tolist()):
        text = texts[row]
        if place < 0 or text.lower() in ("", "nan", "null", "none"):
            continue
        first = texts[found.setdefault(place, row)]
        if first != text:
            raise DataError(f"{table.where(row, column)}: {text!r}, but another row says {first!r} of this frame")
    return found
