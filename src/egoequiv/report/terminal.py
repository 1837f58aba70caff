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

    A table that is wider than the console is written as several, each with the first column.
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
        for column, width in zip(columns, _widths(grid, columns, console.width), strict=True):
            justify = "right" if grid.is_number(column) else "left"
            table.add_column(Line(grid.columns[column]), justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
        for row in grid.rows:
            table.add_row(*(_shown(row[column]) for column in columns))
        console.print(table)
    for note in grid.notes:
        _say(console, note)


def split_columns(grid: Grid, width: int) -> list[list[int]]:
    """The columns of each part of a table that is at most so wide; the first column is in every part."""
    parts: list[list[int]] = [[0]]
    for column in range(1, len(grid.columns)):
        needs = [_need(grid, one) for one in (*parts[-1], column)]
        if len(parts[-1]) > 1 and sum(needs) > width - BORDER * len(needs) - 1:
            parts.append([0])
        parts[-1].append(column)
    return parts


def _widths(grid: Grid, columns: Sequence[int], width: int) -> list[int]:
    """How wide each column is: as it needs, and wider as far as there is room for it."""
    room = width - BORDER * len(columns) - 1
    needs = [_need(grid, column) for column in columns]
    found = [min(need, max(1, room - (len(columns) - 1))) for need in needs]
    for number, column in enumerate(columns):
        spare = room - sum(found)
        found[number] += max(0, min(spare, max(map(len, _lines(grid, column))) - found[number]))
        if spare < 0:
            found[number] = max(1, found[number] + spare)
    return found


def _lines(grid: Grid, column: int) -> list[str]:
    return [grid.columns[column], *(line for row in grid.rows for line in (row[column].text, *row[column].small))]


def _need(grid: Grid, column: int) -> int:
    """How wide a column has to be: no number is broken, and no word of ordinary length."""
    head, *cells = _lines(grid, column)
    if grid.is_number(column):
        return max(map(len, (*head.split(), *cells)), default=1)
    return max((min(WORD, len(word)) for line in (head, *cells) for word in line.split()), default=1)


def _shown(cell: Cell) -> Line:
    tone = {"good": "green", "bad": "red"}.get(cell.tone, "")
    return Line("\n").join([Line(cell.text, tone), *(Line(line, "dim") for line in cell.small)])
