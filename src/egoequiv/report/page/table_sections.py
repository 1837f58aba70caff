"""The sections of a report that come from a table: results, paired tests, and rho."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.report.page.blocks import Block, Cell, Fold, Grid, Picture, Points, Section, Text
from egoequiv.report.page.charts import WIDTH, Styles, column_chart
from egoequiv.report.page.embed import CHART, chart_bytes, data_uri
from egoequiv.report.page.undefined import Reasons, undefined_notes
from egoequiv.report.styles import UNLABELLED
from egoequiv.report.tables import (
    FEWEST,
    digits_of,
    interval_of,
    p_text,
    repetitions_of,
    show,
    show_published,
    title_of,
)

AVERAGES = ("rho_atomic", "rho_composite")
CSS_PER_INCH = 96
ONE_SCREEN = 30  # rows of a table that are shown without being asked for


def chart_picture(figure_bytes: bytes, alt: str, caption: str, inches: float = WIDTH) -> Picture:
    """A chart as a block."""
    return Picture(data_uri(figure_bytes, CHART), alt, caption, round(CSS_PER_INCH * inches))


def results_section(table: Table, styles: Styles | None = None, reasons: Reasons | None = None) -> Section:
    """The table with intervals, beside what was published."""
    return Section("Results", results_blocks(table, styles, reasons))


def results_blocks(table: Table, styles: Styles | None = None, reasons: Reasons | None = None) -> list[Block]:
    """What the cells hold, a chart of them, and the table."""
    beside = f"; then what the paper published, measured on {table.published_on}" if table.published_on else ""
    if not beside and any(row.published for row in table.rows):
        beside = "; then what the paper published"
    blocks: list[Block] = [Text(f"{_cell_words(repetitions_of(table))}{beside}.")]
    accuracy = [c for c in table.columns if not c.startswith("rho_")]
    if any(isfinite(_mean(row, c)) for row in table.rows for c in accuracy):
        chart = chart_bytes(column_chart(table, accuracy, styles))
        blocks.append(chart_picture(chart, column_words(table, accuracy), f"{_dot_words(table, accuracy)}."))
    columns = [c for c in table.columns if not c.startswith("rho_") or c in AVERAGES]  # single motions: below
    rows = [_result_row(row, columns) for row in table.rows]
    blocks.append(Grid(table.title, ("method", *map(title_of, columns)), rows))
    return [*blocks, *undefined_notes(table, columns, reasons or {})]


def _cell_words(repetitions: int) -> str:
    if repetitions < 2:
        return "One repetition, which says nothing of chance"
    if repetitions < FEWEST:
        return f"Mean ± standard error over {repetitions} repetitions, too few for an interval"
    return f"Mean ± standard error over {repetitions} repetitions, below it the 95 % interval of the mean (Student's t)"


def _dot_words(table: Table, columns: Sequence[str]) -> str:
    """What the dots of a chart are."""
    found = any(interval_of(row.metrics.get(column)) is not None for row in table.rows for column in columns)
    words = "Dots with their 95 % intervals over repetitions" if found else "Dots are means over repetitions"
    words = words if repetitions_of(table) > 1 else "Dots are of one repetition"
    if any(UNLABELLED in row.name and isfinite(_mean(row, column)) for row in table.rows for column in columns):
        words += ", open ones of rows without labels"
    published = any(column in row.published for row in table.rows for column in columns)
    return f"{words}; an open diamond is the published value" if published else words


def _result_row(row: Row, columns: Sequence[str]) -> list[Cell]:
    counts = {"diverged": row.diverged, "not finished": row.unfinished}
    notes = [f"{count} {what}" for what, count in counts.items() if count]
    return [Cell(row.name, notes), *(_result_cell(row, column) for column in columns)]


def _result_cell(row: Row, column: str) -> Cell:
    result = row.metrics.get(column)
    small = []
    ends = interval_of(result)
    if ends is not None:
        small.append(_interval(ends, digits_of(column)))
    if column in row.published:
        small.append(f"paper {show_published(row, column)}")
    return Cell(show(result, column), small)


def _interval(ends: tuple[float, float], digits: int) -> str:
    return f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def tests_section(table: Table) -> Section | None:
    """The paired tests between rows on the same repetitions."""
    return Section("Paired tests", tests_blocks(table)) if table.comparisons else None


def tests_blocks(table: Table) -> list[Block]:
    """Which rows are best, and every test."""
    rows = []
    for test in table.comparisons:
        digits = digits_of(test.metric)
        rows.append(
            [
                Cell(f"{test.a} − {test.b}"),
                Cell(title_of(test.metric)),
                Cell(f"{test.difference:+.{digits}f} ± {test.stderr:.{digits}f}"),
                Cell(p_text(test.p_value), tone="good" if test.p_value < 0.05 else ""),
            ]
        )
    grid = Grid(f"{table.title}: paired tests", ("rows", "metric", "mean difference ± s.e.", "p"), rows)
    about = (
        "Differences on the same repetitions, with their standard errors and the two-sided p of the paired t-test. The "
        "p are not corrected for how many they are."
    )
    long = [Fold(f"All {len(rows)} tests", [grid])] if len(rows) > ONE_SCREEN else [grid]
    return [Text(about), *_leaders(table), *long]


def _leaders(table: Table) -> list[Block]:
    """For each metric the row that is best, and those it cannot be told from."""
    points = []
    is_mixed = len({row.labels for row in table.rows}) > 1
    for metric in dict.fromkeys(test.metric for test in table.comparisons):
        tests = [test for test in table.comparisons if test.metric == metric]
        for rows in _families(table, [name for test in tests for name in (test.a, test.b)]):
            measured = [row for row in rows if isfinite(row.metrics[metric].mean)]
            if len(measured) < 2:
                continue
            sign = 1 if metric.startswith(("rho", "ratio")) else -1
            best = min(measured, key=lambda row: sign * row.metrics[metric].mean)
            near = [
                {test.a, test.b} - {best.name}
                for test in tests
                if best.name in (test.a, test.b) and not test.p_value < 0.05
            ]
            names = [name for pair in near for name in pair]
            words = f"not told from it (p ≥ 0.05): {', '.join(names)}" if names else "told from all others (p < 0.05)"
            among = f", {'with' if best.labels else 'without'} labels" if is_mixed else ""
            found = f"best is {best.name}, {show(best.metrics[metric], metric)}"
            points.append(f"{title_of(metric)}{among}: {found}; {words}.")
    return [Points(points)] if points else []


def _families(table: Table, tested: Sequence[str]) -> list[list[Row]]:
    """Rows with labels and rows without are tested apart."""
    rows = [row for row in table.rows if row.name in set(tested)]
    return [family for labels in (True, False) if (family := [row for row in rows if row.labels is labels])]


def rho_section(table: Table, styles: Styles | None = None, reasons: Reasons | None = None) -> Section | None:
    """Rho of each motion, with intervals over recordings and the ratio of means."""
    columns = [c for c in table.columns if c.startswith("rho_") and c not in AVERAGES]
    motions = [c for c in columns if any(isfinite(_mean(row, c)) for row in table.rows)]
    if not motions:
        return None
    chart = chart_bytes(column_chart(table, motions, styles))
    caption = f"rho of each motion (lower is better; dotted: copying the features). {_dot_words(table, motions)}."
    blocks: list[Block] = [chart_picture(chart, column_words(table, motions), caption)]
    names = [motion.removeprefix("rho_") for motion in columns]
    detailed = [name for name in names if any(f"low_{name}" in row.metrics for row in table.rows)]
    if detailed:
        rows = [_rho_row(row, detailed) for row in table.rows if any(f"rho_{name}" in row.metrics for name in detailed)]
        grid = Grid(f"{table.title}: rho of each motion", ("method", *detailed, "pairs left out"), rows)
        is_one = repetitions_of(table) < 2
        about = (
            f"{'One repetition' if is_one else 'Mean ± standard error'}; in brackets the 95 % interval over "
            f"recordings{'' if is_one else ' (mean of repetitions)'}; below it the ratio of the two mean distances, "
            "for which no pair is left out."
        )
        blocks += [Text(about), grid]
    blocks += undefined_notes(table, columns, reasons or {})
    return Section("rho of each motion", blocks)


def _rho_row(row: Row, motions: Sequence[str]) -> list[Cell]:
    left_out = row.metrics.get("excluded_pairs", Result(()))
    cells = [Cell(row.name)]
    for motion in motions:
        low, high, ratio = (_mean(row, f"{kind}_{motion}") for kind in ("low", "high", "ratio"))
        column = f"rho_{motion}"
        small = [_interval((low, high), 3)] if isfinite(low) else []
        small += [f"ratio {ratio:.3f}"] if isfinite(ratio) else []
        small += [f"paper {show_published(row, column)}"] if column in row.published else []
        cells.append(Cell(show(row.metrics.get(column), column), small))
    return [*cells, Cell(f"{left_out.mean:.1f}" if isfinite(left_out.mean) else "-")]


def _mean(row: Row, metric: str) -> float:
    return row.metrics.get(metric, Result(())).mean


def column_words(table: Table, columns: Sequence[str]) -> str:
    """What a chart of columns shows, in numbers, for those who cannot see it."""
    parts = []
    for column in columns:
        found = {row.name: row.metrics[column].mean for row in table.rows if column in row.metrics}
        found = {name: mean for name, mean in found.items() if isfinite(mean)}
        if found:
            low, high = min(found, key=lambda name: found[name]), max(found, key=lambda name: found[name])
            digits = digits_of(column)
            parts.append(
                f"{title_of(column)} from {found[low]:.{digits}f} ({low}) to {found[high]:.{digits}f} ({high})"
            )
    return f"Dot plot of {len(table.rows)} rows: {'; '.join(parts) or 'nothing is defined'}."
