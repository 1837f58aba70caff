"""The task `maps`: rho of the maps that a run has learned itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.errors import DataError
from egoequiv.evaluation.own_maps import own_maps
from egoequiv.evaluation.task import TaskData, TaskOptions, silent
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments.measure import RunMeasurer
from egoequiv.experiments.task_data import open_task_data
from egoequiv.store import FrameStore
from egoequiv.training import train

TINY = {"encoder": "norb", "iterations": 4, "log_every": 2, "validate_every": 4, "checkpoint_every": 4}
TINY |= {"batch_size": 8, "use_labels": False, "split": "by-recording", "threads": 1}


@pytest.fixture(scope="module")
def data(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> TaskData:
    run = train(small_store.path, tmp_path_factory.mktemp("runs") / "run", method="recording+motion", **TINY)
    return open_task_data(RunMeasurer(run.path).opened)


def test_maps_that_change_nothing_copy(data: TaskData) -> None:
    maps = data.net.motion_maps
    assert maps is not None
    before = maps.weight.clone()
    with torch.no_grad():
        maps.weight.zero_()
    try:
        found = own_maps(data, TaskOptions(), silent)
    finally:
        with torch.no_grad():
            maps.weight.copy_(before)
    values = {value.metric.name: value.value for value in found.values}
    assert list(values)[:2] == ["own_trained", "own_others"]
    assert all(value == pytest.approx(1) for value in values.values())
    assert {"own_up", "own_right", "own_up+right", "own_up+up", "own_right+right"} <= values.keys()


def test_rho_by_an_independent_computation(data: TaskData) -> None:
    maps, store = data.net.motion_maps, data.store
    assert maps is not None
    z = data.features[:, data.net.part("equivariant")].astype(np.float64)
    pairs = data.pairs(None, ["right"])
    step = 60.0 / maps.scale[1].double()
    matrix = torch.matrix_exp(-step * maps.generators()[1].double()).detach().numpy()
    error = np.linalg.norm(z[pairs.i] - z[pairs.j] @ matrix.T, axis=1)
    moved = np.linalg.norm(z[pairs.i] - z[pairs.j], axis=1)
    (right,) = [v.value for v in own_maps(data, TaskOptions(), silent).values if v.metric.name == "own_right"]
    assert right == pytest.approx((error / moved).mean(), rel=1e-4)
    assert store.space.axes[1].unit == "deg"


def test_a_run_without_such_maps_says_so(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="recording", **TINY)
    problem = RunMeasurer(run.path).measure(TASKS["maps"]).problem
    assert problem is not None
    assert "has no maps of any motion" in problem


def test_another_part_than_that_of_the_maps_is_refused(data: TaskData) -> None:
    with pytest.raises(DataError, match="act on the part equivariant, not on invariant"):
        own_maps(data.of_part("invariant"), TaskOptions(), silent)
    assert own_maps(data.of_part("equivariant"), TaskOptions(), silent).values


def test_on_a_finer_grid_the_trained_steps_are_several(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="recording+motion", **TINY)
    begun = json.loads((run.path / "data.json").read_text())
    for axis in begun["space"]["axes"]:
        axis["step"] *= 2  # as if it had been trained in steps twice as long
    (run.path / "data.json").write_text(json.dumps(begun))
    elsewhere = RunMeasurer(run.path, str(small_store.path), everything=True).measure(TASKS["maps"])
    trained = {str(row[0].text): str(row[1].text) for row in elsewhere.tables[0].rows}
    assert (trained["up"], trained["up+up"], trained["right"], trained["right+right"]) == ("no", "yes", "no", "yes")
