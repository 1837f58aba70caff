"""`egoequiv report` and `egoequiv compare` from the command line, and what they refuse."""

import json
import re
import shutil
from pathlib import Path

import pytest

from egoequiv.experiments import TABLES, ReproduceOptions, Table
from egoequiv.store import FrameStore
from egoequiv.training import train
from running import Cli
from tables import TOP1, entry, row, table_of

SHORT = {"encoder": "norb", "split": "paper", "iterations": 20, "log_every": 20, "checkpoint_every": 20}
SHORT |= {"validate_every": 20, "per_class": 2}


@pytest.fixture(scope="module")
def runs(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "runs"
    for method in ("clsnet", "equiv"):
        for seed in range(3):
            train(small_store.path, folder / f"{method}-{seed}", method=method, seed=seed, **SHORT)
    return folder


def words_of(text: str) -> str:
    """What was printed, as one line."""
    return " ".join(text.split())


def test_compare_shows_settings_metrics_and_tests(cli: Cli, runs: Path) -> None:
    shown = cli("compare", *sorted(runs.iterdir())).out
    assert "A: clsnet, seed 0, 1, 2" in shown
    assert "method" in shown
    assert "paired tests" in shown
    assert "B − A" in shown
    alone = words_of(cli("compare", runs / "clsnet-0", runs / "equiv-0").out)
    assert "paired t-test over recordings" in alone
    said = json.loads(cli("compare", runs / "clsnet-0", runs / "equiv-0", "--json").out)
    assert said["settings"] == {"method": ["clsnet", "equiv"]}
    assert said["answers"][0]["compared"]["frames"] == 48
    same = words_of(cli("compare", runs / "clsnet-0", runs / "clsnet-1").out)
    assert "differ in the seed alone" in same
    assert "No test: these runs are repetitions of one experiment" in same
    assert "No test" not in shown
    reason = "a test over seeds needs 3 in common, and they have 1; answers to single frames are about top-1 only"
    assert f"No test of rho between B − A: {reason}" in alone
    assert said["untested"] == [{"a": "B", "b": "A", "metrics": "rho", "reason": reason}]


def test_compare_takes_the_runs_of_a_folder_and_leaves_out_what_is_none(cli: Cli, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("a page")
    (tmp_path / "tasks").mkdir()
    whole = cli("compare", runs, tmp_path / "report.html", tmp_path / "tasks")
    assert "B: equiv, seed 0, 1, 2" in whole.out
    assert f"left out: {tmp_path / 'report.html'} (a file), {tmp_path / 'tasks'} (holds no run)" in whole.err
    assert "does not exist" in cli("compare", runs, tmp_path / "rnus", code=2).err


def test_compare_says_why_there_is_no_test_and_no_figure(
    cli: Cli, runs: Path, small_store: FrameStore, tmp_path: Path
) -> None:
    for method in ("drlim", "equiv"):
        train(small_store.path, tmp_path / method, method=method, use_labels=False, train_fraction=0.9, **SHORT)
    said = words_of(cli("compare", tmp_path / "drlim", tmp_path / "equiv").out)
    assert "No test of B − A: a test over seeds needs 3 in common, and they have 1; answers to single frames" in said
    assert re.search(r"rho up is not defined for A, B: \d+ pairs are too few .*, \d+ are needed", said)


def test_evaluate_says_how_many_pairs_are_needed(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="random", train_fraction=0.9, **SHORT).path
    (equivariance,) = json.loads(cli("evaluate", run, "--task", "equivariance", "--json").out)["measurements"]
    measured = equivariance["details"]["motions"][0]
    assert measured["pairs_needed"] > measured["pairs_scored"]
    said = words_of(cli("evaluate", run).out)
    assert f"{measured['pairs_scored']} pairs are too few to fit and measure a map" in said
    assert f"{measured['pairs_needed']} are needed" in said


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
    assert "validate on different frames (split=paper and by-recording)" in error
    assert error.strip().count("\n") == 0


@pytest.mark.slow
def test_report_writes_what_the_name_says(cli: Cli, runs: Path, tmp_path: Path) -> None:
    said = json.loads(
        cli("report", runs, "-o", tmp_path / "page.html", "--task", "slowness", "--workers", 1, "--json").out
    )
    assert said["report"] == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    cli("report", runs, "-o", tmp_path / "page.md", "--no-evaluate")
    assert (tmp_path / "page.md").read_text().startswith("# The runs in runs")
    cli("report", runs, "-o", tmp_path / "page.txt", "--format", "latex", "--no-evaluate")
    assert r"\begin{table}" in (tmp_path / "page.txt").read_text()


def test_report_on_two_processes_is_the_same(cli: Cli, runs: Path, tmp_path: Path) -> None:
    pages = []
    for workers in (1, 2):
        copy = tmp_path / str(workers) / "runs"
        shutil.copytree(runs, copy, ignore=shutil.ignore_patterns("measurements", "*-2"))
        cli("report", copy, "--task", "slowness,probe", "--workers", workers, "-o", tmp_path / f"{workers}.md")
        pages.append((tmp_path / f"{workers}.md").read_text().replace(str(copy), ""))
    assert "Slowness" in pages[0]
    assert pages[0] == pages[1]


def test_report_refuses_endings_it_cannot_write(cli: Cli, runs: Path, tmp_path: Path) -> None:
    for name in ("page.pdf", "page"):
        error = cli("report", runs, "-o", tmp_path / name, "--no-evaluate", code=2).err
        assert "a report is written as .html, .md, .tex" in error
        assert error.strip().count("\n") == 0
        assert not (tmp_path / name).exists()
    assert re.search(r"page.md \(\d+ KB\)", cli("report", runs, "-o", tmp_path / "page.md", "--no-evaluate").err)


def test_report_refuses_in_one_line(cli: Cli, tmp_path: Path) -> None:
    assert "holds no table and no run" in cli("report", tmp_path, code=2).err
    assert "task 'sloth' is not known" in cli("report", tmp_path, "--task", "sloth", code=2).err


def test_reproduce_all_ends_in_a_report(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ReproduceOptions] = []
    titles = {"norb": "Toys: of a turntable", "kitti": "Places: of a drive", "kitti-scenes": "Scenes: of a drive"}

    def stand_in(options: ReproduceOptions, title: str) -> dict[str, Table]:
        asked.append(options)
        return {"table": table_of([row("equiv", {"top1": entry(1.0, 2.0)})], [TOP1], title=title)}

    for name, title in titles.items():
        monkeypatch.setitem(TABLES, name, lambda options, title=title: stand_in(options, title))
    said = json.loads(cli("reproduce", "all", "-o", tmp_path, "--quick", "--repeats", "2", "--json").out)
    assert set(said["tables"]) == {"norb/table", "kitti/table", "scenes/table"}
    assert all(options.quick and options.repeats == 2 for options in asked)
    page = Path(said["report"]).read_text()
    assert all(title in page for title in titles.values())
    assert f"egoequiv reproduce all -o {tmp_path} --quick" in page


def test_reproduce_all_refuses_before_it_begins(cli: Cli, tmp_path: Path) -> None:
    assert "--scenes" in cli("reproduce", "all", "-o", tmp_path / "new", "--kitti", tmp_path, code=2).err
    gone = cli("reproduce", "all", "-o", tmp_path / "new", "--kitti", tmp_path / "gone", "--scenes", tmp_path, code=2)
    assert "does not exist" in gone.err
    assert not (tmp_path / "new").exists()


def test_report_says_which_run_could_not_be_measured(cli: Cli, runs: Path, tmp_path: Path) -> None:
    for method in ("clsnet", "equiv"):
        shutil.copytree(runs / f"{method}-0", tmp_path / "some" / method, ignore=shutil.ignore_patterns("measurements"))
    broken = tmp_path / "some" / "equiv"
    for weights in broken.glob("*.safetensors"):
        weights.write_bytes(b"damaged")
    line = cli("report", broken, code=2).err.splitlines()[-1]
    why = f"Could not be measured: equiv: {broken / 'last.safetensors'} is damaged"
    assert f"{broken}: nothing to report. {why}" in line
    assert not (broken / "report.html").exists()
    done = cli("report", tmp_path / "some", "--task", "slowness")
    assert why in done.err
