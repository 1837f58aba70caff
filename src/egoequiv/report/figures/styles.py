"""How rows are drawn: one colour for each method, another dash and marker for its row without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#bab0ac", "#eeca3b", "#222222")
RIGHT, WRONG = "#3a8f3a", "#c83737"
UNLABELLED = " (no labels)"  # how names of rows of runs without labels end
Dash = str | tuple[int, tuple[int, ...]]
# With labels and without; the later ones where there are more methods than colours.
DASHES: tuple[tuple[Dash, Dash], ...] = (("-", "--"), ("-.", ":"), ((0, (7, 2, 1, 2, 1, 2)), (0, (1, 4))))
MARKERS = (("o", "v"), ("s", "P"), ("^", "X"))
MARKS = 6  # about so many markers on a line
DASH = 5  # the length of a dash of lines that coincide, in widths of a line
CLOSE = 0.03  # of the range of a panel: lines that are nowhere further apart coincide, as far as one sees
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Style:
    """The look of one row, in lines and dots."""

    color: str
    dash: Dash = "-"
    marker: str = "o"


Styles = Mapping[str, Style]


def row_styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each row, by its name; with more methods than colours, dashes and markers distinguish them."""
    methods = list(dict.fromkeys(name.replace(UNLABELLED, "") for name in names))
    styles = {}
    for name in names:
        turn, number = divmod(methods.index(name.replace(UNLABELLED, "")), len(COLORS))
        turn, second = turn % len(DASHES), int(UNLABELLED in name)
        styles[name] = Style(COLORS[number], DASHES[turn][second], MARKERS[turn][second])
    return styles


def draw_lines(axes: Axes, curves: Mapping[str, Points], styles: Styles, *, dodge: float = 0.0) -> None:
    """A line for each name, none hidden under another.

    Lines that coincide are drawn as dashes that alternate, and markers are at other places on each line. Where the x
    axis has few places, each line is moved by `dodge` to the side of the one before it.
    """
    lines = {name: np.array(points, float).reshape(-1, 2) for name, points in curves.items() if len(points)}
    for number, (name, line) in enumerate(lines.items()):
        style, step = styles[name], max(1, len(line) // MARKS)
        same = _coinciding(lines, name)
        place = same.index(name)
        dash = (DASH * place, (DASH, DASH * (len(same) - 1))) if len(same) > 1 else style.dash
        axes.plot(
            line[:, 0] + dodge * (number - (len(lines) - 1) / 2),
            line[:, 1],
            linestyle=dash,
            color=style.color,
            linewidth=1.5,
            marker=style.marker,
            markevery=(number * step // len(lines), step) if len(line) > 1 else None,
            markersize=4 + 1.5 * (len(same) - 1 - place),  # one that is drawn over others is smaller
            label=name,
        )


def _coinciding(lines: Mapping[str, NDArray[np.float64]], name: str) -> list[str]:
    """The names of the lines that lie where this one does, itself among them."""
    own = lines[name]
    seen = np.concatenate([line[:, 1] for line in lines.values()])
    near = CLOSE * float(np.nanmax(seen) - np.nanmin(seen)) if np.isfinite(seen).any() else 0.0
    return [
        other
        for other, line in lines.items()
        if other == name
        or (line.shape == own.shape and (line[:, 0] == own[:, 0]).all() and np.allclose(line, own, rtol=0, atol=near))
    ]
