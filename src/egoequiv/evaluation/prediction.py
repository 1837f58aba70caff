"""Prediction in feature space: whether a map of a motion leads from z(x) to z(gx), scored as MRR and hit@k."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.chains import joined
from egoequiv.evaluation.equivariance import apply_map
from egoequiv.evaluation.forward_maps import Affine, fit_forward_maps, learned_forward_maps
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.kept_apart import BLOCK, KeptApart, keep_apart
from egoequiv.evaluation.ranking import COPY, FITTED, LEARNED, Questions, RankedResult, score_predictions
from egoequiv.evaluation.task import Finding, Measure, OnProgress, TaskData, TaskOptions
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices, thinned

QUESTIONS = 4_000  # at most: the standard error of a hit rate is then below one per cent
IN_RECORDING, EVERYWHERE = "views of the recording", "all frames"


def predict_views(
    features: FrameFeatures,
    pairs: MotionPairs,
    learned: Mapping[str, Affine] | None = None,
    *,
    hold_out: str = "recording",
    max_gap_s: float = 1.0,
    seed: int = 0,
) -> RankedResult:
    """Predict z(gx) from z(x), and rank the true gx among the frames of its recording and among all frames.

    For every motion the forward map is fitted on one half of the recordings and scored on the other; with `hold_out`
    the name of an attribute or "label", on one half of its values; of a single recording, on one half of its blocks of
    time, `max_gap_s` apart. Every frame that the motion leads to is right: one
    on a grid, several in video. Beside it are the copy baseline, z(x) itself, and the maps that a network has
    learned, where there are any.
    """
    apart = check_motions(features, pairs, hold_out, max_gap_s)
    fitted = fit_forward_maps(features, pairs, hold_out, seed, apart)
    view, number = draw_views(fitted.held, QUESTIONS, seed)
    answer_to, answer = answers_of(pairs, view, number)
    motion = np.array(pairs.names)[number]
    z = np.asarray(features.of(view), np.float64)
    predicted = {FITTED: mapped(z, motion, fitted.maps), LEARNED: mapped(z, motion, learned or {}), COPY: z}
    questions = Questions(view, answer_to, answer, view[:, None])
    scopes = {IN_RECORDING: True, EVERYWHERE: False}
    scores = score_predictions(features, questions, predicted, motion, scopes=scopes, hold_out=hold_out)
    titles = {
        IN_RECORDING: "prediction of z(gx), ranked among the views of the recording",
        EVERYWHERE: "the same, ranked among all frames",
    }
    notes = [
        "candidates are sorted by their Euclidean distance to the prediction",
        f"maps were fitted on one half of the frames and measured on the other, with no {apart.name} in common",
        *apart.notes,
        "the view x itself is not a candidate, so that copying z(x) is a strong baseline",
    ]
    return RankedResult(scores, fitted.left_out, hold_out, titles, notes)


def check_motions(features: FrameFeatures, pairs: MotionPairs, hold_out: str, max_gap_s: float) -> KeptApart:
    """What is kept apart; an error where there is no motion, or one recording without times."""
    where = features.store.path
    if not (pairs.pattern >= 0).any():
        raise DataError(
            f"{where}: no two of {len(features.frames)} frames are related by a motion; choose other frames"
        )
    apart = keep_apart(features.store, features.frames, hold_out, fewest=2, max_gap_s=max_gap_s)
    if apart.name != BLOCK and len(np.unique(features.store.recording[features.frames])) < 2:
        raise DataError(f"{where}: all frames are of one recording, and this needs two or more: choose other frames")
    return apart


def draw_views(pairs: MotionPairs, most: int, seed: int) -> tuple[Indices, Indices]:
    """At most `most` views with a motion that leads on from them: store rows and numbers of motions, (Q,) each."""
    known = pairs.pattern >= 0
    both = thinned(np.unique(np.stack([pairs.pattern[known], pairs.i[known]], axis=1), axis=0), most, [seed, 0xD2A])
    return both[:, 1], both[:, 0]


def answers_of(pairs: MotionPairs, view: Indices, number: Indices) -> tuple[Indices, Indices]:
    """The frames that a motion leads to from a view: the number of the question and the store row, (A,) each."""
    known = np.flatnonzero(pairs.pattern >= 0)
    width = int(pairs.i.max()) + 1
    question, place = joined(pairs.pattern[known] * width + pairs.i[known], number * width + view)
    return question, pairs.j[known[place]]


def mapped(z: NDArray[np.float64], motion: NDArray[np.str_], maps: Mapping[str, Affine]) -> NDArray[np.float64]:
    """Each feature vector moved by the map of its motion, (Q, D); not a number where the motion has no map."""
    moved = np.full(z.shape, np.nan)
    for name, affine in maps.items():
        moved[motion == name] = apply_map(affine, z[motion == name])
    return moved


def ranked_task(ask: Callable[..., RankedResult]) -> Measure:
    """The task that asks for frames: on the validation frames of a run, with the motions it is measured for."""

    def measure(data: TaskData, options: TaskOptions, _: OnProgress) -> Finding:
        pairs = data.pairs(patterns=options.motions)
        learned = learned_forward_maps(data.net, data.store.space, pairs.names, data.part)
        how = {"hold_out": options.hold_out, "max_gap_s": data.max_gap_s, "seed": options.seed}
        return ask(data.validation, pairs, learned, **how).finding()

    return measure


prediction = ranked_task(predict_views)
