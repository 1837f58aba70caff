"""What features are good for, over the repetitions of each method: one table for each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.task import OnProgress, Task, TaskOptions, counted, silent
from egoequiv.evaluation.tasks import TASKS, get_tasks
from egoequiv.experiments.collect import Exhibit, collect
from egoequiv.experiments.measure import RunMeasurer
from egoequiv.experiments.published import NORB, NORB_NAME
from egoequiv.experiments.run_groups import RunGroup
from egoequiv.experiments.runs_table import table_of_runs
from egoequiv.experiments.table import Table
from egoequiv.experiments.task_data import Shared
from egoequiv.models.network import ALL
from egoequiv.names import short_name

STAGE = "tasks of runs"


@dataclass(frozen=True)
class TaskTables:
    """A table for each task that could be done, by the path of its file without ending, and what could not be done."""

    tables: dict[Path, Table]
    problems: list[str]


def task_tables(
    folder: Path,
    tasks: Sequence[str],
    *,
    methods: Sequence[str] | None = None,
    options: TaskOptions | None = None,
    on_progress: OnProgress = silent,
) -> TaskTables:
    """Measure tasks on every run of a folder, and put the methods side by side: those named, or all.

    If a run cannot be measured its method is left out, because the mean would be over other repetitions than those of
    the rest.
    """
    options = options or TaskOptions()
    known_tasks = get_tasks(tasks)  # before anything is opened: a wrong name is reported at once
    found = [(one, exhibit) for one in collect(folder) for exhibit in one.exhibits if exhibit.subjects]
    known = dict.fromkeys(name for _, x in found for s in x.subjects for name in (s.name, s.group.method))
    for name in methods or ():
        if name not in known:
            raise ConfigError(f"{folder} has no method {name!r} with runs; choose from {', '.join(known)}")
    tables: dict[Path, Table] = {}
    problems: list[str] = []
    for experiment, exhibit in found:
        wanted = [s for s in exhibit.subjects if methods is None or {s.name, s.group.method} & set(methods)]
        groups = {subject.name: subject.group for subject in wanted}
        some = [name for name in methods or () if len(groups) < len(exhibit.subjects)]
        ending = exhibit.part + _ending(some, options)
        for task in known_tasks.values() if groups else ():
            table, lacking = _task_table(exhibit, groups, task, options, experiment.path, on_progress)
            problems += lacking
            if table is not None:
                tables[experiment.path.relative_to(folder) / f"{short_name(task.name)}{ending}"] = table
    return TaskTables(tables, problems)


def _task_table(
    exhibit: Exhibit,
    groups: Mapping[str, RunGroup],
    task: Task,
    options: TaskOptions,
    folder: Path,
    on_progress: OnProgress,
) -> tuple[Table | None, list[str]]:
    """The table of one task, and which runs could not be measured, and why."""
    name = short_name(task.name)
    runs = [run for group in groups.values() for run in group.runs]
    measured: dict[Path, list[Measurement]] = {}
    problems = []
    shared: Shared = {}
    for run in counted(runs, f"{STAGE}, {name}, {exhibit.title}", on_progress):
        try:
            found = RunMeasurer(run, shared=shared).measure(task, options)
            reason = found.problem
            if reason is None:
                measured[run] = [found]
        except EgoEquivError as problem:
            reason = str(problem)
        if reason is not None:
            problems.append(f"{name} of {run.name}: {reason}")
    whole = {subject: group for subject, group in groups.items() if all(run in measured for run in group.runs)}
    table = table_of_runs(f"Task {name if task.name in TASKS else task.title}", whole, measured, folder, task=name)
    return (None if table is None else _with_paper(table, exhibit, options, task.options)), problems


def _with_paper(table: Table, exhibit: Exhibit, options: TaskOptions, concerned: Sequence[str]) -> Table:
    """The table with what the paper published for its rows, with the options, and tests of the first column only."""
    published = NORB if exhibit.table is not None and exhibit.table.published_on == NORB_NAME else {}
    papers = [published.get((row.method, row.uses_labels), {}) for row in table.rows]
    rows = [
        row.model_copy(update={"published": {name: value for name, value in paper.items() if name in row.entries}})
        for row, paper in zip(table.rows, papers, strict=True)
    ]
    about: dict[str, Any] = {"task": table.task, "repetitions": table.repetitions, **table.about}
    about |= {name: value for name, value in options.only(concerned).items() if value}
    about |= {} if options.part == ALL else {"part": options.part}
    return table.model_copy(
        update={
            "rows": rows,
            "about": about,
            "comparisons": [one for one in table.comparisons if one.metric == table.columns[0]],
            "published_on": NORB_NAME if any(row.published for row in rows) else "",
        }
    )


def _ending(methods: Sequence[str], options: TaskOptions) -> str:
    """What is not the default, for the name of a file: such as -equiv or -hold_out-toy."""
    words = [*methods]
    for name, default in vars(TaskOptions()).items():
        value = getattr(options, name)
        if value != default:
            words += [name, *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    return "".join(f"-{word}" for word in " ".join(words).replace("/", " ").replace("(", "").replace(")", "").split())
