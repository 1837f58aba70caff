"""The report of a folder: everything it holds as one page, one Markdown file or one LaTeX file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from egoequiv import __version__
from egoequiv.blocks import Block, Points, Text
from egoequiv.errors import ConfigError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.task import Task
from egoequiv.experiments.collect import collect
from egoequiv.files import check_writable, write_text
from egoequiv.markdown import markdown_document
from egoequiv.report.latex import latex_document
from egoequiv.report.search import is_search, search_report
from egoequiv.report.sections import Report, as_code, build_report

__all__ = ["FORMATS", "form_of", "report_target", "write_report"]


def write_report(
    folder: Path | str,
    path: Path | str | None = None,
    *,
    form: str | None = None,
    problems: Sequence[str] = (),
    found: Mapping[tuple[Path, str], Measurement] | None = None,
    tasks: Mapping[str, Task] | None = None,
) -> Path:
    """Write the report of a folder that `egoequiv reproduce`, `search` or `train` made, or of one that holds several.

    Nothing is measured here: `experiments.missing.measure_missing` measures what a report lacks.

    Args:
        folder: The folder, or a run.
        path: The file to write; by default `report.html` in the folder.
        form: html, markdown or latex; by default what the ending of the file says.
        problems: What could not be measured and why, as sentences.
        found: What was measured just now, by run and task; the rest is read from the runs.
        tasks: Tasks that are not part of the program, by name; their titles and figures are used.

    Returns:
        The file that was written.

    Example:
        >>> write_report("norb-table", "norb.html")  # doctest: +SKIP
    """
    target, form = report_target(folder, path, form)
    if is_search(folder):
        report = search_report(folder)
    else:
        report = build_report(Path(folder), collect(Path(folder), found), problems, tasks)
    text = FORMATS[form][1](report)
    write_text(target, text.encode("utf-8", "backslashreplace").decode("utf-8"))  # a name of a file may be any bytes
    return target


def report_target(folder: Path | str, path: Path | str | None = None, form: str | None = None) -> tuple[Path, str]:
    """The file and the form of a report; an error where it cannot be written, before any work is done for it."""
    form = form or form_of(path)
    if form not in FORMATS:
        raise ConfigError(f"format {form!r} is not known; choose from {', '.join(FORMATS)}")
    target = Path(path) if path is not None else Path(folder) / f"report.{FORMATS[form][0]}"
    if path is not None or Path(folder).is_dir():
        check_writable(target)
    return target, form


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


def to_html(report: Report) -> str:
    """One page that needs nothing but itself; whatever a name holds is shown as it is."""
    environment = Environment(
        loader=PackageLoader("egoequiv.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(report=report, version=__version__)


def to_markdown(report: Report) -> str:
    """All text and tables; a figure is described by what it shows."""
    return markdown_document(report.title, _head(report), report.sections)


def to_latex(report: Report) -> str:
    """A part of a document to be \\input: headings, text and tables."""
    return latex_document(_head(report), "report", report.sections)


def _head(report: Report) -> list[Block]:
    facts = [f"{name}: {as_code(value)}" for name, value in report.facts.items()]
    return [Text(report.lead), *([Points(facts)] if facts else [])]


# How a report is written, by the name of the form: the ending of its file, and the function that writes it.
FORMATS: dict[str, tuple[str, Callable[[Report], str]]] = {
    "html": ("html", to_html),
    "markdown": ("md", to_markdown),
    "latex": ("tex", to_latex),
}
