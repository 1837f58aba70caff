"""Where the right frames stand when candidates are sorted by their distance to a predicted feature: MRR and hit@k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.statistics import group_interval
from egoequiv.evaluation.task import TaskTable
from egoequiv.files import plain
from egoequiv.pairs.candidates import Indices

BLOCK = 4_000_000  # distances held at once


@dataclass(frozen=True)
class Questions:
    """Frames to be found: each question has one right frame or more, and frames that are no candidates."""

    asked_of: Indices  # (Q,) the store row that a question begins at
    answer_to: Indices  # (A,) the question that each answer belongs to, ascending
    answer: Indices  # (A,) store rows
    barred: Indices  # (Q, B) store rows that are no candidates
    in_recording: bool  # whether only frames of the recording of `asked_of` are candidates

    def __len__(self) -> int:
        return len(self.asked_of)


@dataclass(frozen=True)
class Ranks:
    """The place of the first right frame of each question, beside what guessing would give."""

    rank: Indices  # (Q,), from 1
    candidates: Indices  # (Q,)
    answers: Indices  # (Q,)


@dataclass(frozen=True)
class RankScore:
    """How well a prediction ranks the right frame; the chance levels are those of a random order."""

    motion: str  # "all" for all of them together
    prediction: str
    scope: str  # which frames are candidates
    questions: int
    candidates: float  # mean number
    mrr: float
    mrr_interval: tuple[float, float]  # 95 %, over recordings, or what else is kept apart
    hit_at_1: float
    hit_at_5: float
    chance_mrr: float
    chance_hit_at_1: float
    chance_hit_at_5: float

    def describe(self) -> dict[str, Any]:
        """A JSON object; what is not defined is null."""
        described: dict[str, Any] = plain(asdict(self))
        return described


@dataclass(frozen=True)
class RankedResult:
    """The scores of a task that ranks frames."""

    scores: tuple[RankScore, ...]
    left_out: tuple[str, ...]  # motions with too few pairs
    apart: str = "recording"  # what the maps were fitted on one half of, and measured on the other

    def describe(self) -> dict[str, Any]:
        """A JSON object."""
        scores = [score.describe() for score in self.scores]
        return {"apart": self.apart, "scores": scores, "left_out": list(self.left_out)}

    def headline(self) -> dict[str, float]:
        """Over all motions: the mean reciprocal rank of each way to predict, maps first, and hit rates."""
        whole = [score for score in self.scores if score.motion == "all"]
        first, *further = dict.fromkeys(score.scope for score in whole)
        found = {score.prediction: score for score in whole if score.scope == first}
        fitted = found["fitted map"]
        numbers = {f"MRR, {name}": found[name].mrr for name in sorted(found, key=lambda name: "map" not in name)}
        numbers |= {"hit@1, fitted map": fitted.hit_at_1, "hit@5, fitted map": fitted.hit_at_5}
        numbers |= {
            f"MRR among {score.scope}, {score.prediction}": score.mrr for score in whole if score.scope in further
        }
        return numbers | {"MRR, chance": fitted.chance_mrr}

    def missing(self) -> list[str]:
        """A note for each motion that was left out."""
        return [f"{motion}: left out, too few pairs to fit a map and to measure it" for motion in self.left_out]


def rank_answers(features: FrameFeatures, predicted: NDArray[np.float64], questions: Questions) -> Ranks:
    """Sort the candidates of each question by their Euclidean distance to its prediction; (Q, D).

    A wrong frame that is as near as the right one counts as before it, so equal features for all are no success.
    """
    count, everyone = len(questions), len(features.frames)
    recording = features.store.recording[features.frames]
    ranks = Ranks(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64))
    step = max(1, BLOCK // max(everyone, 1))
    for start in range(0, count, step):
        part = np.arange(start, min(start + step, count))
        distance = cdist(np.asarray(predicted[part], np.float64), np.asarray(features.z, np.float64))
        if questions.in_recording:
            distance[recording[None, :] != features.store.recording[questions.asked_of[part]][:, None]] = np.inf
        distance[(part - start)[:, None], features.places(questions.barred[part])] = np.inf
        own = slice(*np.searchsorted(questions.answer_to, [start, part[-1] + 1]))
        row, column = questions.answer_to[own] - start, features.places(questions.answer[own])
        ranks.candidates[part] = np.isfinite(distance).sum(axis=1)
        ranks.answers[part] = np.bincount(row, minlength=len(part))
        nearest_right = np.full(len(part), np.inf)
        np.minimum.at(nearest_right, row, distance[row, column])
        distance[row, column] = np.inf
        ranks.rank[part] = 1 + (distance <= nearest_right[:, None]).sum(axis=1)
    return ranks


def score_ranks(ranks: Ranks, groups: Indices, *, motion: str, prediction: str, scope: str) -> RankScore:
    """MRR and hit@k of some questions, which are of the given recordings or other groups (Q,)."""
    reciprocal = 1 / ranks.rank
    shapes = list(zip(ranks.candidates.tolist(), ranks.answers.tolist(), strict=True))
    chance = np.array([chance_levels(*shape) for shape in shapes])
    return RankScore(
        motion=motion,
        prediction=prediction,
        scope=scope,
        questions=len(ranks.rank),
        candidates=float(ranks.candidates.mean()),
        mrr=float(reciprocal.mean()),
        mrr_interval=group_interval(reciprocal, groups, within=(0.0, 1.0)),
        hit_at_1=float((ranks.rank <= 1).mean()),
        hit_at_5=float((ranks.rank <= 5).mean()),
        chance_mrr=float(chance[:, 0].mean()),
        chance_hit_at_1=float(chance[:, 1].mean()),
        chance_hit_at_5=float(chance[:, 2].mean()),
    )


def score_predictions(
    features: FrameFeatures,
    questions: Questions,
    predicted: Mapping[str, NDArray[np.float64]],
    motion_of: NDArray[np.str_],
    *,
    scope: str,
    apart: str = "recording",
) -> tuple[RankScore, ...]:
    """The scores of each way to predict, (Q, D) each, over all questions and motion by motion.

    A prediction that is not a number for a motion is left out there, and "all" then stands for the other motions.
    """
    scores: list[RankScore] = []
    groups = groups_of(features.store, apart)[questions.asked_of]
    for name, values in predicted.items():
        known = np.asarray(np.isfinite(values).all(axis=1))
        if not known.any():
            continue
        ranks = rank_answers(features, np.where(known[:, None], values, 0.0), questions)
        for motion in ("all", *dict.fromkeys(motion_of.tolist())):
            own = known if motion == "all" else known & np.isin(motion_of, motion)
            if own.any():
                kept = Ranks(ranks.rank[own], ranks.candidates[own], ranks.answers[own])
                scores.append(score_ranks(kept, groups[own], motion=motion, prediction=name, scope=scope))
    return tuple(scores)


def rank_table(title: str, scores: Sequence[RankScore], scope: str, notes: Sequence[str] = ()) -> TaskTable:
    """The scores of one scope, each beside what a random order of its candidates would give."""
    order = list(dict.fromkeys(score.motion for score in scores))
    columns = (
        "motion",
        "prediction",
        "MRR",
        "95 % interval",
        "chance",
        "hit@1",
        "chance",
        "hit@5",
        "chance",
        "asked",
        "of",
    )
    rows = [
        (
            score.motion,
            score.prediction,
            f"{score.mrr:.3f}",
            interval_text(score.mrr_interval),
            f"{score.chance_mrr:.3f}",
            f"{score.hit_at_1:.3f}",
            f"{score.chance_hit_at_1:.3f}",
            f"{score.hit_at_5:.3f}",
            f"{score.chance_hit_at_5:.3f}",
            f"{score.questions:,}",
            f"{score.candidates:,.0f}",
        )
        for score in sorted(scores, key=lambda score: order.index(score.motion))
        if score.scope == scope
    ]
    return TaskTable(title, columns, rows, notes)


def interval_text(interval: tuple[float, float]) -> str:
    """Such as "0.41 to 0.45", or a dash where there is none, as of a single recording."""
    return f"{interval[0]:.3f} to {interval[1]:.3f}" if all(map(isfinite, interval)) else "-"


@cache
def chance_levels(candidates: int, answers: int) -> tuple[float, float, float]:
    """The expected reciprocal rank, hit@1 and hit@5 of a random order of candidates, of which some are right."""
    wrong = candidates - answers
    # The chance that the first r are all wrong, for r = 0 .. wrong.
    all_wrong = np.cumprod(np.concatenate([[1.0], (wrong - np.arange(wrong)) / (candidates - np.arange(wrong))]))
    first_right = all_wrong - np.append(all_wrong[1:], 0.0)  # the chance that the first right one stands at r + 1
    mrr = float((first_right / np.arange(1, wrong + 2)).sum())
    return mrr, float(first_right[:1].sum()), float(first_right[:5].sum())
