"""How rows are drawn: one colour for each method, and other dashes for its row without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#bab0ac", "#eeca3b", "#222222")
UNLABELLED = " (no labels)"  # how names of rows of runs without labels end
DASHES = (("-", "--"), ("-.", ":"), ((0, (7, 2, 1, 2, 1, 2)), (0, (1, 4))))  # with labels, without; for more methods
MARKERS = ("o", "s", "^")  # the same shape with and without labels, filled and open
HATCHES = ((None, "//"), ("..", "xx"), ("oo", "++"))
Dash = str | tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Style:
    """The look of one row, in lines, dots and bars."""

    color: str
    dash: Dash
    marker: str
    hatch: str | None
    is_filled: bool

    @property
    def face(self) -> str:
        """The inside of a dot."""
        return self.color if self.is_filled else "white"


def row_styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each row, by its name; where there are more methods than colours, dashes and markers tell them."""
    methods = list(dict.fromkeys(_method(name) for name in names))
    styles = {}
    for name in names:
        turn, number = divmod(methods.index(_method(name)), len(COLORS))
        turn, open_ = turn % len(DASHES), int(UNLABELLED in name)
        styles[name] = Style(COLORS[number], DASHES[turn][open_], MARKERS[turn], HATCHES[turn][open_], not open_)
    return styles


def _method(name: str) -> str:
    """A row without the words that say it has no labels; groups of runs may have a number behind them."""
    return name.replace(UNLABELLED, "")


def draw_line(
    axes: Axes, points: Sequence[tuple[float, float]], name: str, style: Style, *, is_marked: bool = False
) -> None:
    """The line of one row; marked are all points, or a single one, which makes no line."""
    axes.plot(
        *zip(*points, strict=True),
        linestyle=style.dash,
        color=style.color,
        linewidth=1.5,
        marker=style.marker if is_marked or len(points) == 1 else None,
        markersize=4,
        markerfacecolor=style.face,
        label=name,
    )
