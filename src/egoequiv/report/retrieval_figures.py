"""The figure of retrieved pairs: a query, its nearest pair by features and by pixels, and their motions as arrows."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from egoequiv.evaluation.pair_search import Neighbours
from egoequiv.evaluation.retrieval import RetrievalResult
from egoequiv.evaluation.task import TaskData
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices
from egoequiv.pose import MotionSpace
from egoequiv.store import FrameStore

WRONG, RIGHT = "#d62728", "#333333"
BLOCKS = 2  # columns of queries
INCH = 0.85  # the width of a picture, which is the unit of what follows
GAP, PAIR_GAP, BLOCK_GAP, HEAD, TITLE = 0.06, 0.22, 0.4, 0.5, 0.85
# Where going along an axis points to on paper, by the word for it; an axis of no such word has no arrow of its own.
POINTS_TO = {
    "up": (0.0, 1.0),
    "rise": (0.0, 1.0),
    "forward": (0.0, 1.0),
    "right": (1.0, 0.0),
    "left turn": (-1.0, 0.0),
    "shift left": (-1.0, 0.0),
}


def retrieval_figures(result: RetrievalResult, data: TaskData) -> dict[str, Figure]:
    """The figure of the task."""
    title = (
        f"Pairs of frames of {data.store.path.name}, and the nearest other pairs by the difference of their features"
    )
    return {"retrieval": retrieval_figure(result, data.store, title)}


def retrieval_figure(
    result: RetrievalResult, store: FrameStore, title: str, *, queries: int = 12, seed: int = 0
) -> Figure:
    """Queries of every motion drawn at random, each with the nearest pair by features and the nearest by pixels.

    A red frame marks a pair of another motion than the query. Nothing is chosen by whether it succeeds.
    """
    shown = choose_queries(result.pairs, result.neighbours["features"], queries, seed)
    rows = -(-len(shown) // BLOCKS)
    place = _Layout(rows, BLOCKS, 1 + len(result.neighbours), store.image_shape[0] / store.image_shape[1])
    figure = plt.figure(figsize=(place.width * INCH, place.height * INCH))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, place.width), ylim=(place.height, 0))
    axes.set_axis_off()
    axes.text(GAP, 0.15, f"{title}\nA red frame: another motion than the query", fontsize=10, va="top")
    scale = motion_scale(store, result.pairs)
    for number, row in enumerate(shown):
        found = {"query": int(result.neighbours["features"].query[row])}
        found |= {f"nearest by {space}": int(near.nearest[row, 0]) for space, near in result.neighbours.items()}
        for k, (words, pair) in enumerate(found.items()):
            left, top = place.corner(number % rows, number // rows, k)
            if number % rows == 0:
                axes.text(left, TITLE - 0.08, words, fontsize=9, fontweight="bold", va="bottom")
            is_wrong = bool(result.pairs.pattern[pair] != result.pairs.pattern[found["query"]])
            _draw_pair(axes, store, (int(result.pairs.i[pair]), int(result.pairs.j[pair])), left, top, scale, is_wrong)
    return figure


@dataclass(frozen=True)
class _Layout:
    """Where things stand, in units of the width of one picture."""

    rows: int
    blocks: int
    pairs: int  # in one row of one block
    shape: float  # the height of a picture

    @property
    def block_width(self) -> float:
        return self.pairs * (2 + GAP + PAIR_GAP)

    @property
    def width(self) -> float:
        return GAP + self.blocks * self.block_width + (self.blocks - 1) * BLOCK_GAP

    @property
    def height(self) -> float:
        return TITLE + self.rows * (HEAD + self.shape + GAP) + GAP

    def corner(self, row: int, block: int, pair: int) -> tuple[float, float]:
        """The upper left corner of what belongs to a pair."""
        left = GAP + block * (self.block_width + BLOCK_GAP) + pair * (2 + GAP + PAIR_GAP)
        return left, TITLE + row * (HEAD + self.shape + GAP)


def choose_queries(pairs: MotionPairs, neighbours: Neighbours, count: int, seed: int) -> Indices:
    """So many rows of `neighbours`, as many of each motion as there are, at random; motion by motion."""
    pattern = pairs.pattern[neighbours.query]
    rng = np.random.default_rng([seed, 0xF16])
    turn = np.empty(len(pattern))
    for number in np.unique(pattern):  # the first of every motion, then the second of every motion, and so on
        own = np.flatnonzero(pattern == number)
        turn[own] = rng.permutation(len(own))
    chosen = np.lexsort((pattern, turn))[:count]
    return chosen[np.argsort(pattern[chosen], kind="stable")]


def motion_scale(store: FrameStore, pairs: MotionPairs) -> NDArray[np.float64]:
    """The size of each component of a motion that an arrow of full length stands for, (M,)."""
    known = pairs.pattern >= 0
    motion = store.space.difference(store.poses[pairs.i[known]], store.poses[pairs.j[known]])
    size = np.quantile(np.abs(motion), 0.95, axis=0) if len(motion) else np.ones(motion.shape[1])
    return np.where(size > 0, size, 1.0)


def arrow_of(space: MotionSpace, motion: NDArray[np.float64], scale: NDArray[np.float64]) -> tuple[float, float]:
    """Where the arrow of a motion points to: across and up, at most 1 long."""
    across = up = 0.0
    for axis, amount in zip(space.axes, motion / scale, strict=True):
        x, y = POINTS_TO.get(axis.plus, (0.0, 0.0))
        across, up = across + x * float(amount), up + y * float(amount)
    longest = max(1.0, float(np.hypot(across, up)))
    return across / longest, up / longest


def motion_words(space: MotionSpace, motion: NDArray[np.float64], scale: NDArray[np.float64]) -> str:
    """The components that a motion has, in words, those that follow from the others left out."""
    words = [
        axis.in_words(float(amount))
        for axis, amount, whole in zip(space.axes, motion, scale, strict=True)
        if abs(amount) > 0.02 * whole and not axis.is_minor
    ]
    return ", ".join(words) or "standing still"


def _draw_pair(
    axes: Axes,
    store: FrameStore,
    rows: tuple[int, int],
    left: float,
    top: float,
    scale: NDArray[np.float64],
    is_wrong: bool,
) -> None:
    """The two frames of a pair, and above them its motion as an arrow and in words."""
    color = WRONG if is_wrong else RIGHT
    motion = store.space.difference(store.poses[rows[0]], store.poses[rows[1]])
    across, up = (0.4 * HEAD * part for part in arrow_of(store.space, motion, scale))
    x, y = left + 0.25, top + HEAD / 2
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.5, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (x + across, y - up), (x - across, y + up), arrowprops=style)
    words = motion_words(store.space, motion, scale).replace(", ", "\n")
    axes.text(left + 0.6, y, words, fontsize=7, va="center", color=color, linespacing=1.1)
    shape = store.image_shape[0] / store.image_shape[1]
    for side, row in enumerate(rows):
        image = store.images[row]
        begin, end = left + side * (1 + GAP), left + side * (1 + GAP) + 1
        axes.imshow(
            image[..., 0] if image.shape[-1] == 1 else image,
            cmap="gray",
            vmin=0,
            vmax=255,
            extent=(begin, end, top + HEAD + shape, top + HEAD),
            aspect="auto",
        )
        if is_wrong:
            corner = (begin, top + HEAD)
            axes.add_patch(Rectangle(corner, 1, shape, fill=False, edgecolor=WRONG, linewidth=2.5, zorder=3))
