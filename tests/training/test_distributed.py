"""One run on two processes: the same losses as on one, and an end that can be gone on from when one of them dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.store import FrameStore
from egoequiv.training import make_config
from egoequiv.training.distributed import Team, gathered, rank_here
from egoequiv.training.network import choose_device
from running import make_cli

SETTINGS = {"log_every": 10, "checkpoint_every": 10, "validate_every": 20, "per_class": 4, "threads": 1}
LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "egoequiv"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def command(store: FrameStore, out: Path, iterations: int) -> list[str]:
    settings = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    return ["train", str(store.path), "-o", str(out), "--iterations", str(iterations), "--resume", *settings]


def lines(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def together(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LAUNCH, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


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


@pytest.mark.slow
def test_two_processes_lose_as_one_does(small_store: FrameStore, tmp_path: Path) -> None:
    alone = [sys.executable, "-m", "egoequiv", *command(small_store, tmp_path / "one", 40)]
    subprocess.run(alone, env=ENVIRONMENT, check=True)
    two = together(command(small_store, tmp_path / "two", 40))
    assert two.returncode == 0, two.stderr
    for ours, theirs in zip(lines(tmp_path / "two"), lines(tmp_path / "one"), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3)
    assert two.stderr.count("iterations done") == 1  # one process speaks


@pytest.mark.slow
def test_a_killed_process_ends_the_run_and_it_goes_on(small_store: FrameStore, tmp_path: Path) -> None:
    iterations = 400
    whole = together(command(small_store, tmp_path / "whole", iterations))
    assert whole.returncode == 0, whole.stderr
    out = tmp_path / "killed"
    arguments = [*LAUNCH, *command(small_store, out, iterations)]
    job = subprocess.Popen(arguments, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while not (out / "last.safetensors").exists() and job.poll() is None:
        time.sleep(0.02)
    workers = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True, check=True).stdout.split()
    os.kill(int(workers[-1]), signal.SIGKILL)
    _, said = job.communicate(timeout=120)
    assert job.returncode != 0
    assert "lost another process of this run; go on from the last checkpoint" in said
    assert not (out / "result.json").exists()
    taken = together([part for part in command(small_store, out, iterations) if part != "--resume"])
    assert taken.returncode != 0
    assert taken.stderr.count("egoequiv: error") == 1
    assert "pass --resume" in taken.stderr
    again = together(command(small_store, out, iterations))
    assert again.returncode == 0, again.stderr
    for name in ("last.safetensors", "best.safetensors", "metrics.jsonl", "result.json"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
