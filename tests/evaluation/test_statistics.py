"""Means, standard errors, intervals and paired tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from egoequiv.evaluation import Result, bootstrap_mean, paired_test

values = st.lists(st.integers(-1_000, 1_000).map(lambda n: n / 8), min_size=2, max_size=12)


def test_a_result_by_hand() -> None:
    result = Result((1.0, 2.0, 3.0, 4.0, 5.0))
    assert result.mean == 3.0
    assert result.stderr == pytest.approx(math.sqrt(2.5 / 5))
    # Student's t for 4 degrees of freedom at 97.5 % is 2.776.
    assert result.interval() == pytest.approx((3 - 2.776 * 0.70711, 3 + 2.776 * 0.70711), abs=1e-3)


@given(values)
def test_a_result_against_scipy(sample: list[float]) -> None:
    assume(len(set(sample)) > 1)
    result = Result(tuple(sample))
    assert result.stderr == pytest.approx(stats.sem(sample))
    expected = stats.t.interval(0.9, len(sample) - 1, np.mean(sample), stats.sem(sample))
    assert result.interval(0.9) == pytest.approx(expected)


@given(values, st.floats(-100, 100))
def test_a_shift_moves_the_mean_and_leaves_the_error(sample: list[float], shift: float) -> None:
    plain, moved = Result(tuple(sample)), Result(tuple(value + shift for value in sample))
    assert moved.mean == pytest.approx(plain.mean + shift, abs=1e-9)
    assert moved.stderr == pytest.approx(plain.stderr, abs=1e-9)
    low, high = plain.interval()
    assert low <= plain.mean <= high


def test_one_repetition_has_no_error() -> None:
    result = Result((2.0,))
    assert result.mean == 2.0
    assert math.isnan(result.stderr)
    assert all(math.isnan(end) for end in result.interval())
    assert math.isnan(Result(()).mean)
    assert math.isnan(Result(()).stderr)


def test_a_paired_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3), t = 3.4641, p = 0.0742 with two degrees of freedom.
    found = paired_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found.difference == 2.0
    assert found.stderr == pytest.approx(1 / math.sqrt(3))
    assert found.p_value == pytest.approx(0.0742, abs=1e-4)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=2, max_size=12))
def test_a_paired_test_against_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    assume(len({x - y for x, y in pairs}) > 1)
    assert paired_test(a, b).p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=2, max_size=12))
def test_a_paired_test_the_other_way_round(pairs: list[tuple[int, int]]) -> None:
    a, b = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    one, other = paired_test(a, b), paired_test(b, a)
    assert other.difference == -one.difference
    assert other.p_value == pytest.approx(one.p_value)
    assert 0 <= one.p_value <= 1


def test_differences_that_do_not_vary() -> None:
    same = paired_test([1.0, 2.0], [1.0, 2.0])
    assert (same.difference, same.stderr, same.p_value) == (0.0, 0.0, 1.0)
    always = paired_test([2.0, 3.0], [1.0, 2.0])
    assert (always.difference, always.stderr, always.p_value) == (1.0, 0.0, 0.0)


def test_one_repetition_cannot_be_tested() -> None:
    found = paired_test([3.0], [1.0])
    assert found.difference == 2.0
    assert math.isnan(found.stderr)
    assert math.isnan(found.p_value)


def test_unequal_numbers_of_repetitions_are_refused() -> None:
    with pytest.raises(ValueError, match="found 2 and 3"):
        paired_test([1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_bootstrap_of_two_groups_by_hand() -> None:
    # Two groups of means 0 and 1: a quarter of the resamples have mean 0, half 1/2, a quarter 1.
    low, high = bootstrap_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([7, 7, 9, 9]))
    assert (low, high) == (0.0, 1.0)
    low, high = bootstrap_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([7, 7, 9, 9]), confidence=0.2)
    assert (low, high) == (0.5, 0.5)


def test_a_bootstrap_against_drawing_groups_one_by_one() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), rng.integers(1, 9, 12))
    sample = rng.normal(size=12)[groups] + rng.normal(size=len(groups))
    means = []
    for _ in range(4_000):
        drawn = [sample[groups == group] for group in rng.integers(0, 12, 12)]
        means.append(np.concatenate(drawn).mean())
    low, high = np.quantile(means, [0.025, 0.975])
    found = bootstrap_mean(sample, groups, resamples=4_000)
    assert found == pytest.approx((low, high), abs=0.1 * (high - low))


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40), st.integers(2, 6), st.integers(0, 99))
def test_a_bootstrap_stays_within_the_means_of_the_groups(sample: list[float], count: int, seed: int) -> None:
    groups = np.arange(len(sample)) % count
    means = [np.mean(np.array(sample)[groups == group]) for group in np.unique(groups)]
    low, high = bootstrap_mean(np.array(sample), groups, seed=seed, resamples=200)
    assert min(means) - 1e-9 <= low <= high <= max(means) + 1e-9


def test_a_bootstrap_holds_the_mean_and_narrows_with_more_groups() -> None:
    rng = np.random.default_rng(3)
    widths = []
    for count in (5, 50, 500):
        groups = np.repeat(np.arange(count), 4)
        sample = rng.normal(size=count)[groups] + 0.1 * rng.normal(size=len(groups))
        low, high = bootstrap_mean(sample, groups)
        assert low < sample.mean() < high
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_values_of_one_group_do_not_count_as_many() -> None:
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(10), 50)
    sample = rng.normal(size=10)[groups]
    together = bootstrap_mean(sample, groups)
    apart = bootstrap_mean(sample, np.arange(500))
    assert together[1] - together[0] > 3 * (apart[1] - apart[0])


def test_a_single_group_has_no_interval() -> None:
    for sample, groups in (([1.0, 2.0], [3, 3]), ([1.0], [0]), ([], [])):
        found = bootstrap_mean(np.array(sample), np.array(groups, np.int64))
        assert all(math.isnan(end) for end in found)


def test_the_seed_decides() -> None:
    sample = np.random.default_rng(0).normal(size=30)
    a, b, c = (bootstrap_mean(sample, np.arange(30), seed=seed) for seed in (1, 1, 2))
    assert a == b
    assert a != c
