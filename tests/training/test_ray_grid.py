"""A grid on a Ray cluster gives the bytes of a grid in local processes, also when one of its workers is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from egoequiv.engines import Engine, LocalEngine, RayEngine
from egoequiv.store import FrameStore
from egoequiv.training.pace import PACE
from egoequiv.training.search import GreedySearch
from helpers import HANG_S

pytestmark = [pytest.mark.slow, pytest.mark.ray]

SHORT = {"iterations": 120, "per_class": 3, "log_every": 20, "checkpoint_every": 20, "validate_every": 120}


class InOrder(LocalEngine):
    """Plans for two workers and does their tasks in this process, without the seconds that processes take to start."""

    workers = 2  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__(1)


def search(
    store: FrameStore, out: Path, engine: Engine, method: str = "drlim"
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a search has chosen, and the bytes of all its files."""
    selection = GreedySearch(
        base={"data": str(store.path), **SHORT},
        out=out,
        learning_rates=(0.03, 0.01),
        weights=(0.1, 1.0),
        rate_seeds=range(2),
        seeds=range(2),
        engine=engine,
    ).run([method])
    files = {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != PACE
    }
    return selection.describe(), files


class Killer(threading.Thread):
    """Kills the first Ray worker that it finds at a task whose stack has a checkpoint."""

    def __init__(self, out: Path) -> None:
        super().__init__(daemon=True)
        self.out = out
        self.killed: list[int] = []

    def run(self) -> None:
        until = time.monotonic() + HANG_S
        while time.monotonic() < until and not self.killed:
            time.sleep(0.02)
            if list(self.out.glob(".stack-*")):
                found = subprocess.run(["pgrep", "-f", "^ray::_do"], capture_output=True, text=True).stdout.split()
                if found:
                    os.kill(int(found[0]), signal.SIGKILL)
                    self.killed.append(int(found[0]))


def test_processes_and_a_killed_ray_worker_change_nothing(
    small_store: FrameStore, tmp_path: Path, ray_engine: RayEngine
) -> None:
    chosen, _ = search(small_store, tmp_path / "alone", LocalEngine(1))
    calm = search(small_store, tmp_path / "calm", InOrder())
    killer = Killer(tmp_path / "killed")
    killer.start()
    disturbed = search(small_store, tmp_path / "killed", ray_engine)
    killer.join(HANG_S)
    assert killer.killed
    assert disturbed == calm
    assert chosen == calm[0]
    _, rates = search(small_store, tmp_path / "processes", LocalEngine(2), "clsnet")  # the first half of the same
    del rates["selection.json"]
    assert rates == {name: content for name, content in calm[1].items() if name.startswith("clsnet")}
    assert rates
