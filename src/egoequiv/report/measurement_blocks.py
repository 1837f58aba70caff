"""What people read of one measurement, and of runs side by side."""

from __future__ import annotations

from math import isfinite

from egoequiv.blocks import Block, Grid, Points, Text
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import MARK, Value
from egoequiv.evaluation.task import Task
from egoequiv.experiments.comparison import Answered, RunComparison
from egoequiv.experiments.table import words
from egoequiv.models.network import ALL
from egoequiv.pairs import closeness, near_copies_in_words
from egoequiv.plurals import plural
from egoequiv.report.results_grid import results_grid
from egoequiv.report.table_blocks import motions_apart_blocks, p_text, tests_grid

MOST_IN_LINE = 4  # numbers in the one line that says what was found


def measurement_blocks(measurement: Measurement, task: Task | None = None) -> list[Block]:
    """One line with the result under the title of the task, then tables, then what a reader has to know."""
    title = task.title if task is not None else measurement.title or measurement.task.rpartition(":")[2]
    title += "" if measurement.part == ALL else f" of the part {measurement.part}"
    blocks: list[Block] = [Text(f"{title}: {result_line(measurement)}"), *measurement.tables]
    notes = [*_frames(measurement), *measurement.notes]
    if any(value.is_marked for value in measurement.values):
        why = ", or of features that collapsed" if any(value.is_collapsed for value in measurement.values) else ""
        notes.append(f"{MARK} not better than each of its baselines{why}: it is no evidence for the features")
    return [*blocks, Points(notes)] if notes else blocks


def result_line(measurement: Measurement) -> str:
    """The first few numbers, each with its interval and baselines."""
    shown = [value for value in measurement.values if not value.metric.is_detail][:MOST_IN_LINE]
    return "; ".join(_in_words(value) for value in shown) or "no main number"


def _in_words(value: Value) -> str:
    interval = value.metric.interval(value.interval)
    known = {name: one for name, one in value.all_baselines().items() if isfinite(one)}
    beside = ", ".join(f"{name} {value.metric.text(one)}" for name, one in known.items())
    return " ".join(
        [value.metric.title, value.text(), *([interval] if interval else []), *([f"({beside})"] if beside else [])]
    )


def _frames(measurement: Measurement) -> list[str]:
    """On which frames it was measured, and how many of them have a training frame close by."""
    recordings = plural(measurement.recordings, "recording")
    place = f"{plural(measurement.frames, 'frame')} of {recordings} of {measurement.store}"
    if measurement.leaked is None:
        return [f"measured on all {place}"]
    leak = f"{measurement.leaked:,} of them have {closeness(measurement.split)}"
    harm = ", so the numbers are too good for new recordings" if measurement.leaked else ""
    return [f"measured on {place}, split {measurement.split}: {leak}{harm}", *_near_copies(measurement)]


def _near_copies(measurement: Measurement) -> list[str]:
    """How many of the frames look nearly the same as a training frame, where that is known."""
    if measurement.near_copies is None:
        return []
    harm = ", so the numbers are too good for new places" if measurement.near_copies else ""
    return [f"{near_copies_in_words(measurement.near_copies, measurement.frames)}{harm}"]


def comparison_blocks(compared: RunComparison) -> list[Block]:
    """Groups, the settings that differ, what was measured, and the tests."""
    lines = []
    for letter, name in compared.groups.items():
        runs, seeds = compared.runs[letter], ", ".join(map(str, compared.seeds[letter]))
        where = runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} more"
        lines.append(f"{letter}: {name}, seed {seeds}: {where}")
    blocks: list[Block] = [Points(lines)]
    if compared.settings:
        rows = [(name, *map(words, each)) for name, each in compared.settings.items()]
        blocks.append(Grid.of("Settings that differ", ("setting", *compared.groups), rows, is_words=True))
    elif len(compared.groups) == 1:
        blocks.append(Text("All runs have the same settings; they differ in the seed alone."))
    table = compared.table
    metrics = [table.metric(name) for name in table.columns]
    blocks += [*motions_apart_blocks(table), results_grid(table, metrics, "What was measured")]
    if table.comparisons:
        blocks.append(tests_grid(table))
    blocks += [_answers_grid(one) for one in compared.answers]
    return [*blocks, *(Text(line) for line in _untested(compared))]


def _answers_grid(answered: Answered) -> Grid:
    found = answered.compared
    low, high = (100 * end for end in found.interval)
    row = (
        f"{answered.a} − {answered.b}",
        f"{100 * found.difference:+.2f}",
        f"{low:+.2f} to {high:+.2f}" if isfinite(low) else "-",
        p_text(found.p_value),
        f"{found.only_a:g}",
        f"{found.only_b:g}",
    )
    frames = f"{plural(found.frames, 'validation frame')} of {plural(found.recordings, 'recording')}"
    caption = f"Top-1 on the same {frames} ({found.test})"
    columns = ("groups", "difference %", "95 % interval", "p", "right by the first alone", "by the second alone")
    return Grid.of(caption, columns, [row])


def _untested(compared: RunComparison) -> list[str]:
    """Why there is no test, a line for each reason."""
    if len(compared.groups) == 1:
        return ["No test: these runs are repetitions of one experiment, and there is no other to compare it with."]
    between: dict[tuple[str, str], list[str]] = {}
    for one in compared.untested:
        what = "" if one.metrics == "all" else f"{one.metrics} between "
        between.setdefault((what, one.reason), []).append(f"{one.a} − {one.b}")
    return [f"No test of {what}{', '.join(own)}: {reason}." for (what, reason), own in between.items()]
