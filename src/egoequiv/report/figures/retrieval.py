"""The figure of retrieved pairs: a query, its nearest pair by features and by pixels, and their motions as arrows.

It is drawn from a measurement of the task `retrieval`:

- details: `gallery_spaces`, the names of what was searched (`features`, `pixels`), S of them; `gallery_words`,
  (Q, 1 + S) the motion of each pair in words, the query first
- arrays of Q queries, drawn at random from every motion: `gallery_images` (Q, 1 + S, 2, height, width, channels) uint8,
  `gallery_arrows` (Q, 1 + S, 2): where the motion points to on paper, across and up, at most 1 long; `gallery_right`
  (Q, 1 + S): whether the pair has the motion of the query
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from egoequiv.evaluation.measurement import Measurement
from egoequiv.report.figures.drawing import CAPTION, show_image
from egoequiv.report.figures.styles import WRONG

PLAIN = "#333333"
BLOCKS = 2  # columns of queries
INCH = 0.7  # the width of an image, which is the unit of what follows: two blocks are as wide as a page
GAP, PAIR_GAP, BLOCK_GAP, HEAD, TITLE = 0.06, 0.22, 0.4, 0.6, 1.2


def retrieval_figures(measurement: Measurement) -> dict[str, Figure]:
    """The figure, where its images are kept."""
    return {"retrieval": retrieval_figure(measurement)} if "gallery_images" in measurement.arrays else {}


def retrieval_figure(measurement: Measurement) -> Figure:
    """Queries of every motion, each with the nearest pair by features and by pixels; red: a pair of another motion."""
    queries, pairs, _, height, width, _ = measurement.arrays["gallery_images"].shape
    rows, shape = -(-queries // BLOCKS), height / width
    row_height, pair_width = HEAD + shape + GAP, 2 + GAP + PAIR_GAP
    block_width = pairs * pair_width + BLOCK_GAP
    right, bottom = GAP + min(BLOCKS, queries) * block_width - BLOCK_GAP, TITLE + rows * row_height + GAP
    figure = Figure(figsize=(right * INCH, bottom * INCH))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, right), ylim=(bottom, 0))
    axes.set_axis_off()
    title = f"Pairs of frames of {measurement.store}, and the nearest other pairs by the difference of their features"
    axes.text(GAP, 0.1, f"{title}\nA red frame: another motion than the query", fontsize=CAPTION, va="top")
    heads = ["query", *(f"nearest by {space}" for space in measurement.details["gallery_spaces"])]
    for number in range(queries):
        block, row = divmod(number, rows)
        for pair in range(pairs):
            left, top = GAP + block * block_width + pair * pair_width, TITLE + row * row_height
            if row == 0:
                axes.text(left, TITLE - 0.04, heads[pair], fontsize=CAPTION, va="bottom")
            _draw_pair(axes, measurement, (number, pair), left, top, shape)
    return figure


def _draw_pair(
    axes: Axes, measurement: Measurement, which: tuple[int, int], left: float, top: float, shape: float
) -> None:
    """The two frames of a pair, and above them its motion as an arrow and in words."""
    is_right = bool(measurement.arrays["gallery_right"][which])
    color = PLAIN if is_right else WRONG
    across, up = (0.4 * HEAD * float(part) for part in measurement.arrays["gallery_arrows"][which])
    x, y = left + 0.25, top + HEAD / 2
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.5, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (x + across, y - up), (x - across, y + up), arrowprops=style)
    words = measurement.details["gallery_words"][which[0]][which[1]].replace(", ", "\n")
    axes.text(left + 0.6, y, words, fontsize=CAPTION, va="center", color=color, linespacing=1.1)
    for side, image in enumerate(measurement.arrays["gallery_images"][which]):
        begin = left + side * (1 + GAP)
        show_image(axes, image, extent=(begin, begin + 1, top + HEAD + shape, top + HEAD), aspect="auto")
        if not is_right:
            corner = (begin, top + HEAD)
            axes.add_patch(Rectangle(corner, 1, shape, fill=False, edgecolor=WRONG, linewidth=2.5, zorder=3))
