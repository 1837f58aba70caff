"""Prediction in feature space."""

import json

import numpy as np
import pytest

from egoequiv.evaluation.forward_maps import fit_forward_maps
from egoequiv.evaluation.prediction import EVERYWHERE, IN_RECORDING, answers_of, draw_views, mapped, predict_views
from egoequiv.evaluation.ranking import RankScore
from egoequiv.pairs import MotionPairs
from evaluation.grid_features import MOTIONS, features_of, grid_store, pairs_of
from helpers import data_error


def score(scores: tuple[RankScore, ...], prediction: str, scope: str, motion: str = "all") -> RankScore:
    (found,) = [s for s in scores if (s.prediction, s.scope, s.motion) == (prediction, scope, motion)]
    return found


def test_equivariant_features_are_predicted_and_copying_is_not_enough() -> None:
    store = grid_store()
    result = predict_views(features_of(store), pairs_of(store))
    for scope, candidates in ((IN_RECORDING, 23), (EVERYWHERE, 143)):
        fitted, copied = (score(result.scores, name, scope) for name in ("fitted map", "copy"))
        assert (fitted.mrr, fitted.hit_at_1, fitted.hit_at_5) == (1.0, 1.0, 1.0)
        assert fitted.candidates == copied.candidates == candidates
        assert fitted.chance_hit_at_1 == pytest.approx(1 / candidates)
        assert copied.hit_at_1 < 0.6
        assert fitted.questions == copied.questions
    assert {s.motion for s in result.scores} == {"all", *MOTIONS}
    assert {s.prediction for s in result.scores} == {"copy", "fitted map"}  # nothing was learned
    finding = result.finding()
    json.dumps(finding.details, allow_nan=False)
    here, everywhere = finding.tables
    assert len(here.rows) == len(everywhere.rows) == 3 * 4  # fitted map, copy and chance of each
    assert [value.name for value in finding.values] == [
        "MRR, fitted map",
        "hit@1, fitted map",
        "hit@5, fitted map",
        "MRR among all frames, fitted map",
    ]
    assert finding.values[3].baselines["copy"] == score(result.scores, "copy", EVERYWHERE).mrr


def test_the_copy_baseline_by_hand() -> None:
    store = grid_store(2)
    # Elevation alone, in steps: a step up is at distance 1, as is a step down, and both are 6 views at every azimuth.
    z = np.column_stack([store.poses[:, 0] / 10, 100.0 * store.recording])
    result = predict_views(features_of(store, z), pairs_of(store, ("up",)))
    copied = score(result.scores, "copy", IN_RECORDING, "up")
    # From the lowest of four rows: 5 views of the same row are nearer, 6 of the next are as near (the right one too,
    # so it stands at 5 + 6 = 11); from the second and third row 12 are as near: it stands at 5 + 12 = 17.
    view, _ = draw_views(pairs_of(store, ("up",)), 10_000, 0)
    assert len(view) == 36
    low = np.isclose(store.poses[:, 0], 30.0)
    held = fit_forward_maps(features_of(store, z), pairs_of(store, ("up",))).held.i
    expected = np.where(low[held], 1 / 11, 1 / 17).mean()
    assert copied.mrr == pytest.approx(expected)
    assert copied.hit_at_5 == 0


def test_learned_maps_are_scored_where_there_are_any() -> None:
    store = grid_store()
    features = features_of(store)
    shift = np.vstack([np.eye(features.z.shape[1]), np.zeros(features.z.shape[1])])
    shift[-1, 0] = 4 * np.deg2rad(10)  # one step up
    result = predict_views(features, pairs_of(store), {"up": shift})
    assert score(result.scores, "learned map", EVERYWHERE, "up").mrr == 1.0
    assert (
        score(result.scores, "learned map", EVERYWHERE).questions
        == score(result.scores, "copy", EVERYWHERE, "up").questions
    )
    # A copy is compared on the motion that the learned map knows.
    known = score(result.scores, "learned map", EVERYWHERE)
    assert known.copy_mrr == score(result.scores, "copy", EVERYWHERE, "up").mrr
    assert "MRR, learned map" in [value.name for value in result.finding().values]


def test_scores_do_not_depend_on_scale_and_rotation() -> None:
    store = grid_store()
    z = features_of(store).z + 0.3 * np.random.default_rng(0).normal(size=(len(store), 5))
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    plain = predict_views(features_of(store, z), pairs_of(store))
    turned = predict_views(features_of(store, 7 * z @ turn), pairs_of(store))
    for a, b in zip(plain.scores, turned.scores, strict=True):
        assert b.mrr == pytest.approx(a.mrr, abs=0.02)


def test_collapsed_features_predict_nothing() -> None:
    store = grid_store()
    result = predict_views(features_of(store, np.ones((len(store), 3))), pairs_of(store))
    assert all(s.hit_at_5 == 0 for s in result.scores)


def test_several_frames_may_be_right() -> None:
    pairs = MotionPairs(
        np.array([4, 4, 4, 2, 9]), np.array([5, 6, 7, 3, 1]), np.array([0, 0, 1, 0, -1]), ("forward", "left turn")
    )
    view, number = draw_views(pairs, 10, 0)
    assert list(zip(view.tolist(), number.tolist(), strict=True)) == [(2, 0), (4, 0), (4, 1)]
    question, answer = answers_of(pairs, view, number)
    assert list(zip(question.tolist(), answer.tolist(), strict=True)) == [(0, 3), (1, 5), (1, 6), (2, 7)]
    assert len(draw_views(pairs, 2, 0)[0]) == 2


def test_a_motion_without_a_map_has_no_prediction() -> None:
    shift = np.array([[1.0], [2.0]])
    moved = mapped(np.array([[1.0], [5.0]]), np.array(["up", "right"]), {"up": shift})
    assert moved[0] == 3.0
    assert np.isnan(moved[1]).all()


def test_what_cannot_be_measured_is_said_in_one_line() -> None:
    store = grid_store(1)
    with data_error("bare-store", "one recording"):
        predict_views(features_of(store), pairs_of(store))
    none = np.empty(0, np.int64)
    with data_error("bare-store", "related by a motion"):
        predict_views(features_of(grid_store()), MotionPairs(none, none, none, ("up",)))
