"""The numbers that are drawn in figures: curves, bars and dots.

A figure is asked when it is saved, in whatever form, so it does not matter which function draws it. The test looks for
the values of each series among all series that the same command draws: titles, styles and in which figure they are may
change. Bands are left out; of an interval between two points the standard error that it is made of is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from scipy import stats

Series = dict[str, list[float]]
PUBLISHED, BASELINE = "D", "|"  # the marks of published values and of measured baselines in a chart of dots

STUDENT = float(stats.t.ppf(0.975, 2))  # standard errors in half a 95 % interval of 3 repetitions


@contextmanager
def drawing() -> Iterator[Series]:
    """The series of all figures that are saved meanwhile, by panel and label."""
    found: Series = {}
    save = Figure.savefig

    def saved(figure: Figure, *arguments: Any, **settings: Any) -> None:
        for axes in figure.axes:
            if not axes.images:  # photographs have no numbers
                for name, values in _series(axes):
                    _add(found, f"{axes.get_title() or axes.get_ylabel()}: {name}", values)
        for name, values in _rows(figure).items():
            _add(found, name, values)
        save(figure, *arguments, **settings)

    with mock.patch.object(Figure, "savefig", saved):
        yield found


def _add(found: Series, name: str, values: list[float]) -> None:
    """Keep a series; one of the same name with other values gets a count, one with the same is the same."""
    count, free = 1, name
    while free in found and found[free] != values:
        count += 1
        free = f"{name} ({count})"
    found[free] = values


def _rows(figure: Figure) -> Series:
    """Of each row of a chart of rows, across its panels, what bars were once drawn of: dots, published, errors."""
    rows: Series = {}
    for axes in figure.axes:
        for line in axes.lines if not axes.get_xlabel() else ():
            x, y, mark = np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), str(line.get_marker())
            if len(x) == 1 and mark not in ("None", BASELINE):
                kind, value = "published" if mark == PUBLISHED else "dots", x[0]
            elif len(x) == 2 and mark == "None" and y[0] == y[1]:  # an interval over repetitions
                kind, value = "errors", (x[1] - x[0]) / 2 / STUDENT
            else:
                continue
            rows.setdefault(f"{kind} of row {float(y[0]):g}", []).append(float(value))
    return rows


def _series(axes: Axes) -> Iterator[tuple[str, list[float]]]:
    for bars in axes.containers:
        if isinstance(bars, BarContainer):
            yield f"bars of {bars.get_label()}", [bar.get_height() for bar in bars]
            if bars.errorbar is not None:  # the standard errors
                ends = bars.errorbar.lines[2][0].get_segments()
                yield f"errors of {bars.get_label()}", [float(np.ptp(end[:, 1])) / 2 for end in ends]
    dots: dict[str, list[float]] = {}
    for line in axes.lines:
        x, y, mark = np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), str(line.get_marker())
        label = str(line.get_label())
        if mark == "_" and len(y) > 1:
            yield "published", y.tolist()
        elif label.startswith("_"):
            if len(x) == 1 and mark != "None":
                # In a chart of rows the value is across, elsewhere it is upwards; the centre of a motion is both.
                values = [*x, *y] if mark == "+" else x if not axes.get_xlabel() else y
                kind = {PUBLISHED: "published", BASELINE: "baselines"}.get(mark, "dots")
                dots.setdefault(kind, []).extend(map(float, values))
        elif mark != "None" or len(set(y)) > 1:
            yield label, y.tolist()
    yield from ((name, values) for name, values in dots.items() if any(values))
