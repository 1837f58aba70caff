"""The headings of a report, of tables and of runs that are in none."""

from pathlib import Path

from egoequiv.report.page.blocks import Section, Text
from egoequiv.report.page.gather import gather
from egoequiv.report.page.sections import Report, build_report


def words_of(section: Section) -> list[str]:
    own = [block.text for block in section.blocks if isinstance(block, Text)]
    return own + [text for below in section.sections for text in words_of(below)]


def report_on(folder: Path) -> Report:
    return build_report(folder, gather(folder))


def test_runs_without_a_table(finished: Path) -> None:
    report = report_on(finished / "runs-12")
    assert report.title == "The runs in runs-12"
    assert [section.title for section in report.sections] == ["What was found", "How it was made", "What is missing"]
    assert list(report.facts) == ["Leakage"]
    (made,) = (section for section in report.sections if section.title == "How it was made")
    assert "By `egoequiv train`, run by run" in words_of(made)[0]
    assert not any("not recorded" in text or "reproduce" in text for s in report.sections for text in words_of(s))


def test_one_run(finished: Path) -> None:
    report = report_on(finished / "runs-12" / "equiv-labels-1")
    assert report.title == "The run equiv-labels-1"
    assert [section.title for section in report.sections][:2] == ["What was found", "How it was made"]


def test_a_table_has_its_own_heading(finished: Path) -> None:
    report = report_on(finished)
    assert [section.title for section in report.sections][:2] == ["Toys: a small table", "How it was made"]
    assert list(report.facts) == ["Made by", "Leakage"]
