"""SIGKILL at random moments: the same command again ends in the files of a command that was never disturbed.

`python -m fuzz.kills` (with tests/ on the path). Moments are drawn as shares of the processor time of the undisturbed
command, so that they are spread over all of it, also on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from egoequiv.training.pace import PACE
from fuzz.inputs import Inputs
from fuzz.running import import_everything

SHORT = {"iterations": 60, "per_class": 2, "threads": 1, "log_every": 5, "checkpoint_every": 5, "validate_every": 20}
SETTINGS = [part for name, value in SHORT.items() for part in ("--set", f"{name}={value}")]

# What no two runs have in common: when and where a command was given, and locks.
NOT_DETERMINISTIC = ("command.json", ".lock", PACE)  # when it was done, and how long it took

Arguments = list[object]
COMMANDS: dict[str, Callable[[Inputs, Path], Arguments]] = {
    "train": lambda inputs, out: ["train", inputs["store"], "-o", out / "x", "--resume", *SETTINGS],
    "ingest": lambda inputs, out: [
        "ingest",
        "kitti",
        inputs["kitti"],
        "-o",
        out / "x",
        "--overwrite",
        "--workers",
        "1",
    ],
    "search": lambda inputs, out: [
        *(
            "search",
            inputs["store"],
            "-o",
            out / "x",
            "--iterations",
            "60",
            "--rates",
            "0.1,0.01",
            "--weights",
            "0.1,1",
        ),
        *("--methods", "equiv", "--seeds", "1", "--rate-seeds", "1", "--workers", "1", *SETTINGS[2:]),
    ],
    "patterns": lambda inputs, out: ["patterns", inputs["drive_store"], "-o", out / "x", "--clusters", "3"],
    "report": lambda inputs, out: ["report", _copy(inputs["runs"], out / "x"), "--task", "prediction,retrieval"],
    "reproduce": lambda _, out: [
        *("reproduce", "norb", "--quick", "--iterations", "40", "--repeats", "1", "--size", "16", "--no-select"),
        *("--methods", "clsnet,equiv", "--workers", "1", "-o", out / "x"),
    ],
}

NEEDED = {
    "train": ("store",),
    "ingest": ("kitti",),
    "search": ("store",),
    "patterns": ("drive_store",),
    "report": ("runs",),
    "reproduce": (),
}


def _copy(runs: Path, place: Path) -> Path:
    if not place.exists():
        shutil.copytree(runs, place)
    return place


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder with what they hold; empty folders too."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name not in NOT_DETERMINISTIC:
            name = str(path.relative_to(folder))
            found[name] = path.read_bytes() if path.is_file() else b"(folder)"
    return found


def start(arguments: Sequence[object], log: Path) -> int:
    """Start a command in a forked process and a group of its own."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["egoequiv", *map(str, arguments)]
        from egoequiv.cli.main import main

        main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def wait(child: int) -> int:
    """The exit code of a command."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def spent_s(group: int) -> float:
    """Processor time that a command and its workers have taken; unlike the clock, it goes with the work.

    Of workers that have ended, only those count that were waited for.
    """
    ticks = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))  # its own, and of children that were waited for
    return ticks / os.sysconf("SC_CLK_TCK")


def kill_at(child: int, share_s: float) -> None:
    """Kill a command when it has taken so much processor time, unless it has ended before."""
    while spent_s(child) < share_s:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)


def campaign(name: str, inputs: Inputs, home: Path, kills: int, seed: int, until_s: float) -> dict[str, Any]:
    """Kill one command at many moments; how many kills there were, and what differed afterwards."""
    rng = random.Random(f"{seed}-{name}")
    build = COMMANDS[name]
    place = home / name  # the same for all, because some files hold the place
    log = home / f"{name}.log"
    took_s, whole = _undisturbed(build, inputs, place, log)
    failures: list[str] = []
    killed = done = 0
    while done < kills and time.monotonic() < until_s:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        arguments = build(inputs, place)
        moment = rng.random()
        child = start(arguments, log)
        kill_at(child, moment * took_s)
        killed += wait(child) == -signal.SIGKILL
        done += 1
        if code := wait(start(arguments, log)):
            failures.append(
                f"killed at {moment:.3f}: the same command again ended with {code}: {log.read_text()[-300:]}"
            )
            continue
        after = files(place)
        different = sorted(one for one in whole.keys() | after.keys() if whole.get(one) != after.get(one))
        if different:
            failures.append(f"killed at {moment:.3f}: {', '.join(different[:5])} differ")
    return {"command": name, "moments": done, "killed": killed, "failures": failures}


def _undisturbed(
    build: Callable[[Inputs, Path], Arguments], inputs: Inputs, place: Path, log: Path
) -> tuple[float, dict[str, bytes]]:
    """How much processor time the command takes, and the files that it makes."""
    place.mkdir(parents=True)
    before = os.times()
    if wait(start(build(inputs, place), log)):
        raise RuntimeError(f"the command does not work: {log.read_text()[-500:]}")
    after = os.times()
    took_s = after.children_user + after.children_system - before.children_user - before.children_system
    return took_s, files(place)


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; 1 if anything differed."""
    parser = argparse.ArgumentParser(prog="make fuzz-kill", description="SIGKILL at random moments, then go on.")
    parser.add_argument("--kills", type=int, default=20, help="moments for each command (20)")
    parser.add_argument("--seconds", type=float, default=1_800.0, help="stop after this time (1,800)")
    parser.add_argument("--seed", type=int, default=0, help="which moments (0)")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), help="these commands alone")
    options = parser.parse_args(arguments)
    import_everything()
    failed = False
    with TemporaryDirectory(prefix="egoequiv-kill-") as temporary:
        home, until_s = Path(temporary), time.monotonic() + options.seconds
        inputs = Inputs(home / "inputs")
        for name in sorted({name for command in options.only for name in NEEDED[command]}):
            if wait(_fork_for(lambda name=name: inputs[name])):
                raise RuntimeError(f"the input {name} could not be made")
        for name in options.only:
            found = campaign(name, inputs, home, options.kills, options.seed, until_s)
            failed |= bool(found["failures"])
            print(json.dumps(found, indent=2), flush=True)
    return 1 if failed else 0


def _fork_for(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        work()
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
