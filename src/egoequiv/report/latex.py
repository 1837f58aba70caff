"""LaTeX for a paper: text, and tables in the manner of booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from egoequiv.report.markdown import BLANK, COMMAND

PACKAGES = "% \\usepackage{booktabs,graphicx,longtable}"
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
