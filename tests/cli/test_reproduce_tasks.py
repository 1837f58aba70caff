"""`egoequiv reproduce tasks` on the runs of a folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from egoequiv.store import FrameStore
from egoequiv.training import train
from running import Cli

FEW = {"encoder": "norb", "per_class": 3, "split": "by-recording", "split_seed": 1, "iterations": 20}
FEW |= {"log_every": 10, "checkpoint_every": 20, "validate_every": 20, "max_gap_s": 1.0}


@pytest.mark.slow
def test_the_runs_of_a_folder_become_tables(small_store: FrameStore, tmp_path: Path, cli: Cli) -> None:
    for method in ("drlim", "equiv"):
        for seed in range(2):
            train(small_store.path, tmp_path / f"{method}-{seed}", method=method, seed=seed, **FEW)
    shown = json.loads(cli("reproduce", "tasks", tmp_path, "--task", "next-view,composition,slowness", "--json").out)
    assert set(shown["tables"]) == {"next-view", "composition", "slowness"} or shown["problems"]
    rows = shown["tables"]["next-view"]["rows"]
    assert [row["method"] for row in rows] == ["drlim", "equiv"]
    for row in rows:
        values = {name: entry["result"]["values"] for name, entry in row["entries"].items()}
        assert sum(values["random_move"]) <= sum(values["best_move"])
        assert len(values["two_views"]) == 2
    text = (tmp_path / "slowness.md").read_text()
    assert "| drlim |" in text
    assert "AUROC, validation frames" in text
    printed = cli("reproduce", "tasks", tmp_path, "--task", "slowness", "--methods", "equiv")
    assert "equiv" in printed.out
    assert "drlim" not in printed.out
    assert (tmp_path / "slowness.md").read_text() == text
    assert "| drlim |" not in (tmp_path / "slowness-equiv.md").read_text()
    asked = ["--task", "slowness", "--task", "next-view", "--neighbours", "9", "--motions", "up,right", "--steps", "2"]
    cli("reproduce", "tasks", tmp_path, *asked, "-o", tmp_path / "elsewhere")
    ending = "-motions-up-right-steps-2-neighbours-9"
    assert {path.stem for path in (tmp_path / "elsewhere").iterdir()} == {f"slowness{ending}", f"next-view{ending}"}
    about = json.loads((tmp_path / "elsewhere" / f"next-view{ending}.json").read_text())["about"]
    assert (about["motions"], about["steps"], about["neighbours"]) == (["up", "right"], 2, 9)
    page = cli("report", tmp_path, "--no-evaluate", "-o", tmp_path / "page.md")
    assert "Slowness" in (tmp_path / "page.md").read_text(), page.err


def test_mistakes_are_one_line(small_store: FrameStore, tmp_path: Path, cli: Cli) -> None:
    assert "does not exist: expected a folder of" in cli("reproduce", "tasks", tmp_path / "nosuch", code=2).err
    train(small_store.path, tmp_path / "run", method="random", **{**FEW, "iterations": 0})
    failed = cli("reproduce", "tasks", tmp_path, "--methods", "temporal", code=2)
    assert "has no method 'temporal' with runs; choose from random" in failed.err
    assert "'dance' is not known" in cli("reproduce", "tasks", tmp_path, "--task", "dance", code=2).err
    few = cli("reproduce", "tasks", tmp_path, "--task", "next-view", "--neighbours", "99999", code=2)
    assert "not measured: next-view of run" in few.err
    assert "none of these tasks could be measured" in few.err
    assert "no attribute 'colour'" in cli("reproduce", "tasks", tmp_path, "--hold-out", "colour", code=2).err
    one = cli("reproduce", "tasks", tmp_path, "--task", "next-view", "--motions", "up", code=2)
    assert "name at least two" in one.err


def test_runs_on_other_stores_have_tables_of_their_own(small_store: FrameStore, tmp_path: Path, cli: Cli) -> None:
    for name in ("toys", "shapes"):
        shutil.copytree(small_store.path, tmp_path / "stores" / name)
        train(tmp_path / "stores" / name, tmp_path / "mix" / f"on-{name}", method="random", **FEW | {"iterations": 0})
    shown = json.loads(cli("reproduce", "tasks", tmp_path / "mix", "--task", "slowness", "--json").out)
    assert [[row["method"] for row in table["rows"]] for table in shown["tables"].values()] == [["random"]] * 2
    assert set(shown["tables"]) == {"slowness-toys", "slowness-shapes"}
    assert (tmp_path / "mix" / "slowness-toys.md").exists()
