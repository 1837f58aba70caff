"""The report of a folder, in all its forms: what stands where, and that no name breaks out of its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from egoequiv.blocks import Block, Cell, Code, Fold, Grid, Picture, Points, Section, Text
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.task import Task
from egoequiv.experiments.collect import Exhibit
from egoequiv.report.page import report_target, to_html, to_latex, to_markdown, write_report
from egoequiv.report.sections import Report, build_report
from egoequiv.report.tables import save_table
from egoequiv.report.task_sections import MOST_ROWS, OVER_ALL
from report.made import (
    TOP1,
    MadeSubject,
    experiment,
    made_experiment,
    measurement,
    retrieval,
    row,
    table,
)

VOID = {"meta", "link", "img", "br"}
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
                Grid(STRANGE, ("method", STRANGE), [[Cell(STRANGE), Cell("1.0", [STRANGE])]], (STRANGE,)),
            ],
            [Section(STRANGE, [Text(STRANGE)])],
        )
    ],
)


class Page(HTMLParser):
    """The tags of a page in order; an error where one is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for found, attrs in self.tags if found == tag]


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report(Path("a folder"), [made_experiment()])


def section(report: Report, *titles: str) -> Section:
    sections: Sequence[Section] = report.sections
    for title in titles[:-1]:
        sections = next(one for one in sections if one.title == title).sections
    return next(one for one in sections if one.title == titles[-1])


def kinds(blocks: Sequence[Block]) -> list[str]:
    return [block.kind for block in blocks]


def words_of(found: Section) -> str:
    own = [block.text for block in found.blocks if isinstance(block, Text)]
    return "\n".join(own + [words_of(below) for below in found.sections])


def test_the_sections_stand_in_their_order(report: Report) -> None:
    assert report.title == "Toys"
    assert [one.title for one in report.sections] == [
        "Toys: a small table",
        OVER_ALL,
        "How it was made",
        "What is missing",
    ]
    assert [one.title for one in report.sections[0].sections] == [
        "Results",
        "Where it differs from the paper",
        "Paired tests",
        "Each motion",
        "Training curves",
        "Slowness AUROC during training",
        "Next view",
        "Composition",
        "Retrieval",
        "Motions",
        "my-task",
        "Other tasks",
        "Configuration",
    ]
    assert list(report.facts) == ["Made by", "Leakage"]
    assert report.facts["Leakage"].startswith("640 of 648 validation frames")


def test_a_task_begins_with_its_result_and_hides_what_is_long(report: Report) -> None:
    found = section(report, "Toys: a small table", "Composition")
    assert kinds(found.blocks) == ["text", "text", "text", "grid", "fold", "picture", "picture", "fold", "fold"]
    assert isinstance(found.blocks[0], Text)
    assert found.blocks[0].text.startswith("rho of 5 steps, product: best is equiv with 0.660 (lower is better; copy")
    assert isinstance(found.blocks[3], Grid)
    assert found.blocks[3].columns == ("method", "rho of 5 steps, product")
    picture = found.blocks[5]
    assert isinstance(picture, Picture)
    assert "clsnet: rho of 5 steps, product 1.320; equiv: rho of 5 steps, product 0.660" in picture.alt


def test_what_could_not_be_measured_and_what_was_not_is_said(report: Report) -> None:
    retrieved = section(report, "Toys: a small table", "Retrieval")
    (fold,) = (block for block in retrieved.blocks if isinstance(block, Fold) and "not be" in block.summary)
    assert fold.blocks == [Points(["clsnet: no poses"])]
    assert "Not measured for clsnet; to do so: `egoequiv report 'a folder'`" in words_of(
        section(report, "Toys: a small table", "Next view")
    )
    left = words_of(section(report, "Toys: a small table", "Other tasks"))
    assert "Analogy" in left
    assert "Slowness" not in left  # it has a table over all repetitions
    missing = section(report, "What is missing").blocks[0]
    assert isinstance(missing, Points)
    assert any("runs behind equiv (no labels) are not in this folder" in item for item in missing.items)


def test_a_task_of_the_users_own_appears(report: Report) -> None:
    found = section(report, "Toys: a small table", "my-task")
    assert "my score: 0.400*" in words_of(found)
    task = Task("mine.py:my-task", "My title", "What mine measures.", lambda *_: None)  # type: ignore[arg-type,return-value]
    mine = measurement("mine.py:my-task", [Value(metric=TOP1, value=40.0)])
    subjects: Any = (MadeSubject("equiv", {"mine.py:my-task": mine}),)
    exhibit = Exhibit("runs", "The runs in toys", None, subjects, is_of_runs=True)
    named = build_report(Path("toys"), [experiment([exhibit])], tasks={"mine.py:my-task": task})
    assert "What mine measures." in words_of(section(named, "What was found", "My title"))


def test_a_task_without_numbers_is_shown_once(report: Report) -> None:
    found = section(report, "Toys: a small table", "Motions")
    assert kinds(found.blocks) == ["text", "picture", "grid"]
    picture = found.blocks[1]
    assert isinstance(picture, Picture)
    assert "motion up, pairs 300" in picture.alt


def test_tables_of_tasks_stand_under_one_heading(report: Report) -> None:
    (found,) = section(report, OVER_ALL).sections
    assert found.title == "Slowness"
    assert kinds(found.blocks)[-3:] == ["grid", "fold", "fold"]
    assert [block.summary for block in found.blocks if isinstance(block, Fold)] == [
        "Where it differs from the paper",
        "How it was measured",
    ]


def test_runs_without_a_table_and_what_is_wrong_with_them() -> None:
    subjects: Any = (MadeSubject("equiv", {"recognition": measurement("recognition", problem="no labels")}),)
    note = "Not finished: equiv-1 (iteration 20 of 40)."
    bare = Exhibit("runs", "The runs in toys", None, subjects, is_of_runs=True, notes=(note,))
    found = build_report(Path("toys"), [experiment([bare])], ["Could not be measured: equiv-1: the store is gone"])
    assert [one.title for one in found.sections] == ["What was found", "How it was made", "What is missing"]
    results = section(found, "What was found", "Results")
    assert "The runs have not been measured; to do so: correct what is listed under “What is missing”" in words_of(
        results
    )
    assert note in words_of(results)
    assert "no labels" in str(results.blocks[-1])
    assert "By `egoequiv train`, run by run" in words_of(section(found, "How it was made"))
    missing = section(found, "What is missing").blocks[0]
    assert isinstance(missing, Points)
    assert missing.items[-1] == "Could not be measured: equiv-1: the store is gone"


def test_a_damaged_measurement_does_not_stop_the_report() -> None:
    metric = Metric(name="precision", title="precision")
    broken = retrieval().model_copy(update={"details": {}, "values": [Value(metric=metric, value=0.5)]})
    subjects: Any = (MadeSubject("equiv", {"retrieval": broken.with_arrays(retrieval().arrays)}),)
    found = build_report(Path("toys"), [experiment([Exhibit("runs", "Toys", None, subjects)])])
    words = words_of(section(found, "What was found", "Retrieval"))
    assert "the figures of retrieval cannot be drawn from its measurement of equiv-0" in words


def test_pictures_of_many_rows_are_left_out_and_named() -> None:
    subjects: Any = tuple(MadeSubject(f"row {k}", {"retrieval": retrieval(1)}) for k in range(MOST_ROWS + 3))
    found = build_report(Path("toys"), [experiment([Exhibit("runs", "Toys", None, subjects)])])
    blocks = section(found, "What was found", "Retrieval").blocks
    fold = next(block for block in blocks if isinstance(block, Fold) and block.summary.startswith("The same"))
    assert len(fold.blocks) == MOST_ROWS + 1
    assert isinstance(fold.blocks[-1], Text)
    assert fold.blocks[-1].text.endswith(f"row {MOST_ROWS + 1}, row {MOST_ROWS + 2}.")


def test_the_page_needs_nothing_but_itself(report: Report) -> None:
    text = to_html(report)
    page = Page(text)
    assert all(len(image["alt"] or "") > 20 for image in page.all("img"))
    assert len(page.all("img")) == 12
    links = {attrs["href"] for attrs in page.all("a")}
    ids = {f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs}
    assert links <= ids
    assert not re.search(r'(src|href)="(?!data:|#)', text)  # nothing is fetched from anywhere
    assert "url(" not in text
    assert "<code>egoequiv report &#39;a folder&#39;</code>" in text


def test_all_forms_hold_the_same_numbers(report: Report) -> None:
    html, markdown, latex = to_html(report), to_markdown(report), to_latex(report)
    for number in ("38.57 ", "[36.54, 40.59]", "0.510 ", "+13.57 "):
        assert number in html
        assert number in markdown
        assert number in latex
    assert "not better than each of its baselines" in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") > 3


def test_html_is_escaped() -> None:
    made = Section("<h>", [Text("a < b, `x & y`"), Grid("c", ("m",), [[Cell("<script>")]], ("<note>",))])
    text = to_html(Report("<title>", "&", {"made": "egoequiv <b>"}, [made]))
    Page(text)
    assert "&lt;script&gt;" in text
    assert "&lt;note&gt;" in text
    assert "a &lt; b, <code>x &amp; y</code>" in text
    Page(to_html(REPORT))


def test_markdown_has_the_blocks_it_was_given_and_no_others() -> None:
    tokens = READER.parse(to_markdown(REPORT))
    opened = [token.type for token in tokens if token.type.endswith("_open")]
    assert opened.count("heading_open") == 3
    assert opened.count("table_open") == 1
    assert [opened.count(f"{cell}_open") for cell in ("th", "td")] == [2, 2]
    assert [token.content for token in tokens if token.type == "fence"] == [COMMAND + "\n"]
    texts = []
    for token in tokens:
        found = {child.type for child in token.children or []}
        assert found <= {"text", "code_inline", "em_open", "em_close", "strong_open", "strong_close"}
        texts.append("".join(child.content for child in token.children or []))
    assert sum(SHOWN in text for text in texts) == 17
    assert f"{SHOWN}: egoequiv report a_b" in texts
    assert "Made by: egoequiv report a_b" in texts


def test_latex_closes_what_it_opens() -> None:
    text = to_latex(REPORT)
    assert "\\end{verbatim}" not in text
    spelled = r"a\textbar{}b*c*\_d\_\textasciigrave{}e\textasciigrave{}$<$b$>$\textbackslash{} \# [g](h)"
    assert rf"\section{{{spelled}" in text
    assert text.count(spelled) == 14
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
    assert [line for line in text.splitlines() if "section{" in line] == [r"\section{Retrieval}", r"\section{Slowness}"]
    assert "Examples" not in text
    assert "hidden" not in text
    assert "These:" in text
    assert "no poses" in text


def test_a_table_alone_is_enough(tmp_path: Path) -> None:
    save_table(table([TOP1], row("clsnet", {"top1": (1.0,)}, settings={"a": 1})), tmp_path)
    written = write_report(tmp_path)
    assert written == tmp_path / "report.html"
    Page(written.read_text())
    assert "runs behind clsnet are not in this folder" in written.read_text()
    assert "command that made this folder was not recorded" in written.read_text()
    assert write_report(tmp_path, tmp_path / "a" / "page.md").read_text().startswith("# Toys\n")
    assert write_report(tmp_path, tmp_path / "page.txt", form="latex").read_text().startswith("% ")


def test_names_that_are_not_text_can_be_written(tmp_path: Path) -> None:
    broken = b"a\xff".decode("utf-8", "surrogateescape")
    folder = tmp_path / broken
    folder.mkdir()
    save_table(table([TOP1], row("clsnet", {"top1": (1.0,)})), folder)
    assert write_report(folder, tmp_path / "page.html").stat().st_size > 1000


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write .*page\.html"):
        report_target(tmp_path, tmp_path / "file" / "page.html")
    with pytest.raises(DataError, match="is a folder"):
        report_target(tmp_path, tmp_path, "html")
    with pytest.raises(ConfigError, match="choose from html, markdown, latex"):
        report_target(tmp_path, tmp_path / "report.doc", "word")
    with pytest.raises(ConfigError, match=r"ends in '\.doc': a report is written as \.html, \.md, \.tex"):
        report_target(tmp_path, tmp_path / "report.doc")
    assert report_target(tmp_path, tmp_path / "new" / "page.MD") == (tmp_path / "new" / "page.MD", "markdown")
    assert not (tmp_path / "new").exists()
