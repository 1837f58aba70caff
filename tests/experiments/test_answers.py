"""Answers to the same frames: numbers by hand, other programs' numbers, and properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from egoequiv.experiments.comparison import MCNEMAR, OVER_RECORDINGS, compare_answers, mcnemar

answers = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 6)), min_size=4, max_size=40)


def test_by_hand() -> None:
    right_a, right_b = np.array([1, 1, 1, 0, 1, 0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 0, 1, 1, 1, 0, 0])
    found = compare_answers(right_a, right_b, np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]))
    assert found.difference == pytest.approx(3 / 10)  # a alone is right four times, b alone once
    assert (found.only_a, found.only_b) == (4, 1)
    assert (found.frames, found.recordings, found.test) == (10, 5, OVER_RECORDINGS)
    assert found.interval[0] <= found.difference <= found.interval[1]


@pytest.mark.parametrize("recordings", [2, 4])
def test_two_to_four_recordings_are_too_few_for_a_test(recordings: int) -> None:
    found = compare_answers(np.ones(8), np.zeros(8), np.arange(8) % recordings)
    assert found.test == f"no test: measured on {recordings} recordings, and a test needs 5"
    assert found.difference == 1.0
    assert np.isnan([*found.interval, found.p_value]).all()


def test_one_recording_goes_by_mcnemar() -> None:
    found = compare_answers(np.ones(8), np.zeros(8), np.zeros(8, np.int64))
    assert found.test == MCNEMAR
    assert found.p_value == pytest.approx(2 * 0.5**8)  # eight of eight to one side, on either side
    assert math.isnan(found.interval[0])


@pytest.mark.parametrize(("only_a", "only_b"), [(3, 9), (10, 10), (0, 5), (1, 0)])
def test_mcnemar_is_the_sign_test(only_a: int, only_b: int) -> None:
    tail = stats.binom.cdf(min(only_a, only_b), only_a + only_b, 0.5)
    assert mcnemar(only_a, only_b) == pytest.approx(min(1.0, 2 * tail))
    assert mcnemar(0, 0) == 1.0


def test_equal_recordings_are_the_t_test_of_scipy() -> None:
    means = np.array([-0.2, 0.0, 0.1, 0.2, 0.4])  # symmetric: no skew to correct for
    gap, groups = np.repeat(means, 5), np.repeat(np.arange(5), 5)
    found = compare_answers(np.maximum(gap, 0), np.maximum(-gap, 0), groups)
    other = stats.ttest_1samp(means, 0)
    assert found.p_value == pytest.approx(other.pvalue)
    assert found.interval == pytest.approx(tuple(other.confidence_interval(0.95)))


@given(answers)
def test_turning_the_sides_turns_the_sign(rows: list[tuple[bool, bool, int]]) -> None:
    a, b, recording = (np.array(column) for column in zip(*rows, strict=True))
    one, other = compare_answers(a, b, recording), compare_answers(b, a, recording)
    assert one.difference == pytest.approx(-other.difference)
    assert (one.only_a, one.only_b) == (other.only_b, other.only_a)
    assert one.p_value == pytest.approx(other.p_value, nan_ok=True)
    assert math.isnan(one.p_value) == (1 < one.recordings < 5)
    assert math.isnan(one.p_value) or 0 <= one.p_value <= 1


def test_unequal_sides_are_refused() -> None:
    with pytest.raises(ValueError, match="as many on both sides"):
        compare_answers(np.ones(3), np.ones(2), np.zeros(3, np.int64))
