"""The sections of a report that come from a table: results, what was published, paired tests, and rho."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.report.page.blocks import Block, Cell, Fold, Grid, Picture, Points, Section, Text
from egoequiv.report.page.charts import WIDTH, column_chart
from egoequiv.report.page.embed import CHART, chart_bytes, data_uri
from egoequiv.report.page.published import Difference, differences, reversals
from egoequiv.report.tables import digits_of, p_text, show, show_published, title_of

AVERAGES = ("rho_atomic", "rho_composite")
CSS_PER_INCH = 96
ONE_SCREEN = 30  # rows of a table that are shown without being asked for


def chart_picture(figure_bytes: bytes, alt: str, caption: str, inches: float = WIDTH) -> Picture:
    """A chart as a block."""
    return Picture(data_uri(figure_bytes, CHART), alt, caption, round(CSS_PER_INCH * inches))


def results_section(table: Table) -> Section:
    """The table with intervals, beside what was published."""
    counts = {len(result.values) for row in table.rows for result in row.metrics.values()}
    repetitions = f"{max(counts)} repetitions" if counts and max(counts) > 1 else "one repetition"
    beside = f"; then what the paper published, measured on {table.published_on}" if table.published_on else ""
    if not beside and any(row.published for row in table.rows):
        beside = "; then what the paper published"
    blocks: list[Block] = [
        Text(f"Mean ± standard error over {repetitions}, below it the 95 % interval of the mean (Student's t){beside}.")
    ]
    accuracy = [c for c in table.columns if not c.startswith("rho_")]
    if any(c in row.metrics for row in table.rows for c in accuracy):
        caption = "Dots with their 95 % intervals; an open diamond is the published value."
        chart = chart_bytes(column_chart(table, accuracy))
        blocks.append(chart_picture(chart, column_words(table, accuracy), caption))
    columns = [c for c in table.columns if not c.startswith("rho_") or c in AVERAGES]  # single motions: below
    rows = [_result_row(row, columns) for row in table.rows]
    blocks.append(Grid(table.title, ("method", *map(title_of, columns)), rows))
    return Section("Results", blocks)


def _result_row(row: Row, columns: Sequence[str]) -> list[Cell]:
    note = (f"{row.diverged} diverged",) if row.diverged else ()
    return [Cell(row.name, note), *(_result_cell(row, column) for column in columns)]


def _result_cell(row: Row, column: str) -> Cell:
    result = row.metrics.get(column)
    small = []
    if result is not None and isfinite(result.interval()[0]):
        small.append(_interval(result.interval(), digits_of(column)))
    if column in row.published:
        small.append(f"paper {show_published(row, column)}")
    return Cell(show(result, column), small)


def _interval(ends: tuple[float, float], digits: int) -> str:
    return f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def published_section(table: Table) -> Section | None:
    """Where the measured figures differ from the published ones, in plain words and one by one."""
    found = differences(table)
    if not found:
        return None
    judged = [one for one in found if one.agrees is not None]
    agreeing = sum(bool(one.agrees) for one in judged)
    blocks: list[Block] = []
    if judged:
        higher = sum(not one.agrees and one.gap > 0 for one in judged)
        blocks.append(
            Text(
                f"Of {len(judged)} published figures {agreeing} are met within the 95 % intervals of both; {higher} "
                f"are higher here and {len(judged) - agreeing - higher} lower. Where the paper gives no standard "
                "error, only the interval measured here counts."
            )
        )
    else:
        blocks.append(Text("One repetition says nothing of chance: the gaps below are given without a judgement."))
    points = [f"{title_of(metric)}: {_gaps(found, metric)}." for metric in dict.fromkeys(one.metric for one in found)]
    blocks.append(Points(points))
    blocks += _order(table)
    rows = [_difference_row(one) for one in found]
    columns = ("method", "metric", "measured", "published", "measured − published", "within chance")
    grid = Grid(f"{table.title}: measured against published", columns, rows)
    blocks.append(Fold("Every published figure beside the measured one", [grid]))
    return Section("Where it differs from the paper", blocks)


def _gaps(found: Sequence[Difference], metric: str) -> str:
    """The gaps of one metric in words: those within chance by name alone, the others with their size."""
    own = [one for one in found if one.metric == metric]
    same = [one.row.name for one in own if one.agrees]
    others = sorted((one for one in own if not one.agrees), key=lambda one: -abs(one.gap))
    digits = digits_of(metric)
    words = [f"{one.row.name} {one.gap:+.{digits}f} ({one.measured.mean:.{digits}f} here)" for one in others]
    return "; ".join([*words, *([f"the same within chance for {', '.join(same)}"] if same else [])])


def _order(table: Table) -> list[Block]:
    turned = reversals(table)
    if not turned:
        tested = [test for test in table.comparisons if _both_published(table, test.metric, test.a, test.b)]
        words = "No significant paired test puts two rows in another order than the paper does."
        return [Text(words)] if tested else []
    lines = []
    for one in turned:
        digits = digits_of(one.metric)
        lines.append(
            f"{title_of(one.metric)}: in the paper {one.a} is {'above' if one.published > 0 else 'below'} {one.b} by "
            f"{abs(one.published):.{digits}f}; here it is {'above' if one.measured > 0 else 'below'} it by "
            f"{abs(one.measured):.{digits}f} (p\u00a0=\u00a0{_unbroken(one.p_value)})."
        )
    return [Text("Significantly in another order than in the paper (paired test, p < 0.05):"), Points(lines)]


def _unbroken(p_value: float) -> str:
    """A p for a sentence: at a hyphen the line might break."""
    return p_text(p_value).replace("-", "\u2212")


def _both_published(table: Table, metric: str, *names: str) -> bool:
    return all(any(row.name == name and metric in row.published for row in table.rows) for name in names)


def _difference_row(one: Difference) -> list[Cell]:
    digits = digits_of(one.metric)
    verdict = {True: Cell("yes", tone="good"), False: Cell("no", tone="bad"), None: Cell("not known")}[one.agrees]
    return [
        Cell(one.row.name),
        Cell(title_of(one.metric)),
        Cell(show(one.measured, one.metric)),
        Cell(show_published(one.row, one.metric)),
        Cell(f"{one.gap:+.{digits}f}"),
        verdict,
    ]


def tests_section(table: Table) -> Section | None:
    """The paired tests between rows on the same repetitions."""
    if not table.comparisons:
        return None
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
    return Section("Paired tests", [Text(about), *_leaders(table), *long])


def _leaders(table: Table) -> list[Block]:
    """For each metric the row that is best, and those it cannot be told from."""
    points = []
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
            points.append(f"{title_of(metric)}: best is {best.name}, {show(best.metrics[metric], metric)}; {words}.")
    return [Points(points)] if points else []


def _families(table: Table, tested: Sequence[str]) -> list[list[Row]]:
    """Rows with labels and rows without are tested apart."""
    rows = [row for row in table.rows if row.name in set(tested)]
    return [family for labels in (True, False) if (family := [row for row in rows if row.labels is labels])]


def rho_section(table: Table) -> Section | None:
    """Rho of each motion, with intervals over recordings and the ratio of means."""
    columns = [c for c in table.columns if c.startswith("rho_") and c not in AVERAGES]
    motions = [c for c in columns if any(isfinite(_mean(row, c)) for row in table.rows)]
    if not motions:
        return None
    chart = chart_bytes(column_chart(table, motions))
    caption = (
        "rho of each motion (lower is better; dotted: copying the features): dots with the 95 % intervals over "
        "repetitions, an open diamond is the published value."
    )
    blocks: list[Block] = [chart_picture(chart, column_words(table, motions), caption)]
    names = [motion.removeprefix("rho_") for motion in columns]
    detailed = [name for name in names if any(f"low_{name}" in row.metrics for row in table.rows)]
    if detailed:
        rows = [_rho_row(row, detailed) for row in table.rows if any(f"rho_{name}" in row.metrics for name in detailed)]
        grid = Grid(f"{table.title}: rho of each motion", ("method", *detailed, "pairs left out"), rows)
        about = (
            "Mean ± standard error; in brackets the 95 % interval over recordings (bootstrap, mean of repetitions); "
            "below it the ratio of the two mean distances, for which no pair is left out."
        )
        blocks += [Text(about), grid]
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
