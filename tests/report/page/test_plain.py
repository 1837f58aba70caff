"""The report as Markdown and LaTeX: names of any kind stay where they are put."""

from markdown_it import MarkdownIt

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.table import compare_rows
from egoequiv.report.page.blocks import Cell, Code, Fold, Grid, Picture, Points, Section, Text
from egoequiv.report.page.plain import to_latex, to_markdown
from egoequiv.report.page.sections import Report
from egoequiv.report.tables import to_latex as table_to_latex
from egoequiv.report.tables import to_markdown as table_to_markdown

STRANGE = "a|b*c*_d_`e`<b>\\\n# [g](h) ~~i~~"
SHOWN = "a|b*c*_d_`e`<b>\\ # [g](h) ~~i~~"
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
COMMAND = "egoequiv train\n```\n\\end{verbatim}\n# out"
REPORT = Report(
    STRANGE,
    f"All of {STRANGE}",
    {STRANGE: STRANGE, "Made by": "egoequiv report a_b"},
    [
        Section(
            STRANGE,
            [
                Text(STRANGE),
                Points([STRANGE, f"{STRANGE}: `egoequiv report a_b`"]),
                Code(COMMAND),
                Picture("data:,", STRANGE, STRANGE, 100),
                Fold(STRANGE, [Text(STRANGE)]),
                Grid(STRANGE, ("method", STRANGE), [[Cell(STRANGE), Cell("1.0", [STRANGE])]]),
            ],
            [Section(STRANGE, [Text(STRANGE)])],
        )
    ],
)


def test_markdown_has_the_blocks_it_was_given_and_no_others() -> None:
    tokens = READER.parse(to_markdown(REPORT))
    opened = [token.type for token in tokens if token.type.endswith("_open")]
    assert opened.count("heading_open") == 3
    assert opened.count("table_open") == 1
    assert [opened.count(f"{cell}_open") for cell in ("th", "td")] == [2, 2]
    assert [token.content for token in tokens if token.type == "fence"] == [COMMAND + "\n"]
    texts = []
    for token in tokens:
        kinds = {child.type for child in token.children or []}
        assert kinds <= {"text", "code_inline", "em_open", "em_close", "strong_open", "strong_close"}
        texts.append("".join(child.content for child in token.children or []))
    assert sum(SHOWN in text for text in texts) == 16
    assert f"{SHOWN}: egoequiv report a_b" in texts
    assert "Made by: egoequiv report a_b" in texts


def test_latex_closes_what_it_opens() -> None:
    text = to_latex(REPORT)
    assert "\\end{verbatim}" not in text
    spelled = r"a\textbar{}b*c*\_d\_\textasciigrave{}e\textasciigrave{}$<$b$>$\textbackslash{} \# [g](h)"
    assert rf"\section{{{spelled}" in text
    assert text.count(spelled) == 11
    assert r"\texttt{egoequiv report a\_b}" in text
    assert text.count("{") == text.count("}")


def test_latex_has_no_headings_and_announcements_of_nothing() -> None:
    picture = Picture("data:,", "a", "b", 100)
    sections = [
        Section("Curves", [picture, Fold("More", [Text("hidden")])]),
        Section("Nothing below", (), [Section("Empty", [picture])]),
        Section("Retrieval", [Text("Numbers."), Text("Examples of equiv:"), picture, Text("These:"), Points(["one"])]),
        Section("Slowness", [Fold("Could not be measured", [Points(["no poses"])], is_open=True)]),
    ]
    text = to_latex(Report("t", "l", {}, sections))
    assert [line for line in text.splitlines() if "section{" in line] == [
        r"\section{Retrieval}",
        r"\section{Slowness}",
    ]
    assert "Examples" not in text
    assert "hidden" not in text
    assert "These:" in text
    assert "no poses" in text


def test_tables_keep_their_cells() -> None:
    rows = [
        Row(STRANGE, labels, {f"rho_{STRANGE}": Result((0.1, 0.2 + labels, 0.4))}, settings={"motions": STRANGE})
        for labels in (True, True)
    ]
    columns = (f"rho_{STRANGE}",)
    table = Table(STRANGE, columns, rows, compare_rows(rows, columns[0]), {"store": STRANGE}, STRANGE)
    tokens = READER.parse(table_to_markdown(table))
    kinds = {child.type for token in tokens for child in token.children or []}
    assert kinds == {"text"}
    cells = [token for token in tokens if token.type in ("th_open", "td_open")]
    assert len(cells) == 2 * 3 + 3 * (1 + len(table.comparisons)) + 2 * 3 + 2 * 2
    assert table_to_latex(table).count(r"\textbar{}") > 5
