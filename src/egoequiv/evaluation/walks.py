"""Walks from one view to the next, by the move that promises most, by a random one, or by the best in hindsight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.next_view import NextViewSelector
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.pairs.candidates import Indices

Policy = Literal["chosen", "random", "best"]
POLICIES: tuple[Policy, ...] = ("chosen", "random", "best")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Walk:
    """Walks of S moves from V starting views; where no move is possible a walk stays with what it has seen."""

    frames: Indices  # (V, S + 1) store rows, -1 after it stayed
    moves: Indices  # (V, S) number of the move, -1 where it stayed
    guess: Indices  # (V, S + 1) class guessed from the views up to each
    right: Floats  # (V, S + 1) 1 or 0; for random moves the share of possible moves that end right
    expected_bits: Floats  # (V, S) uncertainty expected before each move, NaN where it stayed
    found_bits: Floats  # (V, S) uncertainty after it


# What a move leads to from where a walk is, and the same where it is not possible.
AHEAD = np.dtype(
    [
        ("frame", np.int64),
        ("guess", np.int64),  # from the real views, after moving
        ("own_votes", np.float64),  # for the right class
        ("expected_bits", np.float64),  # from the predicted view, before moving
        ("found_bits", np.float64),  # from the real views, after moving
    ]
)
NOWHERE = np.array((-1, -1, -1.0, np.inf, np.inf), AHEAD)


def take_walks(
    selector: NextViewSelector,
    classes: Indices,
    successors: Indices,
    starts: Indices,
    steps: int,
    *,
    seed: int = 0,
    on_progress: OnProgress = silent,
) -> dict[Policy, Walk]:
    """Walk from each starting view by each policy; `successors` says where each move leads from each frame, (N, G).

    Moves are chosen one at a time, never looking further than the next view; no walk comes back to a view it has seen.
    """
    begin = _begin(selector, classes, starts)
    ahead = look_ahead(selector, classes, successors, begin, "second view", on_progress)
    walks: dict[Policy, Walk] = {}
    for policy in POLICIES:
        rng = np.random.default_rng([seed, 0x3A1C])
        walk = _step(begin, ahead, classes[starts], policy, rng)
        for views in range(2, steps + 1):
            what = f"{policy} move after view {views}"
            further = look_ahead(selector, classes, successors, walk, what, on_progress)
            walk = _step(walk, further, classes[starts], policy, rng)
        walks[policy] = walk
    return walks


def _begin(selector: NextViewSelector, classes: Indices, starts: Indices) -> Walk:
    """Walks of no move."""
    votes = selector.look(selector.features[starts][:, None], ())
    assert votes is not None, "a selector has enough frames for a vote on one view"
    none = np.empty((len(starts), 0))
    right = (votes.guess == classes[starts])[:, None].astype(np.float64)
    return Walk(starts[:, None], none.astype(np.int64), votes.guess[:, None], right, none, none)


def _step(walk: Walk, ahead: NDArray[np.void], own: Indices, policy: Policy, rng: np.random.Generator) -> Walk:
    """Make one more move in each walk, of those ahead (V, G); `own` are the right classes, (V,)."""
    is_possible = ahead["frame"] >= 0
    is_right = is_possible & (ahead["guess"] == own[:, None])
    if policy == "chosen":  # g* of the paper's supplement: the least expected uncertainty
        pick = ahead["expected_bits"].argmin(axis=1)
    elif policy == "random":
        pick = np.where(is_possible, rng.random(ahead.shape), -1.0).argmax(axis=1)
    else:  # a move that ends right if there is one, and by as many votes as can be
        pick = (ahead["own_votes"] + is_right * (1 + ahead["own_votes"].max())).argmax(axis=1)
    here = np.arange(len(own)), pick
    there, hit, goes_on = ahead[here], is_right[here], is_possible.any(axis=1)
    if policy == "random":
        hit = is_right.sum(axis=1) / np.maximum(is_possible.sum(axis=1), 1)

    def longer(so_far: NDArray[Any], moved: NDArray[Any], stayed: Any) -> NDArray[Any]:
        return np.column_stack([so_far, np.where(goes_on, moved, stayed)])

    return Walk(
        frames=longer(walk.frames, there["frame"], -1),
        moves=longer(walk.moves, pick, -1),
        guess=longer(walk.guess, there["guess"], walk.guess[:, -1]),
        right=longer(walk.right, hit, walk.guess[:, -1] == own),
        expected_bits=longer(walk.expected_bits, there["expected_bits"], np.nan),
        found_bits=longer(walk.found_bits, there["found_bits"], np.nan),
    )


def look_ahead(
    selector: NextViewSelector, classes: Indices, successors: Indices, walk: Walk, what: str, on_progress: OnProgress
) -> NDArray[np.void]:
    """What every move leads to from the end of every walk, (V, G)."""
    ahead = np.full((len(walk.frames), len(selector.moves)), NOWHERE)
    groups = list(by_moves(walk.moves))

    def try_move(walks: Indices, made: Indices, g: int) -> None:
        """Try move number `g` from the ends of some walks that made the same moves so far; fill in what is found."""
        target = successors[walk.frames[walks, -1], g]
        can = (target >= 0) & (target[:, None] != walk.frames[walks]).all(axis=1)
        walks, target = walks[can], target[can]
        if not len(walks):
            return
        seen, move = selector.features[walk.frames[walks]], selector.moves[g]
        predicted = np.concatenate([seen, selector.predict(seen[:, -1], move)[:, None]], axis=1)
        real = np.concatenate([seen, selector.features[target][:, None]], axis=1)
        # Asked for together: the classifier of a long sequence is made for this one question.
        votes = selector.look(np.concatenate([predicted, real]), (*(selector.moves[m] for m in made), move))
        if votes is None:
            return
        before, after = np.split(votes.uncertainty_bits, 2)
        guess, counts = votes.guess[len(walks) :], votes.counts[len(walks) :]
        own_votes = counts[np.arange(len(walks)), classes[walk.frames[walks, 0]]]
        for name, found in zip(AHEAD.names or (), (target, guess, own_votes, before, after), strict=True):
            ahead[name][walks, g] = found

    for number, (walks, made) in enumerate(groups):
        for g in range(len(selector.moves)):
            try_move(walks, made, g)
            on_progress(what, number * len(selector.moves) + g + 1, len(groups) * len(selector.moves))
    return ahead


def by_moves(moves: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Walks that made the same moves so far, and these; walks that stayed have ended."""
    if not moves.shape[1]:
        yield np.arange(len(moves)), moves[0]
        return
    distinct, group = np.unique(moves, axis=0, return_inverse=True)
    for number, made in enumerate(distinct):
        if made[-1] >= 0:
            yield np.flatnonzero(group.ravel() == number), made
