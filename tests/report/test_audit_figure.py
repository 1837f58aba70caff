"""The figure and the page of an audit."""

from __future__ import annotations

from math import isnan, nan
from pathlib import Path

from matplotlib.axes import Axes

from egoequiv.auditing.table import AuditRow, AuditTable, MotionAudit, MotionPairCounts
from egoequiv.report.audit_figure import audit_figure
from egoequiv.report.audit_page import audit_page
from egoequiv.report.figures import save_figure


def some_table() -> AuditTable:
    found = {
        "good": (("up", 0.25, (0.2, 0.3), 0.24, "PCA 16", 0, 0.75), ("right", 0.5, (0.4, 0.6), 0.5, "PCA 4", 2)),
        "bad": (("up", 7.0, (5.0, 9.0), 6.5, "ridge 1", 1), ("right", nan, (nan, nan), nan, "none", 9)),
        "odd": (("up", 1.0, (nan, nan), 1.0, "ridge 1", 0), ("right", 0.9, (0.8, 1.1), 1.0, "ridge 1", 0, 0.85)),
    }
    seen = "4 x 4 x 1, mean 0, std 1"
    rows = tuple(
        AuditRow(name, "test", "output", 12, seen, tuple(MotionAudit(*one) for one in each))
        for name, each in found.items()
    )
    pairs = (MotionPairCounts("up", 100, 50, 51, 7, "groups"), MotionPairCounts("right", 20, 10, 11, 1, "pairs"))
    return AuditTable("some | store", 99, "recording", "mean", pairs, rows, ("right is short",))


def test_a_dot_for_each_rho(tmp_path: Path) -> None:
    figure = audit_figure(some_table())
    axes: list[Axes] = figure.axes
    dots = [sorted(line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o") for panel in axes]
    assert dots == [[0.25, 1.0], [0.5, 0.9]]
    ticks = [[line.get_xdata()[0] for line in panel.lines if line.get_marker() == "|"] for panel in axes]
    assert [[tick for tick in panel if not isnan(tick)] for panel in ticks] == [[0.75], [0.85]]
    hollow = [line.get_xdata()[0] for panel in axes for line in panel.lines if line.get_markerfacecolor() == "white"]
    assert hollow == [1.0, 0.9]
    texts = [text.get_text() for panel in axes for text in panel.texts]
    assert texts == ["7.0 →", "not defined"]
    save_figure(figure, tmp_path / "audit.png")
    assert (tmp_path / "audit.png").stat().st_size > 5_000


def test_the_page_says_all() -> None:
    page = audit_page(some_table())
    for line in (
        "| good | 12 | 0.250 [0.20, 0.30]; constant 0.75 | 0.500 [0.40, 0.60] |",
        r"| odd | 12 | 1.000\* | 0.900\* [0.80, 1.10]; constant 0.85 |",
        "| good | test | 4 x 4 x 1, mean 0, std 1 | PCA 16 (1), PCA 4 (1) | 2 |",
        "| right | 20 | 10 | 11 | 1 | pairs |",
        "| bad | right | not defined | not defined | not defined | none | 9 |",
        "- 1.00 is the copy baseline: a map that changes nothing; 0 is perfectly equivariant.",
        "- note: right is short",
    ):
        assert line in page.splitlines()
