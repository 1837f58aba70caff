"""The numbers in the tables of a Markdown text, by section, row and column."""

from __future__ import annotations

import re
from collections.abc import Iterator

NUMBER = re.compile(r"(?<![\w.])(?<!\w-)[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# [0.80, 1.14], (-3.48 to 4.62) and 0.80 to 1.14 are intervals; `0 to 2` alone are seeds.
INTERVAL = re.compile(r"\[[^]]*\]|\(?[-+−]?\d[\d.,]* to [-+−]?\d[\d.,]*\)?")
# Tables of settings and versions: what a setting is called and which there are is not a number that was measured.
LEFT_OUT = re.compile(r"settings|versions|How it was made|\bsetting\b")
LEFT_OUT_ROWS = ("version",)
# What a heading, a caption, a column or the name of a row is called now: what it was called when the numbers were made.
RENAMED: dict[str, str] = {}


def shown_numbers(text: str) -> dict[str, str]:
    """{"section/row/column": "51.43"}, with the digits that are shown; further numbers of a cell end in #2, #3, ..."""
    numbers: dict[str, str] = {}
    for place, columns, rows in _tables(text):
        if LEFT_OUT.search(place) or any(LEFT_OUT.search(column) for column in columns):
            continue
        for row in rows:
            if row[0] in LEFT_OUT_ROWS:
                continue
            name = _free(f"{place}/{_head(row)}", numbers)
            for number, (column, cell) in enumerate(zip(columns, row, strict=True)):
                if number and "interval" not in column:
                    _add(numbers, f"{name}/{_free_column(columns, number)}", cell)
    return numbers


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


def _renamed(words: str) -> str:
    return RENAMED.get(words, words)


def _tables(text: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Where each table stands (headings, folds and its caption), its columns and its rows."""
    headings: list[str] = []
    fold = caption = ""
    lines = [line.replace("\\", "") for line in text.splitlines()]
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            headings = [*headings[: level - 1], _renamed(line.strip("# "))]
            fold = caption = ""
        elif line.startswith("**") and line.endswith("**"):
            fold = _renamed(line.strip("*"))
        elif line.endswith(":"):
            caption = _renamed(line.rstrip(":"))
        elif line.startswith("|"):
            end = next((k for k in range(at, len(lines)) if not lines[k].startswith("|")), len(lines))
            columns, _, *rows = [
                [_renamed(cell.strip()) for cell in one.strip("|").split("|")] for one in lines[at:end]
            ]
            yield "/".join(word for word in (*headings[1:], fold, caption) if word), columns, rows
            at = end
        at += 1
