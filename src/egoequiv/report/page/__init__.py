"""The report: one page with everything a folder holds, that opens offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from egoequiv import __version__
from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.evaluation.tasks import TASKS, get_tasks
from egoequiv.experiments.evaluations import kept_evaluation
from egoequiv.experiments.measure import measure_run
from egoequiv.files import check_writable, write_text
from egoequiv.report.page.gather import Exhibit, Experiment, gather, with_evaluations
from egoequiv.report.page.plain import to_latex, to_markdown
from egoequiv.report.page.run_notes import in_sentences, why_not_opened
from egoequiv.report.page.sections import Report, build_report
from egoequiv.report.page.tasks import evaluate_missing

__all__ = ["FORMATS", "form_of", "to_html", "write_report"]

MEASURING = "measuring"


def write_report(
    out: Path | str,
    path: Path | str | None = None,
    *,
    form: str | None = None,
    evaluate: bool = True,
    tasks: Sequence[str] = tuple(TASKS),
    on_progress: OnProgress = silent,
) -> Path:
    """Write the report of a folder made by `egoequiv reproduce` or `train`, or of one that holds several.

    What the features are good for is measured first, on one repetition of each row, where it has not been; it is kept
    in the folder, so that the next report is quick. With `evaluate` off, only what is there is shown. The form is html,
    markdown or latex; by default what the ending of the file says.
    """
    form = form or form_of(path)
    if form not in FORMATS:
        raise ConfigError(f"format {form!r} is not known; choose from {', '.join(FORMATS)}")
    get_tasks(tasks)
    out = Path(out)
    target = Path(path) if path is not None else out / f"report.{FORMATS[form][0]}"
    experiments = gather(out)
    check_writable(target)  # before the work, which may be long
    problems: list[str] = []
    if evaluate:
        experiments, problems = _measured(experiments, on_progress)
        problems += evaluate_missing(experiments, tasks, on_progress)
    write_text(target, FORMATS[form][1](build_report(out, experiments, problems)))
    return target


def form_of(path: Path | str | None) -> str:
    """The form that the ending of a file says; html where there is no file."""
    if path is None:
        return "html"
    endings = {f".{ending}": form for form, (ending, _) in FORMATS.items()}
    ending = Path(path).suffix.lower()
    if ending not in endings:
        found = f"ends in {ending!r}" if ending else "has no ending"
        raise ConfigError(f"{path} {found}: a report is written as {', '.join(endings)}; name one of them, or a format")
    return endings[ending]


def _measured(experiments: list[Experiment], on_progress: OnProgress) -> tuple[list[Experiment], list[str]]:
    """The same with runs that are in no table measured, and which of them could not be, and why."""
    plain = [exhibit for one in experiments for exhibit in one.exhibits if exhibit.evaluations is not None]
    runs = [run for exhibit in plain for subject in exhibit.subjects for run in subject.group.runs]
    found: dict[Path, dict[str, Any]] = {}
    reasons: dict[str, str] = {}
    for done, run in enumerate(runs):
        on_progress(MEASURING, done, len(runs))
        try:
            found[run] = measure_run(run)
        except EgoEquivError as problem:
            kept = kept_evaluation(run)  # it is still of these weights, wherever their store is now
            if kept is not None:
                found[run] = kept
            else:
                reasons[run.name] = why_not_opened(run, problem)
    if runs:
        on_progress(MEASURING, len(runs), len(runs))

    def renewed(exhibit: Exhibit) -> Exhibit:
        return exhibit if exhibit.evaluations is None else with_evaluations(exhibit, found)

    problems = in_sentences("Could not be measured", reasons)
    return [replace(one, exhibits=tuple(map(renewed, one.exhibits))) for one in experiments], problems


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
