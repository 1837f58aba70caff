"""Analogies completed in feature space."""

import json

import numpy as np
import pytest

from egoequiv.evaluation import analogy
from egoequiv.evaluation.analogy import complete_analogies
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.ranking import Questions, RankScore
from egoequiv.pairs import MotionPairs
from evaluation.grid_features import MOTIONS, equivariant, features_of, grid_store, pairs_of
from helpers import data_error


def by_prediction(scores: tuple[RankScore, ...], motion: str = "all") -> dict[str, RankScore]:
    return {score.prediction: score for score in scores if score.motion == motion}


def test_additive_features_complete_every_analogy_by_their_difference() -> None:
    store = grid_store()
    elevation, recording = store.poses[:, 0], store.recording
    # Elevation and a place for the recording add up; the azimuth is unrolled, which a step to the right then adds to.
    z = np.column_stack([elevation, store.poses[:, 1] / 7, 1000.0 * np.sin(recording)])
    all_pairs = pairs_of(store, ("up", "right"))
    wraps = store.poses[all_pairs.j, 1] < store.poses[all_pairs.i, 1]
    pairs = MotionPairs(all_pairs.i[~wraps], all_pairs.j[~wraps], all_pairs.pattern[~wraps], all_pairs.names)
    result = complete_analogies(features_of(store, z), pairs)
    scores = by_prediction(result.scores)
    assert scores["difference"].mrr == scores["fitted map"].mrr == 1.0
    assert scores["copy"].hit_at_1 < 1.0
    assert scores["copy"].candidates == 141  # all frames but the three of the question
    finding = result.finding()
    json.dumps(finding.details, allow_nan=False)
    assert [value.name for value in finding.values] == [
        "MRR, fitted map",
        "MRR, difference",
        "hit@1, fitted map",
        "hit@5, fitted map",
    ]
    first = finding.values[0]
    assert first.baselines == {"copy": scores["copy"].mrr, "chance": scores["copy"].chance_mrr}
    assert not first.is_marked
    (table,) = finding.tables
    assert [row[1].text for row in table.rows] == ["fitted map", "difference", "copy", "chance"] * 3


def test_a_rotation_is_completed_by_maps_and_not_by_differences() -> None:
    store = grid_store()
    scores = by_prediction(complete_analogies(features_of(store), pairs_of(store, ("right",))).scores, "right")
    assert scores["fitted map"].mrr == 1.0
    assert scores["difference"].mrr < 0.8  # a step is another difference at every azimuth
    assert "learned map" not in scores


def test_the_example_is_of_another_recording_and_the_three_frames_are_no_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = grid_store(6)
    heard: list[tuple[Questions, dict[str, np.ndarray]]] = []
    real = analogy.score_predictions

    def listen(
        features: FrameFeatures, questions: Questions, predicted: dict[str, np.ndarray], *rest: object, **more: object
    ) -> tuple[RankScore, ...]:
        heard.append((questions, predicted))
        return real(features, questions, predicted, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(analogy, "score_predictions", listen)
    features, pairs = features_of(store), pairs_of(store)
    complete_analogies(features, pairs, seed=2)
    ((asked, predicted),) = heard
    i, j, k = asked.barred.T
    assert k.tolist() == asked.asked_of.tolist()
    assert (store.recording[i] == store.recording[j]).all()
    assert (store.recording[i] != store.recording[k]).all()
    pattern = {(int(a), int(b)): int(p) for a, b, p in zip(pairs.i, pairs.j, pairs.pattern, strict=True)}
    for question, answer in zip(asked.answer_to, asked.answer, strict=True):
        assert pattern[int(i[question]), int(j[question])] == pattern[int(k[question]), int(answer)]
    z = equivariant(store)
    np.testing.assert_allclose(predicted["difference"], z[k] + z[j] - z[i], atol=1e-12)
    np.testing.assert_allclose(predicted["copy"], z[k])


def test_one_analogy_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    store = grid_store(4)
    z = np.column_stack([store.poses[:, 0] / 10, np.arange(len(store)) / 1000, 50.0 * store.recording])
    monkeypatch.setattr(analogy, "draw_views", lambda pairs, most, seed: (pairs.i[:1], pairs.pattern[:1]))
    scores = by_prediction(complete_analogies(features_of(store, z), pairs_of(store, ("up",))).scores)
    # One step up is 1 and six frames on, 0.006; the nearest to x_k are its row, 5 frames at most 0.005 away.
    assert scores["difference"].mrr == 1.0
    assert scores["difference"].questions == 1
    assert scores["copy"].mrr < 1 / 5


def test_the_seed_decides_the_examples() -> None:
    store = grid_store()
    z = features_of(store).z + np.random.default_rng(0).normal(size=(len(store), 5))
    a, b, c = (complete_analogies(features_of(store, z), pairs_of(store), seed=seed) for seed in (1, 1, 2))
    assert a == b
    assert a.scores != c.scores
    assert {score.motion for score in a.scores} == {"all", *MOTIONS}


def test_learned_maps_are_scored_too() -> None:
    store = grid_store()
    nothing = np.vstack([np.eye(5), np.zeros(5)])
    scores = by_prediction(
        complete_analogies(features_of(store), pairs_of(store), dict.fromkeys(MOTIONS, nothing)).scores
    )
    assert scores["learned map"].mrr == scores["copy"].mrr


def test_what_cannot_be_measured_is_said_in_one_line() -> None:
    store = grid_store(1)
    with data_error("bare-store", "one recording"):
        complete_analogies(features_of(store), pairs_of(store))
    store = grid_store(2)  # one to fit on, one to ask about
    pairs = pairs_of(store, ("up",))
    here = pairs.pattern >= 0
    with data_error("bare-store", "no motion occurs twice", "more recordings"):
        complete_analogies(
            features_of(store, np.asarray(store.poses)),
            MotionPairs(pairs.i[here], pairs.j[here], pairs.pattern[here], pairs.names),
        )
