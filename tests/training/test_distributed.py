"""One run on two processes: the same losses as on one, and an end that can be gone on from when one of them dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
import torch.distributed as dist

from egoequiv.errors import ConfigError, LostProcessError
from egoequiv.models.devices import choose_device
from egoequiv.store import FrameStore
from egoequiv.training import make_config, train
from egoequiv.training.distributed import Team, gathered, rank_here
from helpers import HANG_S, read_line, started
from running import make_cli

SETTINGS = {
    "method": "equiv",
    "log_every": 10,
    "checkpoint_every": 10,
    "validate_every": 20,
    "per_class": 4,
    "threads": 1,
}
ITERATIONS = 100
LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "egoequiv"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def command(store: FrameStore, out: Path, iterations: int) -> list[str]:
    settings = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    return ["train", str(store.path), "-o", str(out), "--iterations", str(iterations), "--resume", *settings]


def lines(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def torchrun(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LAUNCH, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=HANG_S)


# Starts pairs of processes as torchrun does, without the seconds that it and the imports of each take, and without
# ending one of them before it can say why it ends. If "dies" names a checkpoint, the second process kills itself as
# soon as that is there, so that no other process has to be quick.
PAIRS = """
import json, os, signal, sys, threading, time, traceback
import sklearn.metrics, torch._dynamo, torch.distributed
import egoequiv.training
from egoequiv.cli.main import main

def watch(checkpoint):
    while not os.path.exists(checkpoint):
        time.sleep(0.002)
    os.kill(os.getpid(), signal.SIGKILL)

def be(rank, order):
    places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_PORT": order["port"]}
    os.environ.update({name: str(value) for name, value in places.items()}, MASTER_ADDR="127.0.0.1")
    os.environ["TORCHELASTIC_RUN_ID"] = "x"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(order["said"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    if rank == 1 and order["dies"]:
        threading.Thread(target=watch, args=(order["dies"],), daemon=True).start()
    sys.argv = ["egoequiv", *order["arguments"]]
    try:
        main()
        return 0
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 70

for line in sys.stdin:
    children = []
    for rank in range(2):
        child = os.fork()
        if not child:
            code = be(rank, json.loads(line))
            sys.stderr.flush()
            os._exit(code)
        children.append(child)
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]), flush=True)
"""


class Pair(Protocol):
    """Runs a command on two processes; their exit codes and what they said."""

    def __call__(self, arguments: list[str], dies: Path | None = None) -> tuple[list[int], str]: ...


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    said = tmp_path_factory.mktemp("said")

    def run(arguments: list[str], dies: Path | None = None) -> tuple[list[int], str]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        file = said / str(len(list(said.iterdir())))
        order = {"arguments": arguments, "dies": dies and str(dies), "port": port, "said": str(file)}
        assert process.stdin is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        return json.loads(read_line(process)), file.read_text()

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started([sys.executable, "-c", PAIRS], env=ENVIRONMENT, **pipes) as process:
        yield run


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


@pytest.mark.parametrize(
    ("problem", "found", "destroyed"),
    [(RuntimeError("gloo: connection closed"), LostProcessError, 0), (RuntimeError("a bug"), RuntimeError, 1)],
)
def test_the_group_of_a_lost_process_is_not_destroyed(
    small_store: FrameStore, monkeypatch: pytest.MonkeyPatch, problem: Exception, found: type, destroyed: int
) -> None:
    """Its end joins a thread of torch that may wait for a lock which this process holds: a hang for ever."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    monkeypatch.setenv("RANK", "0")
    ends: list[str] = []
    monkeypatch.setattr(dist, "init_process_group", lambda _: None)
    monkeypatch.setattr(dist, "get_rank", lambda: 0)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: ends.append("destroyed"))
    config = make_config({"data": str(small_store.path), "batch_size": 16})
    with pytest.raises(found), gathered(config, choose_device("cpu")):
        raise problem
    assert len(ends) == destroyed


def test_torchrun_is_for_train_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cli = make_cli(monkeypatch, capsys)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    assert "only `train` can run on several processes" in cli("info", "somewhere", code=2).err


@pytest.fixture(scope="module")
def whole(small_store: FrameStore, pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of two processes that was never disturbed, and what they said."""
    out = tmp_path_factory.mktemp("together") / "whole"
    codes, said = pair(command(small_store, out, ITERATIONS))
    assert codes == [0, 0], said
    return out, said


@pytest.mark.slow
def test_two_processes_lose_as_one_does(small_store: FrameStore, whole: tuple[Path, str], tmp_path: Path) -> None:
    run, said = whole
    train(small_store.path, tmp_path / "one", iterations=40, **SETTINGS)
    for ours, theirs in zip(lines(run)[:4], lines(tmp_path / "one"), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3)
    assert said.count("; curves in ") == 1  # one process speaks


@pytest.mark.slow
def test_clips_parts_and_layers_on_two_processes(small_store: FrameStore, pair: Pair, tmp_path: Path) -> None:
    """Every parameter has a gradient in each process, or the run would end; images are found in half a batch."""
    method = ["--method", "recording+motion+null+reading", "--set", "encoder=norb", "--set", "batch_size=8"]
    codes, said = pair([*command(small_store, tmp_path / "run", 20), *method])
    assert codes == [0, 0], said
    assert {"recording", "motion", "null", "reading", "validation_motion"} <= set(lines(tmp_path / "run")[-1])


@pytest.mark.slow
def test_a_killed_process_ends_the_run_and_it_goes_on(
    small_store: FrameStore, pair: Pair, whole: tuple[Path, str], tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    arguments = command(small_store, out, ITERATIONS)
    codes, said = pair(arguments, dies=out / "last.safetensors")
    assert codes == [2, -signal.SIGKILL], said
    assert "lost another process of this run; go on from the last checkpoint" in said
    assert not (out / "result.json").exists()
    taken = torchrun([part for part in arguments if part != "--resume"])
    assert taken.returncode != 0
    assert taken.stderr.count("egoequiv: error") == 1
    assert "pass --resume" in taken.stderr
    codes, said = pair(arguments)
    assert codes == [0, 0], said
    for name in ("last.safetensors", "best.safetensors", "metrics.jsonl", "result.json"):
        assert (out / name).read_bytes() == (whole[0] / name).read_bytes(), name
