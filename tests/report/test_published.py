"""Where measured numbers differ from published ones."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

from egoequiv.blocks import Text
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import Row, Table
from egoequiv.report.published import differences, published_blocks, reversals
from report.made import TOP1, row, table


def made(name: str, values: tuple[float, ...], published: float, stderr: float | None = None) -> Row:
    return row(name, {"top1": values}).model_copy(update={"published": {"top1": Published(published, stderr)}})


def texts(found: Table, about: dict[str, Any] | None = None) -> str:
    return "\n".join(block.text for block in published_blocks(found, about) if isinstance(block, Text))


def test_a_gap_is_judged_by_both_intervals() -> None:
    (one,) = differences(table([TOP1], made("equiv", (30.0, 32.0, 34.0), 38.0, 1.0)))
    half = stats.t.ppf(0.975, 2) * 2 / math.sqrt(3)  # by hand: s = 2, three repetitions
    assert one.gap == pytest.approx(-6.0)
    assert one.allowed == pytest.approx(math.hypot(half, 1.96))
    assert one.agrees is False  # 6 against 5.3
    (near,) = differences(table([TOP1], made("equiv", (30.0, 32.0, 34.0), 33.0, 1.0)))
    assert near.agrees is True
    (single,) = differences(table([TOP1], made("equiv", (30.0,), 38.0)))
    assert single.agrees is None


def test_what_is_not_defined_or_not_published_is_not_compared() -> None:
    found = table([TOP1], made("equiv", (math.nan, 1.0), 38.0), row("drlim", {"top1": (1.0, 2.0)}))
    assert not differences(found)
    assert published_blocks(found) == []


def test_another_order_is_reported_where_it_is_significant() -> None:
    ahead, behind = (40.0, 40.1, 40.2), (30.0, 30.1, 30.3)
    turned = table([TOP1], made("drlim", ahead, 36.6), made("equiv", behind, 38.48))
    ((test, gap),) = reversals(turned)
    assert (test.a, test.b) == ("equiv", "drlim")
    assert gap == pytest.approx(1.88)
    assert test.difference < 0
    assert "Significantly in another order" in texts(turned)
    same = table([TOP1], made("drlim", ahead, 38.48), made("equiv", behind, 36.6))
    assert not reversals(same)
    assert "No significant paired test puts two rows in another order" in texts(same)
    noisy = table([TOP1], made("drlim", (40.0, 20.0, 31.0), 36.6), made("equiv", (30.0, 31.0, 29.0), 38.48))
    assert not reversals(noisy)


def test_other_images_than_the_papers_are_named() -> None:
    one = table([TOP1], made("equiv", (30.0,), 38.0), about={"data": "embedded turntable"}, published_on="small NORB")
    assert "embedded turntable: these are other images than the paper's (small NORB)" in texts(one)
    assert "One repetition says nothing about chance" in texts(one)
    assert "other images" not in texts(one, {"data": "norb"})
    two = table([TOP1], made("equiv", (30.0, 31.0), 38.0))
    assert "Two repetitions say nothing about chance" in texts(two)
    assert "other images" in texts(two, {"video": "embedded drive", "labelled": "the video"})
