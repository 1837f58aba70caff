"""LaTeX for a paper: text, and tables in the manner of booktabs."""

from __future__ import annotations

from collections.abc import Sequence

PACKAGES = "% \\usepackage{booktabs,graphicx,longtable}"
LONGEST = 40  # rows of a table that must fit a page
ESCAPES = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "°": r"$^\circ$",
    "×": r"$\times$",
    "−": "$-$",
    "→": r"$\to$",
    "<": "$<$",
    ">": "$>$",
}


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it; anything else than ASCII that has no spelling is left to a Unicode engine."""
    return "".join(ESCAPES.get(sign, sign) for sign in text)


def latex_table(caption: str, label: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with the first column to the left and the others to the right; a long one may break over pages."""
    heading = [
        rf"\caption{{{escape_latex(caption)}}}",
        rf"\label{{tab:{label}}}",
    ]
    layout = f"{{l{'r' * (len(columns) - 1)}}}"
    head = [r"\toprule", " & ".join(map(escape_latex, columns)) + r" \\", r"\midrule"]
    body = [" & ".join(map(escape_latex, row)) + r" \\" for row in rows]
    if len(rows) > LONGEST:
        begin = [rf"\begin{{longtable}}{layout}", *heading[:-1], heading[-1] + r" \\", *head, r"\endhead"]
        return "\n".join([*begin, *body, r"\bottomrule", r"\end{longtable}"])
    fit = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"  # no wider than the text
    begin = [r"\begin{table}", r"\centering", *heading, fit, rf"\begin{{tabular}}{layout}", *head]
    return "\n".join([*begin, *body, r"\bottomrule", r"\end{tabular}}", r"\end{table}"])
