"""The task `next-view`: how much a second view helps, and how much choosing it well."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.chains import first_successors
from egoequiv.evaluation.next_view import NextViewSelector, declare_moves
from egoequiv.evaluation.statistics import group_interval
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable, silent
from egoequiv.evaluation.walks import POLICIES, Floats, Policy, Walk, by_moves, take_walks
from egoequiv.pairs import MinedPatterns, MotionPatterns, find_motion_pairs
from egoequiv.pairs.candidates import Indices

FEWEST_MOVES = 2  # with one there is nothing to choose
NOTES = (
    "a random move is the floor, the best move in hindsight the ceiling of what choosing a second view can give; "
    "further moves of best are the best one at a time, which another walk may outdo",
    "alone: the first view by those training frames only that begin the tuples which vote on all views, which is the "
    "fair thing to compare with, for fewer tuples of training frames vote on two views than frames on one",
)


@dataclass(frozen=True)
class NextViewResult:
    """What a further view is worth, for each starting view."""

    moves: tuple[str, ...]
    neighbours: int
    training_pairs: tuple[int, ...]  # of each move
    choices: NDArray[np.int64]  # (V,) how many moves are possible from each starting view
    offered: tuple[int, ...]  # from how many starting views each move is possible
    own_class: Indices  # (V,)
    class_names: tuple[str, ...]
    recording: Indices  # (V,)
    one_view: Floats  # (V, S + 1) right from one view, by those training frames alone that begin such a walk
    walks: dict[Policy, Walk]

    def accuracy(self, policy: Policy, views: int) -> float:
        """How often the class is right after so many views, in per cent."""
        return 100 * float(self.walks[policy].right[:, views - 1].mean())

    def describe(self) -> dict[str, Any]:
        chosen = self.walks["chosen"]
        return {
            "moves": list(self.moves),
            "neighbours": self.neighbours,
            "starting_views": len(self.own_class),
            "mean_choices": float(self.choices.mean()),
            "accuracy_pct": [self._describe_views(views) for views in range(1, chosen.frames.shape[1] + 1)],
            "each_move": [self._describe_move(g) for g in range(len(self.moves))],
            "each_starting_view": {
                "frame": chosen.frames[:, 0].tolist(),
                "class": [self.class_names[c] for c in self.own_class],
                "choices": self.choices.tolist(),
                "move": [self.moves[g] for g in chosen.moves[:, 0]],
                "right_after_1": chosen.right[:, 0].astype(int).tolist(),
                "right_after_2": chosen.right[:, 1].astype(int).tolist(),
                "random_after_2": [round(share, 4) for share in self.walks["random"].right[:, 1]],
                "best_after_2": self.walks["best"].right[:, 1].astype(int).tolist(),
            },
        }

    def headline(self) -> dict[str, float]:
        """Accuracy in per cent from two views and from one, and what they are to be compared with."""
        chosen, random = (self.accuracy(policy, 2) for policy in ("chosen", "random"))
        return {
            "two_views": chosen,
            "one_view": self.accuracy("chosen", 1),
            "random_move": random,
            "best_move": self.accuracy("best", 2),
            "chosen_minus_random": chosen - random,
            # By those training frames only that begin the pairs which vote on two views: what two views add is beside.
            "first_view_alone": 100 * float(self.one_view[:, 1].mean()),
        }

    def tables(self) -> list[TaskTable]:
        described = self.describe()
        choice = f"{len(self.own_class):,} starting views, {described['mean_choices']:.1f} moves to choose from"
        views = TaskTable(
            f"next view: accuracy in %, {choice}, {self.neighbours} neighbours",
            ("views", "chosen move", "95 % interval", "random", "best", "chosen - random", "alone", "moved"),
            [_views_row(row) for row in described["accuracy_pct"]],
            NOTES,
        )
        moves = TaskTable(
            "each move as the first one",
            ("move", "training pairs", "possible", "chosen", "accuracy after it %", "expected bits", "found bits"),
            [
                (
                    row["move"],
                    f"{row['training_pairs']:,}",
                    f"{row['possible']:,}",
                    f"{row['chosen']:,}",
                    *(_number(row[name], 2) for name in ("accuracy_after_pct", "expected_bits", "found_bits")),
                )
                for row in described["each_move"]
            ],
        )
        return [views, moves]

    def _describe_views(self, views: int) -> dict[str, Any]:
        right = {policy: self.walks[policy].right[:, views - 1] for policy in POLICIES}
        moved = float((self.walks["chosen"].frames[:, views - 1] >= 0).mean())
        described: dict[str, Any] = {"views": views, "moved": moved if views > 1 else None}
        described |= {policy: self._percent(right[policy]) for policy in POLICIES}
        described["first_view_alone"] = self._percent(self.one_view[:, views - 1])
        return described | {"chosen_minus_random": self._percent(right["chosen"] - right["random"])}

    def _describe_move(self, g: int) -> dict[str, Any]:
        walk = self.walks["chosen"]
        own = walk.moves[:, 0] == g
        count = int(own.sum())
        return {
            "move": self.moves[g],
            "training_pairs": self.training_pairs[g],
            "possible": self.offered[g],
            "chosen": count,
            "accuracy_after_pct": 100 * float(walk.right[own, 1].mean()) if count else None,
            "expected_bits": float(walk.expected_bits[own, 0].mean()) if count else None,
            "found_bits": float(walk.found_bits[own, 0].mean()) if count else None,
        }

    def _percent(self, right: Floats) -> dict[str, Any]:
        low, high = group_interval(right, self.recording, within=(-1.0 if right.min() < 0 else 0.0, 1.0))
        interval = [100 * low, 100 * high] if isfinite(low) else None
        return {"mean": 100 * float(right.mean()), "interval": interval}


def next_view(data: TaskData, options: TaskOptions, on_progress: OnProgress = silent) -> NextViewResult:
    """Measure on validation frames; moves lead to validation frames too, and training frames vote."""
    steps = 1 if options.steps is None else options.steps
    if steps < 1:
        raise ConfigError(f"--steps must be at least 1, found {steps}")
    store, split = data.store, data.split
    classes, _ = data.classes()  # first, for a store without labels has no use for the rest
    patterns = moves_of(data, options.motions)
    selector = NextViewSelector.fit(
        data.net,
        store,
        split.train,
        patterns,
        k=options.neighbours,
        max_gap_s=data.max_gap_s,
        label_column=data.label_column,
        features=data.features,
    )
    pairs = find_motion_pairs(store, split.validation, patterns, data.max_gap_s)
    successors = np.stack([first_successors(pairs, move, len(store)) for move in selector.moves], axis=1)
    starts = starting_views(data, successors, classes)
    walks = take_walks(selector, classes, successors, starts, steps, seed=options.seed, on_progress=on_progress)
    return NextViewResult(
        moves=selector.moves,
        neighbours=options.neighbours,
        training_pairs=tuple(selector.training_pairs.values()),
        choices=(successors[starts] >= 0).sum(axis=1),
        offered=tuple(int(count) for count in (successors[starts] >= 0).sum(axis=0)),
        own_class=classes[starts],
        class_names=selector.class_names,
        recording=store.recording[starts],
        one_view=_one_view(selector, walks["chosen"], classes),
        walks=walks,
    )


def moves_of(data: TaskData, motions: tuple[str, ...] | None) -> MotionPatterns:
    """The named moves, or those that the task chooses: of mined patterns all, of a grid the paper's."""
    if not isinstance(data.patterns, MinedPatterns):
        return declare_moves(data.store, motions)
    return data.patterns if motions is None else data.patterns.only(motions)


def starting_views(data: TaskData, successors: Indices, classes: Indices) -> Indices:
    """The labelled validation frames from which there is a choice of moves."""
    frames = data.split.validation
    starts: Indices = frames[((successors[frames] >= 0).sum(axis=1) >= FEWEST_MOVES) & (classes[frames] >= 0)]
    if not len(starts):
        raise DataError(
            f"{data.store.path}: from no labelled validation frame do two of these motions lead to another one, so "
            "there is nothing to choose: name other motions, or take more frames"
        )
    return starts


def _one_view(selector: NextViewSelector, walk: Walk, classes: Indices) -> Floats:
    """Whether the first view alone is told right by those training frames that begin the same walk; (V, S + 1)."""
    right = walk.right[:, :1]
    for steps in range(1, walk.frames.shape[1]):
        told = right[:, -1].copy()  # a walk that stayed is compared with what it was compared with before
        for walks, made in by_moves(walk.moves[:, :steps]):
            starts = walk.frames[walks, 0]
            votes = selector.look_once(selector.features[starts], tuple(selector.moves[g] for g in made))
            if votes is not None:
                told[walks] = votes.guess == classes[starts]
        right = np.column_stack([right, told])
    return right


def _views_row(row: dict[str, Any]) -> tuple[str, ...]:
    def interval(name: str) -> str:
        ends = row[name]["interval"]
        return f"{ends[0]:.2f} to {ends[1]:.2f}" if ends else "-"

    if row["views"] == 1:
        mean = _number(row["chosen"]["mean"], 2)
        return "1", mean, interval("chosen"), "-", "-", "-", mean, "-"
    return (
        str(row["views"]),
        *(_number(row["chosen"]["mean"], 2), interval("chosen")),
        *(_number(row[policy]["mean"], 2) for policy in ("random", "best")),
        f"{row['chosen_minus_random']['mean']:+.2f} ({interval('chosen_minus_random')})",
        _number(row["first_view_alone"]["mean"], 2),
        f"{100 * row['moved']:.0f} %",
    )


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
