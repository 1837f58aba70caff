"""`egoequiv report` and `egoequiv compare` from the command line, and what they refuse."""

import json
import re
import shutil
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from egoequiv.cli import reproduce
from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.report.tables import save_table
from egoequiv.store import FrameStore
from egoequiv.training import train
from running import Cli

SHORT = {"iterations": 20, "log_every": 20, "checkpoint_every": 20, "validate_every": 20, "per_class": 2}
SHORT |= {"split": "paper"}


@pytest.fixture(scope="module")
def runs(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "runs"
    for method in ("clsnet", "equiv"):
        for seed in range(3):
            train(small_store.path, folder / f"{method}-{seed}", method=method, seed=seed, **SHORT)
    return folder


def test_compare_shows_settings_figures_and_tests(cli: Cli, runs: Path) -> None:
    shown = cli("compare", *sorted(runs.iterdir())).out
    assert "A  clsnet, seed 0, 1, 2" in shown
    assert "method" in shown
    assert "paired t-test over 3 seeds" in shown
    assert "B - A" in shown
    alone = cli("compare", runs / "clsnet-0", runs / "equiv-0").out
    assert "paired bootstrap over recordings" in alone
    told = json.loads(cli("compare", runs / "clsnet-0", runs / "equiv-0", "--json").out)
    assert told["settings"] == {"method": ["clsnet", "equiv"]}
    assert told["answers"][0]["frames"] == 48
    same = cli("compare", runs / "clsnet-0", runs / "clsnet-1").out
    assert "differ in the seed alone" in same
    assert "no test: these runs are repetitions of one experiment" in same
    assert "no test" not in shown
    reason = "a test over seeds takes 3 in common, and they have 1; answers to single frames tell of top-1 only"
    assert f"no test of rho between B - A: {reason}" in alone
    assert told["untested"] == [{"a": 1, "b": 0, "figures": "rho", "reason": reason}]


def test_compare_takes_the_runs_of_a_folder_and_leaves_out_what_is_none(cli: Cli, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("a page")
    (tmp_path / "tasks").mkdir()
    whole = cli("compare", runs, tmp_path / "report.html", tmp_path / "tasks")
    assert "B  equiv, seed 0, 1, 2" in whole.out
    assert f"left out: {tmp_path / 'report.html'} (a file), {tmp_path / 'tasks'} (holds no run)" in whole.err
    assert "does not exist" in cli("compare", runs, tmp_path / "rnus", code=2).err


def test_compare_says_why_there_is_no_test_and_no_figure(
    cli: Cli, runs: Path, small_store: FrameStore, tmp_path: Path
) -> None:
    for method in ("drlim", "equiv"):
        train(small_store.path, tmp_path / method, method=method, use_labels=False, train_fraction=0.9, **SHORT)
    said = cli("compare", tmp_path / "drlim", tmp_path / "equiv").out
    assert "no test of B - A: a test over seeds takes 3 in common, and they have 1; answers to single frames" in said
    assert re.search(r"rho of up is not defined for A, B: \d+ pairs are too few .*, \d+ are needed\n", said)


def test_evaluate_says_how_many_pairs_are_needed(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="random", train_fraction=0.9, **SHORT).path
    measured = json.loads(cli("evaluate", run, "--json").out)["motions"][0]
    assert measured["pairs_needed"] > measured["pairs_scored"]
    said = cli("evaluate", run).out
    pairs = f"{measured['pairs_scored']} pairs are too few to fit and measure a map"
    needed = f"{measured['pairs_needed']} are needed: take more or longer recordings\n"
    assert f"up: not defined, {pairs}, {needed}" in said
    (row,) = (line for line in said.splitlines() if line.startswith("│ up "))
    assert row.split() == ["│", "up", *["│", "-"] * 7, "│"]
    kept = run / "evaluation-last.json"  # as earlier versions wrote it
    older = json.loads(kept.read_text())
    for motion in older["motions"]:
        del motion["pairs_needed"]
    kept.write_text(json.dumps(older))
    assert f"up: not defined, {pairs}: take more or longer recordings\n" in cli("evaluate", run).out


def test_evaluate_says_that_a_run_is_not_finished(cli: Cli, runs: Path, tmp_path: Path) -> None:
    run = shutil.copytree(runs / "clsnet-0", tmp_path / "run")
    assert "not finished" not in cli("evaluate", run).err
    (run / "result.json").unlink()
    assert f"{run} is not finished: iteration 20 of 20\n" in cli("evaluate", run).err
    assert "not finished" in cli("evaluate", run, "--task", "slowness").err


def test_compare_refuses_in_one_line(cli: Cli, runs: Path, small_store: FrameStore, tmp_path: Path) -> None:
    assert "two or more different runs" in cli("compare", runs / "equiv-0", runs / "equiv-0", code=2).err
    assert "(holds no run)" in cli("compare", runs / "equiv-0", tmp_path, code=2).err
    train(small_store.path, tmp_path / "other", method="equiv", **SHORT | {"split": "by-recording"})
    error = cli("compare", runs / "equiv-0", tmp_path / "other", code=2).err
    assert "validate on different frames (split=paper against by-recording)" in error
    assert error.strip().count("\n") == 0


def test_report_writes_what_the_name_says(cli: Cli, runs: Path, tmp_path: Path) -> None:
    told = json.loads(cli("report", runs, "-o", tmp_path / "page.html", "--tasks", "slowness", "--json").out)
    assert told["report"] == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    cli("report", runs, "-o", tmp_path / "page.md", "--no-evaluate")
    assert (tmp_path / "page.md").read_text().startswith("# The runs in runs")
    cli("report", runs, "-o", tmp_path / "page.txt", "--format", "latex", "--no-evaluate")
    assert r"\begin{table}" in (tmp_path / "page.txt").read_text()


def test_report_refuses_endings_it_cannot_write(cli: Cli, runs: Path, tmp_path: Path) -> None:
    for name in ("page.pdf", "page"):
        error = cli("report", runs, "-o", tmp_path / name, "--no-evaluate", code=2).err
        assert "a report is written as .html, .md, .tex" in error
        assert error.strip().count("\n") == 0
        assert not (tmp_path / name).exists()
    assert re.search(r"page.md \(\d+ KB\)", cli("report", runs, "-o", tmp_path / "page.md", "--no-evaluate").err)


def test_report_refuses_in_one_line(cli: Cli, tmp_path: Path) -> None:
    assert "holds no table and no run" in cli("report", tmp_path, code=2).err
    assert "task 'sloth' is not known" in cli("report", tmp_path, "--tasks", "sloth", code=2).err


def test_reproduce_all_ends_in_a_report(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def stand_in(real: Callable[..., None], title: str) -> Callable[..., None]:
        def make(**options: Any) -> None:
            asked.append(signature(real).bind(**options).arguments)
            table = Table(title, ("top1",), [Row("equiv", True, {"top1": Result((1.0, 2.0))})])
            save_table(table, options["out"])
            reproduce._record(options["out"])
            print(title)

        return make

    titles = {"norb": "Toys: of a turntable", "kitti": "Places: of a drive", "kitti_scenes": "Scenes: of a drive"}
    for name, title in titles.items():
        monkeypatch.setattr(reproduce, name, stand_in(getattr(reproduce, name), title))
    told = json.loads(cli("reproduce", "all", "-o", tmp_path, "--quick", "--repeats", "2", "--json").out)
    assert set(told["tables"]) == {"norb/table", "kitti/table", "scenes/table"}
    assert all(options["quick"] and options["repeats"] == 2 for options in asked)
    page = Path(told["report"]).read_text()
    assert all(title in page for title in titles.values())
    assert f"egoequiv reproduce all -o {tmp_path} --quick" in page


def test_reproduce_all_refuses_before_it_begins(cli: Cli, tmp_path: Path) -> None:
    assert "--scenes" in cli("reproduce", "all", "-o", tmp_path / "new", "--kitti", tmp_path, code=2).err
    gone = cli("reproduce", "all", "-o", tmp_path / "new", "--kitti", tmp_path / "gone", "--scenes", tmp_path, code=2)
    assert "does not exist" in gone.err
    assert not (tmp_path / "new").exists()
