"""Tasks on a Ray cluster: one that is running already, here or elsewhere, or a new one on this machine."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from types import ModuleType
from typing import Any

from egoequiv.engines.engine import Engine, Result, Task, Tick, WorkerLostError, silent
from egoequiv.errors import ConfigError, DataError
from egoequiv.user_code import CODE_VARIABLE

POLL_S = 0.3
ANSWER_S = 10.0
RETRIES = 3  # of a task whose worker died

# No usage statistics are sent to Ray's makers. Tasks see the same accelerators as without Ray, and have the same share
# of a busy machine: by default Ray gives its workers a niceness of 15, with which they hardly get on beside other work.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
}


class RayEngine(Engine):
    """One remote call for each task, repeated when its worker dies.

    The cluster is the one at `address` or in the environment variable RAY_ADDRESS. Without either, one is started here
    with `processes` cores; it ends with `close` or with this process. All machines of a cluster need egoequiv, and the
    same folders under the same paths.
    """

    def __init__(self, processes: int | None = None, address: str | None = None) -> None:
        self.processes = processes
        self.address = address
        self._connected = False

    @property
    def workers(self) -> int:
        return max(1, int(self._connect().cluster_resources().get("CPU", 1)))

    def run(
        self,
        work: Callable[[Task, Tick], Result],
        tasks: Sequence[Task],
        on_tick: Tick = silent,
        *,
        short: bool = False,
    ) -> list[Result]:
        if not tasks:
            return []
        with redirect_stdout(sys.stderr):  # Ray reports lost workers on stdout, which is for results
            ray = self._connect()
            calls: list[Any] = []
            try:
                counts = ray.remote(num_cpus=0, max_restarts=-1)(_Counts).remote()
                do = ray.remote(num_cpus=1, max_retries=RETRIES)(_do)
                shared, folder = ray.put(work), os.getcwd()
                for number, task in enumerate(tasks):
                    calls.append(do.remote(shared, task, number, counts, folder))
                results = _gather(ray, calls, _Progress(ray, counts, on_tick))
                ray.kill(counts)
            except BaseException:
                self._stop(ray, calls)
                raise
        return results

    def _stop(self, ray: ModuleType, calls: list[Any]) -> None:
        """End all calls; by closing the connection if it is ours, because a forced cancel may abort this process."""
        if self._connected:
            self.close()
        else:
            for call in calls:
                ray.cancel(call)

    def close(self) -> None:
        if self._connected:
            self._connected = False
            with redirect_stdout(sys.stderr):
                _import_ray().shutdown()

    def _connect(self) -> ModuleType:
        ray = _import_ray()
        if ray.is_initialized():
            return ray
        address = self.address or os.environ.get("RAY_ADDRESS") or "local"
        _check_answers(address)
        own = {"num_cpus": self.processes or os.cpu_count(), "include_dashboard": False} if address == "local" else {}
        try:
            ray.init(address, log_to_driver=False, logging_level="ERROR", runtime_env=_import_paths(), **own)
        except (OSError, RuntimeError, ValueError, ImportError) as problem:
            refused = "AuthToken" in str(problem.__cause__)
            hint = "; it needs a token: set RAY_AUTH_MODE=token in the environment" if refused else ""
            raise ConfigError(f"no Ray cluster at {address!r}: {_first_line(problem)}{hint}") from problem
        self._connected = True
        return ray


def _import_ray() -> ModuleType:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as problem:
        raise ConfigError("the engine ray needs the package ray: pip install 'egoequiv[ray]'") from problem
    return ray


def _import_paths() -> dict[str, Any]:
    """Let workers find the modules that this process finds outside its installation, such as a user's own sources."""
    installed = (sys.prefix, sys.base_prefix)
    paths = [os.path.abspath(path) for path in sys.path if not path.startswith(installed)]
    trusted = {CODE_VARIABLE: os.environ[CODE_VARIABLE]} if CODE_VARIABLE in os.environ else {}
    return {"env_vars": {"PYTHONPATH": os.pathsep.join(paths), **trusted}}


def _check_answers(address: str) -> None:
    """Try to connect to HOST:PORT or ray://HOST:PORT first, because Ray itself tries for minutes before it gives up."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S).close()
    except (OSError, OverflowError) as problem:
        raise ConfigError(
            f"no Ray cluster at {address!r}: {_first_line(problem)}; start one with: ray start"
        ) from problem


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0]


def _gather(ray: ModuleType, calls: list[Any], progress: _Progress) -> list[Any]:
    """The results of all calls in order; the first error is raised as soon as it is seen."""
    number_of = {call: number for number, call in enumerate(calls)}
    results: list[Any] = [None] * len(calls)
    pending = calls
    while pending:
        # Take all that are ready, not only the first: waiting for each of n calls would take n * n steps.
        ready, pending = ray.wait(pending, num_returns=len(pending), timeout=POLL_S)
        for call in ready:
            results[number_of[call]], ticks = _result(ray, call)
            progress.finished[number_of[call]] = ticks
        progress.report()
    return results


def _result(ray: ModuleType, call: Any) -> Any:
    try:
        return ray.get(call)
    except ray.exceptions.RayTaskError as problem:
        raise problem.cause from problem
    except ray.exceptions.RayError as problem:
        gave_up = f"the Ray cluster gave up a task after {RETRIES + 1} attempts (out of memory?)"
        raise WorkerLostError(f"{gave_up}: {_first_line(problem)}") from problem


class _Progress:
    """The progress of all tasks: running ones report it to an actor, finished ones return it with their results."""

    def __init__(self, ray: ModuleType, counts: Any, on_tick: Tick) -> None:
        self._ray, self._counts, self._on_tick = ray, counts, on_tick
        self._asked = counts.read.remote()
        self._heard: dict[int, int] = {}
        self._told = 0
        self.finished: dict[int, int] = {}

    def report(self) -> None:
        """Report the sum; it does not fall when a task starts again, and rises after that task has caught up."""
        ray = self._ray
        if ray.wait([self._asked], timeout=0)[0]:
            with suppress(ray.exceptions.RayError):  # the actor died and restarts empty; tasks will report to it again
                self._heard = ray.get(self._asked)
            self._asked = self._counts.read.remote()
        self._told = max(self._told, sum((self._heard | self.finished).values()))
        self._on_tick(self._told)


class _Counts:
    """An actor that keeps the progress of each task in its latest attempt."""

    def __init__(self) -> None:
        self._done: dict[int, int] = {}

    def note(self, number: int, done: int) -> None:
        self._done[number] = done

    def read(self) -> dict[int, int]:
        return self._done


def _do(work: Callable[[Any, Tick], Any], task: Any, number: int, counts: Any, folder: str) -> tuple[Any, int]:
    """Do one task in a worker, and return its total progress too."""
    if not os.path.isdir(folder):
        raise DataError(
            f"the machine {socket.gethostname()} has no {folder}: all machines of a cluster need the same folders"
        )
    os.chdir(folder)  # a worker of a cluster started in another folder, and paths may be relative
    done, told_s = 0, 0.0

    def tick(more: int) -> None:
        nonlocal done, told_s
        done += more
        if time.monotonic() - told_s > POLL_S:
            told_s = time.monotonic()
            counts.note.remote(number, done)

    result = work(task, tick)
    return result, done
