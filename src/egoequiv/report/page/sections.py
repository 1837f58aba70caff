"""A report from what a folder holds: the sections in their order, and how everything was made."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egoequiv.experiments.record import machine, versions
from egoequiv.experiments.run_groups import differing_settings
from egoequiv.report.page.blocks import Block, Cell, Code, Fold, Grid, Points, Section, Text
from egoequiv.report.page.gather import Exhibit, Experiment
from egoequiv.report.page.published_section import published_section
from egoequiv.report.page.repeated_tasks import repeated_tasks_section
from egoequiv.report.page.run_notes import left_out, run_notes
from egoequiv.report.page.run_sections import auroc_section, curves_section, motions_section, task_sections
from egoequiv.report.page.table_sections import results_section, rho_section, tests_section
from egoequiv.report.page.undefined import reasons_of
from egoequiv.report.styles import Style, row_styles

LEAKED, VALIDATION = "leaked_validation_frames", "validation_frames"
FOUND = "What was found"
MISSING = "What is missing"


@dataclass(frozen=True)
class Report:
    """All of a report, for every format."""

    title: str
    lead: str
    facts: Mapping[str, str]
    sections: Sequence[Section]


def build_report(out: Path, experiments: Sequence[Experiment], problems: Sequence[str] = ()) -> Report:
    """The report of a folder; `problems` are the runs of which nothing could be measured."""
    again = _as_code(shlex.join(["egoequiv", "report", str(out)]))
    if problems:  # that very command has just been given, and would end in the same way
        again = f"mend what could not be opened or measured, told of under “{MISSING}”, then {again}"
    title = ", ".join(dict.fromkeys(experiment.title for experiment in experiments))
    styles = _styles(experiments)
    sections = []
    for experiment in experiments:
        for exhibit in experiment.exhibits:
            if exhibit.task is None:
                heading = exhibit.title if exhibit.title != title else FOUND  # the page is called so already
                sections.append(Section(heading, sections=_exhibit_sections(experiment, exhibit, again, styles)))
        repeated = repeated_tasks_section(experiment, styles)
        sections += [repeated] if repeated is not None else []
        sections.append(making_section(experiment, is_only=len(experiments) == 1))
    others = dict.fromkeys(words for experiment in experiments for words in left_out(experiment.path))
    missing = _missing(sections, [*problems, *others])
    if missing:
        sections.append(missing)
    return Report(title, _lead(experiments), _facts(experiments), sections)


def _lead(experiments: Sequence[Experiment]) -> str:
    tables = sum(exhibit.table is not None for experiment in experiments for exhibit in experiment.exhibits)
    runs = {run for e in experiments for exhibit in e.exhibits for s in exhibit.subjects for run in s.group.runs}
    parts = [f"{tables} {'table' if tables == 1 else 'tables'}", f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"]
    return (
        f"{' and '.join(parts)}: image features, how they answer to camera motion, and what they are good for. Every "
        "number is read from the folder, none is typed in."
    )


def _facts(experiments: Sequence[Experiment]) -> dict[str, str]:
    facts = {}
    for experiment in experiments:
        if experiment.command is not None:
            key = "Made by" if len(experiments) == 1 else f"{experiment.title}, made by"
            facts[key] = str(experiment.command["command"])
        for exhibit in experiment.exhibits:
            leaked = leakage(exhibit)
            if leaked:
                is_only = len(experiments) == len(experiment.exhibits) - len(experiment.task_exhibits) == 1
                facts["Leakage" if is_only else f"{exhibit.title}, leakage"] = leaked
    return facts


def _styles(experiments: Sequence[Experiment]) -> dict[str, Style]:
    """How each row looks in all figures of the page."""
    exhibits = [exhibit for experiment in experiments for exhibit in experiment.exhibits]
    names = [row.name for exhibit in exhibits if exhibit.table is not None for row in exhibit.table.rows]
    names += [subject.name for exhibit in exhibits for subject in exhibit.subjects]
    return row_styles(list(dict.fromkeys(names)))


def _exhibit_sections(
    experiment: Experiment, exhibit: Exhibit, again: str, styles: Mapping[str, Style]
) -> list[Section]:
    below: list[Section | None] = []
    if exhibit.table is not None:
        table, reasons = exhibit.table, reasons_of(exhibit)
        results = results_section(table, styles, reasons)
        below.append(replace(results, blocks=[*results.blocks, *run_notes(exhibit, again)]))
        below += [published_section(table), tests_section(table)]
        below.append(rho_section(table, styles, reasons))
    else:
        words = f"The runs have not been measured; to do so: {again}"
        below.append(Section("Results", [Text(words, "missing"), *run_notes(exhibit, again)]))
    if exhibit.subjects:
        below += [
            curves_section(exhibit, styles),
            auroc_section(exhibit, f"{_as_code(_maker(experiment))} with another folder", styles),
        ]
        tabled = experiment.tabled_tasks(exhibit)
        below += [motions_section(exhibit, again), *task_sections(exhibit, again, tabled, styles)]
    below.append(configuration_section(exhibit))
    return [section for section in below if section is not None]


def _maker(experiment: Experiment) -> str:
    """The command that made an experiment, or one of its kind."""
    if experiment.command is not None:
        return str(experiment.command["command"])
    return "egoequiv train STORE -o FOLDER" if _is_of_runs(experiment) else "egoequiv reproduce ... -o FOLDER"


def _as_code(command: str) -> str:
    """A command as texts mark it; one with a backtick in it is left as it is."""
    return command if "`" in command else f"`{command}`"


def _is_of_runs(experiment: Experiment) -> bool:
    """Whether runs were trained one by one, and not for a table: the folder then has no file of that table."""
    return experiment.command is None and not (experiment.path / f"{experiment.exhibits[0].name}.json").exists()


def leakage(exhibit: Exhibit) -> str | None:
    """How many validation frames have a near twin among the training frames, in words."""
    about = exhibit.table.about if exhibit.table is not None else {}
    if LEAKED in about and VALIDATION in about:
        return (
            f"{about[LEAKED]:,} of {about[VALIDATION]:,} validation frames have a training frame of the same recording "
            f"within one step or second (split {about.get('split', 'unknown')})"
        )
    return None


def configuration_section(exhibit: Exhibit) -> Section:
    """What the runs were made with: data and split, settings that differ and settings that do not, seeds."""
    blocks: list[Block] = []
    leaked = leakage(exhibit)
    if leaked:
        blocks.append(Text(f"Leakage: {leaked}."))
    about = exhibit.table.about if exhibit.table is not None else {}
    if about:
        rows = [[Cell(key.replace("_", " ")), Cell(_words(value))] for key, value in about.items()]
        blocks.append(Grid(f"{exhibit.title}: data and protocol", ("what", "value"), rows, is_words=True))
    groups = [subject.group for subject in exhibit.subjects]
    if groups:
        differing = differing_settings(groups)
        names = [name for name in differing if name not in ("method", "use_labels")]
        rows = [
            [
                Cell(subject.name),
                Cell(_seeds(subject.group.seeds)),
                *(Cell(_words(subject.group.settings.get(name))) for name in names),
            ]
            for subject in exhibit.subjects
        ]
        blocks.append(
            Grid(f"{exhibit.title}: seeds and settings that differ", ("method", "seeds", *names), rows, is_words=True)
        )
        shared = {name: value for name, value in groups[0].settings.items() if name not in differing}
        same = [[Cell(name), Cell(_words(value))] for name, value in shared.items()]
        grid = Grid(f"{exhibit.title}: settings that all runs share", ("setting", "value"), same, is_words=True)
        blocks.append(Fold(f"{len(same)} settings that all runs share", [grid]))
    if exhibit.table is not None:
        known = {subject.name for subject in exhibit.subjects}
        trained = [row.name for row in exhibit.table.rows if row.settings and row.name not in known]
        if trained:
            words = (
                f"The runs behind {', '.join(trained)} are not in this folder: their curves and tasks cannot be shown."
            )
            blocks.append(Text(words, "missing"))
    return Section("Configuration", blocks)


def making_section(experiment: Experiment, is_only: bool = True) -> Section:
    """The command, the versions and the machine."""
    made = experiment.command
    now = versions()
    blocks: list[Block] = []
    if made is not None:
        blocks.append(Code(str(made["command"])))
        blocks.append(
            Text(f"Started {made.get('started', 'at an unknown time')} on {made.get('machine', 'a machine')}.")
        )
        if made.get("earlier"):
            blocks += [Text("Begun or continued before with:"), *(Code(one) for one in made["earlier"])]
    elif _is_of_runs(experiment):
        blocks.append(Text("By `egoequiv train`, run by run; the settings of each are above, and in its config.json."))
    else:
        words = (
            "The command that made this folder was not recorded, as those of earlier versions were not; "
            "`egoequiv reproduce` writes it to command.json when it starts."
        )
        blocks.append(Text(words, "missing"))
    then = (made or {}).get("versions", {})
    rows = [[Cell(name), Cell(then.get(name, "not recorded")), Cell(now[name])] for name in now]
    grid = Grid(
        f"{experiment.title}: versions", ("what", "when it was made", "when this report was written"), rows, True
    )
    title = "How it was made" if is_only else f"How it was made: {experiment.title}"
    return Section(title, [*blocks, grid, Text(f"This report: {machine()}.", "note")])


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
    points += problems
    return Section(MISSING, [Points(points)]) if points else None


def _seeds(seeds: Sequence[int]) -> str:
    """Such as 0 to 4, where they follow on each other."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _words(value: Any) -> str:
    """A setting for people."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
