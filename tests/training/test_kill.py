"""SIGKILL at any moment: the resumed run ends with the bytes of one that was never killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from egoequiv.store import FrameStore
from helpers import read_line, started

KILLS, STARTING = 4, 1  # `make fuzz-kill` kills every command, and more often
RESULTS = ("last.safetensors", "best.safetensors", "metrics.jsonl", "result.json")

# Starts commands as processes of their own, without the seconds that imports take each time.
NURSERY = """
import json, os, sys
import matplotlib.pyplot, sklearn.metrics, torch._dynamo
import egoequiv.report.figures, egoequiv.training
from egoequiv.cli.main import main

for line in sys.stdin:
    child = os.fork()
    if not child:
        os.setsid()
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1), os.dup2(silent, 2)
        sys.argv = ["egoequiv", *json.loads(line)]
        try:
            main()
            os._exit(0)
        except SystemExit as end:
            os._exit(int(end.code or 0))
        finally:
            os._exit(70)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    """Where commands are started, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, arguments: list[str]) -> int:
        """Start a command; its process and its process group."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return self._read()

    def wait(self) -> int:
        """The exit code of the command that was started last."""
        return self._read()

    def _read(self) -> int:
        return int(read_line(self._process))


@pytest.fixture(scope="module")
def starts() -> Iterator[Nursery]:
    with started([sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Nursery(process)


def command(store: Path, out: Path, method: str = "equiv+drlim") -> list[str]:
    settings = {"iterations": 60, "per_class": 3, "threads": 1, "log_every": 6, "checkpoint_every": 6}
    settings |= {"validate_every": 30, "encoder": "norb", "batch_size": 16}
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    return ["train", str(store), "--method", method, "-o", str(out), "--resume", *flags]


def is_alive(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def kill(process: int, metrics: Path, after_lines: int, after_s: float) -> None:
    """Kill a run when it has logged so many lines and a moment has passed since, unless it has ended before."""
    while is_alive(process) and (metrics.read_bytes().count(b"\n") if metrics.exists() else 0) < after_lines:
        time.sleep(0.002)
    time.sleep(after_s)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["equiv+drlim", "recording+motion"])
def test_killed_runs_end_in_the_bytes_of_an_undisturbed_one(
    starts: Nursery, small_store: FrameStore, tmp_path: Path, method: str
) -> None:
    moments = random.Random(0)
    cut_in_training = 0
    begun_s = time.monotonic()
    starts.start(command(small_store.path, tmp_path / "whole", method))
    assert starts.wait() == 0
    duration_s = time.monotonic() - begun_s
    whole = {name: (tmp_path / "whole" / name).read_bytes() for name in RESULTS}
    for number in range(10 * KILLS):
        if number >= KILLS and cut_in_training >= KILLS // 2:
            break
        out = tmp_path / f"killed-{number}"
        process = starts.start(command(small_store.path, out, method))
        if number < STARTING:  # at any time, while the run begins or ends too
            kill(process, out / "metrics.jsonl", 0, moments.uniform(0.05, 1.0) * duration_s)
        else:  # while it trains, logs, validates and writes checkpoints
            lines = moments.randrange(whole["metrics.jsonl"].count(b"\n"))
            kill(process, out / "metrics.jsonl", lines, moments.uniform(0, 0.04))
        cut_in_training += starts.wait() == -signal.SIGKILL and (out / "config.json").exists()
        starts.start(command(small_store.path, out, method))
        assert starts.wait() == 0
        for name in RESULTS:
            assert (out / name).read_bytes() == whole[name], f"kill {number}: {name}"
        shutil.rmtree(out)
    assert cut_in_training >= KILLS // 2, "the kills came too early or too late to prove anything"
