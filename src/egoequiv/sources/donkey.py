"""Donkeycar tubs: pictures of a small car with its steering and throttle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.files import is_finite_number
from egoequiv.plurals import plural
from egoequiv.pose import ColumnsSpace
from egoequiv.pose.additive import OVER_TIME
from egoequiv.pose.clock import Nanoseconds, read_clock
from egoequiv.sources.donkey_tub import (
    CATALOG,
    RECORD,
    Record,
    Tub,
    cut_drives,
    is_time,
    read_tub,
    stretches,
)
from egoequiv.sources.logged import LoggedRecording, PictureFiles, integrated_gaps, seconds_since_first, start_of
from egoequiv.sources.recording import Listed, Recording, Source
from egoequiv.sources.sequences import FilesThere, folders_with, is_in, join, name_of, named, present, tree_at
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]

_NAMES = {"user/angle": "steering", "user/throttle": "throttle"}
_TIMES = ("_timestamp_ms", "milliseconds")


@dataclass(frozen=True)
class _Columns:
    """The numbers of a record that the motion comes from."""

    keys: tuple[str, ...]
    rates: tuple[str, ...]  # those of them that are integrated over time

    @classmethod
    def named(cls, columns: str, rates: str | None) -> _Columns:
        """Those that a user names; without rates, steering and throttle are rates."""
        keys = tuple(key.strip() for key in columns.split(","))
        chosen = list(_NAMES) if rates is None else [rate.strip() for rate in rates.split(",") if rate]
        if rates is not None and (unknown := [key for key in chosen if key not in keys]):
            raise ConfigError(f"rates={unknown[0]}: not one of the columns {', '.join(keys)}")
        return cls(keys, tuple(key for key in keys if key in chosen))

    @property
    def convention(self) -> str:
        """What the numbers mean."""
        integrated = f"; {', '.join(map(self.name, self.rates))} integrated over time" if self.rates else ""
        return f"{', '.join(self.keys)} as recorded, -1 to 1, steering positive to the right{integrated}; no poses"

    def name(self, key: str) -> str:
        """What the values of a column are called."""
        return _NAMES.get(key, key.replace("/", "_"))

    def moved(self, key: str) -> str:
        """What the motion of a column is called: of a rate, its integral."""
        return self.name(key) + (OVER_TIME if key in self.rates else "")


def donkey(
    path: Path,
    *,
    columns: str = "user/angle,user/throttle",
    rates: str | None = None,
    camera: str = "cam/image_array",
    deleted: Literal["drop", "keep"] = "drop",
    pause_s: float = 5.0,
) -> Source:
    """Read Donkeycar tubs, version 2 (`manifest.json`, `catalog_*.catalog`) or before (`record_*.json`).

    A recording is one drive: it ends where the session changes, the clock goes back, or nothing was recorded for
    longer than `pause_s`.

    Args:
        path: a tub, a folder of tubs, or a zip archive.
        columns: the numbers that the motion comes from; user/angle is named steering, user/throttle throttle.
        rates: those of them that are rates, by default user/angle and user/throttle: they are integrated over time, so
            that the motion between two frames is how much was steered and driven in between. The motion of the others
            is their change.
        camera: the column that names the picture.
        deleted: what to do with records that are marked as deleted.
        pause_s: the longest pause within a recording.

    """
    settings = {**locals(), "path": str(path)}
    if not 0 < pause_s < 1e9:
        raise ConfigError(f"pause_s must be a number of seconds above 0, found {pause_s:g}")
    read = _Columns.named(columns, rates)
    path = _folder(Path(path))
    tree, folders = _tubs(path)
    notes: list[str] = []
    recordings: list[Recording] = []
    listed: dict[str, Listed] = {}
    for folder in folders:
        name = name_of(path, folder)
        try:
            tub = read_tub(tree, folder, notes)
            listed |= {one.name: one for one in _list_columns(tub.records, read.keys, camera)}
            records = _kept(tub, name, read.keys, camera, deleted, notes)
            recordings += _drives(tree, folder, name, tub, records, read, camera, pause_s, notes)
        except EgoEquivError as problem:
            if len(folders) == 1:
                raise
            notes.append(f"tub {named(name)} left out: {problem}")
    if not recordings:
        raise DataError(f"{path}: no drive to use: {'; '.join(notes)}")
    return Source(
        "donkey",
        ColumnsSpace(tuple(read.moved(key) for key in read.keys)),
        recordings,
        settings,
        (*map(read.name, read.keys), *map(read.moved, read.rates)),
        notes=tuple(notes),
        listed=tuple(listed.values()),
        convention=read.convention,
    )


def _list_columns(records: list[Record], keys: tuple[str, ...], camera: str) -> list[Listed]:
    """Every column of the tub that holds numbers or pictures."""
    listed = []
    for key in sorted({key for record in records for key in record if not key.startswith("_")}):
        numbers = [record[key] for record in records if is_finite_number(record.get(key))]
        if numbers:
            words = f"{plural(len(numbers), 'number')}, {min(numbers):.3g} to {max(numbers):.3g}"
            listed.append(Listed("columns", key, words, key in keys, f"columns={key}"))
        elif "image" in key:
            listed.append(Listed("camera", key, plural(len(records), "picture"), key == camera, f"camera={key}"))
    return listed


def _kept(tub: Tub, name: str, keys: tuple[str, ...], camera: str, deleted: str, notes: list[str]) -> list[Record]:
    """The records that are not deleted and have a picture and every number."""
    for key in (*keys, camera):
        if not any(key in record for record in tub.records):
            there = sorted({key for record in tub.records for key in record if not key.startswith("_")})
            raise ConfigError(f"{name} has no column {key!r}; it has {', '.join(there)}")
    kept = tub.records
    if deleted == "drop":
        kept = [record for record in kept if record["_index"] not in tub.deleted]
        if len(kept) < len(tub.records):
            notes.append(
                f"{name}: {len(tub.records) - len(kept)} of {len(tub.records)} records are marked as deleted and left "
                "out: keep them with --read deleted=keep"
            )
    whole = [
        record
        for record in kept
        if isinstance(record.get(camera), str) and all(is_finite_number(record.get(key)) for key in keys)
    ]
    if len(whole) < len(kept):
        notes.append(f"{name}: {len(kept) - len(whole)} of {len(kept)} records lack a picture or a number, left out")
    if not whole:
        raise DataError(f"{name}: no record is left of {len(tub.records)}")
    return whole


def _drives(
    tree: Tree,
    folder: str,
    name: str,
    tub: Tub,
    records: list[Record],
    columns: _Columns,
    camera: str,
    pause_s: float,
    notes: list[str],
) -> list[LoggedRecording]:
    """The drives of a tub, with the integrals of rates behind the other columns."""
    names = [record[camera] for record in records]
    found = FilesThere(tree).find(names, (join(folder, "images"), folder), name, notes)
    files, at = present(found, names, name, notes)
    records = [records[row] for row in at]
    key = next((key for key in _TIMES if all(is_time(record.get(key)) for record in records)), None)
    if key is None:
        raise DataError(f"{name}: records without {' or '.join(_TIMES)}: when they were taken is not known")
    stamps = np.array([round(record[key]) for record in records], np.int64)
    values = np.array([[float(record[key]) for key in columns.keys] for record in records])
    values = values.reshape(-1, len(columns.keys))
    whole, stretch_of = stretches(tub, key, columns.rates, pause_s, name)
    parts = cut_drives(stamps, [str(stretch_of[record["_index"]]) for record in records], pause_s)
    drives: list[LoggedRecording] = []
    integrated: list[Nanoseconds] = []
    short = 0
    for number, part in enumerate(parts, 1):
        clock = read_clock(stamps[part], f"{name}, drive {number}", "ms")
        if len(clock.rows) < 2:
            short += 1
            continue
        notes += clock.notes
        rows = part[clock.rows]
        times_s = seconds_since_first(clock.times_ns)
        where = name if len(parts) == 1 else f"{name}/{number}"
        stretch = whole[stretch_of[records[rows[0]]["_index"]]]
        integrated.append(stretch.within(clock.times_ns))
        poses = np.hstack([values[rows], stretch.at(clock.times_ns)])
        reader = PictureFiles(tree, tuple(files[row] for row in rows))
        attributes = start_of(clock.times_ns)
        drives.append(
            LoggedRecording(
                *(where, poses, times_s, reader, np.arange(len(rows))),
                attributes=attributes,
                numbers=at[rows] - (at[part[0]] if number > 1 else 0),
            )
        )
    if short:
        notes.append(f"{name}: {short} of {len(parts)} drives have a single frame and are left out")
    if columns.rates:
        notes += integrated_gaps(integrated, None, name)
    return drives


def _is_tub(tree: Tree, folder: str) -> bool:
    names = tree.files(folder)
    if "manifest.json" in names or "meta.json" in names:
        return any(CATALOG.fullmatch(name) or RECORD.fullmatch(name) for name in names)
    return False


def is_donkey(path: Path) -> bool:
    """A folder with manifest.json and catalog_0.catalog, or meta.json and record_1.json; or a folder of tubs."""
    return is_in(_folder(path), _is_tub)


def _folder(path: Path) -> Path:
    """The folder of a tub that is given by its manifest."""
    return path.parent if path.name == "manifest.json" else path


def _tubs(path: Path) -> tuple[Tree, list[str]]:
    """The tubs below a folder or in an archive."""
    tree = tree_at(path)
    folders = folders_with(tree, _is_tub)
    if not folders:
        raise DataError(f"{path} has no manifest.json with catalog_*.catalog: expected a Donkeycar tub")
    return tree, folders
