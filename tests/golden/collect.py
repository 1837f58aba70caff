"""What the golden test compares: the numbers that commands print, write and draw, by name.

`collect_all` gives {"name": number}. Three kinds of values:

- a number: measured, from JSON or CSV;
- a text such as "51.43": a number as it is shown in a Markdown table, with the digits it is shown with;
- a list: a curve, bars or dots of a figure.

WHEN THE LAYOUT OF AN OUTPUT CHANGES, change the adapter that reads it, and only that: each takes one kind of output and
gives the names used here, which do not change. Numbers that change on purpose are made again by
`python -m tests.golden.make expected`. Intervals, and the p of a bootstrap, are not among the numbers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden.drawn import drawing
from tests.golden.folder import REPRODUCE, REPRODUCED
from tests.golden.running import run
from tests.golden.shown import shown_numbers

Value = float | str | list[float]
Numbers = dict[str, Value]

RUNS = ("drlim-0", "drlim-1", "drlim-2", "equiv-0", "equiv-1", "equiv-2", "equiv-no-labels-0")
INTERVALS = ("low_", "high_")  # metrics that are the ends of an interval


def collect_all(root: Path) -> Numbers:
    """All numbers of a copy of the golden folder; commands write into it."""
    return {name: value for part in PARTS.values() for name, value in part(root).items()}


# --- what is run ------------------------------------------------------------------------------------------------------


def measures(root: Path) -> Numbers:
    """`egoequiv evaluate RUN` of every run."""
    runs = [root / "runs" / name for name in RUNS] + [root / "drive-run"]
    return _named("measure", {path.name: read_measure(_json("evaluate", path)) for path in runs})


def tasks(root: Path) -> Numbers:
    """`egoequiv evaluate RUN --task all` of a run on each store, and the figures of one; the report has the others."""
    with drawing() as series:
        toys = _json("evaluate", root / "runs" / "equiv-1", "--task", "all", "-o", root / "tasks")
    drives = _json("evaluate", root / "drive-run", "--task", "all")
    return _named(
        "task", {"equiv-1": read_tasks(toys), "equiv-1, figures": dict(series), "drive-run": read_tasks(drives)}
    )


def comparisons(root: Path) -> Numbers:
    """`egoequiv compare`: repetitions of three experiments, and two runs alone."""
    two = (root / "runs" / "equiv-0", root / "runs" / "drlim-0")
    found = {"runs": _json("compare", root / "runs"), "two runs": _json("compare", *two)}
    return _named("compare", {name: read_comparison(printed) for name, printed in found.items()})


def table(root: Path) -> Numbers:
    """The table of `egoequiv reproduce norb`, as JSON, CSV, Markdown and bars; the runs are there already."""
    out = root / REPRODUCED
    with drawing() as series:
        run(*REPRODUCE, "-o", out)
    return _named(
        "table",
        {
            "json": read_table(json.loads((out / "table.json").read_text("utf-8"))),
            "csv": read_csv((out / "table.csv").read_text("utf-8")),
            "markdown": shown_numbers((out / "table.md").read_text("utf-8")),
            "figures": dict(series),
        },
    )


def reports(root: Path) -> Numbers:
    """`egoequiv report` of the table, of plain runs and of one run: the numbers of its tables and of its figures."""
    chosen = {
        REPRODUCED: "composition,slowness",
        "runs": "next-view,analogy,prediction,slowness",
        "drive-run": "composition,retrieval,readout,slowness",
    }
    found: dict[str, Numbers] = {}
    if not (root / REPRODUCED / "table.json").exists():  # the test of the table may run after this one, or elsewhere
        run(*REPRODUCE, "-o", root / REPRODUCED)
    for name, wanted in chosen.items():
        path = root / f"{name}.md"
        with drawing() as series:
            run("report", root / name, "--task", wanted, "-o", path)
        found[name] = shown_numbers(path.read_text("utf-8"))
        found[f"{name}, figures"] = dict(series)
    return _named("report", found)


# By the first word of the names; none needs another.
PARTS = {"measure": measures, "task": tasks, "compare": comparisons, "table": table, "report": reports}


# --- adapters: from one kind of output to names and numbers -----------------------------------------------------------


def read_measure(printed: dict[str, Any]) -> Numbers:
    """`evaluate --json`: metric (top1, rho_up, ratio_up, rho_atomic, ...) and of each motion its pairs and constant."""
    numbers = _metrics(printed["rows"][0]["metrics"], ("mean",))
    for motion in printed["motions"]:
        for key in ("rho", "ratio_of_means", "constant", "pairs_fitted", "pairs_scored", "pairs_excluded"):
            if motion.get(key) is not None:
                numbers[f"motion {motion['motion']}/{key}"] = motion[key]
    return numbers


def read_tasks(printed: dict[str, Any]) -> Numbers:
    """`evaluate --task all --json`: TASK/ROW/NUMBER; a row is named by all words that tell it from the others."""
    numbers: Numbers = {}
    for task, result in printed["tasks"].items():
        kept = {key: value for key, value in result.items() if key not in ("each_starting_view", "too_few_pairs")}
        numbers |= _named(task, {"": dict(_leaves(kept))})
    return numbers


def read_comparison(printed: dict[str, Any]) -> Numbers:
    """`compare --json`: GROUP/METRIC/mean, stderr, values; the tests between two groups, and the answers to frames."""
    groups = [group["name"] for group in printed["groups"]]
    numbers: Numbers = {}
    for group in printed["groups"]:
        numbers |= _named(group["name"], {"": _metrics(group["metrics"], ("mean", "stderr", "values"))})
    for test in printed["tests"]:
        name = f"{groups[test['a']]} - {groups[test['b']]}/{test['metric']}"
        numbers |= {f"{name}/{key}": test[key] for key in ("difference", "stderr", "p_value", "seeds")}
    for answers in printed["answers"]:
        name = f"{groups[answers['a']]} - {groups[answers['b']]}/answers"
        keys = ("difference", "frames", "recordings", "only_a", "only_b")
        numbers |= {f"{name}/{key}": answers[key] for key in keys}
    return numbers


def read_table(described: dict[str, Any]) -> Numbers:
    """table.json: ROW/METRIC/mean, stderr, values, published; the paired tests."""
    numbers: Numbers = {}
    keys = ("mean", "stderr", "published", "published_stderr", "values")
    for row in described["rows"]:
        name = row["method"] + ("" if row["labels"] else " (no labels)")
        numbers |= _named(name, {"": _metrics(row["metrics"], keys)}) | {f"{name}/diverged": row["diverged"]}
    for test in described["comparisons"]:
        name = f"{test['a']} - {test['b']}/{test['metric']}"
        numbers |= {f"{name}/{key}": test[key] for key in ("difference", "stderr", "p_value")}
    return numbers


def read_csv(text: str) -> Numbers:
    """table.csv: ROW/METRIC/COLUMN."""
    numbers: Numbers = {}
    for row in csv.DictReader(text.splitlines()):
        if row["metric"].startswith(INTERVALS):
            continue
        name = f"{row['method']}{'' if row['labels'] == 'True' else ' (no labels)'}/{row['metric']}"
        for column in ("mean", "stderr", "repetitions", "published", "published_stderr"):
            if row[column]:
                numbers[f"{name}/{column}"] = float(row[column])
    return numbers


# --- helpers ----------------------------------------------------------------------------------------------------------


def _json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json"))


def _named(prefix: str, parts: Mapping[str, Numbers]) -> Numbers:
    return {
        "/".join(word for word in (prefix, part, name) if word): value
        for part, numbers in parts.items()
        for name, value in numbers.items()
    }


def _metrics(metrics: dict[str, Any], keys: tuple[str, ...]) -> Numbers:
    """The given numbers of each metric, but not the ends of intervals."""
    return {
        f"{name}/{key}": value[key]
        for name, value in metrics.items()
        for key in keys
        if not name.startswith(INTERVALS) and value[key] is not None
    }


def _leaves(described: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Value]]:
    """The numbers in nested objects and lists; an object in a list is named by its words, not by its place."""
    if isinstance(described, bool) or described is None or isinstance(described, str):
        return
    if isinstance(described, int | float):
        yield "/".join(path), described
    elif isinstance(described, dict):
        for key, value in described.items():
            if "interval" not in key:
                yield from _leaves(value, (*path, key))
    else:
        for place, one in enumerate(described):
            name = _words(one) if isinstance(one, dict) else str(place)
            yield from _leaves(one, (*path, name))


def _words(one: dict[str, Any]) -> str:
    words = [value for value in one.values() if isinstance(value, str)]
    counted = [f"{key} {one[key]}" for key in ("views", "steps") if key in one]
    return ", ".join(words + counted)
