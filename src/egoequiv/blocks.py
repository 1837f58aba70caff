"""What people read, before it is written in any format: text, tables, figures, and sections of them.

Tasks, tables and reports make blocks; the writers in `report` turn them into a terminal's text, Markdown, LaTeX, HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

NUMBER = re.compile(r"[-+]?\d")  # what a number begins with


@dataclass(frozen=True)
class Text:
    """A paragraph; `tone` is plain, note (small print) or missing (something is not there)."""

    text: str
    tone: str = "plain"
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Points:
    """A list of short statements."""

    items: Sequence[str]
    kind: ClassVar[str] = "points"


@dataclass(frozen=True)
class Code:
    """A command or a file, word by word."""

    text: str
    kind: ClassVar[str] = "code"


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and smaller lines below it; it is sorted by the number it begins with, or by its letters."""

    text: str
    small: Sequence[str] = ()
    tone: str = ""  # good, bad or empty
    is_measured: bool = False  # a number that says how good something is, and may bear a mark

    @property
    def is_number(self) -> bool:
        return bool(NUMBER.match(self.text))

    @property
    def line(self) -> str:
        """The cell on one line."""
        return " ".join([self.text, *(line if line.startswith("[") else f"({line})" for line in self.small)])


@dataclass(frozen=True)
class Grid:
    """A table; the first cell of a row is its head."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()  # one line each, below the table
    is_words: bool = False  # names and settings, which are not set as columns of numbers
    kind: ClassVar[str] = "grid"

    @classmethod
    def of(
        cls,
        caption: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        notes: Sequence[str] = (),
        *,
        is_words: bool = False,
    ) -> Grid:
        """A table of cells, texts and counts."""
        cells = [
            [one if isinstance(one, Cell) else Cell(one if isinstance(one, str) else f"{one:,}") for one in row]
            for row in rows
        ]
        return cls(caption, tuple(columns), cells, tuple(notes), is_words)

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers; the first one, the heads of the rows, never does."""
        return column > 0 and not self.is_words and any(row[column].is_number for row in self.rows)


@dataclass(frozen=True)
class Picture:
    """A figure as a data URI; a chart has no background and may be turned dark, photographs may not."""

    source: str
    alt: str
    caption: str
    width: int  # in CSS pixels, at most
    is_chart: bool = True
    kind: ClassVar[str] = "picture"


@dataclass(frozen=True)
class Fold:
    """Blocks that are hidden until the reader opens them."""

    summary: str
    blocks: Sequence[Block]
    is_open: bool = False
    kind: ClassVar[str] = "fold"


Block = Text | Points | Code | Grid | Picture | Fold


@dataclass(frozen=True)
class Section:
    """Blocks under a heading, and sections below it."""

    title: str
    blocks: Sequence[Block] = ()
    sections: Sequence[Section] = field(default_factory=tuple)
