"""The records of a Donkeycar tub, and the integrals of its rates over all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.files import is_finite_number
from egoequiv.plurals import plural
from egoequiv.pose import integrate
from egoequiv.pose.clock import Nanoseconds, read_clock
from egoequiv.sources.logged import seconds_since_first
from egoequiv.sources.sequences import join, named
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]
Record = dict[str, Any]

CATALOG = re.compile(r"catalog_([0-9]{1,9})\.catalog")
RECORD = re.compile(r"record_([0-9]{1,9})\.json")  # of tubs before version 2
_LATEST_MS = 4e12  # the year 2096
_RESET_MS = 1000  # a clock that goes back further has started again


@dataclass
class Tub:
    """What a tub says, before anything is left out."""

    records: list[Record] = field(default_factory=list)  # in order of their indexes
    deleted: frozenset[int] = frozenset()


def read_tub(tree: Tree, folder: str, notes: list[str]) -> Tub:
    """All records that can be read, in order of their indexes, and which are marked as deleted."""
    files = tree.files(folder)
    catalogs = sorted((int(found[1]), file) for file in files if (found := CATALOG.fullmatch(file)))
    lines: list[tuple[int | None, bytes]] = []
    for _, file in catalogs:
        lines += [(None, line) for line in tree.read(join(folder, file)).split(b"\n") if line.strip()]
    if not catalogs:
        old = sorted((int(found[1]), file) for file in files if (found := RECORD.fullmatch(file)))
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
        twice = plural(repeated, "index is", "indexes are")
        notes.append(f"{where}: {twice} written twice; the last record of each is kept")
    lost = max(records) - min(records) + 1 - len(records)
    if lost:
        span = f"from {min(records)} to {max(records)}"
        lack = plural(lost, f"index {span} has", f"indexes {span} have")
        notes.append(f"{where}: {lack} no record that can be read")
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


def is_time(value: Any) -> bool:
    return is_finite_number(value) and abs(value) < _LATEST_MS


@dataclass(frozen=True)
class Stretch:
    """Records without a pause, with the integrals of rates from the first of them on."""

    times_ns: Nanoseconds  # (N,)
    sums: Array  # (N, C)

    def at(self, times_ns: Nanoseconds) -> Array:
        """The integrals from the first of some times on; (Q,) -> (Q, C)."""
        at, known = times_ns - self.times_ns[0], self.times_ns - self.times_ns[0]
        columns = [np.interp(at, known, one) for one in self.sums.T]
        found = np.stack(columns, axis=1) if columns else np.empty((len(times_ns), 0))
        return np.asarray(found - found[:1])

    def within(self, times_ns: Nanoseconds) -> Nanoseconds:
        """The times of its records from the first to the last of some times."""
        first, last = np.searchsorted(self.times_ns, [times_ns[0], times_ns[-1]])
        return self.times_ns[first : last + 1]


def stretches(
    tub: Tub, clock: str, rates: Sequence[str], pause_s: float, where: str
) -> tuple[list[Stretch], dict[int, int]]:
    """The integrals of rates over all records that have them, and by index of the record which stretch it is in.

    The car drove on where a record is marked as deleted or has no picture, so these are integrated too.
    """
    records = [
        one for one in tub.records if is_time(one.get(clock)) and all(is_finite_number(one.get(rate)) for rate in rates)
    ]
    stamps = np.array([round(one[clock]) for one in records], np.int64)
    values = np.array([[float(one[rate]) for rate in rates] for one in records]).reshape(len(records), len(rates))
    found: list[Stretch] = []
    place: dict[int, int] = {}
    for part in cut_drives(stamps, [str(one.get("_session_id", "")) for one in records], pause_s):
        read = read_clock(stamps[part], where, "ms")
        times_s = seconds_since_first(read.times_ns)
        sums = [integrate(column, times_s) for column in values[part[read.rows]].T]
        place |= dict.fromkeys((records[row]["_index"] for row in part), len(found))
        found.append(Stretch(read.times_ns, np.stack(sums, axis=1) if sums else np.empty((len(times_s), 0))))
    return found, place


def cut_drives(stamps_ms: NDArray[np.int64], sessions: list[str], pause_s: float) -> list[NDArray[np.int64]]:
    """The records of each drive, which ends where a session or the clock begins again, and at a long pause."""
    steps = np.diff(stamps_ms)
    other = np.array([a != b for a, b in pairwise(sessions)], bool)
    cuts = np.flatnonzero((steps < -_RESET_MS) | (steps > 1000 * pause_s) | other) + 1
    return [part for part in np.split(np.arange(len(stamps_ms)), cuts) if len(part)]
