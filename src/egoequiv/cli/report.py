"""`egoequiv report`: one page with everything."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say


class Form(StrEnum):
    """How a report is written."""

    html = "html"
    markdown = "markdown"
    latex = "latex"


def report(
    out: Annotated[Path, typer.Argument(help="What `reproduce` or `demo` made, a folder of such folders, or a run.")],
    path: Annotated[
        Path | None, typer.Option("-o", "--out", help="The file to write; by default report.html in the folder.")
    ] = None,
    form: Annotated[
        Form | None, typer.Option("--format", help="By default what the file is called: .html, .md or .tex.")
    ] = None,
    evaluate: Annotated[
        bool,
        typer.Option("--evaluate/--no-evaluate", help="Measure what the features are good for, where it is missing."),
    ] = True,
    tasks: Annotated[
        str | None, typer.Option(help="Which tasks are measured, with commas between them; by default all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `report`.")] = False,
) -> None:
    """Write one page with the tables, the tests and the figures of an experiment or a run.

    The page opens offline and prints. What the features are good for is measured on one repetition of each row and kept
    in the folder, so that the next report is quick; stop it at any time and go on by the same command.
    """
    from egoequiv.evaluation.tasks import TASKS
    from egoequiv.report.page import form_of, write_report

    chosen = form.value if form else form_of(path)
    names = tuple(name.strip() for name in tasks.split(",")) if tasks else tuple(TASKS)
    with progress_bar() as progress:
        written = write_report(out, path, form=chosen, evaluate=evaluate, tasks=names, on_progress=progress)
    if as_json:
        print_json({"report": str(written), "format": chosen, "bytes": written.stat().st_size})
    else:
        say(f"saved: {written} ({_size(written.stat().st_size)})")


def _size(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(1, round(count / 1e3))} KB"
