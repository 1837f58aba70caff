"""What the features of a run are good for, measured once and kept beside the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable, silent
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments.task_data import made_of, open_task_data
from egoequiv.files import check_writable, plain, read_json, write_json
from egoequiv.report.page.embed import save_drawing
from egoequiv.report.page.found import Found, is_whole
from egoequiv.report.page.gather import Exhibit, Experiment, Subject
from egoequiv.report.page.motions import MOTIONS, motions_figures, motions_task
from egoequiv.report.page.run_notes import in_sentences, why_not_opened
from egoequiv.report.task_figures import TASK_FIGURES

STAGE = "what features are good for"
KEPT = "what `egoequiv report` keeps"
DRAWN = {**TASK_FIGURES, MOTIONS: motions_figures}


def find(subject: Subject, task: str) -> Found | None:
    """What was found before, if it was and run and code are still the same; what is damaged was not found."""
    path = subject.tasks / f"{task}.json"
    if not path.exists():
        return None
    try:
        kept = read_json(path, KEPT)
        figures = tuple(path.with_name(name) for name in kept["figures"])
        if any(kept[key] != value for key, value in made_of(subject.run).items()):
            return None
        if not all(figure.exists() for figure in figures):
            return None
        tables = tuple(TaskTable(t["title"], t["columns"], t["rows"], t["notes"]) for t in kept["tables"])
        found = Found(task, kept["result"], kept["headline"], tables, figures, kept["problem"])
        return found if is_whole(found) else None
    except (DataError, KeyError, TypeError, ValueError):
        return None  # it is only kept to save time: it is measured anew


def missing_tasks(experiments: Sequence[Experiment], tasks: Sequence[str]) -> list[tuple[Subject, tuple[str, ...]]]:
    """The runs that have not been looked at, and the tasks that are missing of each."""
    missing = []
    for exhibit in (exhibit for experiment in experiments for exhibit in experiment.exhibits):
        for subject in exhibit.subjects:
            own = [*tasks, MOTIONS] if subject is moving_subject(exhibit) else list(tasks)
            left = tuple(task for task in own if find(subject, task) is None)
            if left:
                missing.append((subject, left))
    return missing


def moving_subject(exhibit: Exhibit) -> Subject | None:
    """The run whose motions are drawn: the first that has learned some, or the first of all."""
    learned = [subject for subject in exhibit.subjects if subject.result.get("patterns")]
    return next(iter([*learned, *exhibit.subjects]), None)


def evaluate_missing(
    experiments: Sequence[Experiment], tasks: Sequence[str], on_progress: OnProgress = silent
) -> list[str]:
    """Measure what is missing, one repetition of each row; return of which runs nothing could be measured, and why.

    A task that cannot be done is kept with the reason; a run whose store is elsewhere is tried again the next time.
    """
    missing = missing_tasks(experiments, tasks)
    total, done = sum(len(left) for _, left in missing), 0
    reasons: dict[str, str] = {}
    for subject, left in missing:
        on_progress(STAGE, done, total)
        try:
            check_writable(subject.tasks / f"{left[0]}.json")
            data = open_task_data(subject.run)
        except EgoEquivError as problem:
            reasons[subject.name] = why_not_opened(subject.run, problem)
            done += len(left)
            continue
        for task in left:
            _evaluate(subject, task, data)
            done += 1
            on_progress(STAGE, done, total)
    return in_sentences("Could not be opened", reasons)


def _evaluate(subject: Subject, task: str, data: TaskData) -> None:
    kept: dict[str, Any] = {
        **made_of(subject.run),
        "result": {},
        "headline": {},
        "tables": [],
        "figures": [],
        "problem": None,
    }
    try:
        result = motions_task(data, subject.run) if task == MOTIONS else TASKS[task](data, TaskOptions(), silent)
        kept["result"] = result.describe()
        kept["headline"] = plain(result.headline())
        kept["tables"] = [_plain(table) for table in result.tables()]
        drawings = DRAWN[task](result, data) if task in DRAWN else {}
        kept["figures"] = [save_drawing(drawn, subject.tasks, name).name for name, drawn in drawings.items()]
    except EgoEquivError as problem:
        kept["problem"] = str(problem)
    write_json(subject.tasks / f"{task}.json", kept)


def _plain(table: TaskTable) -> dict[str, Any]:
    rows = [list(row) for row in table.rows]
    return {"title": table.title, "columns": list(table.columns), "rows": rows, "notes": list(table.notes)}
