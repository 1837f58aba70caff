"""Analogies x_i : x_j = x_k : ?, completed in feature space and scored as MRR and hit@k."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.evaluation.forward_maps import Affine, fit_forward_maps
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.prediction import answers_of, check_motions, draw_views, mapped, ranked_task
from egoequiv.evaluation.ranking import COPY, FITTED, LEARNED, Questions, RankedResult, score_predictions
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices

QUESTIONS = 2_000  # at most
SCOPE, DIFFERENCE = "all frames", "difference"


def complete_analogies(
    features: FrameFeatures,
    pairs: MotionPairs,
    learned: Mapping[str, Affine] | None = None,
    *,
    hold_out: str = "recording",
    max_gap_s: float = 1.0,
    seed: int = 0,
) -> RankedResult:
    """Find the frame that the motion from x_i to x_j leads to from x_k, a view of another recording.

    The features of that frame are predicted by the difference z_k + (z_j - z_i), by the forward map of the motion, by
    the map that a network has learned, and by copying z_k. The forward map is fitted on one half of the recordings, and
    all questions are of the other half; with `hold_out` the name of an attribute or "label", halves are of its values,
    and x_k is of another one than x_i; of a single recording, they are of its blocks of time, `max_gap_s` apart. All
    frames with features are candidates, except x_i, x_j and x_k.
    """
    apart = check_motions(features, pairs, hold_out, max_gap_s)
    fitted = fit_forward_maps(features, pairs, hold_out, seed, apart)
    view, number = draw_views(fitted.held, QUESTIONS, seed)
    example = _examples(apart.groups, fitted.held, view, number, seed)
    view, number, example = view[example >= 0], number[example >= 0], example[example >= 0]
    if not len(view):
        raise DataError(
            f"{features.store.path}: no motion occurs twice, each time of another {apart.name}, in the half of the "
            "frames that maps are measured on, and an analogy is between two: measure on more recordings"
        )
    i, j = fitted.held.i[example], fitted.held.j[example]
    z_i, z_j, z_k = (np.asarray(features.of(rows), np.float64) for rows in (i, j, view))
    motion = np.array(pairs.names)[number]
    predicted = {
        FITTED: mapped(z_k, motion, fitted.maps),
        LEARNED: mapped(z_k, motion, learned or {}),
        DIFFERENCE: z_k + (z_j - z_i),
        COPY: z_k,
    }
    questions = Questions(view, *answers_of(pairs, view, number), np.stack([i, j, view], axis=1))
    scores = score_predictions(features, questions, predicted, motion, scopes={SCOPE: False}, hold_out=hold_out)
    notes = [
        f"x_i and x_j are of another {apart.name} than x_k; all frames but these three are candidates",
        "difference: z_k + (z_j - z_i); maps: of the motion from x_i to x_j, applied to z_k; copy: z_k itself",
        f"maps were fitted on one half of the frames and measured on the other, with no {apart.name} in common",
        *apart.notes,
    ]
    return RankedResult(scores, fitted.left_out, hold_out, {SCOPE: "analogies x_i : x_j = x_k : ?"}, notes)


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


analogy = ranked_task(complete_analogies)
