"""What the golden test compares: the numbers that commands print, write and draw, by name.

`collect_all` gives {"name": number}. Three kinds of values:

- a number: measured, from JSON or CSV;
- a text such as "51.43": a number as it is shown in a Markdown table, with the digits it is shown with;
- a list: a curve, bars or dots of a figure.

WHEN THE LAYOUT OF AN OUTPUT CHANGES, change the adapter that reads it, and only that: each takes one kind of output and
gives the names used here, which do not change. Shown numbers are found by text and row, not by place (`shown.Shown`),
drawn ones by their values. What is not given any more is listed in `test_golden.LEFT_OUT_NOW`, with the reason.
Numbers that change on purpose are made again by `python -m tests.golden.make expected`. Intervals, and the p of a
bootstrap, are not among the numbers.
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

from egoequiv.evaluation.statistics import Result

Value = float | str | list[float]
Numbers = dict[str, Value]

RUNS = ("drlim-0", "drlim-1", "drlim-2", "equiv-0", "equiv-1", "equiv-2", "equiv-no-labels-0")
# Those whose numbers are kept here.
TOY_TASKS = "next-view,composition,retrieval,analogy,readout,prediction,slowness"
DRIVE_TASKS = "composition,retrieval,readout,slowness"
# The numbers of a paired test: what they were called, and what they are called now.
TEST_KEYS = {"difference": "difference", "stderr": "stderr", "p_value": "p_value", "seeds": "repetitions"}
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
    """`egoequiv evaluate RUN --task` of a run on each store, and the figures of one; the report has the others."""
    with drawing() as series:
        toys = _json("evaluate", root / "runs" / "equiv-1", "--task", TOY_TASKS, "-o", root / "tasks")
    drives = _json("evaluate", root / "drive-run", "--task", DRIVE_TASKS)
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
            run("report", root / name, "--task", wanted, "--workers", 1, "-o", path)
        found[name] = shown_numbers(path.read_text("utf-8"))
        found[f"{name}, figures"] = dict(series)
    return _named("report", found)


# By the first word of the names; none needs another.
PARTS = {"measure": measures, "task": tasks, "compare": comparisons, "table": table, "report": reports}


# --- adapters: from one kind of output to names and numbers -----------------------------------------------------------


def read_measure(printed: dict[str, Any]) -> Numbers:
    """`evaluate --json`: metric (top1, rho_up, ratio_up, rho_atomic, ...) and of each motion its pairs and constant."""
    numbers: Numbers = {}
    for measurement in printed["measurements"]:
        for value in measurement["values"]:
            if value["value"] is not None:
                numbers[f"{value['metric']['name']}/mean"] = value["value"]
        for motion in measurement["details"].get("motions", []):
            for key in ("rho", "ratio_of_means", "constant", "pairs_fitted", "pairs_scored", "pairs_excluded"):
                if motion.get(key) is not None:
                    numbers[f"motion {motion['motion']}/{key}"] = motion[key]
    return numbers


def read_tasks(printed: dict[str, Any]) -> Numbers:
    """`evaluate --task ... --json`: TASK/ROW/NUMBER; a row is named by all words that tell it from the others."""
    return _named(
        "", {one["subject"]["task"]: dict(_leaves(one["details"])) for one in printed["measurements"] if one["details"]}
    )


def read_comparison(printed: dict[str, Any]) -> Numbers:
    """`compare --json`: GROUP/METRIC/mean, stderr, values; the tests between two groups, and the answers to frames."""
    groups = printed["groups"]
    numbers = _rows({groups[row["name"]]: row for row in printed["table"]["rows"]})
    numbers |= _tests(printed["table"]["comparisons"], groups)
    for answers in printed["answers"]:
        name = f"{groups[answers['a']]} - {groups[answers['b']]}/answers"
        keys = ("difference", "frames", "recordings", "only_a", "only_b")
        numbers |= {f"{name}/{key}": answers["compared"][key] for key in keys}
    return numbers


def read_table(described: dict[str, Any]) -> Numbers:
    """table.json: ROW/METRIC/mean, stderr, values, published; the paired tests."""
    names = {row["name"]: _row_name(row["method"], row["uses_labels"]) for row in described["rows"]}
    numbers = _rows({names[row["name"]]: row for row in described["rows"]})
    numbers |= {f"{names[row['name']]}/diverged": row["diverged"] for row in described["rows"]}
    return numbers | _tests(described["comparisons"], names)


def read_csv(text: str) -> Numbers:
    """table.csv: ROW/METRIC/COLUMN."""
    numbers: Numbers = {}
    for row in csv.DictReader(text.splitlines()):
        if row["metric"].startswith(INTERVALS):
            continue
        name = f"{_row_name(row['method'], row['labels'] == 'True')}/{row['metric']}"
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


def _row_name(method: str, uses_labels: bool) -> str:
    return method if uses_labels else f"{method} (no labels)"


def _rows(rows: Mapping[str, dict[str, Any]]) -> Numbers:
    """The rows of a table by name: mean, standard error and values of each metric, and what is published of it."""
    numbers: Numbers = {}
    for name, row in rows.items():
        for metric, entry in row["entries"].items():
            result = Result(tuple(float("nan") if value is None else value for value in entry["result"]["values"]))
            numbers[f"{name}/{metric}/values"] = list(result.values)
            numbers |= {f"{name}/{metric}/mean": result.mean, f"{name}/{metric}/stderr": result.stderr}
        for metric, published in row["published"].items():
            numbers[f"{name}/{metric}/published"] = published["mean"]
            if published["stderr"] is not None:
                numbers[f"{name}/{metric}/published_stderr"] = published["stderr"]
    return numbers


def _tests(comparisons: list[dict[str, Any]], names: Mapping[str, str]) -> Numbers:
    """The paired tests of a table: A - B/METRIC."""
    return {
        f"{names[test['a']]} - {names[test['b']]}/{test['metric']}/{old}": test[new]
        for test in comparisons
        for old, new in TEST_KEYS.items()
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
