"""A report from what a folder holds: its sections in their order, and what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from egoequiv.blocks import Block, Fold, Points, Section, Text
from egoequiv.evaluation.task import Task
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments.collect import Exhibit, Experiment
from egoequiv.experiments.measure import BASIC
from egoequiv.plurals import plural
from egoequiv.report.figures.columns import chart_blocks
from egoequiv.report.figures.styles import Styles, row_styles
from egoequiv.report.published import published_blocks
from egoequiv.report.run_sections import (
    auroc_section,
    configuration_section,
    curves_section,
    leakage_of,
    making_section,
)
from egoequiv.report.table_blocks import motion_blocks, paired_blocks, summary_blocks, summary_metrics
from egoequiv.report.task_sections import in_sentences, repeated_tasks_section, task_sections

FOUND, MISSING = "What was found", "What is missing"


@dataclass(frozen=True)
class Report:
    """All of a report, for every format."""

    title: str
    lead: str
    facts: Mapping[str, str]
    sections: Sequence[Section]


def build_report(
    folder: Path,
    experiments: Sequence[Experiment],
    problems: Sequence[str] = (),
    tasks: Mapping[str, Task] | None = None,
) -> Report:
    """The report of what `collect` found in a folder; `tasks` are those that are not part of the program."""
    again = as_code(shlex.join(["egoequiv", "report", str(folder)]))
    if problems:  # that very command was just given, and would end in the same way
        again = f"correct what is listed under “{MISSING}”, then {again}"
    title = ", ".join(dict.fromkeys(experiment.title for experiment in experiments))
    known, styles = {**TASKS, **(tasks or {})}, _styles(experiments)
    sections = []
    for experiment in experiments:
        for exhibit in experiment.exhibits:
            if not exhibit.task:
                heading = exhibit.title if exhibit.title != title else FOUND  # the page is called so already
                below = _exhibit_sections(experiment, exhibit, again, known, styles)
                sections.append(Section(heading, sections=below))
        repeated = repeated_tasks_section(experiment, known, styles)
        sections += [repeated] if repeated is not None else []
        sections.append(making_section(experiment, is_only=len(experiments) == 1))
    others = dict.fromkeys(words for experiment in experiments for words in experiment.left_out)
    missing = _missing(sections, [*problems, *others])
    return Report(title, _lead(experiments), _facts(experiments), [*sections, *([missing] if missing else [])])


def as_code(text: str) -> str:
    """A text, marked if it is a command; one with a backtick in it is left as it is."""
    return f"`{text}`" if text.startswith("egoequiv ") and "`" not in text else text


def _lead(experiments: Sequence[Experiment]) -> str:
    tables = sum(exhibit.table is not None for experiment in experiments for exhibit in experiment.exhibits)
    runs = {run for e in experiments for exhibit in e.exhibits for s in exhibit.subjects for run in s.group.runs}
    parts = [plural(tables, "table"), plural(len(runs), "run")]
    return (
        f"{' and '.join(parts)}: image features, how they follow camera motion, and what they are good for. Every "
        "number is read from the folder."
    )


def _facts(experiments: Sequence[Experiment]) -> dict[str, str]:
    facts = {}
    for experiment in experiments:
        if experiment.command is not None:
            key = "Made by" if len(experiments) == 1 else f"{experiment.title}, made by"
            facts[key] = experiment.command.command
        is_only = len(experiments) == len(experiment.exhibits) - len(experiment.task_exhibits) == 1
        for exhibit in experiment.exhibits:
            leaked = leakage_of(exhibit)
            if leaked and not exhibit.task:
                facts["Leakage" if is_only else f"{exhibit.title}, leakage"] = leaked
    return facts


def _styles(experiments: Sequence[Experiment]) -> Styles:
    """How each row looks in all figures of the page."""
    exhibits = [exhibit for experiment in experiments for exhibit in experiment.exhibits]
    names = [row.name for exhibit in exhibits if exhibit.table is not None for row in exhibit.table.rows]
    names += [subject.name for exhibit in exhibits for subject in exhibit.subjects]
    return row_styles(list(dict.fromkeys(names)))


def _exhibit_sections(
    experiment: Experiment, exhibit: Exhibit, again: str, tasks: Mapping[str, Task], styles: Styles
) -> list[Section]:
    table = exhibit.table
    notes = [*(Text(note, "missing") for note in exhibit.notes), *_basic_problems(exhibit)]
    below: list[Section | None] = []
    if table is None:
        words = f"The runs have not been measured; to do so: {again}"
        below.append(Section("Results", [Text(words, "missing"), *notes]))
    else:
        summary, motions = summary_metrics(table), table.shown(single_motions=True)
        charts = chart_blocks(table, [metric for metric in summary if metric.family not in ("rho", "ratio")], styles)
        below.append(_section("Results", [*charts, *summary_blocks(table), *notes]))
        below.append(_section("Where it differs from the paper", published_blocks(table)))
        below.append(_section("Paired tests", paired_blocks(table)))
        below.append(_section("Each motion", [*chart_blocks(table, motions, styles), *motion_blocks(table)]))
    if exhibit.subjects:
        below += [curves_section(exhibit, styles), auroc_section(exhibit, as_code(_maker(experiment)), styles)]
        below += task_sections(experiment, exhibit, again, tasks, styles)
    return [section for section in [*below, configuration_section(exhibit)] if section is not None]


def _section(title: str, blocks: Sequence[Block]) -> Section | None:
    return Section(title, blocks) if blocks else None


def _basic_problems(exhibit: Exhibit) -> list[Block]:
    """Why recognition or equivariance could not be measured, of runs that are in no table."""
    if not exhibit.is_of_runs:
        return []
    found = {(subject.name, task): subject.measurement(task) for subject in exhibit.subjects for task in BASIC}
    reasons = {f"{task} of {name}": one.problem for (name, task), one in found.items() if one and one.problem}
    return [Fold("Could not be measured", [Points(in_sentences(reasons))])] if reasons else []


def _maker(experiment: Experiment) -> str:
    """The command that made an experiment, or one of its kind."""
    if experiment.command is not None:
        return experiment.command.command
    is_of_runs = any(exhibit.is_of_runs for exhibit in experiment.exhibits)
    return "egoequiv train STORE -o FOLDER" if is_of_runs else "egoequiv reproduce ... -o FOLDER"


def _missing(sections: Sequence[Section], problems: Sequence[str]) -> Section | None:
    """Everything that is said to be missing, in one place."""
    found: dict[str, list[str]] = {}

    def walk(section: Section, where: str) -> None:
        for block in section.blocks:
            if isinstance(block, Text) and block.tone == "missing":
                found.setdefault(block.text, []).append(f"{where}{section.title}")
        for below in section.sections:
            walk(below, f"{section.title}, " if section.title != FOUND else "")

    for section in sections:
        walk(section, "")
    points = [f"{'; '.join(dict.fromkeys(where))}: {text}" for text, where in found.items()]
    return Section(MISSING, [Points([*points, *problems])]) if points or problems else None
