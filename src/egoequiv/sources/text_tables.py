"""Tables as text: CSV in its dialects and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.plurals import plural

Column = list[Any] | NDArray[Any]
Parsed = tuple[Mapping[str, Column], NDArray[np.int64], tuple[str, ...]]  # columns, lines in the file, notes
_MOST_BROKEN = 0.1  # of the rows; a table with more is refused


def unique_names(path: Path, names: list[str]) -> list[str]:
    """Refuse names that are there twice."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"{path} has two columns of the name {twice[0]!r}: give each its own")
    return names


def read_csv(path: Path, file: io.TextIOBase, most: int | None) -> Parsed:
    """Rows with commas, semicolons, tabs or spaces between their cells, below a line of names."""
    comments, first = _until_data(file)
    if first is None:
        raise DataError(f"{path} is empty: expected a line with the names of the columns, then rows")
    delimiter = _delimiter(first)
    header = _cells(first, delimiter)
    # A table such as EuRoC's or TUM's has its header in a comment.
    if any(_is_number(cell) for cell in header) and comments:
        named = [_cells(comment.lstrip("#% "), delimiter) for comment in comments]
        header = next((names for names in reversed(named) if len(names) == len(header)), header)
        source: Iterator[str] = iter([first, *file])
        before = len(comments)
    else:
        source, before = iter(file), len(comments) + 1
    if any(_is_number(name) for name in header):
        raise DataError(
            f"{path} has no header: its first line is {first.strip()[:60]!r}; add a line with the names of the columns "
            "above it, such as file,x,y,yaw"
        )
    header = unique_names(path, [name or f"column {number}" for number, name in enumerate(header, 1)])
    return _rows_of_csv(path, header, source, delimiter, before, most)


def _until_data(file: io.TextIOBase) -> tuple[list[str], str | None]:
    """The comment and empty lines at the start, and the first line that is neither."""
    comments: list[str] = []
    for line in file:
        if line.strip() and not line.startswith(("#", "%")):
            return comments, line
        comments.append(line)
    if comments and any(comment.strip("#% \r\n") for comment in comments):
        return comments[:-1], comments[-1].lstrip("#% ")  # a header in a comment, and no rows
    return comments, None


def _rows_of_csv(
    path: Path, header: list[str], source: Iterator[str], delimiter: str, before: int, most: int | None
) -> Parsed:
    rows, lines, broken = [], [], []
    swallowed, last = 0, 0  # lines that a quote without its end took into a cell
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in islice(reader, most):
            inside = [line for cell in cells if "\n" in cell for line in cell.splitlines()[1:]]
            swallowed += sum(line.count(delimiter) >= len(header) - 1 for line in inside)
            last = reader.line_num
            while len(cells) > len(header) and not cells[-1].strip():
                cells.pop()  # a delimiter at the end of a line
            if not cells or not any(cells) or cells[0].startswith(("#", "%")):
                continue
            if len(cells) == len(header):
                rows.append(cells)
                lines.append(before + reader.line_num)
            else:
                broken.append((before + reader.line_num, len(cells)))
    except csv.Error as problem:
        broken.append((before + last + 1, 0))
        swallowed += reader.line_num - last - 1 + sum(1 for line in source if line.strip())
        if not rows:
            raise DataError(f"{path}, line {before + reader.line_num}: {problem}") from problem
    if swallowed > max(1, _MOST_BROKEN * (len(rows) + swallowed)):
        where = f"line {broken[0][0]}" if broken else "a cell"
        raise DataError(f"{path}, {where}: a quote without its end takes {swallowed:,} lines: remove or close it")
    notes = []
    if swallowed:
        lines_lost = plural(swallowed, "line")
        notes.append(f"{path.name}: {lines_lost} left out, which a quote without its end takes into a cell")
    if broken:
        line, count = broken[0]
        what = f"line {line} has {count} cells, expected {len(header)}" if count else f"line {line} is cut short"
        if len(broken) > max(1, _MOST_BROKEN * (len(rows) + len(broken))):
            raise DataError(f"{path}, {what}: are there decimal commas, or commas in texts without quotes?")
        notes.append(f"{path.name}: {plural(len(broken), 'broken line')} left out ({what})")
    columns: dict[str, Column] = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    return columns, np.array(lines, np.int64), tuple(notes)


def _delimiter(line: str) -> str:
    """The delimiter that is in the first line most often; spaces only where there is no other."""
    found = max((",", ";", "\t"), key=line.count)
    return found if found in line else " "


def _cells(line: str, delimiter: str) -> list[str]:
    cells = next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True), [])
    names = [cell.strip().lstrip("#").strip() for cell in cells]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "infinity")


def read_lines(path: Path, file: io.TextIOBase, most: int | None) -> Parsed:
    """One JSON object a line."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    broken: list[int] = []
    for number, line in enumerate(islice(file, most), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            value = _flat(value) if isinstance(value, dict) else None
        except (ValueError, RecursionError):
            value = None
        if value is not None:
            rows.append(value)
            lines.append(number)
        else:
            broken.append(number)
    if not rows or len(broken) > max(1, _MOST_BROKEN * (len(rows) + len(broken))):
        what = f"line {broken[0]} is not" if broken else "it has no line that is"
        raise DataError(f'{path}: {what} a JSON object such as {{"file": "1.png", "x": 0.5}}')
    bad = plural(len(broken), "line is no JSON object", "lines are no JSON objects")
    notes = [f"{path.name}: {bad} and left out (line {broken[0]})"] if broken else []
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    kept: dict[str, Column] = {
        name: values for name, values in columns.items() if not any(isinstance(v, list) for v in values)
    }
    return kept, np.array(lines, np.int64), (*notes, *left_out(path, [n for n in names if n not in kept]))


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Objects within objects as names with dots: {"pose": {"x": 1}} has the column pose.x."""
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= _flat(inner, f"{prefix}{name}.") if isinstance(inner, dict) else {prefix + name: inner}
    return found


def left_out(path: Path, names: Sequence[str]) -> list[str]:
    """A note on columns that are neither numbers nor text."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return [f"{path.name}: columns of lists or bytes are not read: {', '.join(names[:5])}{more}"] if names else []
