"""The task `next-view`: how much a second view helps, and how much choosing it well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

FEWEST_MOVES = 2  # with one there is nothing to choose
SHOWN = 12  # walks of the gallery
VALUES = {  # after how many views, and which number then
    "two_views": (2, "chosen"),
    "one_view": (1, "chosen"),
    "random_move": (2, "random"),
    "best_move": (2, "best"),
    "chosen_minus_random": (2, "chosen_minus_random"),
    # By those training frames only that begin the pairs which vote on two views: what two views add is beside it.
    "first_view_alone": (2, "first_view_alone"),
}
NOTES = (
    "a random move is the lower limit, the best move in hindsight the upper limit of what choosing a second view can "
    "give; with more views, best takes the best move at each step, and another walk may be better",
    "alone: the first view by those training frames only that begin the tuples which vote on all views, which is the "
    "fair thing to compare with: fewer tuples of training frames vote on two views than frames on one",
)


def _metric(name: str) -> Metric:
    if name == "chosen_minus_random":
        gain = (-100.0, 100.0)
        return Metric(name=name, title="chosen - random move", digits=2, within=gain, baselines={"random move": 0.0})
    return Metric(name=name, title=f"{name.replace('_', ' ')} %", digits=2, is_percent=True, family="views")


ACCURACY = _metric("two_views")


@dataclass(frozen=True)
class NextViewResult:
    """What a further view is worth, for each starting view."""

    selector: NextViewSelector
    is_possible: NDArray[np.bool_]  # (V, G) which moves from each starting view
    own_class: Indices  # (V,)
    recording: Indices  # (V,)
    one_view: Floats  # (V, S + 1) right from one view, by those training frames alone that begin such a walk
    walks: dict[Policy, Walk]

    def finding(self, store: FrameStore) -> Finding:
        """Accuracy in per cent from two views and from one, and what they are to be compared with."""
        rows = [self._describe_views(views) for views in range(1, self.walks["chosen"].frames.shape[1] + 1)]
        details: dict[str, Any] = {
            "moves": list(self.selector.moves),
            "classes": list(self.selector.class_names),
            "neighbours": self.selector.k,
            "starting_views": len(self.own_class),
            "mean_choices": float(self.is_possible.sum(axis=1).mean()),
            "accuracy_pct": rows,
            "each_move": [self._describe_move(g) for g in range(len(self.selector.moves))],
            "each_starting_view": self._describe_starts(),
        }
        values = self._values(rows)
        arrays = self._gallery(store) if store.has_images else {}
        return Finding(values, self._tables(details), plain(details), arrays, notes=notes_of(values[:1]))

    def _values(self, rows: Sequence[Mapping[str, Any]]) -> list[Value]:
        """The few numbers, from the accuracies after one view and after two."""
        baselines = {"one view": rows[0]["chosen"]["mean"], "random move": rows[1]["random"]["mean"]}
        groups, values = len(np.unique(self.recording)), []
        for name, (views, number) in VALUES.items():
            found = rows[views - 1][number]
            beside = baselines if name == "two_views" else None
            ends = found["interval"] or NO_INTERVAL
            values.append(measured(_metric(name), found["mean"], ends, groups=groups, baselines=beside))
        return values

    def _gallery(self, store: FrameStore) -> dict[str, NDArray[Any]]:
        """Some walks at random by the chosen moves: what is seen and guessed at each view, -1 after a walk ended."""
        walk = self.walks["chosen"]
        shown = thinned(np.arange(len(walk.frames)), SHOWN, [0, 0x6A11])
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
            "class": [self.selector.class_names[c] for c in self.own_class],
            "choices": self.is_possible.sum(axis=1).tolist(),
            "move": [self.selector.moves[g] for g in chosen.moves[:, 0]],
            "right_after_1": chosen.right[:, 0].astype(int).tolist(),
            "right_after_2": chosen.right[:, 1].astype(int).tolist(),
            "random_after_2": [round(share, 4) for share in self.walks["random"].right[:, 1]],
            "best_after_2": self.walks["best"].right[:, 1].astype(int).tolist(),
        }

    def _tables(self, details: Mapping[str, Any]) -> list[Grid]:
        choice = f"{plural(len(self.own_class), 'starting view')}, {details['mean_choices']:.1f} moves to choose from"
        title = f"next view: accuracy in %, {choice}, {self.selector.k} neighbours"
        heads = ("views", "chosen move", "random", "best", "chosen - random", "alone", "moved")
        moves = [
            [ACCURACY.text(cell) if column > 3 else cell for column, cell in enumerate(row.values())]
            for row in details["each_move"]
        ]
        columns = ("move", "training pairs", "possible", "chosen", "accuracy after it %", "expected bits", "found bits")
        return [
            Grid.of(title, heads, [_views_row(row) for row in details["accuracy_pct"]], NOTES),
            Grid.of("each move as the first one", columns, moves),
        ]

    def _describe_views(self, views: int) -> dict[str, Any]:
        right = {policy: self.walks[policy].right[:, views - 1] for policy in POLICIES}
        gain = right["chosen"] - right["random"]
        moved = float((self.walks["chosen"].frames[:, views - 1] >= 0).mean())
        described: dict[str, Any] = {"views": views, "moved": moved if views > 1 else None}
        further = {"first_view_alone": self.one_view[:, views - 1], "chosen_minus_random": gain}
        for name, share in (*right.items(), *further.items()):
            low, high = group_interval(share, self.recording, within=(-1.0 if share.min() < 0 else 0.0, 1.0))
            interval = [100 * low, 100 * high] if isfinite(low) else None
            described[name] = {"mean": 100 * float(share.mean()), "interval": interval}
        return described

    def _describe_move(self, g: int) -> dict[str, Any]:
        walk = self.walks["chosen"]
        own = walk.moves[:, 0] == g
        some = own.any()
        return {
            "move": self.selector.moves[g],
            "training_pairs": self.selector.training_pairs[self.selector.moves[g]],
            "possible": int(self.is_possible[:, g].sum()),
            "chosen": int(own.sum()),
            "accuracy_after_pct": 100 * float(walk.right[own, 1].mean()) if some else None,
            "expected_bits": float(walk.expected_bits[own, 0].mean()) if some else None,
            "found_bits": float(walk.found_bits[own, 0].mean()) if some else None,
        }


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
        selector=selector,
        is_possible=successors[starts] >= 0,
        own_class=classes[starts],
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
    def shown(name: str, text: Callable[[float], str] = ACCURACY.text) -> Cell:
        ends = ACCURACY.interval(row[name]["interval"]) if name.startswith("chosen") else ""
        return Cell(text(row[name]["mean"]), (ends,) if ends else ())

    compared: tuple[Cell | str, ...] = ("-", "-", "-")
    if row["views"] > 1:
        compared = shown("random"), shown("best"), shown("chosen_minus_random", ACCURACY.difference)
    moved = "-" if row["moved"] is None else f"{100 * row['moved']:.0f} %"
    return str(row["views"]), shown("chosen"), *compared, shown("first_view_alone"), moved
