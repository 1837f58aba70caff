"""`egoequiv reproduce tasks`: what the features are good for, over the repetitions of a table."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoequiv.cli.console import print_json, print_table, progress_bar, say
from egoequiv.errors import ConfigError, DataError

if TYPE_CHECKING:
    from egoequiv.experiments import Table
    from egoequiv.experiments.task_tables import Repetitions
    from egoequiv.report.page.gather import Exhibit


def tasks(
    out: Annotated[Path, typer.Argument(help="A folder of `egoequiv reproduce`, or a folder with runs.")],
    task: Annotated[str | None, typer.Option(help="Which tasks, with commas between them; by default all.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Which methods, with commas between them; by default all.")
    ] = None,
    apart: Annotated[
        str,
        typer.Option(help="What is fitted on and asked about has none in common: recording, label, or an attribute."),
    ] = "recording",
    seed: Annotated[int, typer.Option(min=0, help="Where chance begins.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `tables`.")] = False,
) -> None:
    """Measure the tasks of `egoequiv evaluate --task` on every run of a folder: mean and standard error by method.

    One table for each task, saved in the folder, and shown by `egoequiv report`. Repeat the command to go on after a
    stop: what was measured of a run is kept in its folder.
    """
    from egoequiv.evaluation.task import TaskOptions
    from egoequiv.evaluation.tasks import TASKS, get_tasks
    from egoequiv.experiments.task_tables import task_tables
    from egoequiv.report.page.gather import gather
    from egoequiv.report.tables import save_table

    names = list(get_tasks([name.strip() for name in task.split(",")] if task else list(TASKS)))
    wanted = [name.strip() for name in methods.split(",")] if methods else None
    exhibits = [exhibit for experiment in gather(out) for exhibit in experiment.exhibits if exhibit.subjects]
    chosen = {exhibit.name: _repetitions(exhibit, wanted, out) for exhibit in exhibits}
    tables: dict[str, Table] = {}
    problems: list[str] = []
    with progress_bar() as progress:
        for exhibit in exhibits:
            published_on = exhibit.table.published_on if exhibit.table is not None else ""

            def report(what: str, done: int, total: int, name: str = exhibit.name) -> None:
                progress(f"{what}, {name}", done, total)

            found = task_tables(
                chosen[exhibit.name],
                names,
                options=TaskOptions(apart=apart, seed=seed),
                published_on=published_on,
                on_progress=report,
            )
            tables |= {_file_name(name, exhibit, apart): table for name, table in found.tables.items()}
            problems += found.problems
    for problem in problems:
        say(f"not measured: {problem}")
    if not tables:
        raise DataError(f"{out}: none of these tasks could be measured of any method; the reasons are above")
    saved = [path for name, table in tables.items() for path in save_table(table, out, name)]
    if as_json:
        print_json({"tables": {name: table.describe() for name, table in tables.items()}, "problems": problems})
    else:
        for table in tables.values():
            print_table(table)
    say(f"saved: {', '.join(str(path) for path in saved if path.suffix == '.md')} (and .csv, .tex, .json)")
    say(f"everything on one page: egoequiv report {shlex.quote(str(out))}")


def _repetitions(exhibit: Exhibit, wanted: Sequence[str] | None, out: Path) -> list[Repetitions]:
    """The runs behind the rows of a table, of the methods that are wanted, in the order of the table."""
    from egoequiv.experiments.published import NORB, NORB_NAME
    from egoequiv.experiments.task_tables import Repetitions

    published = NORB if exhibit.table is not None and exhibit.table.published_on == NORB_NAME else {}
    keys = [(subject.group.method, subject.group.labels) for subject in exhibit.subjects]
    names = [subject.name for subject in exhibit.subjects]
    own_names = keys if len(set(keys)) == len(keys) else [(name, True) for name in names]
    for name in wanted or ():
        if not any(name in (subject.name, subject.group.method) for subject in exhibit.subjects):
            raise ConfigError(f"{out}: {exhibit.name} has no method {name!r} with runs; choose from {', '.join(names)}")
    return [
        Repetitions(*key, subject.group.runs, published.get(key, {}))
        for key, subject in zip(own_names, exhibit.subjects, strict=True)
        if wanted is None or subject.name in wanted or subject.group.method in wanted
    ]


def _file_name(task: str, exhibit: Exhibit, apart: str) -> str:
    """Such as retrieval, retrieval-paper of table-paper, or retrieval-apart-toy."""
    table = exhibit.name.removeprefix("table") if exhibit.name.startswith("table") else ""
    return f"{task}{table}" if apart == "recording" else f"{task}{table}-apart-{apart}"
