"""What features are good for, over the repetitions of each method: one table for each task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.evaluation import Result, paired_test
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, silent
from egoequiv.evaluation.tasks import get_tasks
from egoequiv.experiments.published import Metrics
from egoequiv.experiments.table import Comparison, Row, Table
from egoequiv.experiments.task_data import made_of, open_task_data
from egoequiv.files import or_nan, plain, read_json, write_json
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.training.run_folder import RunFolder

FEWEST = 3  # seeds of a test
KEPT = "task-headlines.json"  # in the folder of a run: what was measured before
STAGE = "tasks of runs"
Headline = dict[str, float]


@dataclass(frozen=True, eq=False)
class Repetitions:
    """The finished runs of one method."""

    method: str
    labels: bool
    runs: tuple[Path, ...]
    seeds: tuple[Any, ...]  # of each run; runs of the same seed are paired in tests
    published: Metrics = field(default_factory=dict)


@dataclass(frozen=True)
class TaskTables:
    """A table for each task that could be done, and of which runs it could not be, and why."""

    tables: dict[str, Table]
    problems: list[str]


def task_tables(
    methods: Sequence[Repetitions],
    tasks: Sequence[str],
    *,
    options: TaskOptions | None = None,
    published_on: str = "",
    same_frames: bool = True,
    on_progress: OnProgress = silent,
) -> TaskTables:
    """Measure every run, and set the methods side by side; what was measured before is kept in the run's folder.

    Methods are tested against each other over the seeds that both have, if all are measured on the same frames. If a
    run cannot be measured its method is left out, for the mean would be over other repetitions than those of the rest.
    """
    options = options or TaskOptions()
    get_tasks(tasks)  # before anything is opened: a typing error is told at once
    runs = [run for method in methods for run in method.runs]
    found: dict[tuple[Path, str], Headline] = {}
    problems = []
    for number, run in enumerate(runs):
        opened = lru_cache(lambda run=run: open_task_data(run))
        for place, task in enumerate(tasks):
            on_progress(STAGE, number * len(tasks) + place, len(runs) * len(tasks))
            try:
                found[run, task] = headline_of(run, task, options, opened)
            except EgoEquivError as problem:
                problems.append(f"{task} of {run.name}: {problem}")
    on_progress(STAGE, len(runs) * len(tasks), len(runs) * len(tasks))
    tables = {}
    for task in tasks:
        whole = [method for method in methods if all((run, task) in found for run in method.runs)]
        rows = {method: _row(method, [found[run, task] for run in method.runs]) for method in whole}
        rows = {method: row for method, row in rows.items() if row.metrics}
        if rows:
            columns = tuple(dict.fromkeys(name for row in rows.values() for name in row.metrics))
            tests = _tests(rows, columns[0]) if same_frames else []
            tables[task] = _table(task, columns, rows, tests, options, published_on)
    return TaskTables(tables, problems)


def headline_of(run: Path, task: str, options: TaskOptions, opened: Callable[[], TaskData]) -> Headline:
    """The few numbers of a task, measured, or as they were kept of the same weights, data and code."""
    path = run / KEPT
    kept = read_json(path, RUN_KIND) if path.exists() else {}
    made = made_of(run)
    if kept.get("made_of") != made:
        kept = {"made_of": made, "tasks": {}}
    asked = {"options": {**asdict(options), "motions": list(options.motions or ())}}
    key = f"{task}, {options.apart} apart"
    try:
        earlier = kept["tasks"].get(key, {})
        if {"options": earlier.get("options")} == asked:
            return {name: or_nan(value) for name, value in earlier["headline"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise DataError(f"{path} is damaged ({problem!r}): delete it, and it is made anew") from problem
    headline = get_tasks([task])[task](opened(), options, silent).headline()
    kept["tasks"][key] = {**asked, "headline": plain(headline)}
    with suppress(DataError, OSError):  # a run on a read-only disk can be measured, only not kept
        write_json(path, kept)
    return headline


def _tests(rows: Mapping[Repetitions, Row], metric: str) -> list[Comparison]:
    """Paired tests between all methods, over the seeds that both have, three of them at the least."""
    values = {
        method: dict(zip(method.seeds, row.metrics[metric].values, strict=True))
        for method, row in rows.items()
        if metric in row.metrics
    }
    tests = []
    for a, b in combinations(values, 2):
        common = [seed for seed in values[a] if seed in values[b]]
        if len(common) >= FEWEST:
            test = paired_test([values[b][seed] for seed in common], [values[a][seed] for seed in common])
            names = rows[b].name, rows[a].name
            tests.append(Comparison(metric, *names, test.difference, test.stderr, test.p_value))
    return tests


def _row(method: Repetitions, headlines: Sequence[Headline]) -> Row:
    # What is not measured in every repetition, such as a chain that has too few pairs in one, is left out.
    names = [name for name in headlines[0] if all(name in headline for headline in headlines)]
    metrics = {name: Result(tuple(headline[name] for headline in headlines)) for name in names}
    published = {name: value for name, value in method.published.items() if name in metrics}
    return Row(method.method, method.labels, metrics, published)


def _table(
    task: str,
    columns: tuple[str, ...],
    rows: Mapping[Repetitions, Row],
    tests: list[Comparison],
    options: TaskOptions,
    published_on: str,
) -> Table:
    shown = list(rows.values())
    beside = published_on if any(row.published for row in shown) else ""
    about: dict[str, Any] = {"task": task}
    about["repetitions"] = max(len(result.values) for row in shown for result in row.metrics.values())
    configs = [RunFolder(method.runs[0]).config() for method in rows]
    about["store"] = ", ".join(dict.fromkeys(config.data for config in configs))
    about["split"] = ", ".join(dict.fromkeys(config.split for config in configs))
    about |= {"neighbours": options.neighbours} if task == "next-view" else {}
    about |= {"kept apart": options.apart, "seed": options.seed}
    return Table(f"Task {task}", columns, shown, tests, about, beside)
