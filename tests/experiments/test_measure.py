"""Measuring a run: what is kept is never stale, and what is not defined is null."""

import json
from math import isnan
from pathlib import Path

import pytest

from egoequiv.evaluation.measurement import FOLDER, Measurement
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments import RunMeasurer, measure, measure_run
from egoequiv.store import FrameStore
from egoequiv.training import train

FEW = {"split": "paper", "encoder": "norb", "per_class": 3, "log_every": 50, "validate_every": 100}
FEW |= {"checkpoint_every": 50}


def texts(measurements: list[Measurement]) -> list[str]:
    """As JSON, in which what is not defined is equal to itself."""
    return [one.model_dump_json() for one in measurements]


def test_measurements_are_kept_until_the_weights_change(
    small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = train(small_store.path, tmp_path / "short", method="clsnet", iterations=50, **FEW)
    long = train(small_store.path, tmp_path / "long", method="clsnet", iterations=100, **FEW)
    first, other = measure_run(short.path), measure_run(long.path)
    with monkeypatch.context() as patched:
        patched.setattr(measure, "open_task_data", lambda *_: pytest.fail("what is kept is not measured again"))
        assert texts(measure_run(short.path)) == texts(first)
    (short.path / "last.safetensors").write_bytes((long.path / "last.safetensors").read_bytes())
    again = measure_run(short.path)
    assert [[value.model_dump_json() for value in one.values] for one in again] == [
        [value.model_dump_json() for value in one.values] for one in other
    ]


def test_a_damaged_measurement_is_made_again(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="random", **FEW).path
    (first,) = measure_run(run, ["recognition"])
    (path,) = (run / FOLDER).glob("recognition-*.json")
    whole = path.read_text()
    described = json.loads(whole)
    for content in (
        "",
        whole[:50],
        "[]",
        "{}",
        json.dumps(described | {"values": [3]}),
        json.dumps(described | {"x": 1}),
    ):
        path.write_text(content)
        assert texts(measure_run(run, ["recognition"])) == texts([first])
        assert path.read_text() == whole


def test_each_option_that_concerns_a_task_has_a_record_of_its_own(small_store: FrameStore, tmp_path: Path) -> None:
    run = RunMeasurer(train(small_store.path, tmp_path / "run", method="random", **FEW).path)
    slowness, retrieval = TASKS["slowness"], TASKS["retrieval"]
    assert run.subject(slowness, TaskOptions(neighbours=3)) == run.subject(slowness, TaskOptions())
    assert run.subject(slowness, TaskOptions(seed=3)) != run.subject(slowness, TaskOptions())
    assert run.subject(retrieval, TaskOptions(hold_out="shape")) != run.subject(retrieval, TaskOptions())
    assert run.subject(retrieval, TaskOptions()).key != run.subject(slowness, TaskOptions()).key


def test_a_motion_with_too_few_pairs_does_not_hide_the_rest(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="clsnet", iterations=100, **FEW)
    recognition, equivariance = measure_run(run.path)
    top1, rho = recognition.value("top1"), equivariance.value("rho_up")
    assert top1 is not None
    assert rho is not None
    assert top1.value > 0
    assert isnan(rho.value)  # 144 frames leave a handful of validation pairs
    assert "too few" in rho.note
    assert "NaN" not in equivariance.model_dump_json()


def test_a_read_only_run_can_be_measured(
    small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = train(small_store.path, tmp_path / "run", method="random", **FEW).path

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("egoequiv.evaluation.measurement.write_text", refuse)
    assert measure_run(run, ["recognition"])[0].values
    assert not list(run.glob(f"{FOLDER}/*.json"))


def test_what_cannot_be_measured_says_why(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="random", use_labels=False, **FEW).path
    (recognition,) = measure_run(run, ["recognition"])
    assert recognition.values == []
    assert recognition.problem is not None
    assert "without labels" in recognition.problem
