"""`egoequiv export` from the command line."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from cli.test_stopping import check_stopped, command
from egoequiv.store import FrameStore
from egoequiv.training import train
from helpers import wait_for
from running import Cli

TINY = {"iterations": 2, "log_every": 2, "checkpoint_every": 2, "validate_every": 2, "batch_size": 8, "threads": 1}


@pytest.fixture(scope="module")
def run(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    return train(small_store.path, out, method="equiv", use_labels=False, encoder="norb", **TINY).path


@pytest.mark.slow
def test_export_and_audit(cli: Cli, run: Path, small_store: FrameStore, tmp_path: Path) -> None:
    said = json.loads(cli("export", run, "-o", tmp_path / "model", "--json").out)
    assert said["folder"] == str(tmp_path / "model")
    assert said["checkpoint"] == "last"
    assert said["files"] == {path.name: path.stat().st_size for path in (tmp_path / "model").iterdir()}
    names = ("run", "folder", "onnx", "pt2")
    models = [run, *(tmp_path / "model" / name for name in ("", "encoder.onnx", "moved.pt2"))]
    given = [f"{name}={model}" for name, model in zip(names, models, strict=True)]
    options = ["--store", small_store.path, "--motions", "up", "--no-baselines", "--limit", "60", "--json"]
    table = json.loads(cli("audit", *given, *options).out)
    rhos = {row["model"]: round(row["motions"][0]["rho"], 4) for row in table["rows"]}
    assert set(rhos) == set(names)
    assert len(set(rhos.values())) == 1
    again = cli("export", run, "-o", tmp_path / "model", code=2)
    assert "is not empty: choose another folder" in again.err


def test_what_is_no_run_is_one_line(cli: Cli, tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "nowhere"):
        printed = cli("export", where, "-o", tmp_path / "model", code=2)
        assert printed.err.count("\n") == 1
        assert printed.err.startswith("egoequiv: error: ")
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM])  # those of ingest have the others
def test_export_is_stopped(stop: signal.Signals, run: Path, tmp_path: Path) -> None:
    with command("export", run, "-o", tmp_path / "model") as process:
        wait_for(lambda: list(tmp_path.glob(".model.*.partial/model/config.json")), process)
        check_stopped(process, stop, "nothing was saved; to start again, repeat the command")
    assert not list(tmp_path.iterdir())
