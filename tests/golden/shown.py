"""The numbers in the tables of a Markdown text, by section, row and column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

NUMBER = re.compile(r"(?<![\w.])(?<!\w-)[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# [0.80, 1.14], (-3.48 to 4.62) and 0.80 to 1.14 are intervals; `0 to 2` alone are seeds.
INTERVAL = re.compile(r"\[[^]]*\]|\(?[-+−]?\d[\d.,]* to [-+−]?\d[\d.,]*\)?")
# Tables of settings and versions: what a setting is called and which there are is not a number that was measured.
LEFT_OUT = re.compile(r"settings|versions|How it was made|\bsetting\b")
LEFT_OUT_ROWS = ("version",)
# What a section or a column was called when the numbers were made: what it is called now. A motion is `rho MOTION` now.
RENAMED = {
    "rho of each motion": "Each motion",
    "pairs left out": "excluded pairs",
    "pairs left out of rho": "excluded pairs",
    "difference": "mean difference ± s.e.",
    "chance": "chance of MRR",
}
COUNT = re.compile(r" \(\d+\)$| #\d+$")  # behind the name of a further row, and of a further number of a cell


def shown_numbers(text: str) -> dict[str, str]:
    """{"section/row/column": "51.43"}, with the digits that are shown; further numbers of a cell end in #2, #3, ..."""
    numbers: dict[str, str] = {}
    for place, columns, rows, notes in _tables(text):
        if LEFT_OUT.search(place) or any(LEFT_OUT.search(column) for column in columns):
            continue
        for row in rows:
            if row[0] in LEFT_OUT_ROWS:
                continue
            name = _free(f"{place}/{_head(row)}", numbers)
            for number, (column, cell) in enumerate(zip(columns, row, strict=True)):
                if number and "interval" not in column:
                    _add(numbers, f"{name}/{_free_column(columns, number)}", cell)
                    _add(numbers, f"{name}/chance of {column}", _chance(rows, row, number))
            for column, baselines in notes.items():
                _add(numbers, f"{name}/baselines of {column}", baselines)
    return numbers


def _chance(rows: list[list[str]], row: list[str], number: int) -> str:
    """The cell of the row `chance` of the same motion, where there is one: it belongs to each row of the motion."""
    return next((other[number] for other in rows if other[:2] == [row[0], "chance"] and other is not row), "")


class Shown:
    """Where the numbers of texts are shown now, by text and row.

    Args:
        names: The names of all numbers: COMMAND/TEXT/PLACE/.../ROW/COLUMN.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._rows: dict[tuple[str, ...], list[tuple[str, set[str]]]] = {}
        for name in names:
            *text, row, column = name.split("/")
            words = {*text[2:], row, _without_count(column)}
            parts = _without_count(row).split(", ")
            for start in range(len(parts)):  # a paired test has the two rows before the metric
                self._rows.setdefault((*text[:2], ", ".join(parts[start:])), []).append((name, words))

    def find(self, name: str) -> list[str]:
        """The names under which a number may be shown now: those of rows of the same name, in the same text.

        They are narrowed by each word of the old place that some of them still have: sections and folds, the column,
        the caption, and the number of the row among those of the same name. So a table may be split, move or be
        renamed, but a number is not taken for one of another task, method or column while there is one of its own.
        """
        *text, row, column = name.split("/")
        found = self._rows.get((*text[:2], _without_count(row)), [])
        for word in (*text[2:-1], _without_count(column), *text[-1:], row):
            now = {word, RENAMED.get(word, word), f"rho {word}"}
            found = [(other, words) for other, words in found if now & words] or found
        return [other for other, _ in found]


def _without_count(word: str) -> str:
    return COUNT.sub("", word)


def _add(numbers: dict[str, str], name: str, cell: str) -> None:
    for count, number in enumerate(NUMBER.findall(INTERVAL.sub(" ", cell)), 1):
        numbers[name if count == 1 else f"{name} #{count}"] = number.replace(",", "").replace("−", "-")


def _head(row: list[str]) -> str:
    """The first cell of a row, and those after it that hold no number: together they name it."""
    words = [row[0]]
    for cell in row[1:]:
        if cell == "-" or NUMBER.search(cell):
            break
        words.append(cell)
    return ", ".join(words)


def _free(name: str, numbers: dict[str, str]) -> str:
    """The name, with a count behind it where rows of one table have the same."""
    count, free = 1, name
    while any(key.startswith(f"{free}/") for key in numbers):
        count += 1
        free = f"{name} ({count})"
    return free


def _free_column(columns: list[str], number: int) -> str:
    """The head of a column; one that comes again (chance) is named after the one before it."""
    column = columns[number]
    return column if columns.index(column) == number else f"{column} of {columns[number - 1]}"


def _notes(lines: Iterable[str], columns: list[str]) -> dict[str, str]:
    """The lines below a table, such as `MRR: chance 0.017.`, that give the baselines of a column for all its rows."""
    found = {}
    for line in lines:
        if line.startswith(("#", "|", "**")):
            break
        column, _, baselines = line.partition(": ")
        if column in columns:
            found[column] = baselines
    return found


def _tables(text: str) -> Iterator[tuple[str, list[str], list[list[str]], dict[str, str]]]:
    """Where each table stands (headings, folds and its caption), its columns, its rows and the notes of its columns."""
    headings: list[str] = []
    fold = caption = ""
    lines = [line.replace("\\", "") for line in text.splitlines()]
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            headings = [*headings[: level - 1], line.strip("# ")]
            fold = caption = ""
        elif line.startswith("**") and line.endswith("**"):
            fold = line.strip("*")
        elif line.endswith(":"):
            caption = line.rstrip(":")
        elif line.startswith("|"):
            end = next((k for k in range(at, len(lines)) if not lines[k].startswith("|")), len(lines))
            columns, _, *rows = [[cell.strip() for cell in one.strip("|").split("|")] for one in lines[at:end]]
            yield (
                "/".join(word for word in (*headings[1:], fold, caption) if word),
                columns,
                rows,
                _notes(lines[end:], columns),
            )
            at = end
        at += 1
