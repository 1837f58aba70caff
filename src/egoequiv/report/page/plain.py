"""A report as Markdown and as LaTeX: its text and tables, without figures."""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.report.latex import PACKAGES, escape_latex, latex_code, latex_paragraph, latex_table
from egoequiv.report.markdown import code_block, code_span, escape_markdown, markdown_table, paragraph
from egoequiv.report.page.blocks import Block, Cell, Code, Fold, Grid, Picture, Points, Section, Text
from egoequiv.report.page.sections import Report

HEADINGS = ("section", "subsection", "subsubsection")


def to_markdown(report: Report) -> str:
    """All text and tables; a figure is told by what it shows."""
    lines = [f"# {escape_markdown(report.title)}", "", paragraph(report.lead), ""]
    for name, value in report.facts.items():
        shown = code_span(value) if value.startswith("egoequiv ") else escape_markdown(value)
        lines.append(f"- {paragraph(name)}: {shown}")
    for section in report.sections:
        lines += _markdown_section(section, 2)
    return "\n".join(lines).rstrip() + "\n"


def _markdown_section(section: Section, level: int) -> list[str]:
    lines = ["", f"{'#' * level} {escape_markdown(section.title)}", ""]
    for block in section.blocks:
        lines += [*_markdown_block(block), ""]
    for below in section.sections:
        lines += _markdown_section(below, level + 1)
    return lines


def _markdown_block(block: Block) -> list[str]:
    match block:
        case Text(text=text):
            return [paragraph(text)]
        case Points(items=items):
            return [f"- {paragraph(item)}" for item in items]
        case Code(text=text):
            return code_block(text)
        case Picture(alt=alt):
            return [f"*Figure: {escape_markdown(alt).strip()}*"]
        case Fold(summary=summary, blocks=blocks):
            return [
                f"**{escape_markdown(summary).strip()}**",
                *(line for one in blocks for line in ["", *_markdown_block(one)]),
            ]
        case Grid(caption=caption, columns=columns, rows=rows):
            table = markdown_table(columns, [[cell_text(cell) for cell in row] for row in rows])
            return [f"{paragraph(caption)}:", "", *table]


def cell_text(cell: Cell) -> str:
    """A cell on one line."""
    return " ".join([cell.text, *(line if line.startswith("[") else f"({line})" for line in cell.small)])


def to_latex(report: Report) -> str:
    """A document part to be \\input: headings, text and tables; folded tables are left out, for they are long."""
    lines = [PACKAGES, "", latex_paragraph(report.lead)]
    for number, section in enumerate(report.sections):
        lines += _latex_section(section, 0, f"{number}")
    return "\n".join(lines).rstrip() + "\n"


def _latex_section(section: Section, level: int, label: str) -> list[str]:
    """A heading and what is below it; nothing where that is figures and folds alone."""
    shown = [_latex_block(block, f"{label}-{number}") for number, block in enumerate(section.blocks)]
    lines = []
    for number, (block, own) in enumerate(zip(section.blocks, shown, strict=True)):
        announces = isinstance(block, Text) and block.text.endswith(":")
        if own and not (announces and not any(shown[number + 1 : number + 2])):
            lines += [*own, ""]
    for number, below in enumerate(section.sections):
        lines += _latex_section(below, level + 1, f"{label}-{number}")
    return ["", rf"\{HEADINGS[min(level, 2)]}{{{escape_latex(section.title)}}}", "", *lines] if lines else []


def _latex_block(block: Block, label: str) -> Sequence[str]:
    match block:
        case Text(text=text):
            return [latex_paragraph(text)]
        case Points(items=items):
            return [r"\begin{itemize}", *(rf"\item {latex_paragraph(item)}" for item in items), r"\end{itemize}"]
        case Code(text=text):
            return latex_code(text)
        case Grid(caption=caption, columns=columns, rows=rows):
            return [latex_table(caption, f"report-{label}", columns, [[cell_text(c) for c in row] for row in rows])]
        case Fold(summary=summary, blocks=blocks, is_open=True):
            inner = [line for k, one in enumerate(blocks) for line in _latex_block(one, f"{label}-{k}")]
            return [latex_paragraph(f"{summary}:"), *inner] if inner else []
        case Picture() | Fold():
            return []
