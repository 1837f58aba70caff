"""Runs whose features have parts, from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.evaluation import embed
from egoequiv.models import EgoNet, initialise, load_model
from egoequiv.models.checkpoint import save_spec, save_tensors
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from helpers import GRID, grid_recording
from running import Cli

FEW = {"encoder": "norb", "split": "by-recording", "per_class": 3, "log_every": 20, "validate_every": 20}
FEW |= {"checkpoint_every": 20, "iterations": 20}
PARTS = {"invariant": 97, "equivariant": 3}


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shapes in eight takes each: 576 frames of 12 x 12."""
    recordings = [grid_recording(kind, take) for kind in range(3) for take in range(8)]
    return ingest(Source("grid", GRID, recordings), tmp_path_factory.mktemp("world") / "shapes", workers=1).path


@pytest.fixture(scope="module")
def whole(shapes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(shapes, tmp_path_factory.mktemp("runs") / "whole", method="equiv", **FEW).path


@pytest.fixture(scope="module")
def run(shapes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a network that has parts."""
    path = train(shapes, tmp_path_factory.mktemp("runs") / "parted", method="equiv", **FEW).path
    net = EgoNet(replace(load_model(path).spec, parts=PARTS))
    initialise(net, torch.Generator().manual_seed(0))
    net.set_normalisation([127.0], [900.0])
    save_spec(path, net.spec)
    save_tensors(path / "last.safetensors", {f"model.{k}": v for k, v in net.state_dict().items()}, {})
    return path


def error_of(cli: Cli, *arguments: object) -> str:
    failed = cli(*arguments, code=2)
    (line,) = (line for line in failed.err.splitlines() if line.startswith("egoequiv: error: "))
    return line


def test_a_part_is_measured_and_said_and_kept_apart(cli: Cli, run: Path) -> None:
    asked = ("evaluate", run, "--task", "equivariance,prediction", "--motions", "up,right")
    rhos = {}
    for part in ("all", "invariant", "equivariant", "all"):
        told = json.loads(cli(*asked, "--part", part, "--json").out)["measurements"]
        assert [one["subject"]["settings"]["part"] for one in told] == [part, part]
        rhos.setdefault(part, set()).add(told[0]["values"][0]["value"])
    assert [len(values) for values in rhos.values()] == [1, 1, 1]
    assert len({value for (value,) in rhos.values()}) == 3
    shown = cli(*asked, "--part", "equivariant").out
    assert "Equivariance of the part equivariant: " in shown
    assert "measured on the part equivariant, 3 of 100 features" in shown
    assert cli(*asked).out == shown  # the part that such tasks are meant for
    assert "part" not in cli(*asked, "--part", "all").out
    assert "of the part" not in cli("evaluate", run, "--task", "slowness").out


def test_an_unknown_part_is_one_line(cli: Cli, run: Path, whole: Path, shapes: Path, tmp_path: Path) -> None:
    task = ("--task", "equivariance,retrieval", "--part", "motion")
    assert "no part 'motion': its parts are all, invariant, equivariant" in error_of(cli, "evaluate", run, *task)
    assert "no part 'motion': it has no parts, only all" in error_of(cli, "evaluate", whole, *task)
    out = tmp_path / "z.npy"
    assert "no part 'motion'" in error_of(cli, "embed", run, shapes, "--part", "motion", "-o", out)
    assert not out.exists()
    asked = ("audit", run, "--store", shapes, "--part", "motion")
    assert "model parted: the features of this network have no part 'motion'" in error_of(cli, *asked)
    assert "none of these models is a run" in error_of(cli, "audit", "pixels", "--store", shapes, "--part", "invariant")
    assert "--part is for tasks" in error_of(cli, "evaluate", run, "--part", "invariant")


def test_features_of_a_part_are_written(cli: Cli, run: Path, shapes: Path, tmp_path: Path) -> None:
    done = cli("embed", run, shapes, "--part", "equivariant", "-o", tmp_path / "z.npy")
    assert "576 x 3 features" in done.err
    assert "the part equivariant, 3 of 100 features" in done.err
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), embed(run, FrameStore.open(shapes))[:, 97:])


def test_a_part_of_a_run_is_audited(cli: Cli, run: Path, shapes: Path) -> None:
    asked = ("audit", f"every={run}", f"part={run}", "--store", shapes, "--motions", "up", "--no-baselines", "--json")
    rows = json.loads(cli(*asked, "--set", "part.part=equivariant").out)["rows"]
    assert [(row["model"], row["kind"], row["dimension"]) for row in rows] == [
        ("every", "run", 100),
        ("part", "run, part equivariant", 3),
    ]
    both = json.loads(cli(*asked, "--part", "equivariant").out)["rows"]
    assert [row["dimension"] for row in both] == [3, 3]
    assert both[0]["motions"] == rows[1]["motions"]


def test_tables_of_a_part_have_files_of_their_own(cli: Cli, run: Path) -> None:
    asked = ("reproduce", "tasks", run.parent, "--task", "slowness", "--part", "equivariant", "--json")
    (table,) = json.loads(cli(*asked).out)["tables"].values()
    assert table["about"]["part"] == "equivariant"
    assert (run.parent / "slowness-part-equivariant.md").exists()


def test_a_probe_shows_every_part(cli: Cli, run: Path) -> None:
    asked = ("evaluate", run, "--task", "probe", "--per-class", "3,5", "--draws", "2")
    rows = json.loads(cli(*asked, "--json").out)["measurements"][0]["details"]["rows"]
    assert [(row["part"], row["labels"]) for row in rows[::3]] == [
        (part, labels) for part in ("all", "invariant", "equivariant") for labels in (3, 5)
    ]
    shown = cli(*asked).out
    assert "probe of few labels of each class, chance 33.33 %" in shown
    assert "the network itself was trained with labels" in shown
    other = json.loads(cli(*asked, "--label-column", "azimuth_deg", "--json").out)["measurements"][0]
    assert other["values"][0]["metric"]["name"] == "R2 of azimuth_deg, 200 labels"
    assert "--per-class must be whole numbers" in error_of(cli, *asked[:4], "--per-class", "many")
    assert "--fit-on most: expected one of auto, half, training" in error_of(cli, *asked, "--fit-on", "most")
