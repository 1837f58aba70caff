"""What `egoequiv train LOG` gives on each real log, as the tables of docs/results/logs.md.

    python -m benchmarks.real_logs DATA -o real-logs                # every log of DATA, then the tables
    python -m benchmarks.real_logs DATA -o real-logs --only kitti tum --seeds 5

DATA holds the logs in folders of these names. Each log is one command in a new process, with all defaults. What it
printed is kept in the folder of -o, so that a stopped table goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measuring import egoequiv, run_command
from egoequiv.evaluation import Result

THUNDERHILL = "thunderhill/day1/poses.csv"
# A name, and what is given to `egoequiv train`: paths below DATA, or options.
LOGS: Mapping[str, Sequence[str]] = {
    "thunderhill, the same day": (THUNDERHILL,),
    "thunderhill, 70 minutes later": (THUNDERHILL, "--test", "thunderhill/day1_later/poses.csv", "--same-map"),
    "thunderhill, next day": (THUNDERHILL, "--test", "thunderhill/day2_first/poses.csv", "--same-map"),
    "kitti": ("kitti",),
    "tum_fr1_xyz": ("tum_fr1_xyz",),
    "seven_scenes_redkitchen": ("seven_scenes_redkitchen",),
    "lerobot_v21": ("lerobot_v21",),
    "lerobot_v3": ("lerobot_v3",),
    "donkey_tub": ("donkey_tub",),
    "gardens_point, day_left": ("gardens_point/day_left", "--read", "rate_hz=1"),
    "fox": ("fox",),
    "colmap_building": ("colmap_building",),
}
FEWEST = 200  # scored pairs of a motion that is listed
BESIDE = ("frozen", "untrained", "pixels", "constant")
Measured = dict[str, Any]


def main() -> None:
    """Train and measure on each log, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_logs", description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with the logs")
    parser.add_argument("-o", "--out", type=Path, default=Path("real-logs"), help="runs, and what they printed")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="logs whose names hold one of these")
    parser.add_argument("--seeds", type=int, default=1, help="how many trainings of each log")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, words in LOGS.items():
        if not options.only or any(word in name for word in options.only):
            trained = [measured(options.data, options.out, name, words, seed) for seed in range(options.seeds)]
            print("\n".join(section(name, trained)), flush=True)


def measured(data: Path, out: Path, name: str, words: Sequence[str], seed: int) -> Measured:
    """What one command printed with --json, and its seconds; read where it was kept."""
    stem = f"{name.replace(',', '').replace(' ', '-')}-{seed}"
    kept = out / f"{stem}.json"
    if not kept.exists():
        given = [str(data / word) if (data / word).exists() else word for word in words]
        begin = perf_counter()
        printed = run_command(egoequiv("train", *given, "-o", out / stem, "--seed", seed, "--json"))
        found = json.loads(printed) | {"seconds": perf_counter() - begin}
        kept.with_suffix(".tmp").write_text(json.dumps(found))
        kept.with_suffix(".tmp").replace(kept)
        print(f"{stem}: {found['seconds']:.0f} s", file=sys.stderr, flush=True)
    result: Measured = json.loads(kept.read_text())
    return result


def section(name: str, trained: Sequence[Measured]) -> Iterator[str]:
    """One log in Markdown: each number beside its baselines."""
    first = trained[0]
    seconds = ", ".join(f"{run['seconds']:.0f}" for run in trained)
    collapsed = ", ".join(sorted({part for run in trained for part in run["collapsed_parts"]}))
    yield f"\n### {name}\n"
    yield (
        f"`{first['method']}`, {first['iterations']:,} iterations, {first['train_frames']:,} frames to learn from and "
        f"{first['validation_frames']:,} to measure on ({first['split']}); {seconds} s."
        + (f" Collapsed: {collapsed}." if collapsed else "")
    )
    rows = list(_rows(trained))
    if rows:
        yield f"\n| measured | pairs | run | {' | '.join(BESIDE)} |\n|---|---|---|{'---|' * len(BESIDE)}"
        yield from rows
    copied = {motion["motion"] for run in trained for motion in _motions(run) if motion["is_copied"]}
    if copied:
        yield f"\nNo map is better than a copy: {', '.join(sorted(copied))}."


def _rows(trained: Sequence[Measured]) -> Iterator[str]:
    """The ratio of means of each motion with enough pairs, and all that the task `log` measured."""
    values = [_values(run) for run in trained]
    for title in values[0]:
        cells = [value[title] for value in values if title in value and value[title]["value"] is not None]
        if len(cells) == len(values):
            own = Result(tuple(cell["value"] for cell in cells))
            beside = [_mean([cell["baselines"].get(name) for cell in cells]) for name in BESIDE]
            spread = f" ± {own.stderr:.3f}" if len(cells) > 1 else ""
            pairs = f"{cells[0]['pairs']:,}" if cells[0]["pairs"] else ""
            yield f"| {title} | {pairs} | {own.mean:.3f}{spread} | {' | '.join(beside)} |"


def _values(run: Measured) -> dict[str, Measured]:
    """By the title of each number: its value, its baselines and the pairs that it is of."""
    found: dict[str, Measured] = {}
    pairs = {motion["motion"]: motion["pairs_scored"] for motion in _motions(run)}
    for measurement in run["measurements"]:
        for value in measurement["values"]:
            metric = value["metric"]
            if metric["family"] == "ratio" and pairs.get(metric["motion"] or "", 0) < FEWEST:
                continue
            if metric["family"] in ("ratio", "R2", "recall"):
                found[metric["title"]] = value | {"pairs": pairs.get(metric["motion"] or "", 0)}
    return found


def _motions(run: Measured) -> list[Measured]:
    """What the task equivariance says of each motion."""
    return [motion for measurement in run["measurements"] for motion in measurement["details"].get("motions", ())]


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):.3f}" if known else ""


if __name__ == "__main__":
    main()
