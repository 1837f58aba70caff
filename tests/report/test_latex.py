"""LaTeX: what is special is escaped, and tables are whole."""

from hypothesis import given
from hypothesis import strategies as st

from egoequiv.report.latex import LONGEST, escape_latex, latex_code, latex_paragraph, latex_table


def test_special_signs() -> None:
    assert escape_latex("50 % ± 1_a & b") == r"50 \% $\pm$ 1\_a \& b"
    assert escape_latex("left turn 27°, a\\b") == r"left turn 27$^\circ$, a\textbackslash{}b"


@given(st.text("&%#_ab 1"))
def test_no_special_sign_is_left_bare(text: str) -> None:
    bare = escape_latex(text)
    for sign in "&%#_":
        assert bare.count(sign) == bare.count(f"\\{sign}")


def test_a_table_has_rules_and_as_many_cells_as_columns() -> None:
    text = latex_table("A caption", "one", ("method", "top-1 %"), [("clsnet", "25.11"), ("equiv", "38.48")])
    lines = text.splitlines()
    assert lines[0] == r"\begin{table}"
    assert r"\begin{tabular}{lr}" in lines
    assert r"method & top-1 \% \\" in lines
    assert lines.index(r"\toprule") < lines.index(r"\midrule") < lines.index(r"\bottomrule")
    assert r"equiv & 38.48 \\" in lines


def test_a_long_table_may_break_over_pages() -> None:
    rows = [(str(k), "1") for k in range(LONGEST + 1)]
    text = latex_table("Long", "long", ("a", "b"), rows)
    assert text.startswith(r"\begin{longtable}{lr}")
    assert text.endswith(r"\end{longtable}")
    assert r"\endhead" in text


def test_names_do_not_break_out() -> None:
    assert escape_latex("a|b`c`\n\n<d>\\e") == (
        r"a\textbar{}b\textasciigrave{}c\textasciigrave{} $<$d$>$\textbackslash{}e"
    )
    assert escape_latex("--no-evaluate ---") == "-{}-no-evaluate -{}-{}-"
    text = latex_table("A\n\ncaption", "one", ("[m]", "p"), [("*star", "1"), ("[5cm]", "2")])
    assert r"\caption{A caption}" in text
    assert [line for line in text.splitlines() if line.startswith(("*", "["))] == []
    assert r"{}*star & 1 \\" in text
    assert latex_paragraph("[a] to do so: `egoequiv report a_b`") == r"{}[a] to do so: \texttt{egoequiv report a\_b}"


def test_code_is_verbatim_unless_it_would_end_it() -> None:
    assert latex_code("egoequiv report a_b") == [r"\begin{verbatim}", "egoequiv report a_b", r"\end{verbatim}"]
    lines = latex_code("egoequiv report '\\end{verbatim}\\input{x}'\nsecond")
    assert lines[0] == r"\begin{quote}\ttfamily"
    assert lines[1] == (r"egoequiv report '\textbackslash{}end\{verbatim\}\textbackslash{}input\{x\}' \\")
    assert lines[2:] == ["second", r"\end{quote}"]
