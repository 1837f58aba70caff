"""Markdown that says what it was given: names may hold signs that Markdown would take for its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

SPECIAL = re.compile(r"[\\`*_<>|~#$]|&(?=#?\w+;)|](?=[(\[:])")
COMMAND = re.compile(r"`(egoequiv [^`]*)`")  # what a text marks as a command; any other backtick is of a name
NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
BLANK = re.compile(r"[\x00-\x20\x7f\x85\u2028\u2029]+")  # all white space but that which keeps words together


def escape_markdown(text: str) -> str:
    """Text on one line, for a cell, a heading, or the middle of a sentence."""
    return SPECIAL.sub(lambda found: f"\\{found[0]}", _one_line(text))


def paragraph(text: str) -> str:
    """Text that begins a line; commands in it, between backticks, are set as code."""
    parts = COMMAND.split(text)  # text, command, text, ...
    spoken = [code_span(part) if k % 2 else escape_markdown(part) for k, part in enumerate(parts)]
    # At the beginning of a line these would make a list, a rule, or a heading of the line before.
    line = "".join(spoken).lstrip()
    line = NUMBERED.sub(r"\1\\\2", line)
    return f"\\{line}" if line.startswith(("-", "+", "=")) else line


def code_span(text: str) -> str:
    """Code in the middle of a sentence."""
    line = _one_line(text)
    fence = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def code_block(text: str, language: str = "console") -> list[str]:
    """Code by itself, between fences longer than any inside it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return [f"{fence}{language}", text, fence]


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of plain text."""
    return [_row(heads), "|---" * len(heads) + "|", *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escape_markdown, cells)) + " |"


def _one_line(text: str) -> str:
    return BLANK.sub(" ", text)


def _longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
