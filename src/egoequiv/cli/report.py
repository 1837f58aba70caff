"""`egoequiv report`: one page with everything."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import ALL, Address, AsJson, EngineName, TaskNames, Workers, names_in, tasks_in

if TYPE_CHECKING:
    from egoequiv.evaluation.measurement import Measurement


class Form(StrEnum):
    """How a report is written."""

    html = "html"
    markdown = "markdown"
    latex = "latex"


def report(
    folder: Annotated[
        Path, typer.Argument(help="What `reproduce` or `demo` made, a folder of such folders, or a run.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default="report.html in the folder", help="The file to write."),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--format", show_default="by the ending of the file", help="html, markdown or latex."),
    ] = None,
    evaluate: Annotated[
        bool,
        typer.Option("--evaluate/--no-evaluate", help="Measure what is missing, or show only what was measured."),
    ] = True,
    task: TaskNames = None,
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Write one page with the tables, the tests and the figures of an experiment or a run.

    The page opens offline and prints. What the features are good for is measured on one repetition of each row and kept
    in the folders of the runs, so that the next report is quick; stop it at any time and repeat the command to go on.

    Example: egoequiv report demo
    """
    from egoequiv.engines import engine_named
    from egoequiv.evaluation.tasks import get_tasks
    from egoequiv.experiments.collect import collect
    from egoequiv.experiments.missing import measure_missing
    from egoequiv.report.page import report_target, write_report

    names = None if not task or ALL in names_in(task) else tasks_in(task)
    target, chosen = report_target(folder, out, form.value if form else None)  # before the work, which may be long
    experiments = collect(folder)
    found: dict[tuple[Path, str], Measurement] = {}
    problems: list[str] = []
    if evaluate:
        with engine_named(engine, workers, address) as where, progress_bar() as progress:
            found, problems = measure_missing(experiments, names, where, progress)
    write_report(folder, target, form=chosen, problems=problems, found=found, tasks=get_tasks(names or ()))
    size = target.stat().st_size
    if as_json:
        print_json({"report": str(target), "format": chosen, "bytes": size, "problems": problems})
    else:
        say(f"saved: {target} ({size / 1e6:.1f} MB)" if size >= 1e6 else f"saved: {target} ({max(1, size // 1000)} KB)")
