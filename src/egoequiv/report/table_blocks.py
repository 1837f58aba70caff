"""A table as blocks: results, single motions, paired tests, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from egoequiv.blocks import Block, Cell, Fold, Grid, Points, Text
from egoequiv.evaluation.metric import BEST, Metric
from egoequiv.experiments.table import (
    FEWEST_FOR_TEST,
    MOTIONS_APART,
    Comparison,
    Row,
    Table,
    words,
)
from egoequiv.pairs import closeness, near_copies_in_words
from egoequiv.report.results_grid import (
    baseline_names,
    baselines_text,
    cell_text,
    details_beside,
    mark_notes,
    results_grid,
    values_grid,
)

ONE_SCREEN = 30  # rows of a table that are shown at first
MOST_COLUMNS = 6  # of a summary, which a window of 1200 pixels has room for; further ones are folded
SIGNIFICANT = 0.05
# Counts that `about` holds.
LEAKED, NEAR_COPIES, FRAMES = "leaked_validation_frames", "near_copy_validation_frames", "validation_frames"
CLEAR = "better than all others (p < 0.05)"
EXCLUDED = "excluded_pairs"  # a metric with a folded table below that of single motions
# What the baselines of rho are, by their names.
BASELINES = {
    "constant": "what a map gives that always predicts the mean",
    "untrained": "the same network before training",
    "pixels": "of small gray images",
    BEST: "the mean over motions of the best baseline of each",
}


def table_blocks(table: Table) -> list[Block]:
    """Everything a table says, in the order of reading."""
    return [*summary_blocks(table), *motion_blocks(table), *paired_blocks(table), *making_blocks(table)]


def short_blocks(table: Table) -> list[Block]:
    """What a terminal shows of a table: the leakage, the summary, rho of single motions, and the best rows."""
    motions, leaders, leaked = table.shown(single_motions=True), _leaders(table), leakage(table)
    return [
        *([Text(f"Leakage: {leaked}.")] if leaked else []),
        *summary_blocks(table),
        *([values_grid(table, motions)] if motions else []),
        *([Points(leaders)] if leaders else []),
    ]


def leakage(table: Table | None) -> str | None:
    """How many validation frames have a near twin among the training frames, in words; None where it is not known."""
    return None if table is None else leakage_in(table.about)


def leakage_in(about: Mapping[str, Any]) -> str | None:
    """The same from the counts of a table or of the result of a run."""
    counts = [about.get(key) for key in (LEAKED, FRAMES)]
    if not all(isinstance(count, int) for count in counts):
        return None
    split = about.get("split", "unknown")
    leaked = f"{words(counts[0])} of {words(counts[1])} validation frames have {closeness(split)} (split {split})"
    copies = about.get(NEAR_COPIES)
    return f"{leaked}; {near_copies_in_words(copies, about[FRAMES])}" if isinstance(copies, int) else leaked


def _caption(table: Table) -> str:
    """The title, and how many frames leak, where there are any: directly above the numbers that are too good."""
    if not (leakage(table) and table.about[LEAKED]):
        return table.title
    return f"{table.title} ({words(table.about[LEAKED])} of {words(table.about[FRAMES])} validation frames leak)"


def summary_metrics(table: Table) -> list[Metric]:
    """The metrics of the summary: neither of single motions nor details."""
    return [metric for metric in table.shown(single_motions=False) if not metric.is_detail]


def summary_blocks(table: Table) -> list[Block]:
    """The results: means over repetitions with their intervals, beside what was published."""
    metrics = summary_metrics(table)
    if not metrics:
        return []
    beside = any(metric.name in row.published for row in table.rows for metric in metrics)
    parts = [_repetition_words(table.repetitions)]
    parts += [f"then what the paper published{f' for {table.published_on}' if table.published_on else ''}"] * beside
    blocks: list[Block] = [Text(f"{'; '.join(parts)}."), results_grid(table, metrics[:MOST_COLUMNS], _caption(table))]
    details = [one for one in table.metrics if one.is_detail and one.motion is None and one.name != EXCLUDED]
    more = [*metrics[MOST_COLUMNS:], *details]
    grids = [
        results_grid(table, more[begin : begin + MOST_COLUMNS], f"{table.title}: further columns")
        for begin in range(0, len(more), MOST_COLUMNS)
    ]
    return [*motions_apart_blocks(table), *blocks, *([Fold("Further columns", grids)] if grids else [])]


def motions_apart_blocks(table: Table) -> list[Block]:
    """That rows are of different motions, where they are: a rho of other motions is another quantity."""
    kinds = "; ".join(f"{kind}: {own}" for kind, own in table.about.get(MOTIONS_APART, {}).items())
    about = "The rows are of different motions: what is measured of motions has columns of its own for each of them"
    return [Text(f"{about}, and is tested only between rows of the same. {kinds}.")] if kinds else []


def _repetition_words(repetitions: int) -> str:
    if repetitions < 2:
        return "One repetition, in brackets the 95 % interval over recordings where there is one"
    if repetitions < FEWEST_FOR_TEST:
        return f"Mean ± standard error over {repetitions} repetitions, too few for an interval"
    which = "the 95 % interval of the mean, which says how far training varies and not how recordings do"
    return f"Mean ± standard error over {repetitions} repetitions, in brackets {which}"


def motion_blocks(table: Table) -> list[Block]:
    """Each single motion: its mean over repetitions, its interval, and its baselines."""
    metrics = table.shown(single_motions=True)
    if not metrics:
        return []
    about = [
        _repetition_words(table.repetitions),
        *(
            ["ratio of means: the mean error by the mean distance that features move, for which no pair is left out"]
            if details_beside(table, metrics[0])
            else []
        ),
        *(f"{name}: {meaning}" for name, meaning in BASELINES.items() if name in baseline_names(table, metrics)),
    ]
    grid = results_grid(table, metrics, f"{table.title}: each motion")
    last = [metric for metric in table.metrics if metric.name == EXCLUDED]
    counts = results_grid(table, last, f"{table.title}: pairs left out of rho")
    folded = [Fold("Pairs left out, because both images have the same features", [counts])] if last else []
    return [Text(f"{'; '.join(about)}."), grid, *folded]


def paired_blocks(table: Table) -> list[Block]:
    """Which rows are best, and every paired test."""
    if not table.comparisons:
        return []
    grid = tests_grid(table)
    about = (
        "Differences on the same repetitions, with their standard errors and the two-sided p of the paired t-test. The "
        "p are not corrected for how many tests there are."
    )
    leaders = _leaders(table)
    return [
        Text(about),
        *([Points(leaders)] if leaders else []),
        Fold(f"All {len(grid.rows)} tests", [grid]) if len(grid.rows) > ONE_SCREEN else grid,
    ]


def tests_grid(table: Table) -> Grid:
    """Every paired test of a table."""
    rows = [_test_row(table, test) for test in table.comparisons]
    return Grid(f"{table.title}: paired tests", ("rows", "metric", "mean difference ± s.e.", "p"), rows)


def _test_row(table: Table, test: Comparison) -> list[Cell]:
    metric = table.metric(test.metric)
    tone = "good" if test.p_value < SIGNIFICANT else ""
    difference = metric.difference(test.difference, test.stderr)
    return [Cell(f"{test.a} − {test.b}"), Cell(metric.title), Cell(difference), Cell(p_text(test.p_value), tone=tone)]


def p_text(p_value: float) -> str:
    """The p of a test in two digits."""
    return f"{p_value:.2g}" if isfinite(p_value) else "-"


def _leaders(table: Table) -> list[str]:
    """For each metric the best row, and those that differ from it by no more than chance."""
    points = []
    is_mixed = len({row.uses_labels for row in table.rows}) > 1
    for name in dict.fromkeys(test.metric for test in table.comparisons):
        metric, tests = table.metric(name), [test for test in table.comparisons if test.metric == name]
        tested = {row for test in tests for row in (test.a, test.b)}
        for uses_labels in (True, False):  # rows with labels and rows without are tested by themselves
            rows = [row for row in table.rows if row.name in tested and row.uses_labels is uses_labels]
            best = best_row(rows, metric)
            if best is None or sum(isfinite(row.mean(name)) for row in rows) < 2:
                continue
            others = {row.name for row in rows} - {best.name}
            near = [
                name
                for test in tests
                for name in {test.a, test.b} & others
                if best.name in (test.a, test.b) and not test.p_value < SIGNIFICANT
            ]
            others_are = f"not significantly different (p ≥ 0.05): {', '.join(near)}" if near else CLEAR
            among = f", {'with' if uses_labels else 'without'} labels" if is_mixed else ""
            points.append(
                f"{metric.title}{among}: best is {best.name}, {metric.result(best.result(name))}; {others_are}."
            )
    return points


def best_row(rows: Sequence[Row], metric: Metric) -> Row | None:
    """The row that is best by a metric; None where none has it, or where no way is better."""
    measured = [row for row in rows if isfinite(row.mean(metric.name))]
    if not measured or metric.better == "neither":
        return None
    choose = max if metric.better == "higher" else min
    return choose(measured, key=lambda row: row.mean(metric.name))


def result_line(table: Table) -> str:
    """The result in one line: the best row by the first metric, beside its baselines."""
    metric = table.metric(table.columns[0])
    best = best_row(table.rows, metric)
    if best is None:
        return ""
    beside = baselines_text(metric, {**metric.baselines, **best.entries[metric.name].baselines})
    value = cell_text(table, best, metric)
    who = f"best is {best.name} with {value}" if len(table.rows) > 1 else value
    line = f"{metric.title}: {who} ({metric.better} is better{f'; {beside}' if beside else ''})"
    return f"{line}. {mark_notes(table, [metric])[0]}" if table.is_marked(best, metric) else f"{line}."


def making_blocks(table: Table) -> list[Block]:
    """The settings in which rows differ, and how the table was made."""
    settings = [(row.name, _settings(row)) for row in table.rows if row.settings]
    grid = Grid.of(f"{table.title}: settings", ("method", "settings"), settings, is_words=True)
    return [*([grid] if settings else []), *about_blocks(table, f"{table.title}: protocol")]


def about_blocks(table: Table, caption: str) -> list[Block]:
    """What a table says of how it was made, if anything."""
    about = [(key.replace("_", " "), words(value)) for key, value in table.about.items()]
    return [Grid.of(caption, ("what", "value"), about, is_words=True)] if about else []


def _settings(row: Row) -> str:
    """Settings in words, the weights of the loss terms one by one."""
    shown = []
    for name, value in row.settings.items():
        each = {f"{name}.{term}": one for term, one in value.items()} if isinstance(value, dict) else {name: value}
        shown += [f"{key}={one:g}" if isinstance(one, float) else f"{key}={one}" for key, one in each.items()]
    return ", ".join(shown)
