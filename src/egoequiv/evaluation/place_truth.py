"""A table of the user's that says which frames of two traverses show one place: pairs of frames, or positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.traverses import METRES, Traverse
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural
from egoequiv.sources import table_columns as usual
from egoequiv.sources.table_columns import find, find_family, words_of
from egoequiv.sources.tables import Table, read_table

QUERY, REFERENCE = "query", "reference"
HOW = f"the columns {QUERY},{REFERENCE} (numbers or files of frames), or recording,frame,x,y and perhaps z (in metres)"
NONE, LEFT_OUT = -1, -2  # in place of the number of a frame: the cell is empty; the store has left the frame out


@dataclass(frozen=True, eq=False)
class PlaceTruth:
    """What a table says of two traverses, whose other frames are left out."""

    reference: Traverse
    query: Traverse
    matches: Indices | None  # (P, 2), numbers of a query and of a reference frame; None where positions are compared
    notes: tuple[str, ...]


def read_truth(path: Path, reference: Traverse, query: Traverse) -> PlaceTruth:
    """Read which frames show one place.

    Args:
        path: of a table. Either each row is a pair in the columns `query` and `reference`, and a row without a
            reference says that the frame has no place; or each row is the position of a frame. Frames are numbers, from
            0, or names of files. The column `recording` holds the names of the traverses, or `query` and `reference`.
        reference: the traverse that is searched.
        query: the traverse whose places are looked for; the same for one drive and its own past.
    """
    table = read_table(path)
    words = words_of(table)
    pair = [find(words, (role,)) for role in (QUERY, REFERENCE)]
    if all(pair):
        return _pairs(table, pair, reference, query)
    position = find_family(words, usual.POSITION, "xyz")
    frame = find(words, usual.FRAME) or find(words, usual.FILE)
    recording = find(words, usual.RECORDING)
    if not position or not frame or not (recording or reference is query):
        raise DataError(f"{path}: expected {HOW}, found {', '.join(table.columns)}")
    for word in words:
        if word.name in position and word.unit not in ("", METRES):
            raise DataError(f"{path}: column {word.name!r} is in {word.unit}, expected metres")
    return _placed(table, recording, frame, position, reference, query)


def _pairs(table: Table, columns: Sequence[str], reference: Traverse, query: Traverse) -> PlaceTruth:
    """The truth of pairs; query frames that no row names are left out."""
    every = np.arange(len(table))
    matches = np.stack(
        [_numbers(table, name, every, own) for name, own in zip(columns, (query, reference), strict=True)], axis=1
    )
    _refuse_empty(table, columns[0], every[matches[:, 0] == NONE])
    known = (matches != LEFT_OUT).all(axis=1)
    kept = np.isin(query.numbers, matches[known, 0])
    if not kept.any():
        raise DataError(f"{table.path}: none of its {plural(len(table), 'row')} names a frame of {query.name}")
    notes = [f"which frames show one place is said by {table.path.name}"]
    if not known.all():
        notes.append(f"{plural(int((~known).sum()), 'row names', 'rows name')} a frame that was left out of its store")
    if not kept.all():
        notes.append(f"{plural(int((~kept).sum()), 'query frame is', 'query frames are')} in no row, and left out")
    return PlaceTruth(reference, query.taken(kept), matches[known & (matches[:, 1] != NONE)], tuple(notes))


def _placed(
    table: Table, recording: str, frame: str, position: Sequence[str], reference: Traverse, query: Traverse
) -> PlaceTruth:
    """The truth of positions in one map; frames of both traverses that have none are left out."""
    where = np.stack([table.numbers(name).astype(np.float64) for name in position], axis=1)
    if np.isinf(where).any():
        row, column = np.argwhere(np.isinf(where))[0]
        raise DataError(f"{table.where(row, position[column])}: expected metres, found {where[row, column]}")
    notes = [f"where frames are is said by {table.path.name}"]
    roles = ((QUERY, query),) if reference is query else ((REFERENCE, reference), (QUERY, query))
    found = []
    for role, own in roles:
        names = {role} if len(roles) > 1 and reference.name == query.name else {role, own.name}
        rows = _rows_of(table, recording, names)
        placed = _with_positions(table, frame, rows, where, own)
        found.append(placed)
        if len(placed) < len(own):
            lost = plural(len(own) - len(placed), "frame", "frames")
            notes.append(f"{lost} of {own.name} without a position there: left out")
    return PlaceTruth(found[0], found[-1], None, tuple(notes))


def _rows_of(table: Table, recording: str, names: set[str]) -> Indices:
    """The rows of a recording by any of its names; all where there is no such column."""
    if not recording:
        return np.arange(len(table))
    texts = table.texts(recording)
    rows = np.array([row for row, text in enumerate(texts) if text in names], np.int64)
    if not len(rows):
        have = list(dict.fromkeys(texts))
        raise DataError(
            f"{table.path}, column {recording!r}: expected {' or '.join(sorted(names))}, found "
            f"{', '.join(have[:5]) or 'no row'}{', ...' if len(have) > 5 else ''}"
        )
    return rows


def _with_positions(table: Table, frame: str, rows: Indices, where: NDArray[np.float64], own: Traverse) -> Traverse:
    """The frames of a traverse that have a position in the table, all of them in its map."""
    numbers = _numbers(table, frame, rows, own)
    _refuse_empty(table, frame, rows[numbers == NONE])
    is_known = (numbers != LEFT_OUT) & np.isfinite(where[rows]).all(axis=1)
    rows, numbers = rows[is_known], numbers[is_known]
    first: dict[int, int] = {}
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        if (where[first.setdefault(number, row)] != where[row]).any():
            line = table.lines[first[number]]
            raise DataError(f"{table.where(row, frame)}: frame {number} has another position in line {line}")
    kept = np.isin(own.numbers, numbers)
    if not kept.any():
        raise DataError(f"{table.path} has no position of a frame of {own.name}")
    placed = own.taken(kept)
    positions = where[[first[number] for number in placed.numbers.tolist()]]
    return replace(placed, positions_m=positions, world=str(table.path))


def _numbers(table: Table, column: str, rows: Indices, own: Traverse) -> Indices:
    """The number of the frame that each of these rows names, (N,); or `NONE`, or `LEFT_OUT`."""
    files = [] if own.store.files is None else own.store.files[own.rows].tolist()
    by_text = dict(zip(files, own.numbers.tolist(), strict=False)) | {str(number): number for number in own.numbers}
    low, high = int(own.numbers.min()), int(own.numbers.max())
    has_gaps = len(own) <= high  # frames of the log that are not in the store
    texts, found = table.texts(column), np.full(len(rows), NONE, np.int64)
    for place, row in enumerate(rows.tolist()):
        name = PurePosixPath(texts[row].replace("\\", "/")).name.removesuffix(".0")  # numbers of Parquet may be 3.0
        name = name if name in by_text else name.lstrip("0") or name[:1]  # numbers such as 000012
        if name in by_text:
            found[place] = by_text[name]
        elif name and has_gaps and (not name.isdigit() or int(name) < high):
            found[place] = LEFT_OUT
        elif name:
            have = f"the numbers {low} to {high}" + (f" and files such as {files[0]}" if files and files[0] else "")
            raise DataError(
                f"{table.where(row, column)}: {texts[row]!r} is not a frame of {own.name}, which has {have}"
            )
    return found


def _refuse_empty(table: Table, column: str, rows: Indices) -> None:
    """Refuse rows that name no frame."""
    if len(rows):
        raise DataError(f"{table.where(int(rows[0]), column)}: expected the number or the file of a frame, found none")
