"""The tasks of `egoequiv evaluate --task`: run one after the other, shown and saved as each is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.markup import escape
from rich.table import Table

from egoequiv.cli.console import output, print_json, progress_bar, say
from egoequiv.cli.task_choice import check_apart, check_motions
from egoequiv.errors import DataError, EgoEquivError

if TYPE_CHECKING:
    from egoequiv.evaluation.task import TaskData, TaskResult, TaskTable


def measure_tasks(
    run: Path,
    store: str | None,
    which: Literal["last", "best"],
    names: Sequence[str],
    options: Mapping[str, Any],
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure tasks on a run, or on a run and another store; one that cannot be measured does not stop the others."""
    from egoequiv.evaluation.task import TaskOptions
    from egoequiv.evaluation.tasks import get_tasks
    from egoequiv.experiments.task_data import open_task_data

    tasks = get_tasks(names)  # before anything is opened: a typing error is told at once
    asked = TaskOptions(**options)
    data = open_task_data(run, store, which)
    check_apart(asked.apart, [data.store])
    described: dict[str, Any] = {}
    files: list[Path] = []
    for name, task in tasks.items():
        try:
            check_motions(name, asked.motions)
            with progress_bar() as progress:
                result = task(data, asked, progress)
        except EgoEquivError as problem:
            if len(tasks) == 1:
                raise
            say(f"not measured: {name}: {problem}")
            described[name] = {"problem": str(problem)}
            continue
        described[name] = result.describe()
        if out is not None:
            files += _save(name, result, data, out)
        if not as_json:
            for table in result.tables():
                _show(table)
    if all(set(one) == {"problem"} for one in described.values()):
        raise DataError(f"{run}: none of these tasks could be measured; the reasons are above")
    if as_json:
        about = {"run": str(run), "store": str(data.store.path), "checkpoint": which, "split": data.split.kind}
        print_json({**about, "tasks": described, "files": [str(path) for path in files]})
    elif files:
        say(f"saved: {', '.join(str(path) for path in files)}")


def _save(name: str, result: TaskResult, data: TaskData, out: Path) -> list[Path]:
    from egoequiv.files import write_json
    from egoequiv.names import short_name
    from egoequiv.report.task_figures import TASK_FIGURES, save_drawings

    path = out / f"{short_name(name)}.json"
    write_json(path, result.describe())
    return [path, *(save_drawings(TASK_FIGURES[name](result, data), out) if name in TASK_FIGURES else [])]


def _show(table: TaskTable) -> None:
    console = output()
    console.print(f"[bold]{escape(table.title)}[/bold]")
    shown = Table(*(escape(column) for column in table.columns))
    for row in table.rows:
        shown.add_row(*(escape(cell) for cell in row))
    console.print(shown)
    for note in table.notes:
        console.print(escape(note), highlight=False)
