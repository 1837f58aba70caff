"""Blocks on a terminal, never wider than it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from egoequiv.blocks import Block, Cell, Code, Fold, Grid, Points, Text

BORDER = 3  # columns of the screen that a column of a table takes beside its content
WORD = 24  # letters of a word that is not broken


def print_blocks(blocks: Sequence[Block], console: Console) -> None:
    """Write blocks one after the other; figures and folds are left out, because a terminal cannot open them.

    Args:
        blocks: What to write.
        console: Where to; a table that is wider is written as several, each with the first column.
    """
    for block in blocks:
        match block:
            case Text(text=text):
                _say(console, text)
            case Points(items=items):
                for item in items:
                    _say(console, f"- {item}")
            case Code(text=text):
                console.print(Line(text), soft_wrap=True)
            case Grid():
                _print_grid(block, console)
            case Fold(summary=summary, blocks=inner, is_open=True):
                _say(console, f"{summary}:", "bold")
                print_blocks(inner, console)


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Line(text, style))


def _print_grid(grid: Grid, console: Console) -> None:
    if grid.caption:
        _say(console, grid.caption, "bold")
    for columns in split_columns(grid, console.width):
        table = Table()
        for column in columns:
            is_number = grid.is_number(column)
            table.add_column(
                Line(grid.columns[column]),
                justify="right" if is_number else "left",
                min_width=_need(grid, column) if is_number else None,
                overflow="fold",
            )
        for row in grid.rows:
            table.add_row(*(_shown(row[column]) for column in columns))
        console.print(table)
    for note in grid.notes:
        _say(console, note)


def split_columns(grid: Grid, width: int) -> list[list[int]]:
    """The columns of each part of a table that is at most so wide; the first column is in every part."""
    parts: list[list[int]] = [[0]]
    used = first = _need(grid, 0) + BORDER + 1
    for column in range(1, len(grid.columns)):
        need = _need(grid, column) + BORDER
        if used + need > width and len(parts[-1]) > 1:
            parts.append([0])
            used = first
        parts[-1].append(column)
        used += need
    return parts


def _need(grid: Grid, column: int) -> int:
    """How wide a column has to be: no number is broken, and no word of ordinary length."""
    cells = [line for row in grid.rows for line in (row[column].text, *row[column].small)]
    if not grid.is_number(column):
        cells = [word for line in cells for word in line.split()]
        return min(WORD, max((len(word) for word in (*cells, *grid.columns[column].split())), default=1))
    return max((len(text) for text in (*cells, *grid.columns[column].split())), default=1)


def _shown(cell: Cell) -> Line:
    tone = {"good": "green", "bad": "red"}.get(cell.tone, "")
    return Line("\n").join([Line(cell.text, tone), *(Line(line, "dim") for line in cell.small)])
