"""The report of a folder, in all its forms."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import egoequiv
from egoequiv.errors import ConfigError
from egoequiv.evaluation import Result
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments import Row, Table
from egoequiv.report.page import to_html, write_report
from egoequiv.report.page.blocks import Cell, Grid, Section, Text
from egoequiv.report.page.found import Found
from egoequiv.report.page.gather import gather
from egoequiv.report.page.headlines import HEADLINES, in_words, numbers_of
from egoequiv.report.page.sections import Report, build_report
from egoequiv.report.page.tasks import find, missing_tasks
from egoequiv.report.tables import save_table

VOID = {"meta", "link", "img", "br"}


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


def test_without_measuring_it_says_what_is_missing(finished: Path, tmp_path: Path) -> None:
    out = shutil.copytree(finished, tmp_path / "toys")
    text = egoequiv.write_report(out, evaluate=False).read_text()
    page = Page(text)
    assert "What is missing" in text
    assert f"<code>egoequiv report {out}</code>" in text
    assert "640 of 648 validation frames" in text
    assert "reproduce norb -o &#39;a folder&#39;" in text
    assert all(len(image["alt"] or "") > 20 for image in page.all("img"))
    assert len(page.all("img")) == 4  # results, rho, curves, AUROC
    assert not (out / "tasks").exists()
    links = {attrs["href"] for attrs in page.all("a")}
    ids = {f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs}
    assert links <= ids
    assert not re.search(r'(src|href)="(?!data:|#)', text)  # nothing is fetched from anywhere
    assert "url(" not in text


def test_what_it_measures_is_kept(finished: Path, tmp_path: Path) -> None:
    out = shutil.copytree(finished, tmp_path / "toys")
    first = write_report(out, tasks=["slowness"]).read_text()
    kept = out / "tasks" / "table" / "equiv" / "slowness.json"
    written = kept.stat().st_mtime_ns
    assert write_report(out, tasks=["slowness"]).read_text() == first  # the same to the byte
    assert kept.stat().st_mtime_ns == written
    assert (out / "tasks" / "table" / "equiv" / "motions.svg").exists()
    assert "Declared motions" in first
    assert missing_tasks(gather(out), ["slowness"]) == []
    weights = out / "runs-12" / "equiv-labels-0" / "last.safetensors"
    weights.write_bytes((out / "runs-12" / "equiv-labels-1" / "last.safetensors").read_bytes())
    ((subject, tasks),) = missing_tasks(gather(out), ["slowness"])
    assert (subject.name, tasks) == ("equiv", ("slowness", "motions"))


def test_what_was_stopped_in_the_middle_is_not_kept(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(TASKS, "slowness", stopped)
    run = shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        write_report(run, tasks=["slowness"])
    assert not list(run.glob("tasks/*/*"))


def test_a_run_whose_store_is_gone_is_said_to_be(finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "toys"
    shutil.copytree(finished, out)
    for config in out.glob("runs-12/*/config.json"):
        config.write_text(config.read_text().replace(str(finished), "/nowhere"))
    text = write_report(out, tasks=["slowness"]).read_text()
    assert "Could not be opened: random, equiv: the store /nowhere/stores/turntable" in text
    assert "told of under “What is missing”, then <code>egoequiv report" in text
    assert not (out / "tasks").exists()


@pytest.mark.slow
def test_every_task_has_a_headline(finished: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "run")
    text = write_report(run).read_text()
    ((exhibit,),) = (experiment.exhibits for experiment in gather(run))
    for task in TASKS:
        found = find(exhibit.subjects[0], task)
        assert found is not None
        assert found.problem is None, task
        numbers = numbers_of(found)
        assert numbers, f"{task} has no line in HEADLINES"
        assert next(iter(numbers.values())) is not None
        assert f">{HEADLINES[task].title}</h3>" in text
    assert "Not measured" not in text


def test_a_problem_has_no_numbers() -> None:
    assert numbers_of(Found("slowness", {}, {}, (), (), "no poses")) == {}
    assert numbers_of(None) == {}
    assert in_words({"two views %": 43.861, "chance": None, "MRR": 0.5}, 2) == "two views 43.86 %, MRR 0.50"


def test_text_is_escaped() -> None:
    section = Section("<h>", [Text("a < b, `x & y`"), Grid("c", ("m",), [[Cell("<script>")]])])
    text = to_html(Report("<title>", "&", {"made": "egoequiv <b>"}, [section]))
    Page(text)
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text
    assert "a &lt; b, <code>x &amp; y</code>" in text


def test_markdown_and_latex_hold_the_same_numbers(finished: Path, tmp_path: Path) -> None:
    markdown = write_report(finished, tmp_path / "report.md", form="markdown", evaluate=False).read_text()
    latex = write_report(finished, tmp_path / "report.tex", form="latex", evaluate=False).read_text()
    html = write_report(finished, tmp_path / "report.html", evaluate=False).read_text()
    table = gather(finished)[0].exhibits[0].table
    assert table is not None
    mean = f"{table.row('equiv').metrics['top1'].mean:.2f} "
    assert mean in markdown
    assert mean in latex
    assert mean in html
    assert "| method | top-1 % | rho atomic | rho composite |" in markdown
    assert r"method & top-1 \% & rho atomic & rho composite \\" in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") > 3
    with pytest.raises(ConfigError, match="choose from html, markdown, latex"):
        write_report(finished, tmp_path / "report.doc", form="word")


def test_a_table_alone_is_enough(tmp_path: Path) -> None:
    save_table(Table("Alone", ("top1",), [Row("clsnet", True, {"top1": Result((1.0,))}, settings={"a": 1})]), tmp_path)
    report = build_report(tmp_path, gather(tmp_path))
    (missing,) = [section for section in report.sections if section.title == "What is missing"]
    words = " ".join(missing.blocks[0].items)  # type: ignore[union-attr]
    assert "runs behind clsnet are not in this folder" in words
    assert "command that made this folder was not recorded" in words
    Page(to_html(report))
