"""Donkeycar tubs: pictures of a small car with its steering and throttle."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.pose import ColumnsSpace, integrate
from egoequiv.pose.clock import read_clock
from egoequiv.sources.logged import LoggedRecording, PictureFiles, seconds_since_first, start_of
from egoequiv.sources.recording import Listed, Recording, Source
from egoequiv.sources.sequences import FilesThere, folders_with, is_in, join, name_of, named, present, tree_at
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]
Record = dict[str, Any]

_NAMES = {"user/angle": "steering", "user/throttle": "throttle"}
_OVER_TIME = " over time"  # behind the name of an integral
_CATALOG = re.compile(r"catalog_([0-9]{1,9})\.catalog")
_RECORD = re.compile(r"record_([0-9]{1,9})\.json")  # of tubs before version 2
_TIMES = ("_timestamp_ms", "milliseconds")
_LATEST_MS = 4e12  # the year 2096
_RESET_MS = 1000  # a clock that goes back further has started again


@dataclass
class Tub:
    """What a tub says, before anything is left out."""

    records: list[Record] = field(default_factory=list)  # in order of their indexes
    deleted: frozenset[int] = frozenset()


def donkey(
    path: Path,
    *,
    columns: str = "user/angle,user/throttle",
    rates: str | None = None,
    camera: str = "cam/image_array",
    deleted: Literal["drop", "keep"] = "drop",
    max_gap_s: float = 5.0,
) -> Source:
    """Read Donkeycar tubs, version 2 (`manifest.json`, `catalog_*.catalog`) or before (`record_*.json`).

    A recording is one drive: it ends where the session changes, the clock goes back, or nothing was recorded for
    longer than `max_gap_s`.

    Args:
        path: a tub, a folder of tubs, or a zip archive.
        columns: the numbers that the motion comes from; user/angle is named steering, user/throttle throttle.
        rates: those of them that are rates, by default user/angle and user/throttle: they are integrated over time, so
            that the motion between two frames is how much was steered and driven in between. The motion of the others
            is their change.
        camera: the column that names the picture.
        deleted: what to do with records that are marked as deleted.
        max_gap_s: the longest pause within a recording.

    """
    settings = {**locals(), "path": str(path)}
    path = Path(path)
    if not 0 < max_gap_s < 1e9:
        raise ConfigError(f"max_gap_s must be a number of seconds above 0, found {max_gap_s:g}")
    keys = tuple(key.strip() for key in columns.split(","))
    names = tuple(_NAMES.get(key, key.replace("/", "_")) for key in keys)
    integrated = [key for key in _NAMES if key in keys] if rates is None else [r.strip() for r in rates.split(",") if r]
    if unknown := [key for key in integrated if key not in keys]:
        raise ConfigError(f"rates={unknown[0]}: not one of the columns {', '.join(keys)}")
    moving = [k for k, key in enumerate(keys) if key in integrated]
    space = ColumnsSpace(tuple(f"{name}{_OVER_TIME}" if k in moving else name for k, name in enumerate(names)))
    path = path.parent if path.name == "manifest.json" else path
    tree = tree_at(path)
    folders = folders_with(tree, _is_tub)
    if not folders:
        raise DataError(f"{path} has no manifest.json with catalog_*.catalog: expected a Donkeycar tub")
    notes: list[str] = []
    recordings: list[Recording] = []
    listed: dict[str, Listed] = {}
    for folder in folders:
        name = name_of(path, folder)
        try:
            tub = _read_tub(tree, folder, notes)
            listed |= {one.name: one for one in _list_columns(tub.records, keys, camera)}
            records = _kept(tub, name, keys, camera, deleted, notes)
            drives = _drives(tree, folder, name, records, keys, camera, max_gap_s, notes)
            recordings += [_with_integrals(drive, moving) for drive in drives]
        except EgoEquivError as problem:
            if len(folders) == 1:
                raise
            notes.append(f"tub {named(name)} left out: {problem}")
    if not recordings:
        raise DataError(f"{path}: no drive to use: {'; '.join(notes)}")
    return Source(
        "donkey",
        space,
        recordings,
        settings,
        (*names, *(f"{names[k]}{_OVER_TIME}" for k in moving)),
        notes=tuple(notes),
        listed=tuple(listed.values()),
        convention=f"{', '.join(keys)} as recorded, -1 to 1, steering positive to the right"
        + (f"; {', '.join(names[k] for k in moving)} integrated over time" if moving else "")
        + "; no poses",
    )


def _with_integrals(drive: LoggedRecording, moving: list[int]) -> LoggedRecording:
    """The same drive with the integrals of some of its columns behind the others."""
    if drive.times_s is None or not moving:
        return drive
    sums = [integrate(drive.poses[:, k], drive.times_s) for k in moving]
    return replace(drive, poses=np.column_stack([drive.poses, *sums]))


def _read_tub(tree: Tree, folder: str, notes: list[str]) -> Tub:
    """All records that can be read, in order of their indexes, and which are marked as deleted."""
    files = tree.files(folder)
    catalogs = sorted((int(found[1]), file) for file in files if (found := _CATALOG.fullmatch(file)))
    lines: list[tuple[int | None, bytes]] = []
    for _, file in catalogs:
        lines += [(None, line) for line in tree.read(join(folder, file)).split(b"\n") if line.strip()]
    if not catalogs:
        old = sorted((int(found[1]), file) for file in files if (found := _RECORD.fullmatch(file)))
        lines = [(number, tree.read(join(folder, file))) for number, file in old]
    records: dict[int, Record] = {}
    broken: list[bytes] = []
    for number, line in lines:
        record = _record(line, number)
        if record is None:
            broken.append(line)
        else:
            records[record["_index"]] = record  # of an index that is written twice, the last
    where = tree.where(folder or ".")
    if broken:
        kind = "zero bytes" if 2 * broken[0].count(b"\0") > len(broken[0]) else f"{broken[0][:40]!r}"
        notes.append(f"{where}: {len(broken)} of {len(lines)} records cannot be read, the first is {kind}")
    if not records:
        raise DataError(f"{where}: none of its {len(lines)} records can be read")
    repeated = len(lines) - len(broken) - len(records)
    if repeated:
        notes.append(f"{where}: {repeated} indexes are written twice; the last record of each is kept")
    return Tub([records[index] for index in sorted(records)], _deleted(tree, folder, catalogs, notes))


def _record(line: bytes, number: int | None) -> Record | None:
    """One record with its index; None if it is broken."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    index = record.get("_index", number)
    return {**record, "_index": index} if isinstance(index, int) else None


def _deleted(tree: Tree, folder: str, catalogs: list[tuple[int, str]], notes: list[str]) -> frozenset[int]:
    """The indexes that the last line of the manifest marks as deleted; catalogs that it misses are named."""
    if not catalogs or "manifest.json" not in tree.files(folder):
        return frozenset()
    where = tree.where(join(folder, "manifest.json"))
    rows = tree.read(join(folder, "manifest.json")).decode("utf-8", "replace").strip().split("\n")
    try:
        last = json.loads(rows[-1])
        named_files, marked = last.get("paths", []), last.get("deleted_indexes", [])
        missing = sorted(set(named_files) - {file for _, file in catalogs})
        indexes = frozenset(index for index in marked if isinstance(index, int))
    except (ValueError, RecursionError, AttributeError, TypeError):
        notes.append(f"{where}: its last line cannot be read, so no record counts as deleted")
        return frozenset()
    if missing:
        notes.append(f"{where} names {len(missing)} catalogs that are not there, first {named(str(missing[0]))}")
    return indexes


def _list_columns(records: list[Record], keys: tuple[str, ...], camera: str) -> list[Listed]:
    """Every column of the tub that holds numbers or pictures."""
    listed = []
    for key in sorted({key for record in records for key in record if not key.startswith("_")}):
        numbers = [record[key] for record in records if _is_number(record.get(key))]
        if numbers:
            words = f"{len(numbers):,} numbers, {min(numbers):.3g} to {max(numbers):.3g}"
            listed.append(Listed("columns", key, words, key in keys, f"columns={key}"))
        elif "image" in key:
            listed.append(Listed("camera", key, f"{len(records):,} pictures", key == camera, f"camera={key}"))
    return listed


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(abs(value) < 1e300)


def _is_time(value: Any) -> bool:
    return _is_number(value) and abs(value) < _LATEST_MS


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
        if isinstance(record.get(camera), str) and all(_is_number(record.get(key)) for key in keys)
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
    records: list[Record],
    keys: tuple[str, ...],
    camera: str,
    max_gap_s: float,
    notes: list[str],
) -> list[LoggedRecording]:
    """The drives of a tub, cut where a session or the clock begins again and at long pauses."""
    names = [record[camera] for record in records]
    found = FilesThere(tree).find(names, (join(folder, "images"), folder), name, notes)
    files, at = present(found, names, name, notes)
    records = [records[row] for row in at]
    key = next((key for key in _TIMES if all(_is_time(record.get(key)) for record in records)), None)
    if key is None:
        raise DataError(f"{name}: records without {' or '.join(_TIMES)}: when they were taken is not known")
    stamps = np.array([round(record[key]) for record in records], np.int64)
    values = np.array([[float(record[key]) for key in keys] for record in records]).reshape(-1, len(keys))
    parts = _cut(stamps, [str(record.get("_session_id", "")) for record in records], max_gap_s)
    drives: list[LoggedRecording] = []
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
        reader = PictureFiles(tree, tuple(files[row] for row in rows))
        attributes = start_of(clock.times_ns)
        drives.append(
            LoggedRecording(
                *(where, values[rows], times_s, reader, np.arange(len(rows))),
                attributes=attributes,
                numbers=at[rows] - (at[part[0]] if number > 1 else 0),
            )
        )
    if short:
        notes.append(f"{name}: {short} of {len(parts)} drives have a single frame and are left out")
    return drives


def _cut(stamps_ms: NDArray[np.int64], sessions: list[str], max_gap_s: float) -> list[NDArray[np.int64]]:
    """The records of each drive."""
    steps = np.diff(stamps_ms)
    other = np.array([a != b for a, b in pairwise(sessions)], bool)
    cuts = np.flatnonzero((steps < -_RESET_MS) | (steps > 1000 * max_gap_s) | other) + 1
    return [part for part in np.split(np.arange(len(stamps_ms)), cuts) if len(part)]


def _is_tub(tree: Tree, folder: str) -> bool:
    names = tree.files(folder)
    if "manifest.json" in names or "meta.json" in names:
        return any(_CATALOG.fullmatch(name) or _RECORD.fullmatch(name) for name in names)
    return False


def is_donkey(path: Path) -> bool:
    """A folder with manifest.json and catalog_0.catalog, or meta.json and record_1.json; or a folder of tubs."""
    return is_in(path.parent if path.name == "manifest.json" else path, _is_tub)
