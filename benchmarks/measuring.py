"""How things are measured: two pieces of work in turns, medians with spread, and the peak memory of a command."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

Seconds = Callable[[], float]  # does a piece of work and says how long one unit of it took

POLL_S = 0.005  # between two looks at the memory of a command


@dataclass(frozen=True)
class Measured:
    """A ratio, its spread, and absolute values for it."""

    ratio: float  # the median of the rounds
    spread: float  # half the distance between the 10 % and the 90 % quantile of the rounds
    beside: str = ""


@dataclass(frozen=True)
class Peak:
    """The most memory that a command and the processes it started had at one moment, in MB."""

    own: float  # allocated memory, without mapped files, which the system may drop at any time
    resident: float  # all of it


def timed(work: Callable[[], object], repeat: int = 1) -> Seconds:
    """Time a function; a unit is one call."""

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(repeat):
            work()
        return (time.perf_counter() - start) / repeat

    return measure


def summary(ratios: Sequence[float], beside: str = "") -> Measured:
    """Median and spread of the ratios of all rounds."""
    low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    return Measured(float(middle), float(high - low) / 2, beside)


def compare(
    ours: Seconds, other: Seconds, rounds: int, *, warm_up: bool = True, what: str = "", units: int = 1
) -> Measured:
    """How many times as fast ours is as the other; they take turns, and who begins does so too.

    `what` is counted beside the ratio, such as iterations a second, or else the seconds are given. `units` is how many
    units of the other one unit of ours is worth, such as 20 for a stack of 20 networks.
    """
    if warm_up:
        ours(), other()
    own: list[float] = []
    others: list[float] = []
    for number in range(rounds):
        turns = [(ours, own), (other, others)]
        for work, times in turns if number % 2 else reversed(turns):
            times.append(work())
    own = [one / units for one in own]
    ratios = [b / a for a, b in zip(own, others, strict=True)]
    return summary(ratios, f"{_in_words(own, what)} against {_in_words(others, what)}")


def _in_words(times: Sequence[float], what: str) -> str:
    middle = float(np.median(times))
    return f"{1 / middle:,.1f} {what}/s" if what else f"{middle:.3g} s"


def command_seconds(command: Sequence[str], env: dict[str, str] | None = None) -> float:
    """How long a command runs; what it prints is shown only if it fails."""
    start = time.perf_counter()
    run_command(command, env)
    return time.perf_counter() - start


def run_command(command: Sequence[str], env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; if it fails, raise with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2_000:]}")
    return done.stdout


def egoequiv(*arguments: object) -> list[str]:
    """The command line `egoequiv ARGUMENTS` with this Python."""
    return [sys.executable, "-m", "egoequiv", *map(str, arguments)]


@dataclass(frozen=True)
class Cost:
    """What a command took, with the processes it started."""

    wall_s: float
    processor_s: float  # user and system
    peak: Peak


def peak_memory(command: Sequence[str]) -> Peak:
    """The most memory that a command had."""
    return command_cost(command).peak


def command_cost(command: Sequence[str], env: dict[str, str] | None = None) -> Cost:
    """Run a command in a session of its own, and watch the memory of all processes in it."""
    own = resident = 0.0
    begin, before = time.perf_counter(), _children_s()
    with (
        TemporaryFile() as said,
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True, env={**os.environ, **(env or {})}
        ) as child,
    ):
        try:
            while child.poll() is None:
                now = [_memory(pid) for pid in _session(child.pid)]
                own, resident = max(own, sum(a for a, _ in now)), max(resident, sum(b for _, b in now))
                time.sleep(POLL_S)
        except BaseException:  # a Ctrl-C does not reach a session of its own
            child.terminate()
            raise
        if child.returncode:
            said.seek(0)
            reason = said.read().decode(errors="replace")[-2_000:]
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {reason}")
    return Cost(time.perf_counter() - begin, _children_s() - before, Peak(own, resident))


def _children_s() -> float:
    """Processor time of all processes that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _session(leader: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == leader:
                found.append(int(name))
        except ProcessLookupError:  # it has ended since
            continue
    return found


def _memory(pid: int) -> tuple[float, float]:
    """Own and resident memory of a process in MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0, 0.0
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("Rss", "VmRSS"))}
    own = kilobytes.get("RssAnon", 0) + kilobytes.get("RssShmem", 0)
    return own / 1024, kilobytes.get("VmRSS", 0) / 1024


def describe_machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import torch

    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "processor": names[0].split(":")[1].strip() if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2),  # before the first benchmark: a busy machine gives other ratios
    }
