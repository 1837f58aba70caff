"""The motions of a store: a scatter of those that were mined, or the steps that were declared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from egoequiv.errors import DataError
from egoequiv.evaluation.task import TaskData, TaskTable
from egoequiv.pairs import Mining, find_motion_pairs, mine_patterns
from egoequiv.pairs.patterns import DeclaredPatterns
from egoequiv.report.figures import COLORS
from egoequiv.report.motion_figures import cluster_name, scatter_figure
from egoequiv.training.run_folder import RunFolder

MOTIONS = "motions"


@dataclass(frozen=True, eq=False)
class MotionsResult:
    """Named motions, how many training pairs each has, and the mining they are from, if they were mined."""

    counts: dict[str, int]
    learned: tuple[str, ...]  # those that the run has a map of
    mining: Mining | None
    patterns: DeclaredPatterns | None

    def describe(self) -> dict[str, Any]:
        """A JSON object."""
        mined = None if self.mining is None else {"motions": self.mining.motions, "kept": len(self.mining.patterns)}
        return {"pairs": self.counts, "learned": list(self.learned), "mined": mined}

    def headline(self) -> dict[str, float]:
        """No number stands for motions."""
        return {}

    def tables(self) -> list[TaskTable]:
        """The same for people."""
        total = max(1, sum(self.counts.values()))
        rows = [
            (name, f"{count:,}", f"{100 * count / total:.1f} %", "yes" if name in self.learned else "no")
            for name, count in self.counts.items()
        ]
        title = "motions between training frames"
        return [TaskTable(title, ("motion", "pairs", "share", "learned by the run"), rows)]


def motions_task(data: TaskData, run: Path) -> MotionsResult:
    """The motions of the training frames of a run, mined as the run mined them or declared by the grid."""
    folder = RunFolder(run)
    learned = tuple((folder.result or {}).get("patterns") or ())
    if data.patterns is None:
        raise DataError(f"{data.store.path} has no motions: its frames have no poses, or no times")
    if isinstance(data.patterns, DeclaredPatterns):
        pairs = find_motion_pairs(data.store, data.split.train, data.patterns, data.max_gap_s)
        return MotionsResult(pairs.counts(), learned, None, data.patterns)
    config = folder.config()
    mining = mine_patterns(
        data.store, data.split.train, clusters=config.clusters, keep=config.keep, max_gap_s=config.max_gap_s
    )
    counts = {cluster_name(mining, number): count for number, count in enumerate(mining.counts)}
    return MotionsResult(counts, learned, mining, None)


def motions_figures(result: MotionsResult, data: TaskData) -> dict[str, Figure]:
    """The scatter of mined motions, or the declared ones in the plane of the first two axes."""
    if result.mining is not None:
        count = f"{result.mining.motions:,} motions of at most {data.max_gap_s:g} s"
        title = f"{count}: patterns kept in colour, dropped in gray"
        return {MOTIONS: scatter_figure(result.mining, title)}
    return {MOTIONS: _declared_figure(result)} if result.patterns is not None else {}


def _declared_figure(result: MotionsResult) -> Figure:
    """Each declared motion as a disc of as much area as it has pairs; those that a run learned are filled."""
    patterns = result.patterns
    if patterns is None:
        raise ValueError("only declared motions can be drawn as discs")
    axes_of = patterns.space.axes
    up, across = 0, min(1, len(axes_of) - 1)
    most = max([1, *result.counts.values()])
    figure, axes = plt.subplots(figsize=(6.2, 4.2), layout="constrained")
    for number, (name, motion) in enumerate(zip(patterns.names, patterns.motions, strict=True)):
        color, count = COLORS[number % len(COLORS)], result.counts[name]
        face = color if name in result.learned else "none"
        axes.scatter(motion[across], motion[up], s=900 * count / most, facecolor=face, edgecolor=color, linewidth=2)
        axes.annotate(
            f"{name} ({count:,})", (motion[across], motion[up]), (0, 21), textcoords="offset points", ha="center"
        )
    axes.plot(0, 0, "+", color="black", markersize=12)
    axes.margins(0.3)
    axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    axes.axvline(0, color="black", linewidth=0.5, zorder=0)
    axes.set_xlabel(f"{axes_of[across].name} ({axes_of[across].unit})")
    axes.set_ylabel(f"{axes_of[up].name} ({axes_of[up].unit})")
    axes.set_xticks(np.unique([0, *patterns.motions[:, across]]))
    axes.set_yticks(np.unique([0, *patterns.motions[:, up]]))
    axes.spines[["top", "right"]].set_visible(False)
    return figure
