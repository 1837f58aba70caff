"""`egoequiv reproduce next-view` on the runs of a folder."""

from __future__ import annotations

import json
from pathlib import Path

from egoequiv.store import FrameStore
from egoequiv.training import train
from running import Cli

FEW = {"per_class": 3, "split": "by-recording", "split_seed": 1, "iterations": 20, "log_every": 10}
FEW |= {"checkpoint_every": 20, "validate_every": 20, "max_gap_s": 1.0}


def test_the_runs_of_a_folder_become_a_table(small_store: FrameStore, tmp_path: Path, cli: Cli) -> None:
    for method in ("drlim", "equiv"):
        for seed in range(2):
            train(small_store.path, tmp_path / f"{method}-{seed}", method=method, seed=seed, **FEW)
    shown = json.loads(cli("reproduce", "next-view", tmp_path, "--methods", "drlim,equiv", "--json").out)
    assert [row["method"] for row in shown["rows"]] == ["drlim", "equiv"]
    for row in shown["rows"]:
        figures = {name: metric["mean"] for name, metric in row["metrics"].items()}
        assert figures["random_move"] <= figures["best_move"]
    assert (tmp_path / "next-view.md").exists()
    failed = cli("reproduce", "next-view", tmp_path, "--methods", "temporal", code=2)
    assert "holds no runs of 'temporal' with labels; it has: drlim, equiv" in failed.err
