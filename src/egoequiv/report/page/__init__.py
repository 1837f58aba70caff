"""The report: one page with everything a folder holds, that opens offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from egoequiv import __version__
from egoequiv.errors import ConfigError
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.evaluation.tasks import TASKS, get_tasks
from egoequiv.experiments.measure import measure_run
from egoequiv.files import write_text
from egoequiv.report.page.gather import EVALUATION, Experiment, gather
from egoequiv.report.page.plain import to_latex, to_markdown
from egoequiv.report.page.sections import Report, build_report
from egoequiv.report.page.tasks import evaluate_missing

__all__ = ["FORMATS", "to_html", "write_report"]


def write_report(
    out: Path | str,
    path: Path | str | None = None,
    *,
    form: str = "html",
    evaluate: bool = True,
    tasks: Sequence[str] = tuple(TASKS),
    on_progress: OnProgress = silent,
) -> Path:
    """Write the report of a folder made by `egoequiv reproduce` or `train`, or of one that holds several.

    What the features are good for is measured first, on one repetition of each row, where it has not been; it is kept
    in the folder, so that the next report is quick. With `evaluate` off, only what is there is shown.
    """
    if form not in FORMATS:
        raise ConfigError(f"format {form!r} is not known; choose from {', '.join(FORMATS)}")
    get_tasks(tasks)
    out = Path(out)
    target = Path(path) if path is not None else out / f"report.{FORMATS[form][0]}"
    experiments = gather(out)
    problems: list[str] = []
    if evaluate:
        experiments = _measured(out, experiments, on_progress)
        problems = evaluate_missing(experiments, tasks, on_progress)
    write_text(target, FORMATS[form][1](build_report(out, experiments, problems)))
    return target


def _measured(out: Path, experiments: list[Experiment], on_progress: OnProgress) -> list[Experiment]:
    """The same, with runs that are in no table measured."""
    runs = [
        run
        for experiment in experiments
        for exhibit in experiment.exhibits
        if exhibit.table is None
        for subject in exhibit.subjects
        for run in subject.group.runs
        if not (run / EVALUATION).exists()
    ]
    for done, run in enumerate(runs):
        on_progress("measuring", done, len(runs))
        measure_run(run)
    if runs:
        on_progress("measuring", len(runs), len(runs))
    return gather(out) if runs else experiments


def to_html(report: Report) -> str:
    """One page that needs nothing but itself."""
    environment = Environment(
        loader=PackageLoader("egoequiv.report.page", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(report=report, version=__version__)


# How a report is written, by the name of the form: the ending of its file, and the function that writes it.
FORMATS: dict[str, tuple[str, Callable[[Report], str]]] = {
    "html": ("html", to_html),
    "markdown": ("md", to_markdown),
    "latex": ("tex", to_latex),
}
