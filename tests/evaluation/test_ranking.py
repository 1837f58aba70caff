"""Ranks of right frames, MRR, hit@k, and what a random order would give."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.evaluation import ranking
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.metric import BEST
from egoequiv.evaluation.ranking import (
    ALL,
    Questions,
    Ranks,
    RankScore,
    chance_levels,
    rank_answers,
    rank_table,
    score_predictions,
    score_ranks,
    value_of,
)
from helpers import bare_store

seeds = st.integers(0, 2**32 - 1)


def on_a_line(places: list[float], recording: list[int]) -> FrameFeatures:
    return FrameFeatures(
        bare_store(np.zeros((len(places), 2)), recording), np.arange(len(places)), np.array(places)[:, None]
    )


def questions(asked_of: list[int], answers: list[list[int]], barred: list[list[int]]) -> Questions:
    answer_to = np.repeat(np.arange(len(answers)), [len(one) for one in answers])
    flat = np.array([row for one in answers for row in one])
    return Questions(np.array(asked_of), answer_to, flat, np.array(barred))


def ranked(features: FrameFeatures, predicted: np.ndarray, asked: Questions, in_recording: bool = False) -> Ranks:
    (ranks,) = rank_answers(features, predicted, asked, [in_recording])
    return ranks


def test_ranks_by_hand() -> None:
    features = on_a_line([0.0, 1.0, 2.0, 3.0, 10.0, 1.2], [0, 0, 0, 0, 1, 1])
    predicted = np.array([[1.9], [1.9], [1.9], [1.9]])
    # By the distance to 1.9 the frames stand 2 (0.1), 5 (0.7), 1 (0.9), 3 (1.1), 0 (1.9), 4 (8.1).
    asked = questions([0, 0, 0, 0], [[3], [1], [3, 0], [4]], [[0], [2], [2], [0]])
    ranks = ranked(features, predicted, asked)
    assert ranks.rank.tolist() == [4, 2, 3, 5]
    assert ranks.candidates.tolist() == [5, 5, 5, 5]
    assert ranks.answers.tolist() == [1, 1, 2, 1]
    # Frame 5 is of another recording.
    alone = ranked(features, predicted[:1], questions([0], [[3]], [[0]]), in_recording=True)
    assert (alone.rank.tolist(), alone.candidates.tolist()) == ([3], [3])


def test_scores_by_hand() -> None:
    ranks = Ranks(np.array([1, 2, 10]), np.array([4, 4, 20]), np.array([1, 1, 1]))
    copied = Ranks(np.array([2, 2, 20]), ranks.candidates, ranks.answers)
    score = score_ranks(ranks, copied, np.array([0, 0, 1]), motion="up", prediction="copy", scope="all frames")
    assert score.mrr == pytest.approx((1 + 1 / 2 + 1 / 10) / 3)
    assert (score.hit_at_1, score.hit_at_5) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert score.chance_hit_at_1 == pytest.approx((1 / 4 + 1 / 4 + 1 / 20) / 3)
    assert score.chance_hit_at_5 == pytest.approx((1 + 1 + 5 / 20) / 3)
    assert score.candidates == pytest.approx(28 / 3)
    assert all(np.isnan(score.mrr_interval))  # of two recordings
    many = Ranks(np.array([1, 2, 10, 1, 2]), np.full(5, 20), np.ones(5, np.int64))
    low, high = score_ranks(many, many, np.arange(5), motion="up", prediction="copy", scope="all frames").mrr_interval
    assert 0 <= low < (1 + 1 / 2 + 1 / 10 + 1 + 1 / 2) / 5 < high <= 1


@given(seeds)
def test_ranks_are_those_of_plain_sorting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    recording = rng.integers(0, 3, 30)
    features = FrameFeatures(bare_store(np.zeros((30, 2)), recording.tolist()), np.arange(30), rng.normal(size=(30, 2)))
    predicted = rng.normal(size=(5, 2))
    asked = rng.choice(30, 5)
    right = [int(rng.choice([k for k in range(30) if recording[k] == recording[a] and k != a])) for a in asked]
    for in_recording in (False, True):
        own = questions(asked.tolist(), [[k] for k in right], asked[:, None].tolist())
        ranks = ranked(features, predicted, own, in_recording)
        for q in range(5):
            those = [
                k for k in range(30) if k != asked[q] and (not in_recording or recording[k] == recording[asked[q]])
            ]
            order = sorted(those, key=lambda k: math.dist(features.z[k], predicted[q]))
            assert ranks.rank[q] == order.index(right[q]) + 1
            assert ranks.candidates[q] == len(those)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    features = FrameFeatures(bare_store(np.zeros((40, 2)), [0] * 40), np.arange(40), rng.normal(size=(40, 3)))
    predicted = rng.normal(size=(17, 3))
    asked = questions(list(range(17)), [[k + 1, k + 2] for k in range(17)], [[k, k] for k in range(17)])
    whole = ranked(features, predicted, asked)
    monkeypatch.setattr(ranking, "BLOCK", 100)
    assert ranked(features, predicted, asked).rank.tolist() == whole.rank.tolist()


def test_equal_features_are_no_success() -> None:
    features = on_a_line([5.0] * 8, [0] * 8)
    ranks = ranked(features, np.array([[5.0]]), questions([0], [[3]], [[0]]))
    assert ranks.rank.tolist() == [7]
    both = ranked(features, np.array([[5.0]]), questions([0], [[3, 4]], [[0]]))
    assert both.rank.tolist() == [6]  # another right frame does not stand in the way


def test_chance_by_hand() -> None:
    mrr, hit_at_1, hit_at_5 = chance_levels(4, 2)  # right at 1: 1/2, first at 2: 1/3, first at 3: 1/6
    assert mrr == pytest.approx(1 / 2 + 1 / 6 + 1 / 18)
    assert (hit_at_1, hit_at_5) == (pytest.approx(1 / 2), pytest.approx(1.0))
    assert chance_levels(20, 1) == pytest.approx((sum(1 / k for k in range(1, 21)) / 20, 1 / 20, 5 / 20))
    assert chance_levels(1, 1) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("candidates", "answers"), [(6, 1), (7, 2), (6, 5)])
def test_chance_is_the_mean_over_all_orders(candidates: int, answers: int) -> None:
    ranks = [
        1 + next(place for place, item in enumerate(order) if item < answers)
        for order in permutations(range(candidates))
    ]
    expected = float(sum(Fraction(1, rank) for rank in ranks) / len(ranks))
    hits = [sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 5)]
    assert chance_levels(candidates, answers) == pytest.approx((expected, *hits))


def test_predictions_are_scored_motion_by_motion_and_unknown_ones_left_out() -> None:
    features = on_a_line([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1])
    asked = questions([0, 2], [[1], [3]], [[0], [2]])
    predicted = {
        "good": np.array([[1.0], [3.0]]),
        "half": np.array([[1.0], [np.nan]]),
        "none": np.full((2, 1), np.nan),
        "copy": np.array([[0.0], [2.4]]),
    }
    scopes = {"all frames": False, "its recording": True}
    scores = score_predictions(features, asked, predicted, np.array(["up", "right"]), scopes=scopes)
    assert [(score.prediction, score.motion, score.questions) for score in scores if score.scope == "all frames"] == [
        ("good", "all", 2),
        ("good", "up", 1),
        ("good", "right", 1),
        ("half", "all", 1),
        ("half", "up", 1),
        ("copy", "all", 2),
        ("copy", "up", 1),
        ("copy", "right", 1),
    ]
    assert all(score.mrr == 1.0 for score in scores)
    assert [score.candidates for score in scores if score.motion == "up"] == [3, 3, 3, 1, 1, 1]
    table = rank_table("title", scores, "all frames", notes=["a note"])
    assert [(row[0].text, row[1].text) for row in table.rows] == [
        *(("all", way) for way in ("good", "half", "copy", "chance")),
        *(("up", way) for way in ("good", "half", "copy", "chance")),
        *(("right", way) for way in ("good", "copy", "chance")),
    ]
    assert table.rows[0][2].line == "1.000*"  # copying is as good; of two recordings there is no interval
    assert rank_table("title", scores, "elsewhere").rows == []


def test_a_score_as_a_value_by_hand() -> None:
    ranks, copied = (Ranks(np.array(rank), np.full(5, 4), np.ones(5, np.int64)) for rank in ([1] * 4 + [2], [2] * 5))
    score = score_ranks(ranks, copied, np.arange(5), motion="up", prediction="fitted map", scope="all frames")
    value = score.value("mrr", "MRR, fitted map", "toy")
    assert value.value == pytest.approx(0.9)
    assert value.baselines == pytest.approx({"copy": 0.5, "chance": (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4})
    assert value.interval[0] < 0.9 <= value.interval[1] <= 1
    assert (value.note, value.is_marked) == ("", False)
    few = score_ranks(ranks, copied, np.arange(5) % 4, motion="up", prediction="fitted map", scope="all frames")
    assert (
        few.value("mrr", "MRR, fitted map", "toy").note == "what is measured comes from 4 toys, and an interval needs 5"
    )
    assert few.value("hit_at_1", "hit@1", "toy").value == pytest.approx(0.8)


def test_all_motions_together_are_marked_where_each_of_them_is() -> None:
    """Up is no better than copying and right no better than chance; together they are better than each of these."""

    def score(motion: str, rank: list[int], copied: list[int], candidates: int) -> RankScore:
        places = (Ranks(np.array(own), np.full(len(own), candidates), np.ones_like(own)) for own in (rank, copied))
        groups = np.zeros(len(rank), np.int64)
        return score_ranks(*places, groups, motion=motion, prediction="fitted map", scope="all frames")

    up, right = score("up", [1], [1], 9), score("right", [2], [3], 3)
    both = replace(
        up,
        motion=ALL,
        questions=2,
        mrr=0.75,
        copy_mrr=(up.copy_mrr + right.copy_mrr) / 2,
        chance_mrr=(up.chance_mrr + right.chance_mrr) / 2,
    )
    assert all(one.value("mrr", "MRR", "toy").is_marked for one in (up, right))
    assert not both.value("mrr", "MRR", "toy").is_marked
    value = value_of([both, up, right], both, "mrr", "MRR", "toy")
    assert value.is_marked
    assert value.baselines[BEST] == pytest.approx((1 + (1 + 1 / 2 + 1 / 3) / 3) / 2)
    assert "*" in rank_table("title", [both, up, right], "all frames", "toy").rows[0][2].text
    assert value_of([both, up, right], up, "mrr", "MRR", "toy") == up.value("mrr", "MRR", "toy")
