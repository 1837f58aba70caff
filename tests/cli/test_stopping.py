"""SIGTERM and SIGHUP end a command as Ctrl-C does: one line, the exit code of the signal, nothing left behind."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from egoequiv import files
from egoequiv.cli import stopping
from egoequiv.cli.stopping import stoppable
from egoequiv.store import FrameStore
from helpers import HANG_S, started, wait_for

STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
SLOW_WORLD = ["--set", "toys_per_category=5", "--workers", "2", "--size", "96"]


def _usual_signals() -> None:
    """Signals as a terminal leaves them: under nohup, or in the background of a script, some are ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def command(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A command of the program, with the signals of a terminal."""
    whole = [sys.executable, "-m", "egoequiv", *map(str, arguments)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with started(whole, preexec_fn=_usual_signals, **pipes) as process:
        yield process


@contextmanager
def restored_handlers() -> Iterator[None]:
    """After a stop the handlers and hooks stay, because the process is to end; this one is not."""
    before, hooks = {stop: signal.getsignal(stop) for stop in STOPS}, (sys.unraisablehook, sys.excepthook)
    try:
        yield
    finally:
        for stop, handler in before.items():
            signal.signal(stop, handler)
        (sys.unraisablehook, sys.excepthook), threading.excepthook = hooks, threading.__excepthook__


def check_stopped(process: subprocess.Popen[str], stop: signal.Signals, words: str) -> None:
    os.killpg(process.pid, stop)
    _, said = process.communicate(timeout=HANG_S)
    *progress, last = said.splitlines()
    assert last == f"stopped; {words}", said
    known = re.compile(r"[\w: ]*[\d,]+/[\d,]+.*|(encoder|split|warning) ?[\w-]*: .*")  # progress and choices
    assert all(known.fullmatch(line) for line in progress), said
    assert process.returncode == 128 + stop


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOPS)
def test_ingest_with_workers_is_stopped(stop: signal.Signals, tmp_path: Path) -> None:
    with command("ingest", "turntable", "-o", tmp_path / "toys", *SLOW_WORLD) as process:
        wait_for(lambda: list(tmp_path.glob(".toys.*.partial/toys/frames.npy")), process)
        check_stopped(process, stop, "nothing was saved; to start again, repeat the command")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM])
def test_train_is_stopped(stop: signal.Signals, small_store: FrameStore, tmp_path: Path) -> None:
    settings = ["--iterations", "2000000", "--set", "checkpoint_every=10", "--set", "log_every=10", "--per-class", "3"]
    settings += ["--method", "equiv"]
    with command("train", small_store.path, "-o", tmp_path / "run", *settings) as process:
        wait_for((tmp_path / "run" / "last.safetensors").exists, process)
        how = f"go on from the last checkpoint with: egoequiv train -o {tmp_path / 'run'} --resume"
        check_stopped(process, stop, how)
    assert not list(tmp_path.rglob("*.partial"))


# Modules are found in the same way wherever they are: a finder that waits shows a stop in the middle of an import.
AT_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), {stop})

sys.meta_path.insert(0, Finder())
sys.argv = ["egoequiv", "demo", "-o", sys.argv[1]]
from egoequiv.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("name", "stop"), [*(("typer", stop) for stop in STOPS), ("numpy", signal.SIGTERM), ("torch", signal.SIGHUP)]
)
def test_a_stop_while_modules_are_imported(stop: signal.Signals, name: str, tmp_path: Path) -> None:
    script = AT_IMPORT.format(name=name, stop=int(stop))
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        preexec_fn=_usual_signals,
    )
    assert done.stderr == "stopped; finished work is kept; to continue, repeat the command\n"
    assert done.returncode == 128 + stop


def test_a_second_signal_does_not_disturb_the_end() -> None:
    ended = []

    def stop_twice() -> None:
        with stoppable() as stop:
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGHUP)
                ended.append(stop.exit_code)

    with restored_handlers(), pytest.raises(KeyboardInterrupt):
        stop_twice()
    assert ended == [143]


def test_handlers_are_those_of_the_caller_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = lambda number, frame: None  # noqa: E731
    before = signal.signal(signal.SIGTERM, mine), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            assert signal.getsignal(signal.SIGTERM) is not mine
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # nohup
        assert signal.getsignal(signal.SIGTERM) is mine
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
        with stoppable():
            assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])


def test_a_stop_that_a_destructor_swallows_comes_again() -> None:
    class Swallows:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def swallow() -> None:
        with stoppable():
            Swallows()
            select.select([], [], [], HANG_S)  # until the signal is sent again

    with restored_handlers(), pytest.raises(KeyboardInterrupt):
        swallow()


@pytest.mark.parametrize("module", ["numba.core.compiler", "importlib._bootstrap", "egoequiv.files"])
def test_a_stop_waits_until_what_cannot_be_cut_in_two_is_done(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "is_busy", lambda: True)  # there is something to tidy up: it may not end at once
    whole: dict[str, Any] = {"__name__": module, "signal": signal}
    exec("def work():\n    signal.raise_signal(signal.SIGTERM)\n    return 'whole'", whole)
    done = []

    def stop_at_work() -> None:
        with stoppable():
            done.append(whole["work"]())
            select.select([], [], [], HANG_S)  # until the signal is sent again

    with restored_handlers(), pytest.raises(KeyboardInterrupt):
        stop_at_work()
    assert done == ["whole"]


def test_a_folder_is_removed_whole_when_a_stop_comes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = files.shutil.rmtree

    def stop_and_remove(*arguments: Any, **more: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        remove(*arguments, **more)

    monkeypatch.setattr(files.shutil, "rmtree", stop_and_remove)

    def write() -> None:
        with stoppable():
            files.write_text(tmp_path / "a.txt", "whole")
            select.select([], [], [], HANG_S)

    with restored_handlers(), pytest.raises(KeyboardInterrupt):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_thread_may_run_commands() -> None:
    seen: list[int] = []

    def run() -> None:
        with stoppable() as stop:
            seen.append(stop.exit_code)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [130]
