"""Where measured numbers differ from published ones: in size, and in which of two methods is ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from typing import Any

from egoequiv.blocks import Block, Cell, Fold, Grid, Points, Text
from egoequiv.evaluation.metric import Metric
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import Comparison, Entry, Row, Table
from egoequiv.report.results_grid import published_text
from egoequiv.report.table_blocks import SIGNIFICANT, p_text

NORMAL = 1.96  # half the width of a 95 % interval, in standard errors
WORLD = "embedded "  # how the name of an embedded world begins in what a table says of its data
VERDICTS = {True: Cell("yes", tone="good"), False: Cell("no", tone="bad"), None: Cell("not known")}


@dataclass(frozen=True)
class Difference:
    """A measured number and the published one."""

    row: Row
    metric: Metric
    entry: Entry
    published: Published

    @property
    def gap(self) -> float:
        return self.entry.result.mean - self.published.mean

    @property
    def allowed(self) -> float | None:
        """How far apart the two may be by chance: the halves of both 95 % intervals together, as far as known."""
        ends = self.entry.over_repetitions()
        return None if ends is None else hypot((ends[1] - ends[0]) / 2, NORMAL * (self.published.stderr or 0.0))

    @property
    def agrees(self) -> bool | None:
        """Whether chance may explain the gap; None where too few repetitions say nothing of chance."""
        return None if self.allowed is None else abs(self.gap) <= self.allowed


def differences(table: Table) -> list[Difference]:
    """All numbers of a table that are beside a published one."""
    return [
        Difference(row, table.metric(name), row.entries[name], row.published[name])
        for name in table.columns
        for row in table.rows
        if name in row.published and isfinite(row.mean(name))
    ]


def published_tests(table: Table) -> list[tuple[Comparison, float]]:
    """The paired tests of rows of which the paper has both, with the published difference."""
    rows = {row.name: row.published for row in table.rows}
    return [
        (test, rows[test.a][test.metric].mean - rows[test.b][test.metric].mean)
        for test in table.comparisons
        if test.metric in rows.get(test.a, {}) and test.metric in rows.get(test.b, {})
    ]


def reversals(table: Table) -> list[tuple[Comparison, float]]:
    """Those of them that put two rows significantly in another order than the paper."""
    return [(t, gap) for t, gap in published_tests(table) if gap * t.difference < 0 and t.p_value < SIGNIFICANT]


def published_blocks(table: Table, about: Mapping[str, Any] | None = None) -> list[Block]:
    """The differences in words and one by one; `about` says what was measured on, where the table itself does not."""
    found = differences(table)
    if not found:
        return []
    metrics = {one.metric.name: one.metric for one in found}
    gaps = [f"{metric.title}: {_gaps(found, metric)}." for metric in metrics.values()]
    columns = ("method", "metric", "measured", "published", "measured − published", "within chance")
    grid = Grid(f"{table.title}: measured and published", columns, [_difference_row(one) for one in found])
    return [
        *_other_images(table, about or table.about),
        Text(_verdict(found, table.repetitions)),
        Points(gaps),
        *_order(table),
        Fold("Every published number beside the measured one", [grid]),
    ]


def _verdict(found: Sequence[Difference], repetitions: int) -> str:
    judged = [one for one in found if one.agrees is not None]
    if not judged:
        few = "One repetition says" if repetitions < 2 else "Two repetitions say"
        return f"{few} nothing about chance: the gaps below are given without a judgement."
    agreeing = sum(bool(one.agrees) for one in judged)
    higher = sum(not one.agrees and one.gap > 0 for one in judged)
    return (
        f"Of {len(judged)} published numbers {agreeing} are met within the 95 % intervals of both; {higher} are higher "
        f"here and {len(judged) - agreeing - higher} lower. Where the paper gives no standard error, only the interval "
        "measured here counts."
    )


def _other_images(table: Table, about: Mapping[str, Any]) -> list[Block]:
    """That an embedded world is not what the paper measured on, where it is one."""
    worlds = [str(about[key]) for key in ("data", "video", "labelled") if str(about.get(key)).startswith(WORLD)]
    paper = f" ({table.published_on})" if table.published_on else ""
    words = (
        f"Measured on the {' and the '.join(worlds)}: these are other images than the paper's{paper}. A gap may come "
        "from the images, and does not say whether the paper is reproduced."
    )
    return [Text(words)] if worlds else []


def _gaps(found: Sequence[Difference], metric: Metric) -> str:
    """The gaps of one metric in words: those within chance by name alone, the others with their size."""
    own = [one for one in found if one.metric == metric]
    same = ", ".join(one.row.name for one in own if one.agrees)
    others = sorted((one for one in own if not one.agrees), key=lambda one: -abs(one.gap))
    words = [
        f"{one.row.name} {metric.difference(one.gap)} ({metric.text(one.entry.result.mean)} here)" for one in others
    ]
    return "; ".join([*words, *([f"the same within chance for {same}"] if same else [])])


def _order(table: Table) -> list[Block]:
    lines = []
    for test, gap in reversals(table):
        metric = table.metric(test.metric)
        p = p_text(test.p_value).replace("-", "\u2212")  # a line does not break at a minus sign
        lines.append(
            f"{metric.title}: in the paper {test.a} is {'above' if gap > 0 else 'below'} {test.b} by "
            f"{metric.text(abs(gap))}; here it is {'above' if test.difference > 0 else 'below'} it by "
            f"{metric.text(abs(test.difference))} (p\u00a0=\u00a0{p})."
        )
    if lines:
        return [Text("Significantly in another order than in the paper (paired test, p < 0.05):"), Points(lines)]
    words = "No significant paired test puts two rows in another order than the paper does."
    return [Text(words)] if published_tests(table) else []


def _difference_row(one: Difference) -> list[Cell]:
    measured, paper = one.metric.result(one.entry.result), published_text(one.published, one.metric)
    texts = (one.row.name, one.metric.title, measured, paper, one.metric.difference(one.gap))
    return [*map(Cell, texts), VERDICTS[one.agrees]]
