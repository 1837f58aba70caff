"""The task `next-view`: how much a second view helps, and how much choosing it well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Cell, Grid
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.chains import first_successors
from egoequiv.evaluation.findings import measured, notes_of, thumbnails
from egoequiv.evaluation.metric import NO_INTERVAL, Metric, Value
from egoequiv.evaluation.next_view import NextViewSelector, declare_moves
from egoequiv.evaluation.statistics import group_interval
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, silent
from egoequiv.evaluation.walks import POLICIES, Floats, Policy, Walk, by_moves, take_walks
from egoequiv.files import plain
from egoequiv.pairs import MinedPatterns, MotionPatterns
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.store import FrameStore

FEWEST_MOVES = 2  # with one there is nothing to choose
SHOWN = 12  # walks of the gallery
TITLES = {
    "two_views": "two views %",
    "one_view": "one view %",
    "random_move": "random move %",
    "best_move": "best move %",
    "first_view_alone": "first view alone %",
}
METRICS = {
    name: Metric(name=name, title=title, digits=2, is_percent=True, family="views") for name, title in TITLES.items()
}
METRICS["chosen_minus_random"] = Metric(
    name="chosen_minus_random",
    title="chosen - random move",
    digits=2,
    within=(-100.0, 100.0),
    baselines={"random move": 0.0},
)
ACCURACY = METRICS["two_views"]
NOTES = (
    "a random move is the lower limit, the best move in hindsight the upper limit of what choosing a second view can "
    "give; with more views, best takes the best move at each step, and another walk may be better",
    "alone: the first view by those training frames only that begin the tuples which vote on all views, which is the "
    "fair thing to compare with: fewer tuples of training frames vote on two views than frames on one",
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

    def finding(self, store: FrameStore) -> Finding:
        """Accuracy in per cent from two views and from one, and what they are to be compared with."""
        rows = [self._describe_views(views) for views in range(1, self.walks["chosen"].frames.shape[1] + 1)]
        details: dict[str, Any] = {
            "moves": list(self.moves),
            "classes": list(self.class_names),
            "neighbours": self.neighbours,
            "starting_views": len(self.own_class),
            "mean_choices": float(self.choices.mean()),
            "accuracy_pct": rows,
            "each_move": [self._describe_move(g) for g in range(len(self.moves))],
            "each_starting_view": self._describe_starts(),
        }
        values = self.values(rows)
        arrays = self.gallery(store) if store.has_images else {}
        return Finding(values, self._tables(details), plain(details), arrays, notes=notes_of(values[:1]))

    def values(self, rows: Sequence[Mapping[str, Any]]) -> list[Value]:
        """The few numbers, from the accuracies after one view and after two."""
        one, two, *_ = rows
        numbers = {
            "two_views": two["chosen"],
            "one_view": one["chosen"],
            "random_move": two["random"],
            "best_move": two["best"],
            "chosen_minus_random": two["chosen_minus_random"],
            # By those training frames only that begin the pairs which vote on two views: what two views add is beside.
            "first_view_alone": two["first_view_alone"],
        }
        baselines = {"one view": one["chosen"]["mean"], "random move": two["random"]["mean"]}
        groups = len(np.unique(self.recording))
        return [
            measured(
                METRICS[name],
                found["mean"],
                found["interval"] or NO_INTERVAL,
                groups=groups,
                baselines=baselines if name == "two_views" else None,
            )
            for name, found in numbers.items()
        ]

    def gallery(self, store: FrameStore, seed: int = 0) -> dict[str, NDArray[Any]]:
        """Some walks at random by the chosen moves: what is seen and guessed at each view, -1 after a walk ended."""
        walk = self.walks["chosen"]
        shown = thinned(np.arange(len(walk.frames)), SHOWN, [seed, 0x6A11])
        return {
            "gallery_images": thumbnails(store, walk.frames[shown]),
            "gallery_class": self.own_class[shown],
            "gallery_moves": walk.moves[shown],
            "gallery_guess": np.where(walk.frames[shown] >= 0, walk.guess[shown], -1),
            "gallery_bits": walk.expected_bits[shown],
        }

    def _describe_starts(self) -> dict[str, list[Any]]:
        chosen = self.walks["chosen"]
        return {
            "frame": chosen.frames[:, 0].tolist(),
            "class": [self.class_names[c] for c in self.own_class],
            "choices": self.choices.tolist(),
            "move": [self.moves[g] for g in chosen.moves[:, 0]],
            "right_after_1": chosen.right[:, 0].astype(int).tolist(),
            "right_after_2": chosen.right[:, 1].astype(int).tolist(),
            "random_after_2": [round(share, 4) for share in self.walks["random"].right[:, 1]],
            "best_after_2": self.walks["best"].right[:, 1].astype(int).tolist(),
        }

    def _tables(self, details: Mapping[str, Any]) -> list[Grid]:
        choice = f"{len(self.own_class):,} starting views, {details['mean_choices']:.1f} moves to choose from"
        title = f"next view: accuracy in %, {choice}, {self.neighbours} neighbours"
        heads = ("views", "chosen move", "random", "best", "chosen - random", "alone", "moved")
        moves = [
            (
                *(row[name] for name in ("move", "training_pairs", "possible", "chosen")),
                *(ACCURACY.text(row[name]) for name in ("accuracy_after_pct", "expected_bits", "found_bits")),
            )
            for row in details["each_move"]
        ]
        columns = ("move", "training pairs", "possible", "chosen", "accuracy after it %", "expected bits", "found bits")
        return [
            Grid.of(title, heads, [_views_row(row) for row in details["accuracy_pct"]], NOTES),
            Grid.of("each move as the first one", columns, moves),
        ]

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


def next_view(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: training frames vote on the validation frames of a run."""
    return choose_views(data, options, on_progress).finding(data.store)


def choose_views(data: TaskData, options: TaskOptions, on_progress: OnProgress = silent) -> NextViewResult:
    """Measure on validation frames; moves lead to validation frames too, and training frames vote."""
    steps = 1 if options.steps is None else options.steps
    if steps < 1:
        raise ConfigError(f"--steps must be at least 1, found {steps}")
    if options.motions is not None and len(set(options.motions)) < FEWEST_MOVES:
        raise ConfigError("next-view chooses between motions: name at least two")
    store, split = data.store, data.split
    classes, class_names = data.classes()  # first: without labels there is nothing to measure
    patterns = moves_of(data, options.motions)
    if options.neighbours < 1:
        raise ConfigError(f"the number of neighbours must be at least 1, found {options.neighbours}")
    training, pairs = (data.pairs(frames, patterns) for frames in (split.train, split.validation))
    selector = NextViewSelector(data.features, classes, class_names, split.train, training, k=options.neighbours)
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
    """Whether the first view alone is recognised by those training frames that begin the same walk; (V, S + 1)."""
    right = walk.right[:, :1]
    for steps in range(1, walk.frames.shape[1]):
        known = right[:, -1].copy()  # a walk that stayed is compared with what it was compared with before
        for walks, made in by_moves(walk.moves[:, :steps]):
            starts = walk.frames[walks, 0]
            votes = selector.look_once(selector.features[starts], tuple(selector.moves[g] for g in made))
            if votes is not None:
                known[walks] = votes.guess == classes[starts]
        right = np.column_stack([right, known])
    return right


def _views_row(row: Mapping[str, Any]) -> Sequence[Cell | str]:
    mean, gain = ACCURACY.text(row["chosen"]["mean"]), row["chosen_minus_random"]
    chosen, difference = (
        Cell(text, tuple(filter(None, [ACCURACY.interval(found["interval"])])))
        for text, found in ((mean, row["chosen"]), (ACCURACY.difference(gain["mean"]), gain))
    )
    if row["views"] == 1:
        return "1", chosen, "-", "-", "-", mean, "-"
    return (
        str(row["views"]),
        chosen,
        *(ACCURACY.text(row[policy]["mean"]) for policy in ("random", "best")),
        difference,
        ACCURACY.text(row["first_view_alone"]["mean"]),
        f"{100 * row['moved']:.0f} %",
    )
