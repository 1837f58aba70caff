"""Tables of people: CSV in its dialects, JSON lines and Parquet, as named columns; no file runs code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.file_names import parquet_file
from egoequiv.sources.text_tables import Column, left_out, read_csv, read_lines, unique_names
from egoequiv.sources.trees import LARGEST

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
LINE_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIX = ".parquet"
SUFFIXES = (".csv", ".tsv", *LINE_SUFFIXES, PARQUET_SUFFIX)  # what is looked for in a folder
Numbers = NDArray[np.float64] | NDArray[np.int64]

_BINARY = {b"PK\x03\x04": "a zip archive", b"\x80": "a pickle", b"PAR1": "a Parquet file", b"\x1f\x8b": "a gzip file"}
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_HEAD = 1 << 16
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*")


@dataclass(frozen=True)
class Table:
    """A table as named columns: text as it is in the file, or numbers."""

    path: Path
    columns: Mapping[str, Column]  # None or "" where there is no value
    lines: NDArray[np.int64]  # (N,) where each row is in the file, from 1
    notes: tuple[str, ...] = ()
    _parsed: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False, compare=False)  # columns, once read

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, row: int, name: str) -> str:
        """The place of a value, for messages."""
        return f"{self.path.name}, line {self.lines[row]}, column {name!r}"

    def texts(self, name: str) -> list[str]:
        """A column as text, without spaces around it."""
        if ("text", name) not in self._parsed:
            self._parsed["text", name] = ["" if one is None else str(one).strip() for one in self.columns[name]]
        found: list[str] = self._parsed["text", name]
        return found

    def numbers(self, name: str) -> Numbers:
        """A column as numbers (N,): whole numbers keep all their digits; not a number where there is no value."""
        if ("number", name) not in self._parsed:
            self._parsed["number", name] = self._numbers(name)
        found: Numbers = self._parsed["number", name]
        return found

    def _numbers(self, name: str) -> Numbers:
        values = self.columns[name]
        if isinstance(values, np.ndarray) and values.dtype.kind in "if":
            return values
        try:
            return np.array([_whole(value) for value in values], np.int64)
        except (ValueError, TypeError, OverflowError):
            return np.array([self._number(row, name, value) for row, value in enumerate(values)], np.float64)

    def _number(self, row: int, name: str, value: Any) -> float:
        if value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "na", "null", "none")):
            return np.nan
        try:
            return float(value)
        except (ValueError, TypeError, OverflowError):
            text = str(value)[:40]
            if _DECIMAL_COMMA.fullmatch(text):
                raise DataError(
                    f"{self.where(row, name)}: {text!r} has a decimal comma: write numbers with a decimal point"
                ) from None
            raise DataError(f"{self.where(row, name)}: expected a number, found {text!r}") from None

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers, and at least one."""
        try:
            return bool(np.isfinite(self.numbers(name).astype(np.float64)).any())
        except DataError:
            return False

    def spoiled(self, name: str) -> str:
        """The value that keeps a column of numbers from being one; "" if it is one, or is mostly text."""
        try:
            self.numbers(name)
        except DataError as problem:
            whole = sum(_is_number(text) for text in self.texts(name))
            return str(problem) if 2 * whole > len(self) else ""
        return ""

    def times(self, name: str) -> Numbers:
        """A column of times as numbers; dates such as 2024-05-01T12:00:00.25Z become nanoseconds since 1970."""
        try:
            return self.numbers(name)
        except DataError as problem:
            try:
                return np.array([_date_ns(text) for text in self.texts(name)], np.int64)
            except ValueError:
                raise problem from None

    def taken(self, rows: NDArray[np.int64]) -> Table:
        """Some of its rows."""
        columns: dict[str, Column] = {
            name: values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
            for name, values in self.columns.items()
        }
        return Table(self.path, columns, self.lines[rows], self.notes)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _whole(value: Any) -> int:
    """A whole number; a float is none, even where it could be made one."""
    if isinstance(value, float):
        raise ValueError(value)
    return int(value)


def _date_ns(text: str) -> int:
    date = datetime.fromisoformat(text)
    since = (date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def read_table(path: Path, most: int | None = None) -> Table:
    """Read a table by the ending of its name.

    Args:
        path: a .csv, .tsv, .txt, .jsonl, .ndjson or .parquet file.
        most: so many rows at most, such as for a look at its columns.

    Returns:
        Its columns.

    """
    suffix = path.suffix.lower()
    try:
        if suffix == PARQUET_SUFFIX:
            return _read_parquet(path, most)
        if (size := path.stat().st_size) > LARGEST:
            raise DataError(f"{path} has {size:,} bytes, expected at most {LARGEST:,} of text: write it as Parquet")
        with open(path, "rb") as file:
            encoding = _encoding(path, file.read(_HEAD))
        with open(path, encoding=encoding, newline="") as text:
            read = read_lines if suffix in LINE_SUFFIXES else read_csv
            return Table(path, *read(path, text, most))
    except UnicodeError as problem:
        raise DataError(f"{path} is not text in UTF-8 ({problem}): save it as UTF-8") from problem
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror or problem}") from problem


def _encoding(path: Path, head: bytes) -> str:
    for start, what in _BINARY.items():
        if head.startswith(start):
            raise DataError(f"{path} is {what}, not a table as text")
    for mark, encoding in _ENCODINGS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head.partition(b"\n")[0]:
        raise DataError(f"{path} holds zero bytes: it is no table as text")
    return "utf-8"


def _read_parquet(path: Path, most: int | None) -> Table:
    import pyarrow as pa

    try:
        with parquet_file(path) as stored:
            schema = stored.schema_arrow
            lists = [field.name for field in schema if not (_is_plain(field.type) or pa.types.is_struct(field.type))]
            table = stored.read([field.name for field in schema if field.name not in lists])
        while any(pa.types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
        table = table.slice(0, most)
        names = [field.name for field in table.schema if _is_plain(field.type)]
        lists += [name for name in table.column_names if name not in names]
        columns = {name: _parquet_column(table[name]) for name in unique_names(path, names)}
    except (pa.ArrowException, ValueError, MemoryError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{path} cannot be read as Parquet ({reason})") from problem
    return Table(path, columns, np.arange(1, table.num_rows + 1), tuple(left_out(path, lists)))


def _is_plain(kind: Any) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_timestamp, types.is_decimal)
    return types.is_string(kind) or types.is_large_string(kind) or any(test(kind) for test in tests)


def _parquet_column(column: Any) -> Column:
    """Numbers as an array where they are all there; times as nanoseconds since 1970; text as a list."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns")).cast(pa.int64())
    if pa.types.is_boolean(column.type) or pa.types.is_unsigned_integer(column.type):
        column = column.cast(pa.int64())
    if (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)) and not column.null_count:
        numbers: NDArray[Any] = column.to_numpy()
        return numbers.astype(np.int64 if numbers.dtype.kind == "i" else np.float64)
    found: list[Any] = column.to_pylist()
    return found
