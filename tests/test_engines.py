"""Engines: many tasks side by side, their results in order, nothing lost or doubled when a worker dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from egoequiv.engines import ENGINES, Engine, LocalEngine, RayEngine, Tick, WorkerLostError, cluster, engine_named
from egoequiv.errors import ConfigError, DataError
from egoequiv.store import FrameStore, ingest
from helpers import HANG_S, grid_source, wait_for

TASKS = [3, 1, 2, 0, 5, 4]


def square(base: int, task: int, tick: Tick) -> int:
    for _ in range(task):
        tick(2)
    return base + task * task


def who(task: int, tick: Tick) -> int:
    tick(1)
    return os.getpid()


def threads(task: int, tick: Tick) -> str:
    return os.environ["OMP_NUM_THREADS"]


def niceness(task: int, tick: Tick) -> int:
    return os.nice(0)


def who_after(parent: int, begun: Path, task: int, tick: Tick) -> int:
    """Workers wait until the parent has begun a task."""
    if os.getpid() == parent:
        begun.touch()
    wait_for(begun.exists)
    return who(task, tick)


def refuse(task: int, tick: Tick) -> int:
    if task == 2:
        raise DataError("table.csv, row 2: expected a number, found 'x'")
    return task


def note_and_die_once(folder: Path, task: int, tick: Tick) -> int:
    """Write a line for the task; the worker of every third one is killed first, when it has ticked half."""
    tick(5)
    begun = folder / f"begun-{task}"
    first = not begun.exists()
    begun.touch()
    if first and task % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    tick(5)
    with open(folder / "finished", "a") as file:
        file.write(f"{task}\n")
    return 10 * task


def die(task: int, tick: Tick) -> int:
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def die_beside_parent(parent: int, died: Path, task: int, tick: Tick) -> int:
    """The parent waits until its worker is about to die."""
    if os.getpid() != parent:
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    wait_for(died.exists)
    return task


def check_results(engine: Engine) -> None:
    """Results in order, and ticks that add up and never fall."""
    seen: list[int] = []
    assert engine.run(partial(square, 100), TASKS, seen.append) == [109, 101, 104, 100, 125, 116]
    assert seen == sorted(seen)
    assert seen[-1] == 2 * sum(TASKS)


def check_error(engine: Engine) -> None:
    with pytest.raises(DataError) as caught:
        engine.run(refuse, TASKS)
    assert type(caught.value) is DataError
    assert str(caught.value) == "table.csv, row 2: expected a number, found 'x'"


def check_lost(run: Callable[[], object], *words: str) -> None:
    with pytest.raises(WorkerLostError) as caught:
        run()
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("processes", [1, 2])
def test_the_local_engine_gives_results_in_order(processes: int) -> None:
    check_results(LocalEngine(processes))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_task_comes_back_as_it_was(processes: int) -> None:
    check_error(LocalEngine(processes))


@pytest.mark.parametrize("engine", [LocalEngine(2), RayEngine(2)])
def test_no_tasks_have_no_results(engine: Engine) -> None:
    assert engine.run(who, []) == []


def test_one_process_is_this_one() -> None:
    assert LocalEngine(1).run(who, TASKS) == [os.getpid()] * len(TASKS)


def test_long_tasks_are_done_by_workers_alone() -> None:
    assert os.getpid() not in LocalEngine(2).run(who, TASKS)


def test_short_tasks_begin_in_this_process(tmp_path: Path) -> None:
    seen: list[int] = []
    work = partial(who_after, os.getpid(), tmp_path / "begun")
    assert os.getpid() in LocalEngine(2).run(work, range(60), seen.append, short=True)
    assert seen == sorted(seen)
    assert seen[-1] == 60


def test_a_worker_that_is_killed_is_told_in_one_line() -> None:
    check_lost(lambda: LocalEngine(2).run(die, TASKS), "ended from outside", "one worker", "__main__")


def test_a_worker_that_is_killed_ends_the_help_of_its_parent(tmp_path: Path) -> None:
    work = partial(die_beside_parent, os.getpid(), tmp_path / "died")
    check_lost(lambda: LocalEngine(2).run(work, range(1_000_000), short=True), "ended from outside")


UNGUARDED = """
from functools import partial
from egoequiv.engines import LocalEngine

LocalEngine(2).run(partial(print, bytes(1_000_000)), range(4))
"""


def test_workers_that_cannot_start_are_told_however_much_they_should_have_got(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.returncode == 1
    assert "WorkerLostError: a worker process could not start" in done.stderr
    assert done.stdout == ""


def test_an_engine_is_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert isinstance(engine_named("local", 3), LocalEngine)
    assert engine_named("local", 3).workers == 3
    assert engine_named("local").workers == 5
    ray = engine_named("ray", 3, "here:1")
    assert isinstance(ray, RayEngine)
    assert (ray.processes, ray.address) == (3, "here:1")


def test_more_processes_than_a_machine_bears_are_refused() -> None:
    LocalEngine(64)
    with pytest.raises(ConfigError, match=r"2147483648 processes: this machine has \d+ cores; choose at most"):
        LocalEngine(2**31)


def test_an_engine_that_is_not_known_is_named() -> None:
    with pytest.raises(ConfigError, match=f"'spark' is not known; choose one of {', '.join(ENGINES)}"):
        engine_named("spark")
    with pytest.raises(ConfigError, match="'local' has no address"):
        engine_named("local", None, "here:1")


def test_ray_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'egoequiv\[ray\]'"):
        RayEngine().run(refuse, TASKS)


def test_ray_tells_nothing_to_its_makers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    cluster._import_ray()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:1"])
@pytest.mark.parametrize("given", ["argument", "variable"])
def test_a_cluster_that_does_not_answer_is_named(address: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster._import_ray(), "is_initialized", lambda: False)
    if given == "variable":
        monkeypatch.setenv("RAY_ADDRESS", address)
    engine = RayEngine(address=address if given == "argument" else None)
    with pytest.raises(ConfigError) as caught:
        engine.run(refuse, TASKS)
    assert f"no Ray cluster at '{address}'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.ray
def test_ray_gives_the_same_results(ray_engine: RayEngine) -> None:
    check_results(ray_engine)
    assert ray_engine.workers == 2
    assert ray_engine.run(niceness, [0]) == [os.nice(0)]  # or workers would hardly get on beside other work


@pytest.mark.slow
@pytest.mark.ray
def test_ray_does_the_task_of_a_killed_worker_again(
    ray_engine: RayEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[int] = []
    assert ray_engine.run(partial(note_and_die_once, tmp_path), range(7), seen.append) == list(range(0, 70, 10))
    assert sorted((tmp_path / "finished").read_text().split()) == list("0123456")
    assert seen == sorted(seen)
    assert seen[-1] == 70
    assert capsys.readouterr().out == ""  # it is for results


@pytest.mark.slow
@pytest.mark.ray
def test_ray_ingests_the_same_bytes(ray_engine: RayEngine, small_store: FrameStore, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    store = ingest(
        grid_source(), tmp_path / "store", engine=ray_engine, on_progress=lambda *progress: seen.append(progress)
    )
    for file in small_store.path.iterdir():
        assert (store.path / file.name).read_bytes() == file.read_bytes(), file.name
    assert seen[-1] == (144, 144)


@pytest.mark.slow
@pytest.mark.ray
def test_ray_gives_up_in_one_line_and_begins_anew(ray_engine: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    check_error(ray_engine)
    monkeypatch.setattr(cluster, "RETRIES", 0)
    check_lost(lambda: ray_engine.run(die, TASKS), "gave up a task after 1 attempts")


@pytest.mark.parametrize("said", [None, "3"])
def test_a_worker_has_its_share_of_the_cores_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert set(LocalEngine(2).run(threads, [1, 2, 3])) == {said or "2"}
    assert os.environ.get("OMP_NUM_THREADS") == said
