"""Where measured numbers differ from published ones: in size, and in which of two methods is ahead."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isfinite, nan

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import Published
from egoequiv.report.tables import interval_of

SIGNIFICANT = 0.05
NORMAL = 1.96  # half the width of a 95 % interval, in standard errors


@dataclass(frozen=True)
class Difference:
    """A measured figure against the published one."""

    row: Row
    metric: str
    measured: Result
    published: Published

    @property
    def gap(self) -> float:
        return self.measured.mean - self.published.mean

    @property
    def allowed(self) -> float:
        """How far apart the two may be by chance: the halves of both 95 % intervals together, as far as known."""
        ends = interval_of(self.measured)
        if ends is None:
            return nan
        return hypot((ends[1] - ends[0]) / 2, NORMAL * (self.published.stderr or 0.0))

    @property
    def agrees(self) -> bool | None:
        """Whether chance may explain the gap; None where too few repetitions say nothing of chance."""
        return abs(self.gap) <= self.allowed if isfinite(self.allowed) else None


@dataclass(frozen=True)
class Reversal:
    """Two rows of which the paper has one ahead, and the measurements the other, by more than chance."""

    metric: str
    a: str
    b: str
    measured: float  # a - b
    published: float
    p_value: float


def differences(table: Table) -> list[Difference]:
    """All figures of a table that stand beside a published one."""
    return [
        Difference(row, metric, row.metrics[metric], row.published[metric])
        for metric in table.columns
        for row in table.rows
        if metric in row.published and metric in row.metrics and isfinite(row.metrics[metric].mean)
    ]


def reversals(table: Table) -> list[Reversal]:
    """All pairs of rows whose order is significantly another than the published one."""
    rows = {row.name: row for row in table.rows}
    found = []
    for test in table.comparisons:
        pair = [rows[name].published.get(test.metric) for name in (test.a, test.b) if name in rows]
        if len(pair) == 2 and pair[0] is not None and pair[1] is not None:
            gap = pair[0].mean - pair[1].mean
            if gap * test.difference < 0 and test.p_value < SIGNIFICANT:
                found.append(Reversal(test.metric, test.a, test.b, test.difference, gap, test.p_value))
    return found
