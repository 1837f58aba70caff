"""SIGKILL at any moment: the resumed run ends with the bytes of one that was never killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from egoequiv.store import FrameStore

KILLS = 20


def command(store: Path, out: Path) -> list[str]:
    settings = {"iterations": 1_000, "per_class": 3, "threads": 1, "log_every": 20, "checkpoint_every": 20}
    settings |= {"validate_every": 100}
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    method = ["--method", "equiv+drlim", "-o", str(out), "--resume"]
    return [sys.executable, "-m", "egoequiv", "train", str(store), *method, *flags]


def run(arguments: list[str]) -> float:
    start = time.monotonic()
    subprocess.run(arguments, check=True, capture_output=True)
    return time.monotonic() - start


@pytest.mark.slow
def test_twenty_kills_end_in_twenty_identical_finishes(small_store: FrameStore, tmp_path: Path) -> None:
    duration = run(command(small_store.path, tmp_path / "whole"))
    expected = (tmp_path / "whole" / "last.safetensors").read_bytes()
    moments = random.Random(0)
    cut_in_training = 0
    for number in range(KILLS):
        out = tmp_path / f"killed-{number}"
        process = subprocess.Popen(
            command(small_store.path, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(moments.uniform(0.3, 1.0) * duration)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        cut_in_training += (out / "config.json").exists() and not (out / "result.json").exists()
        run(command(small_store.path, out))
        for name in ("last.safetensors", "best.safetensors", "metrics.jsonl", "result.json"):
            assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), f"kill {number}: {name}"
        assert expected == (out / "last.safetensors").read_bytes()
    assert cut_in_training >= KILLS // 4, "the kills came too early or too late to prove anything"
