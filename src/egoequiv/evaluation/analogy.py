"""Analogies x_i : x_j = x_k : ?, completed in feature space and scored as MRR and hit@k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.forward_maps import Affine, fit_forward_maps, learned_forward_maps
from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.prediction import answers_of, check_motions, draw_views, mapped, pairs_of_task
from egoequiv.evaluation.ranking import Questions, RankedResult, rank_table, score_predictions
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices

QUESTIONS = 2_000  # at the most
SCOPE = "all frames"


@dataclass(frozen=True)
class AnalogyResult(RankedResult):
    """How often the fourth frame of an analogy is found."""

    def tables(self) -> list[TaskTable]:
        """The same for people."""
        notes = [
            f"x_i and x_j are of another {self.apart} than x_k; all frames but these three are candidates (by l2)",
            "difference: z_k + (z_j - z_i); maps: of the motion from x_i to x_j, applied to z_k; copy: z_k itself",
            f"maps were fitted on one half of the frames and are asked about the other, with no {self.apart} in common",
            *self.missing(),
        ]
        return [rank_table("analogies x_i : x_j = x_k : ?", self.scores, SCOPE, notes)]


def complete_analogies(
    features: FrameFeatures,
    pairs: MotionPairs,
    learned: Mapping[str, Affine] | None = None,
    *,
    apart: str = "recording",
    most: int = QUESTIONS,
    seed: int = 0,
) -> AnalogyResult:
    """Find the frame that the motion from x_i to x_j leads to from x_k, a view of another recording.

    The features of that frame are predicted by the difference z_k + (z_j - z_i), by the forward map of the motion, by
    the map that a network has learned, and by copying z_k. The forward map is fitted on one half of the recordings, and
    all questions are of the other half; with `apart` the name of an attribute or "label", halves are of its values, and
    x_k is of another one than x_i. All frames with features are candidates, except x_i, x_j and x_k.
    """
    check_motions(features, pairs)
    fitted = fit_forward_maps(features, pairs, apart, seed)
    view, number = draw_views(fitted.held, most, seed)
    groups = groups_of(features.store, apart)
    example = _examples(groups, fitted.held, view, number, seed)
    view, number, example = view[example >= 0], number[example >= 0], example[example >= 0]
    if not len(view):
        raise DataError(
            f"{features.store.path}: no motion occurs twice, each time of another {apart}, in the half of the frames "
            "that maps are measured on, and an analogy is between two: measure on more recordings"
        )
    i, j = fitted.held.i[example], fitted.held.j[example]
    z_i, z_j, z_k = (np.asarray(features.of(rows), np.float64) for rows in (i, j, view))
    motion = np.array(pairs.names)[number]
    predicted = {
        "copy": z_k,
        "difference": z_k + (z_j - z_i),
        "fitted map": mapped(z_k, motion, fitted.maps),
        "learned map": mapped(z_k, motion, learned or {}),
    }
    questions = Questions(view, *answers_of(pairs, view, number), np.stack([i, j, view], axis=1), False)
    scores = score_predictions(features, questions, predicted, motion, scope=SCOPE, apart=apart)
    return AnalogyResult(scores, fitted.left_out, apart)


def _examples(groups: Indices, pairs: MotionPairs, view: Indices, number: Indices, seed: int) -> NDArray[np.int64]:
    """For each question a random pair of its motion from another group, -1 where there is none; (Q,)."""
    rng = np.random.default_rng([seed, 0xA7A])
    chosen = np.full(len(view), -1)
    for motion in np.unique(number):
        asked = np.flatnonzero(number == motion)
        of_motion = np.flatnonzero(pairs.pattern == motion)
        for one in np.unique(groups[view[asked]]):
            here = asked[groups[view[asked]] == one]
            elsewhere = of_motion[groups[pairs.i[of_motion]] != one]
            if len(elsewhere):
                chosen[here] = rng.choice(elsewhere, len(here))
    return chosen


def analogy(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> AnalogyResult:
    """The task: on the validation frames of a run, with the motions it is measured for."""
    on_progress("analogies", 0, 1)
    frames = data.split.validation
    pairs = pairs_of_task(data, options, frames)
    learned = learned_forward_maps(data.net, data.store.space, pairs.names)
    features = FrameFeatures(data.store, frames, data.features[frames])
    result = complete_analogies(features, pairs, learned, apart=options.apart, seed=options.seed)
    on_progress("analogies", 1, 1)
    return result
