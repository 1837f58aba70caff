"""Blocks as Markdown; names may hold signs that Markdown would take for its own, which are escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from egoequiv.blocks import Block, Code, Fold, Grid, Picture, Points, Section, Text

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


def markdown_document(title: str, blocks: Sequence[Block], sections: Sequence[Section] = ()) -> str:
    """Blocks and sections under a title."""
    lines = _section(Section(title, blocks, sections), 1)
    return "\n".join(lines).strip() + "\n"


def _section(section: Section, level: int) -> list[str]:
    lines = ["", f"{'#' * level} {escape_markdown(section.title)}", ""]
    for block in section.blocks:
        lines += [*_block(block), ""]
    for below in section.sections:
        lines += _section(below, level + 1)
    return lines


def _block(block: Block) -> list[str]:
    match block:
        case Text(text=text):
            return [paragraph(text)]
        case Points(items=items):
            return [f"- {paragraph(item)}" for item in items]
        case Code(text=text):
            return code_block(text)
        case Picture(alt=alt):  # described by what it shows
            return [f"*Figure: {escape_markdown(alt).strip()}*"]
        case Fold(summary=summary, blocks=blocks):
            inner = [line for one in blocks for line in ["", *_block(one)]]
            return [f"**{escape_markdown(summary).strip()}**", *inner]
        case Grid(caption=caption, columns=columns, rows=rows, notes=notes):
            table = markdown_table(columns, [[cell.line for cell in row] for row in rows])
            below = [line for note in notes for line in ("", paragraph(note))]
            return [f"{paragraph(caption)}:", "", *table, *below]
