"""What maps are fitted on: a half of the pairs, or pairs of training frames."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.composition import composition
from egoequiv.evaluation.equivariance import (
    MotionFeatures,
    errors_of_pairs,
    fit_change,
    fit_map,
    halves_of,
    predict_other_half,
    score_constant,
)
from egoequiv.evaluation.equivariance_task import equivariance
from egoequiv.evaluation.fitted_on import AS_IN_THE_PAPER, FITTED_APART
from egoequiv.evaluation.task import Finding, TaskOptions, silent
from egoequiv.pairs import declare_patterns
from evaluation.task_worlds import FRAMES, MadeData, made_data, turning_world
from helpers import bare_store

RECORDINGS, TRAINED = 24, 12
HALF, TRAINING = TaskOptions(fit_on="half"), TaskOptions(fit_on="training")


def world(*, other_way: bool) -> MadeData:
    """The last recordings are for validation; their features may turn the other way than those of training."""
    store, z = turning_world(RECORDINGS)
    held = np.arange(TRAINED * FRAMES, RECORDINGS * FRAMES)
    if other_way:
        z[held, 1] *= -1
    data = made_data(store, z, held, declare_patterns(store.space, ["up", "right"]))
    data.__dict__["untrained_features"] = None
    return data


def number(found: Finding, name: str) -> float:
    return next(value.value for value in found.values if value.name == name)


def test_on_a_grid_maps_may_be_fitted_on_training_recordings() -> None:
    same, other = world(other_way=False), world(other_way=True)
    for data in (same, other):
        assert number(equivariance(data, HALF, silent), "rho_right") < 1e-6
    assert number(equivariance(same, TRAINING, silent), "rho_right") < 1e-3
    assert number(equivariance(same, TRAINING, silent), "rho_up") < 1e-3
    # A step is 60 degrees. A map that goes 60 degrees the wrong way ends 120 degrees off: sin 60 / sin 30 = 1.73.
    assert number(equivariance(other, TRAINING, silent), "rho_right") == pytest.approx(3**0.5, abs=1e-3)


def test_it_is_the_error_of_other_pairs_and_all_validation_pairs_are_measured() -> None:
    data = world(other_way=True)
    found = equivariance(data, TRAINING, silent)
    pairs, training = data.pairs(), data.pairs(data.split.train)
    by_hand = errors_of_pairs(data.features, np.arange(len(data.store)), data.store, pairs, training=training)
    assert [number(found, f"rho_{error.motion}") for error in by_hand] == [error.rho for error in by_hand]
    assert found.details["motions"][0]["pairs_scored"] == len(pairs.of("up"))
    assert found.details["motions"][0]["pairs_fitted"] == len(training.of("up"))


def test_the_default_on_a_grid_is_the_papers_and_says_that_there_is_another_way() -> None:
    data = world(other_way=True)
    default = equivariance(data, TaskOptions(), silent)
    assert [value.value for value in default.values] == [
        value.value for value in equivariance(data, HALF, silent).values
    ]
    assert AS_IN_THE_PAPER in default.notes
    assert FITTED_APART in equivariance(data, TRAINING, silent).notes
    composed = composition(data, TaskOptions(steps=1), silent)
    assert AS_IN_THE_PAPER in composed.notes


def test_recordings_that_are_in_both_parts_are_told() -> None:
    data = made_data(*turning_world(RECORDINGS), np.arange(1, RECORDINGS * FRAMES, 2))
    data = MadeData(**vars(data) | {"patterns": declare_patterns(data.store.space, ["up"])})
    data.__dict__["untrained_features"] = None
    notes = equivariance(data, TRAINING, silent).notes
    assert any("24 recordings are both fitted and measured" in note for note in notes)
    assert AS_IN_THE_PAPER not in equivariance(data, TaskOptions(), silent).notes


def test_chains_may_be_fitted_on_training_recordings() -> None:
    same, other = (composition(world(other_way=is_other), TRAINING, silent) for is_other in (False, True))
    assert number(same, "rho of up, right in turn, 3 steps, product") < 1e-2
    assert number(same, "rho of right, 3 steps, product") < 1e-2
    # Three steps of 60 degrees either way end at the same place, but two do not.
    chain = other.details["chains"]["right"]
    assert chain[1]["composed"]["rho"] == pytest.approx(1.0, abs=1e-2)  # 240 degrees off, of 120
    assert chain[2]["composed"]["rho"] < 1e-2
    assert chain[1]["composed"]["pairs_scored"] == (RECORDINGS - TRAINED) * FRAMES
    assert number(other, "error of right, then left") < 1e-2  # there and back is the same with all maps turned
    assert FITTED_APART in other.notes


def test_pairs_by_hand() -> None:
    rng = np.random.default_rng(0)
    z_j, other_j = rng.normal(size=(40, 2)), rng.normal(size=(60, 2))
    fit = MotionFeatures(2 * other_j + 1, other_j, np.arange(60) % 6)
    pairs = MotionFeatures(z_j, z_j, np.arange(40) % 4, fit)
    assert pairs.divided(0) == (fit, pairs)
    np.testing.assert_array_equal(pairs.fit_back(), fit_change(other_j, 2 * other_j + 1, fit.groups))
    np.testing.assert_allclose(pairs.fit_back(), [[2, 0], [0, 2], [1, 1]], atol=1e-4)
    np.testing.assert_allclose(pairs.turned().fit_back(), [[0.5, 0], [0, 0.5], [-0.5, -0.5]], atol=1e-4)
    halved = MotionFeatures(2 * z_j + 1, z_j, pairs.groups)
    np.testing.assert_allclose(halved.fit_back(3), fit_map(z_j, 2 * z_j + 1), atol=1e-9)
    assert score_constant(fit.z_i, z_j, z_j + 1, pairs.groups).rho > 0


def test_a_map_that_holds_is_chosen_and_one_that_does_not_is_a_copy() -> None:
    """Fitted: z doubles. In the first measured pairs it doubles, then in others it halves: neither half says so."""
    rng = np.random.default_rng(0)
    fit, z = rng.normal(size=(200, 2)), rng.normal(size=(100, 2))
    halves = np.repeat([0, -2, -1, 1], [45, 5, 5, 45])
    predicted, is_copied = predict_other_half(z, 2 * z + 1, (fit, 2 * fit + 1), halves)
    np.testing.assert_allclose(predicted, 2 * z + 1, atol=1e-4)
    assert not is_copied
    predicted, is_copied = predict_other_half(z, 0.5 * z, (fit, 2 * fit), halves)
    np.testing.assert_array_equal(predicted, z)
    assert is_copied
    # Right in the second half alone: the first half is predicted by it, the second one is a copy.
    truth = np.where(np.arange(100)[:, None] < 50, 0.5 * z, 2 * z)
    predicted, is_copied = predict_other_half(z, truth, (fit, 2 * fit), halves)
    np.testing.assert_allclose(predicted[:50], 2 * z[:50], atol=1e-4)
    np.testing.assert_array_equal(predicted[50:], z[50:])
    assert not is_copied


def test_half_of_the_change_is_predicted_where_half_is_right() -> None:
    rng = np.random.default_rng(0)
    fit, z = rng.normal(size=(400, 2)), rng.normal(size=(60, 2))
    predicted, _ = predict_other_half(z, z + 1, (fit, fit + 2), np.repeat([0, 1], 30))
    np.testing.assert_allclose(predicted, z + 1, atol=1e-4)


def test_halves_are_recordings_or_the_time_of_one() -> None:
    one = bare_store(np.zeros((100, 2)), [0] * 100, np.arange(100))
    halves = halves_of(one, np.arange(100)[::-1])
    assert halves is not None
    assert halves[::-1].tolist() == [0] * 45 + [-2] * 5 + [-1] * 5 + [1] * 45
    three = bare_store(np.zeros((60, 2)), np.repeat([0, 1, 2], [30, 20, 10]), np.arange(60))
    found = halves_of(three, np.arange(60))
    assert found is not None
    assert [set(found[three.recording == number]) for number in range(3)] == [{1}, {0}, {0}]
    assert halves_of(bare_store(np.zeros((4, 2)), [0] * 4), np.arange(4)) is None


def test_what_a_network_knows_by_heart_does_not_choose_its_maps() -> None:
    """Training pairs follow a map exactly, validation pairs do not at all: the error is that of a copy."""
    rng = np.random.default_rng(0)
    known, z_j = rng.normal(size=(300, 3)), rng.normal(size=(80, 3))
    z_i = z_j + 0.1 * rng.normal(size=(80, 3))
    training = MotionFeatures(known[:, ::-1], known, np.arange(300) % 6)
    chosen = MotionFeatures(z_i, z_j, np.zeros(80, np.int64), training, halves=np.repeat([0, 1], 40)).error("up")
    assert chosen.is_copied
    assert chosen.ratio_of_means == pytest.approx(1)
    believed = MotionFeatures(z_i, z_j, np.zeros(80, np.int64), training).error("up")
    assert believed.ratio_of_means > 5


def test_too_few_pairs_of_either_kind() -> None:
    z = np.random.default_rng(0).normal(size=(100, 2))
    many, few = (MotionFeatures(z[:count], z[:count], np.zeros(count, np.int64)) for count in (100, 5))
    assert few.lacking is not None
    assert many.lacking is None
    assert MotionFeatures(z, z, many.groups, few).lacking is not None
    assert MotionFeatures(few.z_i, few.z_j, few.groups, many).lacking is not None
    assert MotionFeatures(z, z, many.groups, many).lacking is None


def test_what_cannot_be_is_one_line() -> None:
    with pytest.raises(ConfigError, match="--fit-on all: expected one of auto, half, training"):
        TaskOptions(fit_on="all")
    store, z = turning_world(4)
    data = made_data(store, z, np.arange(len(store)), declare_patterns(store.space, ["up"]))
    everything = MadeData(**vars(data) | {"split": type(data.split)(np.arange(9), np.arange(9), "all")})
    for task in (equivariance, composition):
        with pytest.raises(ConfigError, match="all frames are measured, so none are left to fit maps on"):
            task(everything, TRAINING, silent)
