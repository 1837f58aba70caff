"""`egoequiv evaluate --task`, used as a user would."""

from __future__ import annotations

import json
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drives import write_scenes
from egoequiv.evaluation.tasks import TASKS
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from helpers import GRID, grid_recording, grid_source
from running import Cli

FEW = {"encoder": "norb", "split": "paper", "per_class": 3, "log_every": 50, "validate_every": 50}
FEW |= {"checkpoint_every": 50, "iterations": 50}


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shapes in eight takes each: 576 frames of 12 x 12."""
    recordings = [grid_recording(kind, take) for kind in range(3) for take in range(8)]
    return ingest(Source("grid", GRID, recordings), tmp_path_factory.mktemp("world") / "shapes", workers=1).path


@pytest.fixture(scope="module")
def run(shapes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    return train(shapes, out, method="equiv", **FEW | {"split": "by-recording"}).path


@pytest.fixture(scope="module")
def small_run(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(small_store.path, tmp_path_factory.mktemp("runs") / "small", method="clsnet", **FEW).path


def error_of(cli: Cli, *arguments: object) -> str:
    failed = cli(*arguments, code=2)
    (line,) = (line for line in failed.err.splitlines() if line.startswith("egoequiv: error: "))
    return line


@pytest.mark.slow
def test_toys_on_a_turntable(cli: Cli, tmp_path: Path) -> None:
    world = ["--set=toys_per_category=1", "--set=elevations=5", "--set=azimuths=12", "--set=lightings=4", "--workers=1"]
    cli("ingest", "turntable", "-o", tmp_path / "toys", "--size", "16", *world)
    settings = ["--set", "split=by-recording", "--encoder", "norb", "--iterations", "20", "--per-class", "3"]
    settings += ["--method", "equiv"]
    cli("train", tmp_path / "toys", "-o", tmp_path / "run", *settings)
    asked = ["evaluate", tmp_path / "run", tmp_path / "toys", "--task", "next-view, composition"]
    done = cli(*asked, "-o", tmp_path / "new" / "out", "--json")
    said = json.loads(done.out)
    files = [Path(file) for file in said["files"]]
    names = ["composition.json", "composition.png", "next-view-gallery.png", "next-view.json", "next-view.png"]
    assert sorted(file.name for file in files) == names
    assert set(files) == set((tmp_path / "new" / "out").iterdir())
    for one in said["measurements"]:
        assert one == json.loads((tmp_path / "new" / "out" / f"{one['subject']['task']}.json").read_text())


def test_tables_are_printed(cli: Cli, run: Path) -> None:
    done = cli("evaluate", run, "--task", "next-view, composition")
    assert "chosen" in done.out
    assert "up, then down" in done.out
    assert "saved" not in done.err


@pytest.mark.slow
def test_walks_to_goals_are_measured_and_drawn(cli: Cli, run: Path, tmp_path: Path) -> None:
    (walks,) = json.loads(cli("evaluate", run, "--task", "plan", "-o", tmp_path, "--json").out)["measurements"]
    values = {value["metric"]["name"]: value for value in walks["values"]}
    assert list(values) == ["success", "stops", "excess", "success_other", "stops_other", "excess_other"]
    assert set(values["success"]["baselines"]) == {"pixels", "untrained network", "greedy walk", "random walk"}
    assert 0 < values["success"]["value"] <= 100
    assert list(walks["details"]["conditions"]) == ["same recording", "other take"]
    drawn = {"plan.json", "plan.png", "plan-walks.png", "plan-walks-other.png"}
    assert {path.name for path in tmp_path.iterdir()} == drawn
    assert "this run" in cli("evaluate", run, "--task", "plan").out


BROKEN = """
from egoequiv.evaluation import Finding, Metric, Task, Value

METRIC = Metric(name="one", title="one", better="neither")
def no_number(data, options, on_progress):
    return Finding([Value(metric=METRIC, value="many")])

def one(data, options, on_progress):
    return Finding([Value(metric=METRIC, value=1.0)])

def draw(measurement):
    return measurement.arrays["distance"]

undrawn = Task(name="undrawn", title="Undrawn", about="One.", measure=one, draw=draw)
"""


def test_the_file_and_line_of_a_broken_task_are_said(cli: Cli, run: Path, tmp_path: Path) -> None:
    code = tmp_path / "broken.py"
    code.write_text(BROKEN)
    said = f"task {code}:no_number: {code} line 6: ValidationError: value: Input should be a valid number"
    assert said in error_of(cli, "evaluate", run, "--task", f"{code}:no_number")
    page = cli("report", run, "--task", f"{code}:no_number", "-o", tmp_path / "page.html", "--workers", "1")
    assert said in page.err
    said = f"the figures of {code}:undrawn cannot be drawn: {code} line 12: KeyError: 'distance'"
    assert error_of(cli, "evaluate", run, "--task", f"{code}:undrawn", "-o", tmp_path / "out").endswith(said)
    cli("report", run, "--task", f"{code}:undrawn", "-o", tmp_path / "page.html", "--workers", "1")
    assert said in unescape((tmp_path / "page.html").read_text())


def test_walks_need_a_grid_and_training_recordings(cli: Cli, run: Path, tmp_path: Path) -> None:
    write_scenes(tmp_path / "scenes")
    cli("ingest", "scenes", tmp_path / "scenes", "-o", tmp_path / "store", "--size", "12", "--workers", "1")
    cli("train", tmp_path / "store", "-o", tmp_path / "run", "--method", "simclr", "--iterations", "1", "--no-labels")
    assert "on a grid of poses" in error_of(cli, "evaluate", tmp_path / "run", "--task", "plan")


def tasks_in(text: str) -> dict[str, Any]:
    """The measurements of a JSON object, by task."""
    return {one["subject"]["task"]: one for one in json.loads(text)["measurements"]}


def test_one_object_is_printed(cli: Cli, run: Path) -> None:
    said = tasks_in(cli("evaluate", run, "--task", "composition,next-view", "--steps", "2", "--json").out)
    assert said["next-view"]["split"] == "by-recording"
    accuracy = said["next-view"]["details"]["accuracy_pct"]
    assert [row["views"] for row in accuracy] == [1, 2, 3]
    assert accuracy[1]["random"]["mean"] <= accuracy[1]["best"]["mean"]
    composites = said["composition"]["details"]["composites"]
    assert [row["motion"] for row in composites] == ["up+right", "up+left", "down+right"]


def test_the_store_of_the_run_is_the_default(cli: Cli, run: Path, shapes: Path) -> None:
    asked = ["--task", "next-view", "--motions", "right,left", "--neighbours", "9", "--json"]
    own, given = (tasks_in(cli("evaluate", run, *store, *asked).out)["next-view"] for store in ([], [shapes]))
    assert own["values"] == given["values"]
    assert own["details"]["moves"] == ["right", "left"]
    assert own["details"]["neighbours"] == 9


def test_without_a_task_recognition_and_equivariance_are_measured(cli: Cli, run: Path, tmp_path: Path) -> None:
    said = tasks_in(cli("evaluate", run, "-o", tmp_path, "--json").out)
    assert list(said) == ["recognition", "equivariance", "log"]
    assert json.loads((tmp_path / "equivariance.json").read_text()) == said["equivariance"]
    rho = next(value for value in said["equivariance"]["values"] if value["metric"]["name"] == "rho_up")
    assert set(rho["baselines"]) == {"constant", "untrained", "pixels"}
    assert rho["metric"]["baselines"] == {"copy": 1.0}
    shown = cli("evaluate", run, "-o", tmp_path)
    assert "equivariance.json" in shown.err
    assert "untrained" in shown.out


def test_what_is_printed_fits_80_columns(cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = cli("evaluate", run).out + cli("evaluate", run, "--task", "all").out
    assert max(map(len, shown.splitlines())) <= 80


def test_help_names_every_task(cli: Cli) -> None:
    shown = "".join(cli("evaluate", "--help").out.split()).replace("│", "")
    assert [task for task in TASKS if task not in shown] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--task", "magic"], "task 'magic' is not known"),
        (["--task", "next-view", "--motions", "up,sideways"], "'sideways' is not known here; choose from up, down"),
        (["--task", "composition", "--motions", "up+sideways"], "'sideways' is not known here; choose from up, down"),
        (
            ["--task", "next-view", "--motions", "up"],
            "next-view chooses between motions: name at least two",
        ),
        (["--task", "next-view", "--neighbours", "100000"], "are fewer than the 100000 neighbours that vote"),
        (["--task", "next-view", "--neighbours", "300"], "motion 'up': "),
        (
            ["--task", "slowness", "--hold-out", "tyo"],
            "has no attribute 'tyo'; its attributes are: shape, take; or give",
        ),
        (["--steps", "2"], "--steps is for tasks: name one with --task"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, cli: Cli, run: Path) -> None:
    assert words in error_of(cli, "evaluate", run, *arguments)


def test_a_task_that_cannot_be_measured_does_not_stop_the_others(cli: Cli, small_run: Path, tmp_path: Path) -> None:
    asked = ["evaluate", small_run, "--task", "composition", "--task", "next-view,slowness", "--neighbours", "99999"]
    done = cli(*asked, "--json", "-o", tmp_path)
    said = tasks_in(done.out)
    assert list(said) == ["composition", "next-view", "slowness"]
    assert "too few pairs" in said["composition"]["problem"]
    assert said["slowness"]["problem"] is None
    assert [path.stem for path in tmp_path.glob("*.json")] == ["slowness"]
    assert "not measured: composition: " in done.err
    assert "not measured: next-view: " in done.err
    none = cli("evaluate", small_run, "--task", "composition,next-view", "--neighbours", "99999", code=2)
    assert none.err.count("not measured: ") == 2
    assert "egoequiv: error: " in none.err
    assert "nothing could be measured" in none.err


def test_all_means_every_task(cli: Cli, run: Path) -> None:
    said = tasks_in(cli("evaluate", run, "--task", "all", "--json").out)
    assert list(said) == [task for task in TASKS if task not in ("recognition", "equivariance")]
    some = tasks_in(cli("evaluate", run, "--task", "slowness, readout", "--task", "slowness", "--json").out)
    assert list(some) == ["slowness", "readout"]


def test_the_store_of_a_run_is_recognised(cli: Cli, small_store: FrameStore, tmp_path: Path) -> None:
    shutil.copytree(small_store.path, tmp_path / "store")
    run = train(tmp_path / "store", tmp_path / "run", method="clsnet", **FEW).path
    own = tasks_in(cli("evaluate", run, tmp_path / "store", "--json").out)["equivariance"]["notes"]
    assert any("was trained on frames of this store" in note for note in own)
    (tmp_path / "store").rename(tmp_path / "moved")
    error = error_of(cli, "evaluate", run)
    assert f"or give its new path: egoequiv evaluate {run} STORE" in error
    moved = tasks_in(cli("evaluate", run, tmp_path / "moved", "--json").out)["equivariance"]["notes"]
    assert any("was trained on frames of this store" in note for note in moved)
    other = ingest(Source("grid", GRID, [grid_recording(0, take) for take in range(6)]), tmp_path / "other", workers=1)
    elsewhere = tasks_in(cli("evaluate", run, other.path, "--json").out)["equivariance"]["notes"]
    assert not any("was trained on" in note for note in elsewhere)


def test_too_few_pairs_are_one_line(cli: Cli, small_run: Path) -> None:
    assert "too few pairs of validation frames" in error_of(cli, "evaluate", small_run, "--task", "composition")


def test_pictures_without_poses_or_labels_are_one_line(cli: Cli, tmp_path: Path) -> None:
    write_scenes(tmp_path / "scenes")
    cli("ingest", "scenes", tmp_path / "scenes", "-o", tmp_path / "store", "--size", "16")
    run = train(tmp_path / "store", tmp_path / "run", method="clsnet", **FEW).path
    for task in ("next-view", "composition"):
        assert "has no poses, so no motions" in error_of(cli, "evaluate", run, "--task", task)


def test_frames_without_labels_are_one_line(cli: Cli, tmp_path: Path) -> None:
    ingest(grid_source(labels=None), tmp_path / "store", workers=1)
    settings = FEW | {"motions": "up,right", "use_labels": False}
    run = train(tmp_path / "store", tmp_path / "run", method="equiv", **settings).path
    assert "has no labels" in error_of(cli, "evaluate", run, "--task", "next-view")


def test_features_are_computed_once(cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from egoequiv.evaluation import task

    calls: list[int] = []
    embed = task.embed

    def counted(*arguments: object) -> np.ndarray:
        calls.append(1)
        return embed(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(task, "embed", counted)
    cli("evaluate", run, "--task", "next-view,composition", "--seed", "5", "--json")
    assert calls == [1, 1]  # by the network of the run for both tasks, and by the untrained one
