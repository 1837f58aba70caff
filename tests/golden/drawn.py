"""The numbers that are drawn in figures: curves, bars and dots.

A figure is asked when it is saved, in whatever form, so it does not matter which function draws it. The test looks for
the values of each series among all series that the same command draws: titles, styles and in which figure they are may
change. Intervals (bands, and lines without marks between two points) are left out.
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

Series = dict[str, list[float]]
PUBLISHED = "D"  # the mark of a published value in a chart of dots


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
                dots.setdefault("published" if mark == PUBLISHED else "dots", []).extend(map(float, values))
        elif mark != "None" or len(set(y)) > 1:
            yield label, y.tolist()
    yield from ((name, values) for name, values in dots.items() if any(values))
