"""From a log to printed numbers: what `egoequiv train LOG` takes in a new process, with a backbone and with a network.

    python -m benchmarks.log_to_numbers                 # the embedded drive, rendered as KITTI raw
    python -m benchmarks.log_to_numbers --log PATH

Each run begins with an empty cache, so that frames are ingested and a backbone is run over them. What is downloaded is
kept elsewhere, and must be there before.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measuring import Cost, Measured, command_cost, egoequiv, run_command, summary
from benchmarks.workbench import QUICK, Scale, Workbench
from egoequiv.cache import CACHE_VARIABLE

# The options of each path; without any, the first is what a user gets where the backbone is installed.
PATHS: Mapping[str, Sequence[str]] = {
    "backbone": ("--backbone", "efficientnet-lite0"),
    "residual": ("--backbone", "none"),
}
BACKBONE, NETWORK = PATHS


def log_to_numbers(bench: Workbench, log: Path | None = None) -> Measured:
    """How many times the wall time of a residual network the path with a backbone takes."""
    log = log or rendered_log(bench)
    costs: dict[str, list[Cost]] = {name: [] for name in PATHS}
    for number in range(bench.scale.few_rounds):
        for name in list(PATHS)[:: -1 if number % 2 else 1]:
            costs[name].append(measure(bench, log, PATHS[name]))
    ratios = [ours.wall_s / other.wall_s for ours, other in zip(costs[BACKBONE], costs[NETWORK], strict=True)]
    return summary(ratios, " against ".join(f"{name} {in_words(costs[name])}" for name in PATHS))


def rendered_log(bench: Workbench) -> Path:
    """The embedded drive as files, a few hundred frames."""
    path = bench.new_folder() / "log"
    settings = [f"{key}={value}" for key, value in bench.scale.logs.items()]
    run_command(egoequiv("render", "drive", "-o", path, *(word for one in settings for word in ("--set", one))))
    return path


def measure(bench: Workbench, log: Path, options: Sequence[str]) -> Cost:
    """One command in a new process, with a cache and a folder of its own."""
    folder = bench.new_folder()
    command = egoequiv("train", log, "-o", folder / "run", *options)
    return command_cost(command, {CACHE_VARIABLE: str(folder / "cache")})


def in_words(costs: Sequence[Cost]) -> str:
    """The medians of some runs, in a few words."""
    wall, processor, own, resident = np.median(
        [(one.wall_s, one.processor_s, one.peak.own, one.peak.resident) for one in costs], axis=0
    )
    return f"{wall:.1f} s ({processor:.1f} s of processor time, {own:.0f} MB, resident {resident:.0f})"


def main() -> None:
    """Print what each path takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="a log of yours, in place of the rendered one")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a shorter rendered log")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="egoequiv-benchmarks-") as name:
        bench = Workbench(Path(name), QUICK if given.quick else Scale())
        log = given.log or rendered_log(bench)
        for path, options in PATHS.items():
            print(f"{path}: {in_words([measure(bench, log, options) for _ in range(given.rounds)])}", flush=True)


if __name__ == "__main__":
    main()
