"""Retrieval, analogies, read-out, prediction and slowness from the command line, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from egoequiv.models.checkpoint import load_tensors, save_tensors
from egoequiv.pose import NoMotion
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from helpers import GRID, grid_recording, grid_source
from running import Cli

TASKS = "retrieval,analogy,readout,prediction,slowness"
SHORT = {"encoder": "norb", "split": "paper", "iterations": 20, "log_every": 20, "checkpoint_every": 20}
SHORT |= {"validate_every": 20, "per_class": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of twelve recordings, most of whose frames are for validation."""
    folder = tmp_path_factory.mktemp("feature-tasks")
    recordings = [grid_recording(kind, take) for kind in range(3) for take in range(4)]
    store = ingest(Source("grid", GRID, recordings, {}), folder / "shapes", workers=1)
    return train(store.path, folder / "run", method="equiv", train_fraction=0.2, **SHORT).path


@pytest.mark.slow
def test_every_task_prints_and_saves(cli: Cli, run: Path, tmp_path: Path) -> None:
    found = json.loads(cli("evaluate", run, "--task", TASKS, "-o", tmp_path, "--json").out)["measurements"]
    said = {one["subject"]["task"]: one for one in found}
    assert set(said) == set(TASKS.split(","))
    assert (tmp_path / "retrieval.png").exists()
    assert json.loads((tmp_path / "readout.json").read_text()) == said["readout"]
    predictions = {score["prediction"] for score in said["analogy"]["details"]["scores"]}
    assert predictions == {"copy", "difference", "fitted map", "learned map"}
    shown = cli("evaluate", run, "--task", "retrieval,slowness", "--hold-out", "shape", "--seed", "3").out
    assert "precision@10" in shown
    assert "own shape" in " ".join(shown.split())
    assert "validation" in shown


def test_tasks_take_other_motions(cli: Cli, run: Path) -> None:
    (one,) = json.loads(cli("evaluate", run, "--task", "prediction", "--motions", "left,down", "--json").out)[
        "measurements"
    ]
    assert {score["motion"] for score in one["details"]["scores"]} == {"all", "left", "down"}


@pytest.mark.parametrize("task", ["retrieval", "analogy", "readout", "prediction", "slowness"])
def test_features_that_are_not_finite_are_one_line(cli: Cli, run: Path, tmp_path: Path, task: str) -> None:
    for name in ("config.json", "model.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    tensors, meta = load_tensors(run / "last.safetensors")
    broken = {name: torch.full_like(t, float("nan")) if "encoder" in name else t for name, t in tensors.items()}
    save_tensors(tmp_path / "last.safetensors", broken, meta)
    error = cli("evaluate", tmp_path, "--task", task, code=2).err
    assert "not finite" in error
    assert "Traceback" not in error


@pytest.fixture(scope="module")
def untrained(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(
        small_store.path,
        tmp_path_factory.mktemp("untrained") / "run",
        method="random",
        use_labels=False,
        encoder="norb",
        split="paper",
    ).path


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("retrieval", "one recording"),
        ("analogy", "one recording"),
        ("prediction", "one recording"),
        ("readout", "1 values of recording"),
    ],
)
def test_one_recording_is_too_few(cli: Cli, untrained: Path, tmp_path: Path, task: str, words: str) -> None:
    ingest(Source("grid", GRID, [grid_recording(0, 0)], {}), tmp_path / "one", workers=1)
    error = cli("evaluate", untrained, tmp_path / "one", "--task", task, code=2).err
    assert words in error
    assert error.strip().splitlines()[-1].startswith("egoequiv: error: ")


@pytest.mark.parametrize("task", ["retrieval", "analogy", "readout", "prediction", "slowness"])
def test_pictures_without_poses_are_refused(cli: Cli, untrained: Path, tmp_path: Path, task: str) -> None:
    pictures = Source("pictures", NoMotion(), grid_source().recordings, {}, GRID.pose_names)
    ingest(pictures, tmp_path / "pictures", workers=1)
    error = cli("evaluate", untrained, tmp_path / "pictures", "--task", task, code=2).err
    assert "poses" in error
    assert "Traceback" not in error


def test_motions_with_too_few_pairs_are_one_line(cli: Cli, untrained: Path) -> None:
    error = cli("evaluate", untrained, "--task", "prediction", code=2).err
    assert "no motion has enough pairs" in error
