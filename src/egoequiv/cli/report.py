"""`egoequiv report`: one page with everything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import AsJson, Where, grouped, names_in
from egoequiv.cli.task_options import ALL, TaskNames, tasks_in
from egoequiv.errors import ConfigError, DataError


@grouped
def report(
    folder: Annotated[
        Path, typer.Argument(help="What `reproduce`, `demo` or `search` made, a folder of such folders, or a run.")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default="report.html in the folder", help="The file to write."),
    ] = None,
    form: Annotated[
        Literal["html", "markdown", "latex"] | None,
        typer.Option("--format", show_default="by the ending of the file", help="html, markdown or latex."),
    ] = None,
    evaluate: Annotated[
        bool,
        typer.Option("--evaluate/--no-evaluate", help="Measure what is missing, or show only what was measured."),
    ] = True,
    task: TaskNames = None,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Write one page with the tables, the tests and the figures of an experiment or a run.

    The page opens offline and prints. What the features are good for is measured on one repetition of each row and kept
    in the folders of the runs, so that the next report is quick; stop it at any time and repeat the command to go on.

    Example: egoequiv report demo
    """
    from egoequiv.report.page import report_target

    names = report_tasks(task)
    target, chosen = report_target(folder, out, form)  # before the work, which may be long
    _, problems = report_folder(folder, names, where, target, chosen, evaluate=evaluate)
    size = target.stat().st_size
    if as_json:
        print_json({"report": str(target), "format": chosen, "bytes": size, "problems": problems})
    else:
        say(f"saved: {target} ({size / 1e6:.1f} MB)" if size >= 1e6 else f"saved: {target} ({max(1, size // 1000)} KB)")


def report_tasks(task: list[str] | None) -> list[str] | None:
    """The tasks of a report by name; None for all."""
    return None if not task or ALL in names_in(task) else tasks_in(task)


def report_folder(
    folder: Path,
    tasks: list[str] | None,
    where: Where,
    target: Path | None = None,
    form: str | None = None,
    *,
    evaluate: bool = True,
) -> tuple[Path, list[str]]:
    """Measure what the report of a folder lacks, and write it; return the file and what could not be measured."""
    from egoequiv.evaluation.tasks import get_tasks
    from egoequiv.experiments.collect import collect
    from egoequiv.experiments.missing import measure_missing
    from egoequiv.report.page import write_report
    from egoequiv.report.search import is_search

    if is_search(folder) and tasks:
        raise ConfigError(f"{folder} is the folder of a search, which no task can measure: leave --task out")
    experiments = [] if is_search(folder) else collect(folder)
    wanted = experiments if evaluate else []
    with where.open() as engine, progress_bar() as progress:
        found, problems = measure_missing(wanted, tasks, engine, progress)
    if problems and not found and not any(one.table for experiment in experiments for one in experiment.exhibits):
        raise DataError(f"{folder}: nothing to report. {problems[0]}")
    own = get_tasks(tasks or ())
    named = [(task, one.problem) for (_, task), one in found.items() if task in own and one.problem is not None]
    for problem in dict.fromkeys([*problems, *(why if task in why else f"{task}: {why}" for task, why in named)]):
        say(problem)
    return write_report(folder, target, form=form, problems=problems, found=found, tasks=own), problems
