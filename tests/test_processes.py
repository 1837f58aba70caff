"""Worker processes end with the process that started them."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from egoequiv import processes
from egoequiv.store import FrameStore
from helpers import HANG_S, started, wait_for

FEW = ["--set", "per_class=3", "--set", "checkpoint_every=100"]
SETTINGS = ["--rates", "0.01", "--weights", "1", "--iterations", "200000", "--workers", "2", *FEW]


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in found.split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize(
    ("stop", "code", "words"),
    [
        (signal.SIGKILL, -signal.SIGKILL, ""),
        (signal.SIGTERM, 128 + signal.SIGTERM, "stopped; finished work is kept; to continue, repeat the command"),
    ],
)
def test_nobody_trains_on_after_the_parent(
    stop: signal.Signals, code: int, words: str, small_store: FrameStore, tmp_path: Path
) -> None:
    """The parent alone gets the signal; those that a terminal sends to all processes are in cli/test_stopping.py."""
    command = [sys.executable, "-m", "egoequiv", "search", str(small_store.path), "-o", str(tmp_path / "search")]
    with_signals = {"preexec_fn": lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)}
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with started([*command, *SETTINGS], **pipes, **with_signals) as parent:
        wait_for(lambda: len(list(tmp_path.glob("search/.stack-*.safetensors"))) >= 2, parent)
        workers = children(parent.pid)
        assert len(workers) >= 2
        os.kill(parent.pid, stop)
        _, said = parent.communicate(timeout=HANG_S)
        assert parent.returncode == code
        assert words == (said.splitlines()[-1] if stop != signal.SIGKILL else "")
        wait_for(lambda: not any(alive(pid) for pid in workers))
    assert stop == signal.SIGKILL or not list(tmp_path.rglob("*.partial"))


def test_a_worker_ends_when_what_cannot_be_cut_in_two_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "is_busy", lambda: True)  # there is something to tidy up: it may not end at once
    monkeypatch.setattr(processes._Work, "is_on", True)
    monkeypatch.setattr(processes._Work, "is_ended", False)
    whole: dict[str, Any] = {"__name__": "llvmlite.binding", "signal": signal}
    exec("def work():\n    signal.raise_signal(signal.SIGTERM)\n    return 'whole'", whole)
    before = signal.signal(signal.SIGTERM, processes._end)
    try:
        assert whole["work"]() == "whole"
        with pytest.raises(SystemExit):
            select.select([], [], [], HANG_S)  # until the signal is sent again
    finally:
        signal.signal(signal.SIGTERM, before)
