"""One run on two processes: the same losses as on one, and an end that can be gone on from when one of them dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.store import FrameStore
from egoequiv.training import make_config, train
from egoequiv.training.distributed import Team, gathered, rank_here
from egoequiv.training.network import choose_device
from helpers import HANG_S
from running import make_cli

SETTINGS = {
    "method": "equiv",
    "log_every": 10,
    "checkpoint_every": 10,
    "validate_every": 20,
    "per_class": 4,
    "threads": 1,
}
ITERATIONS = 200
LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "egoequiv"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def command(store: FrameStore, out: Path, iterations: int) -> list[str]:
    settings = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    return ["train", str(store.path), "-o", str(out), "--iterations", str(iterations), "--resume", *settings]


def lines(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def together(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LAUNCH, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=HANG_S)


def test_the_parts_of_a_batch_are_the_batch() -> None:
    rows = np.arange(10, 22)
    parts = [Team(rank, 3).part(rows) for rank in range(3)]
    assert [len(part) for part in parts] == [4, 4, 4]
    assert sorted(np.concatenate(parts)) == list(rows)
    assert Team().part(rows) is rows


def test_a_batch_that_cannot_be_shared(small_store: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    config = make_config({"data": str(small_store.path), "batch_size": 16})
    with (
        pytest.raises(ConfigError, match="batch_size=16 cannot be shared by 3"),
        gathered(config, choose_device("cpu")),
    ):
        pass


def test_variables_alone_make_no_team(small_store: FrameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "1")
    config = make_config({"data": str(small_store.path)})
    with gathered(config, choose_device("cpu")) as team:
        assert (team.size, team.rank, rank_here()) == (1, 0, 0)


def test_torchrun_is_for_train_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cli = make_cli(monkeypatch, capsys)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    assert "`train` alone can do" in cli("info", "somewhere", code=2).err


@pytest.fixture(scope="module")
def whole(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of two processes that was never disturbed, and what they said."""
    out = tmp_path_factory.mktemp("together") / "whole"
    done = together(command(small_store, out, ITERATIONS))
    assert done.returncode == 0, done.stderr
    return out, done.stderr


@pytest.mark.slow
def test_two_processes_lose_as_one_does(small_store: FrameStore, whole: tuple[Path, str], tmp_path: Path) -> None:
    run, said = whole
    train(small_store.path, tmp_path / "one", iterations=40, **SETTINGS)
    for ours, theirs in zip(lines(run)[:4], lines(tmp_path / "one"), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3)
    assert said.count("iterations done") == 1  # one process speaks


@pytest.mark.slow
def test_clips_parts_and_layers_on_two_processes(small_store: FrameStore, tmp_path: Path) -> None:
    """Every parameter has a gradient in each process, or the run would end; images are found in half a batch."""
    method = ["--method", "recording+motion+null+reading", "--set", "encoder=norb", "--set", "batch_size=8"]
    done = together([*command(small_store, tmp_path / "run", 20), *method])
    assert done.returncode == 0, done.stderr
    assert {"recording", "motion", "null", "reading", "validation_motion"} <= set(lines(tmp_path / "run")[-1])


# The second process kills itself as soon as there is a checkpoint, so that no other process has to be quick.
DIES = """
import os, signal, sys, threading, time

def watch(checkpoint):
    while not os.path.exists(checkpoint):
        time.sleep(0.002)
    os.kill(os.getpid(), signal.SIGKILL)

if os.environ["RANK"] == "1":
    threading.Thread(target=watch, args=(sys.argv.pop(1),), daemon=True).start()
from egoequiv.cli.main import main
main()
"""


def start(rank: int, port: int, *arguments: str) -> subprocess.Popen[str]:
    """One of two processes, started as torchrun does, which would end the other before that can say why it ends."""
    places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    environment = ENVIRONMENT | {name: str(value) for name, value in places.items()} | {"TORCHELASTIC_RUN_ID": "x"}
    return subprocess.Popen(
        [sys.executable, "-c", DIES, *arguments], env=environment, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_a_killed_process_ends_the_run_and_it_goes_on(
    small_store: FrameStore, whole: tuple[Path, str], tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    arguments = command(small_store, out, ITERATIONS)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    first, second = start(0, port, *arguments), start(1, port, str(out / "last.safetensors"), *arguments)
    _, said = first.communicate(timeout=HANG_S)
    second.communicate(timeout=HANG_S)
    assert second.returncode == -signal.SIGKILL
    assert first.returncode == 2, said
    assert "lost another process of this run; go on from the last checkpoint" in said
    assert not (out / "result.json").exists()
    taken = together([part for part in arguments if part != "--resume"])
    assert taken.returncode != 0
    assert taken.stderr.count("egoequiv: error") == 1
    assert "pass --resume" in taken.stderr
    again = together(arguments)
    assert again.returncode == 0, again.stderr
    for name in ("last.safetensors", "best.safetensors", "metrics.jsonl", "result.json"):
        assert (out / name).read_bytes() == (whole[0] / name).read_bytes(), name
