"""The cases: which command is given which damaged input, all of it drawn from one seed and the number of the case."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from fuzz.inputs import SETTINGS, Inputs
from fuzz.mutations import ODD_NAMES, damage

Change = Literal["none", "more", "any"]  # of the input: nothing, new files only, or anything but a loss
Arguments = list[str]
STOP_S = 1.5


@dataclass(frozen=True)
class Target:
    """A command with an input to damage."""

    name: str
    input: str
    build: Callable[[Random, Path, Inputs], Arguments]
    change: Change = "none"
    weight: int = 10
    needs: tuple[str, ...] = ()  # inputs that are read as they are
    damage: Callable[[Random, Path, Path], str] = damage
    check: Callable[[Case, Path, Inputs], str] | None = None  # what is wrong with the folder of outputs
    until_s: float | None = None  # a command that may well work for hours is asked to stop, and has to


@dataclass(frozen=True)
class Case:
    """One command line, ready to be run in its own folder."""

    number: int
    target: Target
    damaged: tuple[str, ...]
    arguments: Arguments


def draw(seed: int, number: int, targets: list[Target], inputs: Inputs, folder: Path) -> Case:
    """Make the folder of a case: `in` with the damaged input, `out` where the command runs."""
    rng = Random(f"{seed}-{number}")
    target = rng.choices(targets, [one.weight for one in targets])[0]
    (folder / "out").mkdir(parents=True)
    place = folder / "in" / "data"
    if target.input:
        shutil.copytree(inputs.as_made(target.input), place)
        place = _choose_name(rng, place)
    times = rng.choice([1, 1, 1, 2, 4]) if target.input else 0
    done = []
    for _ in range(times):
        try:
            done.append(target.damage(rng, place, folder / "trapped"))
        except Exception:  # it has damaged the same place before, so that this way does not work any more
            done.append("nothing")
    return Case(number, target, tuple(done), target.build(rng, place, inputs))


def _choose_name(rng: Random, place: Path) -> Path:
    if rng.random() < 0.05:
        return place.rename(place.with_name(rng.choice(ODD_NAMES)))
    return place


def out_name(rng: Random) -> str:
    """The name of an output, now and then an odd one."""
    return rng.choice(ODD_NAMES) if rng.random() < 0.05 else "result"


def _ingest(source: str, *settings: str) -> Callable[[Random, Path, Inputs], Arguments]:
    def build(rng: Random, place: Path, _: Inputs) -> Arguments:
        files = sorted(place.glob("*.zip")) or [place]
        options = rng.choice([[], ["--strict"], ["--color"], ["--size", "8"], ["--json"]])
        chosen = [part for one in settings if rng.random() < 0.7 for part in ("--set", one)]
        return ["ingest", source, str(files[0]), "-o", out_name(rng), "--workers", "1", *options, *chosen]

    return build


def _store(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    name, out = str(place), out_name(rng)
    return rng.choice([
        ["info", name, "--sheet", f"{out}.png"],
        ["info", name, "--sheet", f"{out}.png", "--json"],
        ["view", name, "-o", f"{out}.html"],
        ["patterns", name, "-o", out],
        ["embed", str(inputs["run"]), name, "-o", f"{out}.npy"],
        ["train", name, "-o", out, *SETTINGS],
        ["train", name, "-o", out, "--no-labels", *SETTINGS],
        ["evaluate", str(inputs["run"]), name, "-o", out],
        ["audit", "pixels", "--store", name, "--no-baselines", "--limit", "40", "-o", out],
    ])  # fmt: skip


def _remote(rng: Random, place: Path, _: Inputs) -> Arguments:
    url = rng.choice([f"zip://::{place}/store.zip", f"zip://::file://{place}/store.zip", f"zip://x::{place}/store.zip"])
    return ["info", url, "--sheet", "sheet.png"]


def _local_url(rng: Random, place: Path, _: Inputs) -> Arguments:
    return [
        "info",
        rng.choice([f"file://{place}", f"local://{place}", f"simplecache::file://{place}"]),
        "--sheet",
        "s.png",
    ]


def _drive_store(rng: Random, place: Path, _: Inputs) -> Arguments:
    name = str(place)
    space = rng.choice([[], ["--space", "se2"], ["--space", "se3"], ["--space", "columns:x_m,yaw_deg"]])
    return rng.choice([
        ["patterns", name, "-o", out_name(rng), "--clusters", "3", "--keep", "2", *space],
        ["train", name, "-o", out_name(rng), *SETTINGS, "--set", "split=by-recording"],
        ["info", name, "--sheet", "sheet.png"],
    ])  # fmt: skip


def _run(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    name, store = str(place), str(inputs["store"])
    return rng.choice([
        ["evaluate", name],
        ["evaluate", name, "--json"],
        ["evaluate", name, "--task", "prediction", "-o", "result"],
        ["evaluate", name, store, "--checkpoint", "best"],
        ["embed", name, store, "-o", out_name(rng)],
        ["audit", name, "--store", store, "--no-baselines", "--limit", "40"],
        ["compare", name, str(inputs["run"])],
    ])  # fmt: skip


def _resume(rng: Random, place: Path, _: Inputs) -> Arguments:
    return ["train", "-o", str(place), "--resume", *rng.choice([[], ["--iterations", "4"], ["--seed", "1"]])]


def _report(rng: Random, place: Path, _: Inputs) -> Arguments:
    form = rng.choice(["html", "md", "tex"])
    tasks = rng.choice([["--no-evaluate"], ["--no-evaluate"], ["--no-evaluate"], ["--task", "prediction"]])
    return ["report", str(place), "-o", f"{out_name(rng)}.{form}", *tasks]


def _written_report(rng: Random, place: Path, _: Inputs) -> Arguments:
    return ["report", str(place), "-o", f"{out_name(rng)}.{rng.choice(['html', 'md', 'tex'])}", "--no-evaluate"]


def _compare(rng: Random, place: Path, _: Inputs) -> Arguments:
    runs = rng.choice([[place], [place / "clsnet", place / "equiv"]])
    return ["compare", *map(str, runs), *rng.choice([[], ["--json"]])]


def _patterns_file(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    store, file = str(inputs["drive_store"]), place / "patterns.json"
    return rng.choice([
        ["train", store, "-o", out_name(rng), *SETTINGS, "--set", f"patterns={file}"],
        ["audit", "pixels", "--store", store, "--no-baselines", "--patterns", str(file), "--limit", "40"],
    ])  # fmt: skip


NUMBERS = (
    "0",
    "-1",
    "1",
    "2",
    "1e3",
    "nan",
    "inf",
    "-inf",
    "9" * 30,
    "9" * 5000,
    "1.5",
    "x",
    "",
    "１２",
    "2147483648",
    "0x10",
)
WORDS = (
    *ODD_NAMES,
    "",
    "x",
    "all",
    ",",
    ",,",
    "a,b",
    "=",
    "a=b",
    "a.b=c",
    ".=1",
    "../..",
    "/",
    "/dev/null",
    "/proc/self/mem",
    "~",
    "zip://",
    "://",
)
GIANT = [
    "size=999999999",
    "batch_size=999999999999",
    "threads=999999999",
    "batch_size=9e99",
    "iterations=-5",
    "per_class=10000000000",
    "learning_rate=1e400",
    "learning_rate=nan",
    "weight.equivariance=inf",
    "weight=3",
    "weight.x=1",
    "seed=-1",
    "seed=99999999999999999999",
    "encoder=x",
    "split=x",
    "max_gap_s=nan",
    "max_gap_s=1e300",
    "device=cuda:99",
    "precision=x",
    "label_column=x",
    "log_every=0",
    "validate_every=-1",
    "data=x",
    "part=x",
    "camera=99999999999",
    "sequences=x",
    "partition=11",
    "toys_per_category=999999999999",
    "elevations=99999999999",
    "azimuths=1000000000",
    "seconds=1e300",
    "seconds=nan",
    "drives_per_area=99999999999",
    "images_per_class=99999999999",
    "width=999999999",
    "height=-1",
    "lightings=99999999999",
]


def _options(rng: Random, _: Path, inputs: Inputs) -> Arguments:
    """A command that works, with odd options beside."""
    store, run = str(inputs["store"]), str(inputs["run"])
    base = rng.choice([
        ["ingest", "norb", str(inputs["norb"]), "-o", "result", "--workers", "1"],
        ["ingest", rng.choice(["turntable", "drive", "places", "kitti", "scenes"]), "-o", "result", "--workers", "1"],
        ["info", store, "--sheet", "sheet.png"],
        ["patterns", str(inputs["drive_store"]), "-o", "result"],
        ["methods"],
        ["settings"],
        ["view", store, "-o", "view.html"],
        ["doctor", str(inputs["drive_store"]), "-o", "doctor.html", "--workers", "1"],
        ["export", run, "-o", "result"],
        ["serve", run, "--port", "0", "--store", store],
        ["train", store, "-o", "result", *SETTINGS],
        ["search", store, "-o", "result", "--iterations", "2", "--rates", "0.1", "--weights", "1", "--methods", "equiv",
         "--seeds", "1", "--rate-seeds", "1", "--workers", "1", *SETTINGS[2:]],
        ["evaluate", run],
        ["evaluate", run, "--task", rng.choice(["plan", "places", "readout", "probe"])],
        ["embed", run, store, "-o", "result.npy"],
        ["embed", run, "--append-to", str(inputs["log_lerobot-3"]), "-o", "result"],
        ["compare", run, run],
        ["audit", "pixels", "--store", store, "--no-baselines", "--limit", "40"],
        ["report", run, "--no-evaluate", "-o", "report.html"],
        ["render", rng.choice(["drive", "places"]), "-o", "result"],
        ["reproduce", rng.choice(["norb", "kitti", "scenes", "all", "tasks"]), "--quick", "-o", "result"],
        ["demo", "-o", "result", "--iterations", "1"],
    ])  # fmt: skip
    for _ in range(rng.choice([1, 1, 2, 3])):
        if base[0] in ("ingest", "train", "search", "render", "audit") and rng.random() < 0.4:
            base += ["--set", rng.choice(GIANT)]
        elif (options := _options_of(base[0])) and rng.random() < 0.9:
            base += _odd(rng, rng.choice(options))
        else:
            base.insert(rng.randrange(len(base) + 1), rng.choice(WORDS))
    return base


def _options_of(command: str) -> list[Any]:
    from egoequiv.cli.main import COMMANDS, load_command

    if command not in COMMANDS:
        return []
    loaded = load_command(command)
    each = [loaded.commands[name] for name in sorted(loaded.commands)] if hasattr(loaded, "commands") else [loaded]
    params = [one for own in each for one in own.params]
    return [one for one in params if one.opts[0].startswith("-") and one.opts[0] != "--engine"]


def _odd(rng: Random, option: Any) -> Arguments:
    if option.is_flag:
        return [rng.choice([*option.opts, *option.secondary_opts])]
    if "out" in option.name and rng.random() < 0.5:
        return [option.opts[0], rng.choice([*ODD_NAMES, "a/b/c", "a" * 300, "."])]
    return [option.opts[0], rng.choice(NUMBERS if rng.random() < 0.6 else WORDS)]


OPTIONS_NEED = ("store", "run", "norb", "drive_store", "log_lerobot-3")
COMMAND_TARGETS = [
    Target("norb", "norb", _ingest("norb", "part=training")),
    Target("norb-packed", "norb_gz", _ingest("norb")),
    Target("kitti", "kitti", _ingest("kitti", "camera=0")),
    Target("kitti-zip", "kitti_zip", _ingest("kitti")),
    Target("kitti-odometry", "odometry", _ingest("kitti-odometry", "sequences=05")),
    Target("scenes", "scenes", _ingest("scenes")),
    Target("sun397", "sun397", _ingest("scenes", "partition=1")),
    Target("store", "store", _store, weight=20, needs=("run",)),
    Target("drive-store", "drive_store", _drive_store),
    Target("remote", "packed_store", _remote),
    Target("file-url", "store", _local_url, weight=5),
    Target("run", "run", _run, "more", weight=20, needs=("store",)),
    Target("resume", "run", _resume, "any"),
    Target("report", "measured", _report, "more", weight=15),
    Target("compare", "runs", _compare, "more"),
    Target("experiment", "experiment", _written_report, "more"),
    Target("patterns-file", "patterns", _patterns_file, needs=("drive_store",)),
    Target("options", "", _options, weight=25, needs=OPTIONS_NEED, until_s=STOP_S),
]


def environment(folder: Path) -> dict[str, str]:
    """What a command may find in its environment: nothing of the user's."""
    return {**os.environ, "HOME": str(folder / "home"), "EGOEQUIV_CACHE": str(folder / "cache"), "COLUMNS": "100"}
