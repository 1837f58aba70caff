"""Blocks as LaTeX for a paper: text, and tables for booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from egoequiv.blocks import Block, Code, Fold, Grid, Picture, Points, Section, Text
from egoequiv.markdown import BLANK, COMMAND

PACKAGES = "% \\usepackage{booktabs,graphicx,longtable}"
HEADINGS = ("section", "subsection", "subsubsection")
LONGEST = 40  # rows of a table that must fit a page
ESCAPES = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "°": r"$^\circ$",
    "×": r"$\times$",
    "−": "$-$",
    "→": r"$\to$",
    "<": "$<$",
    ">": "$>$",
}
END_VERBATIM = re.compile(r"\\end\s*\{verbatim\*?\}")


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it; anything else than ASCII that has no spelling is left to a Unicode engine."""
    spelled = "".join(ESCAPES.get(sign, sign) for sign in BLANK.sub(" ", text))
    return re.sub("-(?=-)", "-{}", spelled)  # two hyphens, as of an option, would become a dash


def latex_paragraph(text: str) -> str:
    """Text that begins a line or an item; commands in it, between backticks, are set as code."""
    parts = COMMAND.split(text)  # text, command, text, ...
    return _guarded(
        "".join(rf"\texttt{{{escape_latex(p)}}}" if k % 2 else escape_latex(p) for k, p in enumerate(parts))
    )


def latex_code(text: str) -> list[str]:
    """Code by itself, word by word; what would end the surroundings that keep it so is spelled out instead."""
    if not END_VERBATIM.search(text):
        return [r"\begin{verbatim}", text, r"\end{verbatim}"]
    lines = [_guarded(escape_latex(line)) + r" \\" for line in text.splitlines() if line.strip()]
    return [r"\begin{quote}\ttfamily", *lines[:-1], lines[-1].removesuffix(r" \\"), r"\end{quote}"]


def latex_table(caption: str, label: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right; a long one may break over pages."""
    heading = [
        rf"\caption{{{escape_latex(caption)}}}",
        rf"\label{{tab:{label}}}",
    ]
    layout = f"{{l{'r' * (len(columns) - 1)}}}"
    head = [r"\toprule", _row(columns), r"\midrule"]
    body = [_row(row) for row in rows]
    if len(rows) > LONGEST:
        begin = [rf"\begin{{longtable}}{layout}", *heading[:-1], heading[-1] + r" \\", *head, r"\endhead"]
        return "\n".join([*begin, *body, r"\bottomrule", r"\end{longtable}"])
    fit = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"  # no wider than the text
    begin = [r"\begin{table}", r"\centering", *heading, fit, rf"\begin{{tabular}}{layout}", *head]
    return "\n".join([*begin, *body, r"\bottomrule", r"\end{tabular}}", r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    return _guarded(" & ".join(map(escape_latex, cells))) + r" \\"


def _guarded(text: str) -> str:
    """Text that the command before it does not take for its own: after a line break, a star or bracket is an option."""
    return f"{{}}{text}" if text.lstrip().startswith(("[", "*")) else text


def latex_document(blocks: Sequence[Block], label: str, sections: Sequence[Section] = ()) -> str:
    """A part of a document to be \\input: text and tables; folded ones are left out, because they are long."""
    lines = [PACKAGES, "", *_blocks(blocks, label)]
    for number, section in enumerate(sections):
        lines += _section(section, 0, f"{label}-{number}")
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, level: int, label: str) -> list[str]:
    """A heading and what is below it; nothing where that is figures and folds alone."""
    lines = _blocks(section.blocks, label)
    for number, below in enumerate(section.sections):
        lines += _section(below, level + 1, f"{label}-{number}")
    return ["", rf"\{HEADINGS[min(level, 2)]}{{{escape_latex(section.title)}}}", "", *lines] if lines else []


def _blocks(blocks: Sequence[Block], label: str) -> list[str]:
    """Blocks one after the other, without texts that announce what is left out; the first table has the plain label."""
    lines = []
    shown = []
    tables = 0
    for block in blocks:
        shown.append(_block(block, f"{label}-{tables}" if tables else label))
        tables += isinstance(block, Grid)
    for number, (block, own) in enumerate(zip(blocks, shown, strict=True)):
        announces = isinstance(block, Text) and block.text.endswith(":")
        if own and not (announces and not any(shown[number + 1 : number + 2])):
            lines += [*own, ""]
    return lines


def _block(block: Block, label: str) -> list[str]:
    match block:
        case Text(text=text):
            return [latex_paragraph(text)]
        case Points(items=items):
            return [r"\begin{itemize}", *(rf"\item {latex_paragraph(item)}" for item in items), r"\end{itemize}"]
        case Code(text=text):
            return latex_code(text)
        case Grid(caption=caption, columns=columns, rows=rows, notes=notes):
            table = latex_table(caption, label, columns, [[cell.line for cell in row] for row in rows])
            return [table, *(line for note in notes for line in ("", latex_paragraph(note)))]
        case Fold(summary=summary, blocks=blocks, is_open=True):
            inner = _blocks(blocks, f"{label}-fold")
            return [latex_paragraph(f"{summary}:"), *inner] if inner else []
        case Picture() | Fold():
            return []
