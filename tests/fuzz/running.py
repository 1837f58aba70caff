"""Running cases: each in a process forked from one that has imported everything, with limits of time and memory."""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import os
import pkgutil
import resource
import select
import shutil
import signal
import stat
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.cases import Case, Target, draw, environment
from fuzz.inputs import Inputs

MEMORY = 3 * 10**9  # more than the imported modules take
FILE_SIZE = 500_000_000
LIMIT_S, END_S = 60.0, 60.0  # before a case is asked to stop, and until it has to have stopped


@dataclass(frozen=True)
class Outcome:
    """How a case went; `failure` is empty if it went as it should."""

    number: int
    target: str
    damaged: tuple[str, ...]
    arguments: list[str]
    code: int
    seconds: float
    failure: str
    said: str


# What commands, or torch when it makes an optimiser, import when they first need it; each takes up to seconds.
LATE = (
    *("matplotlib.backends.backend_agg", "matplotlib.font_manager", "matplotlib.pyplot", "plotly.graph_objects"),
    *("av", "fsspec.core", "pyarrow.compute", "pyarrow.parquet", "rosbags.rosbag1", "rosbags.rosbag2"),
    *("scipy.ndimage", "scipy.spatial.transform", "sklearn.cluster", "sklearn.metrics", "torch._dynamo"),
)


def import_everything() -> None:
    """Import what any command may need, so that a forked process has it at once."""
    import PIL.Image

    import egoequiv

    PIL.Image.init()
    for name in LATE:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(egoequiv.__path__, "egoequiv."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()


def run_case(seed: int, number: int, targets: list[Target], inputs: Inputs, home: Path, keep: bool = False) -> Outcome:
    """Draw a case, run it, and see whether it ended as it should."""
    folder = home / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    case = draw(seed, number, targets, inputs, folder)
    before = snapshot(folder / "in")
    begun = time.monotonic()
    code, late = _in_a_fork(case, folder)
    seconds = time.monotonic() - begun
    said = (folder / "stderr").read_text(errors="replace")
    failure = _judge(case, code, late, said) or _changes(case, before, folder)
    if not failure and code == 0 and case.target.check is not None:
        failure = case.target.check(case, folder / "out", inputs)
    if not keep:
        _remove(folder)
    return Outcome(
        number, case.target.name, case.damaged, case.arguments, code, round(seconds, 2), failure, said[-3000:]
    )


def _remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


def _in_a_fork(case: Case, folder: Path) -> tuple[int, str]:
    """The exit code, negative for a signal; and `stopped` or `hung` if it took too long."""
    child = os.fork()
    if not child:
        try:
            _become(case, folder)
        finally:
            os._exit(70)
    handle = os.pidfd_open(child)
    late = ""
    limit_s = LIMIT_S if case.target.until_s is None else case.target.until_s
    try:
        if not select.select([handle], [], [], limit_s)[0]:
            late = "stopped"
            os.kill(child, signal.SIGTERM)
            if not select.select([handle], [], [], END_S)[0]:
                late = "hung"
                os.kill(child, signal.SIGKILL)
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), late


def _become(case: Case, folder: Path) -> None:
    """In the forked process: be the command."""
    os.setsid()
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, number in (("stdout", 1), ("stderr", 2)):
        setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="strict", closefd=False))
    os.chdir(folder / "out")
    os.environ.update(environment(folder))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["egoequiv", *case.arguments]
    from egoequiv.cli.console import messages
    from egoequiv.cli.main import main

    messages.file = sys.stderr
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = code or 1
    os._exit(code)


def _judge(case: Case, code: int, late: str, said: str) -> str:
    """What is wrong with the end of a case, if anything."""
    if late == "hung":
        return "hang: it did not stop on SIGTERM"
    if "Traceback (most recent call last)" in said:
        return "traceback"
    if late == "stopped":
        if code != 143 and code not in (0, 2):
            return f"exit {code} after SIGTERM"
        return "" if case.target.until_s is not None else f"slow: more than {LIMIT_S:.0f} s"
    if code not in ((0, 1, 2) if case.arguments[:1] == ["doctor"] else (0, 2)):  # 1 is a fault that doctor has found
        return f"exit {code}"
    lines = [line for line in said.splitlines() if line.strip()]
    if any("Warning: " in line for line in lines):
        return "warning"
    if code == 2 and not (lines and (lines[-1].startswith("egoequiv: error: ") or "Error" in said)):
        return "exit 2 without a line"
    return ""


def _changes(case: Case, before: dict[str, Any], folder: Path) -> str:
    """What became of files that a command must not touch."""
    if (folder / "trapped").exists():
        return "code of an input was run"
    others = {path.name for path in folder.iterdir()} - {"in", "out", "stdout", "stderr", "cache", "home"}
    if others:
        return f"files outside of the output: {sorted(others)}"
    left = [path for path in folder.rglob("*.partial") if str(path.relative_to(folder)) not in before]
    if left:
        return f"left behind: {left[0].relative_to(folder)}"
    after = snapshot(folder / "in")
    lost = sorted(before.keys() - after.keys())
    if lost:
        return f"lost: {lost[0]}"
    if case.target.change == "none" and after != before:
        return f"input changed: {sorted(name for name in after if after[name] != before.get(name))[:3]}"
    if case.target.change == "more":
        changed = [name for name in before if after[name] != before[name] and is_kept(name)]
        if changed:
            return f"run changed: {changed[:3]}"
    return ""


def is_kept(name: str) -> bool:
    """Whether a file of a run or a store is one that measuring must not change; what was measured is kept beside."""
    of_run = (".safetensors", "metrics.jsonl", "config.json", "model.json", "data.json", "result.json")
    is_measured = "/measurements/" in name  # what is damaged there is measured again
    return name.endswith((*of_run, "store.json", ".parquet", ".npy", ".mat", ".txt")) and not is_measured


def snapshot(folder: Path) -> dict[str, Any]:
    """What lies below a folder: kinds, sizes and contents."""
    found: dict[str, Any] = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(root, name)
            seen = os.lstat(path)
            kind = stat.S_IFMT(seen.st_mode)
            content = None
            if kind == stat.S_IFREG:
                with open(path, "rb") as file:
                    content = (seen.st_size, hashlib.sha256(file.read(2**20)).hexdigest())
            found[os.path.relpath(path, folder)] = (kind, content)
    return found


def outcome_line(outcome: Outcome) -> bytes:
    """An outcome as one line, for a pipe."""
    return json.dumps(outcome.__dict__).encode() + b"\n"


def read_outcome(line: bytes) -> Outcome:
    """What `outcome_line` wrote."""
    values = json.loads(line)
    return Outcome(**{**values, "damaged": tuple(values["damaged"])})
