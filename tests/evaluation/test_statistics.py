"""Means, standard errors, intervals and paired tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from egoequiv.evaluation import Result, group_interval, paired_test, why_no_interval
from egoequiv.evaluation.statistics import block_interval, group_estimate, group_mean, group_ratio

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


def test_groups_of_equal_size_are_students_interval_of_their_means() -> None:
    # Means 0, 0, 1, 2, 2 are symmetric: no skew, and the interval is the one of five values.
    sample, groups = np.repeat([0.0, 0.0, 1.0, 2.0, 2.0], 3), np.repeat([7, 9, 1, 2, 4], 3)
    assert group_interval(sample, groups) == pytest.approx(Result((0.0, 0.0, 1.0, 2.0, 2.0)).interval())
    assert group_mean(sample, groups).p_value() == pytest.approx(stats.ttest_1samp([0, 0, 1, 2, 2], 0).pvalue)


def test_unequal_groups_by_leaving_each_out() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), rng.integers(1, 9, 8))
    sample = rng.normal(size=8)[groups] + rng.normal(size=len(groups))
    without = np.array([sample[groups != group].mean() for group in range(8)])
    found = group_mean(sample, groups)
    assert found.value == pytest.approx(sample.mean())
    assert found.stderr == pytest.approx(math.sqrt(7 / 8 * ((without - sample.mean()) ** 2).sum()))
    sizes = np.bincount(groups)
    assert found.freedom == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum() - 1)
    low, high = found.interval()
    half = stats.t.ppf(0.975, found.freedom) * found.stderr
    assert low <= found.value - half + 1e-12
    assert high >= found.value + half - 1e-12
    # Hall's interval: the values whose transformed score is within the quantile.
    ends = [(found.value - end) / found.stderr for end in (low, high)]
    a = found.skew
    hall = [x + a * x**2 / 3 + a**2 * x**3 / 27 + a / 6 for x in ends]
    assert max(abs(hall[0]), abs(ends[0])) >= stats.t.ppf(0.975, found.freedom) - 1e-9
    assert min(abs(hall[0]), abs(ends[0])) == pytest.approx(stats.t.ppf(0.975, found.freedom))
    assert min(abs(hall[1]), abs(ends[1])) == pytest.approx(stats.t.ppf(0.975, found.freedom))


@given(st.lists(st.integers(-50, 50), min_size=6, max_size=40), st.integers(5, 8), st.floats(0.5, 0.99))
def test_the_p_value_is_where_the_interval_reaches_zero(sample: list[int], count: int, confidence: float) -> None:
    found = group_mean(np.array(sample), np.arange(len(sample)) % count)
    assume(found.stderr > 1e-9)  # also leaves out those of too few groups, for which it is not a number
    low, high = found.interval(confidence)
    assert low <= found.value <= high
    assume(min(abs(low), abs(high)) > 1e-9)
    assert (low <= 0 <= high) == (found.p_value() > 1 - confidence)


def _simulated(rng: np.random.Generator, skewed: str, unequal: bool, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums and sizes of groups whose true mean is 0; (2, repetitions, groups)."""
    shape = (2_000, count)
    sizes = np.ceil(np.exp(rng.normal(3, 0.8, shape))) if unequal else np.full(shape, 20.0)
    means = {
        "normal": lambda: rng.normal(size=shape),
        "skewed": lambda: rng.gamma(2, 1, shape) - 2,  # a skewness of 1.4
        "shares": lambda: rng.beta(9, 2, shape) - 9 / 11,  # such as accuracies of about 82 %
    }[skewed]()
    noise = 0.0 if skewed == "shares" else rng.normal(size=shape) * 0.5 / np.sqrt(sizes)
    return (means + noise) * sizes, sizes


@pytest.mark.parametrize("count", [5, 10, 20, 50])
@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("skewed", ["normal", "skewed", "shares"])
def test_intervals_cover_what_they_promise(skewed: str, unequal: bool, count: int) -> None:
    sums, sizes = _simulated(np.random.default_rng(count), skewed, unequal, count)
    held = 0
    for total, size in zip(sums, sizes, strict=True):
        found = group_estimate(np.stack([total, size]), size, lambda both: both[0] / both[1])
        low, high = found.interval()
        held += low <= 0 <= high
    assert 0.93 <= held / len(sums) <= 0.985


@pytest.mark.parametrize("correlation_s", [0.5, 5.0])
@pytest.mark.parametrize("count", [1, 4, 5, 10])
def test_intervals_over_recordings_of_video_cover_however_long_it_resembles_itself(
    count: int, correlation_s: float
) -> None:
    """Recordings of 30 s at 10 Hz, whose values follow a first-order process: no interval, or one that covers."""
    rng, decay = np.random.default_rng(count), np.exp(-0.1 / correlation_s)
    shape = (1_000, count)
    level, total = rng.normal(size=shape), np.zeros(shape)
    for _ in range(300):
        level = decay * level + np.sqrt(1 - decay**2) * rng.normal(size=shape)
        total += level
    groups, held = np.repeat(np.arange(count), 300), 0
    for means in total / 300:
        low, high = group_interval(means[groups], groups)
        assert math.isnan(low) == (count < 5)
        held += low <= 0 <= high
    assert count < 5 or held / len(total) >= 0.93


def test_an_interval_narrows_with_more_groups() -> None:
    rng = np.random.default_rng(3)
    widths = []
    for count in (5, 50, 500):
        groups = np.repeat(np.arange(count), 4)
        sample = rng.normal(size=count)[groups] + 0.1 * rng.normal(size=len(groups))
        low, high = group_interval(sample, groups)
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_values_of_one_group_do_not_count_as_many() -> None:
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(10), 50)
    sample = rng.normal(size=10)[groups]
    together = group_interval(sample, groups)
    apart = group_interval(sample, np.arange(500))
    assert together[1] - together[0] > 3 * (apart[1] - apart[0])


def test_fewer_than_five_groups_have_no_interval_and_it_is_said_why() -> None:
    for sample, groups in (([1.0, 2.0], [3, 3]), ([1.0], [0]), ([], []), ([1.0, 2.0, 3.0, 4.0], [0, 1, 2, 3])):
        found = group_interval(np.array(sample), np.array(groups, np.int64))
        assert all(math.isnan(end) for end in found)
        assert math.isnan(group_mean(np.array(sample), np.array(groups, np.int64)).p_value())
    assert why_no_interval(4) == "what is measured comes from 4 recordings, and an interval needs 5"
    assert why_no_interval(1, "toy") == "what is measured comes from 1 toy, and an interval needs 5"
    assert why_no_interval(5) is None


def test_an_interval_ends_where_the_figure_must() -> None:
    sample = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    low, high = group_interval(sample, np.arange(5), within=(0.0, 1.0))
    assert low == 0.0
    assert high == 1.0
    assert group_interval(sample, np.arange(5))[1] > 1.0
    assert group_interval(np.ones(5), np.arange(5)) == (1.0, 1.0)


def test_a_block_interval_by_hand() -> None:
    """Blocks of one value: the bootstrap of a mean, whose standard error is known."""
    sample = np.array([0.0, 1.0] * 50)
    low, high = block_interval(100, lambda rows: float(sample[rows].mean()), 1, draws=4_000)
    half = stats.t.ppf(0.975, 99) * 0.5 / 10 * math.sqrt(100 / 99)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=0.005)
    limited = block_interval(100, lambda rows: float(sample[rows].mean()), 1, within=(0.45, 0.55))
    assert limited == (0.45, 0.55)


def test_a_block_interval_of_few_blocks_is_not_defined() -> None:
    assert np.isnan(block_interval(40, lambda rows: 1.0, 10)).all()
    assert block_interval(50, lambda rows: 1.0, 10) == (1.0, 1.0)


def test_block_intervals_hold_the_mean_of_values_of_which_neighbours_resemble_each_other() -> None:
    """Runs of hits and misses as places have them; an interval that takes them as independent is much too narrow."""
    rng = np.random.default_rng(0)
    inside, naive, trials, count = 0, 0, 200, 200
    for _ in range(trials):
        stays = rng.random(count) < 0.7
        values = np.empty(count)
        values[0] = rng.random() < 0.6
        for k in range(1, count):
            values[k] = values[k - 1] if stays[k] else rng.random() < 0.6
        low, high = block_interval(count, lambda rows, own=values: float(own[rows].mean()), 22, draws=80)
        inside += low <= 0.6 <= high
        half = 1.96 * values.std() / math.sqrt(count)
        naive += abs(values.mean() - 0.6) <= half
    assert inside / trials > 0.88
    assert naive / trials < 0.7


def test_a_ratio_of_means_by_hand() -> None:
    """Sums over all are 12 and 24; without a group, 9 / 20, 10 / 22, 12 / 20, 8 / 16 and 9 / 18."""
    above, below = np.array([3.0, 2.0, 0.0, 4.0, 3.0]), np.array([4.0, 2.0, 4.0, 8.0, 6.0])
    found = group_ratio(above, below, np.arange(5))
    assert found.value == pytest.approx(0.5)
    without = np.array([9 / 20, 10 / 22, 12 / 20, 8 / 16, 9 / 18])
    assert found.stderr == pytest.approx(math.sqrt(4 / 5 * ((0.5 - without) ** 2).sum()))
    assert math.isnan(group_ratio(above, 0 * below, np.arange(5)).value)
    twice = group_ratio(np.tile(above, 2), np.tile(below, 2), np.tile(np.arange(5), 2))
    assert (twice.value, twice.stderr) == pytest.approx((found.value, found.stderr))  # groups count, not values
