"""The ranks of the right frames when candidates are sorted by their distance to a predicted feature: MRR and hit@k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.evaluation.findings import cell, measured, notes_of
from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.metric import NO_INTERVAL, Metric, Value, with_best_of_each
from egoequiv.evaluation.statistics import group_interval
from egoequiv.evaluation.task import Finding
from egoequiv.files import plain
from egoequiv.pairs.candidates import Indices

BLOCK = 4_000_000  # distances held at once
ROUNDING = 1e-11  # of squared lengths: squared distances that differ by less are equal
COPY, CHANCE, FITTED, LEARNED = "copy", "chance", "fitted map", "learned map"
ALL = "all"  # motions together
SCORES = {"mrr": "MRR", "hit_at_1": "hit@1", "hit_at_5": "hit@5"}
Scopes = Mapping[str, bool]  # which frames are candidates, in words; whether only those of the recording


@dataclass(frozen=True)
class Questions:
    """Frames to be found: each question has one right frame or more, and frames that are not candidates."""

    asked_of: Indices  # (Q,) the store row that a question begins at
    answer_to: Indices  # (A,) the question that each answer belongs to, ascending
    answer: Indices  # (A,) store rows
    barred: Indices  # (Q, B) store rows that are not candidates


@dataclass(frozen=True)
class Ranks:
    """The place of the first right frame of each question, beside what guessing would give."""

    rank: Indices  # (Q,), from 1
    candidates: Indices  # (Q,)
    answers: Indices  # (Q,)

    def only(self, chosen: NDArray[np.bool_]) -> Ranks:
        """Those of some questions."""
        return Ranks(self.rank[chosen], self.candidates[chosen], self.answers[chosen])


@dataclass(frozen=True)
class RankScore:
    """How well a prediction ranks the right frame; beside it a copy of the features, and a random order."""

    motion: str  # "all" for all of them together
    prediction: str
    scope: str  # which frames are candidates
    questions: int
    candidates: float  # mean number
    groups: int  # recordings, or what else is held out, that the questions are of
    mrr: float
    mrr_interval: tuple[float, float]  # 95 %, over recordings, or what else is held out
    hit_at_1: float
    hit_at_5: float
    copy_mrr: float
    copy_hit_at_1: float
    copy_hit_at_5: float
    chance_mrr: float
    chance_hit_at_1: float
    chance_hit_at_5: float

    def value(self, score: str, name: str, kind: str) -> Value:
        """The score `mrr`, `hit_at_1` or `hit_at_5` as a value of this name."""
        return measured(
            Metric(name=name, title=name, within=(0.0, 1.0), family=SCORES[score]),
            getattr(self, score),
            self.mrr_interval if score == "mrr" else NO_INTERVAL,
            groups=self.groups,
            kind=kind,
            baselines={way: getattr(self, f"{way}_{score}") for way in (COPY, CHANCE)},
        )


@dataclass(frozen=True)
class RankedResult:
    """The scores of a task that ranks frames, and what its tables say."""

    scores: tuple[RankScore, ...]
    left_out: tuple[str, ...]  # motions with too few pairs
    hold_out: str  # what maps were fitted on one half of, and measured on the other
    titles: Mapping[str, str]  # of the table of each scope, in words which frames are candidates; the first counts
    notes: Sequence[str]  # below the last of them

    def finding(self) -> Finding:
        """Over all motions: the mean reciprocal rank of each way to predict, the fitted map first, and hit rates."""
        first, *further = self.titles
        whole = {(score.scope, score.prediction): score for score in self.scores if score.motion == ALL}
        fitted = whole[first, FITTED]
        ways = [name for scope, name in whole if scope == first and name != COPY]
        value = partial(value_of, self.scores, kind=self.hold_out)
        values = [value(whole[first, name], "mrr", f"MRR, {name}") for name in ways]
        values += [value(fitted, score, f"{SCORES[score]}, fitted map") for score in list(SCORES)[1:]]
        values += [value(whole[scope, name], "mrr", f"MRR among {scope}, {name}") for scope in further for name in ways]
        missing = [f"{motion}: left out, too few pairs to fit a map and to measure it" for motion in self.left_out]
        details: dict[str, Any] = {"hold_out": self.hold_out, "left_out": list(self.left_out)}
        details["scores"] = plain([asdict(score) for score in self.scores])
        notes = dict.fromkeys(self.titles, ()) | {[first, *further][-1]: self.notes}
        tables = [rank_table(t, self.scores, scope, self.hold_out, notes[scope]) for scope, t in self.titles.items()]
        return Finding(values, tables, details, notes=[*missing, *notes_of(values[:1])])


def value_of(scores: Sequence[RankScore], own: RankScore, score: str, name: str, kind: str) -> Value:
    """One of the scores as a value of this name; over all motions it is marked where each motion is."""
    value = own.value(score, name, kind)
    same = [one for one in scores if (one.scope, one.prediction) == (own.scope, own.prediction) and one.motion != ALL]
    if own.motion != ALL:
        return value
    return with_best_of_each(value, [one.value(score, name, kind) for one in same], [one.questions for one in same])


def rank_answers(
    features: FrameFeatures, predicted: NDArray[np.float64], questions: Questions, in_recording: Sequence[bool]
) -> list[Ranks]:
    """Sort the candidates of each question by their Euclidean distance to its prediction; (Q, D).

    Candidates are all frames, or only those of the recording that is asked about: ranks for each of `in_recording`.
    A wrong frame that is as near as the right one counts as before it, so equal features for all are no success.
    """
    count, everyone, recording = len(questions.asked_of), len(features.frames), features.store.recording
    found = [Ranks(*(np.empty(count, np.int64) for _ in range(3))) for _ in in_recording]
    centre = np.asarray(features.z, np.float64).mean(axis=0)  # squared distances of centred features lose no digits
    z = features.z - centre
    size = np.square(z).sum(axis=1)
    step = max(1, BLOCK // max(everyone, 1))
    for start in range(0, count, step):
        part = np.arange(start, min(start + step, count))
        wanted = predicted[part] - centre
        wanted_size = np.square(wanted).sum(axis=1)[:, None]
        squared = np.maximum(size[None] + wanted_size - 2 * (wanted @ z.T), 0)
        squared[(part - start)[:, None], features.places(questions.barred[part])] = np.inf
        own = slice(*np.searchsorted(questions.answer_to, [start, part[-1] + 1]))
        right = questions.answer_to[own] - start, features.places(questions.answer[own])
        slack = ROUNDING * (wanted_size + size.max())
        for ranks, within in zip(found, in_recording, strict=True):
            near = squared.copy()
            if within:
                near[recording[features.frames][None] != recording[questions.asked_of[part]][:, None]] = np.inf
            ranks.candidates[part] = np.isfinite(near).sum(axis=1)
            ranks.answers[part] = np.bincount(right[0], minlength=len(part))
            nearest_right = np.full(len(part), np.inf)
            np.minimum.at(nearest_right, right[0], near[right])
            near[right] = np.inf
            ranks.rank[part] = 1 + (near <= nearest_right[:, None] + slack).sum(axis=1)
    return found


def score_ranks(ranks: Ranks, copied: Ranks, groups: Indices, *, motion: str, prediction: str, scope: str) -> RankScore:
    """MRR and hit@k of some questions, which are of the given recordings or other groups (Q,)."""
    shapes = zip(ranks.candidates.tolist(), ranks.answers.tolist(), strict=True)
    each = {prefix: (1 / rank, rank <= 1, rank <= 5) for prefix, rank in (("", ranks.rank), ("copy_", copied.rank))}
    each["chance_"] = tuple(np.array([chance_levels(*shape) for shape in shapes]).T)
    return RankScore(
        motion=motion,
        prediction=prediction,
        scope=scope,
        questions=len(ranks.rank),
        candidates=float(ranks.candidates.mean()),
        groups=len(np.unique(groups)),
        mrr_interval=group_interval(1 / ranks.rank, groups, within=(0.0, 1.0)),
        **{f"{way}{n}": float(own.mean()) for way, three in each.items() for n, own in zip(SCORES, three, strict=True)},
    )


def score_predictions(
    features: FrameFeatures,
    questions: Questions,
    predicted: Mapping[str, NDArray[np.float64]],
    motion_of: NDArray[np.str_],
    *,
    scopes: Scopes,
    hold_out: str = "recording",
) -> tuple[RankScore, ...]:
    """The scores of each way to predict, (Q, D) each, in each scope, over all questions and motion by motion.

    One way is to copy the features. A prediction that is not a number for a motion is left out there, and "all" then
    stands for the other motions.
    """
    scores: list[RankScore] = []
    groups = groups_of(features.store, hold_out)[questions.asked_of]
    known = {name: np.asarray(np.isfinite(values).all(axis=1)) for name, values in predicted.items()}
    ranks = {
        name: rank_answers(features, np.where(known[name][:, None], values, 0.0), questions, list(scopes.values()))
        for name, values in predicted.items()
        if known[name].any()
    }
    for place, scope in enumerate(scopes):
        for name in ranks:
            for motion in (ALL, *dict.fromkeys(motion_of.tolist())):
                own = known[name] if motion == ALL else known[name] & np.isin(motion_of, motion)
                if own.any():
                    kept, copied = (ranks[way][place].only(own) for way in (name, COPY))
                    scores.append(score_ranks(kept, copied, groups[own], motion=motion, prediction=name, scope=scope))
    return tuple(scores)


def rank_table(
    title: str, scores: Sequence[RankScore], scope: str, kind: str = "recording", notes: Sequence[str] = ()
) -> Grid:
    """The scores of one scope: below the predictions of each motion a copy of the features, and a random order."""
    shown = [score for score in scores if score.scope == scope]
    rows: list[Sequence[Any]] = []
    for motion in dict.fromkeys(score.motion for score in shown):
        own = [score for score in shown if score.motion == motion and score.prediction != COPY]
        for score in own:
            cells = [cell(value_of(scores, score, name, name, kind)) for name in SCORES]
            rows.append((motion, score.prediction, *cells, score.questions, round(score.candidates)))
        for way in (COPY, CHANCE) if own else ():
            texts = [f"{getattr(own[0], f'{way}_{name}'):.3f}" for name in SCORES]
            rows.append((motion, way, *texts, own[0].questions, round(own[0].candidates)))
    return Grid.of(title, ("motion", "prediction", *SCORES.values(), "asked", "of"), rows, notes)


@cache
def chance_levels(candidates: int, answers: int) -> tuple[float, float, float]:
    """The expected reciprocal rank, hit@1 and hit@5 of a random order of candidates, of which some are right."""
    wrong = candidates - answers
    # The chance that the first r are all wrong, for r = 0 .. wrong.
    all_wrong = np.cumprod(np.concatenate([[1.0], (wrong - np.arange(wrong)) / (candidates - np.arange(wrong))]))
    first_right = all_wrong - np.append(all_wrong[1:], 0.0)  # the chance that the first right one has rank r + 1
    mrr = float((first_right / np.arange(1, wrong + 2)).sum())
    return mrr, float(first_right[:1].sum()), float(first_right[:5].sum())
