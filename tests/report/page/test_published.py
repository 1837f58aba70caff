"""Where measured numbers differ from published ones."""

import math

import pytest
from scipy import stats

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import compare_rows
from egoequiv.report.page.published import differences, reversals


def table(*rows: Row) -> Table:
    return Table("Toys", ("top1",), list(rows), compare_rows(list(rows), "top1"))


def row(method: str, values: tuple[float, ...], published: float, stderr: float | None = None) -> Row:
    return Row(method, True, {"top1": Result(values)}, {"top1": Published(published, stderr)})


def test_a_gap_is_judged_by_both_intervals() -> None:
    (one,) = differences(table(row("equiv", (30.0, 32.0, 34.0), 38.0, 1.0)))
    half = stats.t.ppf(0.975, 2) * 2 / math.sqrt(3)  # by hand: s = 2, three repetitions
    assert one.gap == pytest.approx(-6.0)
    assert one.allowed == pytest.approx(math.hypot(half, 1.96))
    assert one.agrees is False  # 6 against 5.3
    (far,) = differences(table(row("equiv", (30.0, 32.0, 34.0), 48.0, 1.0)))
    assert far.agrees is False
    (single,) = differences(table(row("equiv", (30.0,), 38.0)))
    assert single.agrees is None


def test_what_is_not_defined_or_not_published_is_not_compared() -> None:
    unpublished = Row("drlim", True, {"top1": Result((1.0, 2.0))})
    assert not differences(table(row("equiv", (math.nan, 1.0), 38.0), unpublished))


def test_another_order_is_told_where_it_is_significant() -> None:
    ahead, behind = (40.0, 40.1, 40.2), (30.0, 30.1, 30.3)
    (turned,) = reversals(table(row("drlim", ahead, 36.6), row("equiv", behind, 38.48)))
    assert (turned.a, turned.b) == ("equiv", "drlim")
    assert turned.published == pytest.approx(1.88)
    assert turned.measured < 0
    assert not reversals(table(row("drlim", ahead, 38.48), row("equiv", behind, 36.6)))
    assert not reversals(table(row("drlim", (40.0, 20.0, 31.0), 36.6), row("equiv", (30.0, 31.0, 29.0), 38.48)))
