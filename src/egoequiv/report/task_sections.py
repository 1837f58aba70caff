"""The sections of a report about tasks: the result in one line, the numbers, the figures, then everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egoequiv.blocks import Block, Fold, Points, Section, Text
from egoequiv.errors import DataError, EgoEquivError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.task import Task
from egoequiv.experiments.collect import Exhibit, Experiment, Subject
from egoequiv.experiments.measure import BASIC
from egoequiv.experiments.runs_table import table_of_runs
from egoequiv.experiments.table import Table
from egoequiv.report.figures.chains import chains_figure, chains_of
from egoequiv.report.figures.columns import chart_blocks
from egoequiv.report.figures.drawing import as_picture
from egoequiv.report.figures.styles import Styles
from egoequiv.report.figures.tasks import draw, guarded
from egoequiv.report.published import published_blocks
from egoequiv.report.table_blocks import (
    MOST_COLUMNS,
    about_blocks,
    best_row,
    motion_blocks,
    paired_blocks,
    result_line,
    summary_blocks,
    summary_metrics,
)

OVER_ALL = "What the features are good for, over all repetitions"
MOST_ROWS = 6  # with pictures of their own beside the best: a page must stay small enough to be sent
Found = Mapping[str, Measurement]  # by the name of the row


def task_sections(
    experiment: Experiment, exhibit: Exhibit, again: str, tasks: Mapping[str, Task], styles: Styles
) -> list[Section]:
    """One section for each task, of one repetition of each row.

    Tasks that have a table over all repetitions are not missing where one repetition was not looked at.
    """
    subjects, tabled = exhibit.subjects, experiment.tabled_tasks(exhibit)
    found = {
        task: {one.name: known for one in subjects if (known := one.measurement(task)) is not None}
        for task in tasks
        if task not in BASIC
    }
    for subject in subjects:
        for one in subject.other_measurements():
            found.setdefault(one.task, {}).setdefault(subject.name, one)
    measured = {task: own for task, own in found.items() if own}
    sections = [
        _task_section(subjects, own, tasks.get(task), again, task in tabled, styles) for task, own in measured.items()
    ]
    left = [task for task, own in found.items() if not own and task not in tabled]
    if left:
        title = "What the features are good for" if not measured else "Other tasks"
        command = f"{again.removesuffix('`')} --task {','.join(left)}`"  # named, because some are measured on request
        titles = ", ".join(tasks[task].title for task in left)
        sections.append(Section(title, [Text(f"Not measured: {titles}; to do so: {command}", "missing")]))
    return sections


def _table_of(title: str, found: Found, subjects: Sequence[Subject], task: str) -> Table | None:
    """What was measured of each row, one repetition, as a table; None where nothing was measured."""
    known = {row: one for row, one in found.items() if one.problem is None and one.values}
    groups = {subject.name: subject.group for subject in subjects if subject.name in known}
    measured = {group.runs[0]: [known[row]] for row, group in groups.items()}
    return table_of_runs(title, groups, measured, Path(), task=task)


def _task_section(
    subjects: Sequence[Subject], found: Found, task: Task | None, again: str, is_tabled: bool, styles: Styles
) -> Section:
    """The result in one line, the numbers of every row, figures, and every number in a folded part."""
    first = next(iter(found.values()))
    known: Task | Measurement = task if task is not None else first
    title, about = known.title or first.task.rpartition(":")[2], known.about
    table = _table_of(title, found, subjects, first.task)
    seeds = {subject.name: subject.group.seeds[0] for subject in subjects}
    shown = ", ".join(sorted({str(seeds[row]) for row in found}))
    about = f"{about} Measured with seed {shown}.".strip()
    others = f" The means over all repetitions are under “{OVER_ALL}”." if is_tabled else ""
    blocks: list[Block] = [Text(result_line(table))] if table is not None and result_line(table) else []
    blocks.append(Text(f"{about}{others}"))
    if table is not None:
        blocks += [*summary_blocks(table), *motion_blocks(table)]
    blocks += _pictures(found, table, task, title, styles)
    notes = dict.fromkeys(note for one in found.values() for note in one.notes)
    blocks += [Text(note, "note") for note in notes]
    reasons = {row: one.problem for row, one in found.items() if one.problem is not None}
    if reasons:
        blocks.append(Fold("Could not be measured", [Points(in_sentences(reasons))], is_open=table is None))
    left = [subject.name for subject in subjects if subject.name not in found]
    if left and table is not None:  # one without numbers is about the frames, which are the same for all rows
        blocks.append(Text(f"Not measured for {', '.join(left)}; to do so: {again}", "missing"))
    return Section(title, [*blocks, *_all_tables(found, is_about_frames=table is None)])


def _all_tables(found: Found, *, is_about_frames: bool) -> list[Block]:
    """Every number of every row, folded; of a task about the frames, the tables of one row."""
    tables = {row: list(one.tables) for row, one in found.items() if one.tables}
    if is_about_frames:
        return list(next(iter(tables.values()), []))
    return [Fold("Every number of every row", [Fold(row, own) for row, own in tables.items()])] if tables else []


def _pictures(found: Found, table: Table | None, task: Task | None, title: str, styles: Styles) -> list[Block]:
    """The figures of the best row, and those of the others in a folded part."""
    best = best_row(table.rows, table.metric(table.columns[0])) if table is not None else None
    rows = list(found) if best is None else [best.name, *(row for row in found if row != best.name)]
    drawn: dict[str, list[Block]] = {}
    problems: list[Block] = []
    for row in rows[: MOST_ROWS + 1] if table is not None else rows[:1]:
        words = ". ".join(text for text in (f"{title}, {row}", _in_words(table, row), _alt(found[row])) if text)
        try:
            figures = draw(found[row], task)
        except EgoEquivError as problem:
            problems.append(Text(f"{problem}.", "missing"))
        else:
            drawn[row] = [as_picture(figure, f"{words}.", f"{title}, {row}.") for figure in figures.values()]
    shown = [row for row in drawn if drawn[row]]
    folds: list[Block] = [Fold(row, drawn[row]) for row in shown[1:]]
    if folds and rows[MOST_ROWS + 1 :]:
        folds.append(Text(f"Not shown, so that the page stays small: {', '.join(rows[MOST_ROWS + 1 :])}."))
    others = [Fold("The same for other rows", folds)] if folds else []
    first = drawn[shown[0]] if shown else []
    return [*_all_chains(found, table, styles), *first, *others, *problems]


def _all_chains(found: Found, table: Table | None, styles: Styles) -> list[Block]:
    """The chains of several rows in one figure."""
    own = {row: one for row, one in found.items() if one.task == "composition" and one.problem is None}
    if len(own) < 2:
        return []
    try:
        together = lambda _: {"": chains_figure({row: chains_of(one) for row, one in own.items()}, styles)}  # noqa: E731
        (figure,) = guarded(together, next(iter(own.values()))).values()
    except DataError:
        return []  # each row says it by itself
    alt = f"Curves of rho by chain length. {'; '.join(f'{row}: {_in_words(table, row)}' for row in own)}."
    caption = "rho of the product of the maps of single steps, by the number of steps; dotted: copying the features."
    return [as_picture(figure, alt, caption)]


def _in_words(table: Table | None, row: str) -> str:
    """The numbers of a row, for readers who cannot see a figure."""
    if table is None or all(one.name != row for one in table.rows):
        return ""
    entries = table.row(row).entries
    metrics = [metric for metric in summary_metrics(table) if metric.name in entries]
    return ", ".join(f"{metric.title} {metric.text(entries[metric.name].result.mean)}" for metric in metrics)


def _alt(measurement: Measurement) -> str:
    """Of a measurement without values, its first table in words."""
    if measurement.values or not measurement.tables:
        return ""
    grid = measurement.tables[0]
    return "; ".join(
        ", ".join(f"{head} {cell.line}" for head, cell in zip(grid.columns, row, strict=False)) for row in grid.rows
    )


def in_sentences(reasons: Mapping[str, str | None]) -> list[str]:
    """One sentence for each reason, with the names it holds for."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(str(reason), []).append(name)
    return [f"{', '.join(own)}: {reason}" for reason, own in names.items()]


def repeated_tasks_section(experiment: Experiment, tasks: Mapping[str, Task], styles: Styles) -> Section | None:
    """The tables of tasks over all repetitions, each under a heading of its own."""
    abouts = {one.part: one.table.about for one in experiment.exhibits if one.table is not None and not one.task}
    order = [*tasks, *(one.task for one in experiment.task_exhibits)]
    exhibits = sorted(experiment.task_exhibits, key=lambda one: order.index(one.task))
    below = [_repeated(one, one.table, abouts.get(one.part, {}), tasks, styles) for one in exhibits if one.table]
    title = OVER_ALL if len(below) < len(experiment.exhibits) else experiment.title
    return Section(title, sections=below) if below else None


def _repeated(
    exhibit: Exhibit, table: Table, about: Mapping[str, Any], tasks: Mapping[str, Task], styles: Styles
) -> Section:
    """One task: the result, its table, and folded the tests, what was published, and how it was measured."""
    task = tasks.get(table.task)
    title = task.title if task is not None else table.title.removeprefix("Task ")
    blocks: list[Block] = [Text(line) for line in (result_line(table), task.about if task is not None else "") if line]
    charts = chart_blocks(table, summary_metrics(table)[:MOST_COLUMNS], styles)
    blocks += [*charts, *summary_blocks(table), *motion_blocks(table)]
    folds: dict[str, Sequence[Block]] = {
        "Paired tests": paired_blocks(table),
        "Where it differs from the paper": published_blocks(table, about),
        "How it was measured": about_blocks(table, f"{table.title}: protocol"),
    }
    part = " ".join(exhibit.part.replace("hold_out-", "held out by ").strip("-").split("-"))
    return Section(f"{title}, {part}" if part else title, [*blocks, *(Fold(s, own) for s, own in folds.items() if own)])
