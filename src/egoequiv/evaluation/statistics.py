"""Means, standard errors, intervals over groups, and paired tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer
from scipy import special

from egoequiv.files import or_nan, plain
from egoequiv.plurals import plural

# A number that may be undefined: NaN in Python, null in JSON, which has no NaN.
Number = Annotated[
    float,
    BeforeValidator(lambda value: or_nan(value) if value is None else value),
    PlainSerializer(plain, return_type=float | None),
]
Interval = tuple[Number, Number]
FEWEST_GROUPS = 5  # with fewer, no interval covers what it promises


@dataclass(frozen=True)
class Result:
    """One metric, measured in several repetitions."""

    values: tuple[Number, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values else nan

    @property
    def stderr(self) -> float:
        """The standard error of the mean; not a number for a single repetition."""
        count = len(self.values)
        return float(np.std(self.values, ddof=1)) / sqrt(count) if count > 1 else nan

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's interval of the mean."""
        if isnan(self.stderr):
            return nan, nan
        half = float(special.stdtrit(len(self.values) - 1, (1 + confidence) / 2)) * self.stderr
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class PairedTest:
    """The difference of two methods on the same repetitions, and the two-sided p of the paired t-test."""

    difference: float
    stderr: float
    p_value: float


def paired_test(a: Sequence[float], b: Sequence[float]) -> PairedTest:
    """Compare a with b, repetition by repetition; the difference is mean(a - b)."""
    if len(a) != len(b):
        raise ValueError(f"paired values must be as many on both sides, found {len(a)} and {len(b)}")
    gap = Result(tuple(float(x) - float(y) for x, y in zip(a, b, strict=True)))
    if isnan(gap.stderr):
        return PairedTest(gap.mean, nan, nan)
    if gap.stderr == 0:
        return PairedTest(gap.mean, 0.0, 1.0 if gap.mean == 0 else 0.0)
    p_value = 2 * special.stdtr(len(a) - 1, -abs(gap.mean / gap.stderr))
    return PairedTest(gap.mean, gap.stderr, float(p_value))


@dataclass(frozen=True)
class GroupEstimate:
    """A figure over groups such as recordings, with what an interval and a test need.

    Values of one group resemble each other, so that groups count, not values. The standard error comes from leaving
    out each group in turn (the jackknife, known as CR3 for means), the quantile from Student's t with the effective
    number of groups, and each end is moved out where the contributions of the groups are skewed (Hall 1992).
    """

    value: float
    stderr: float  # not a number for fewer than `FEWEST_GROUPS` groups
    freedom: float  # degrees of freedom: the effective number of groups (Kish) less one
    skew: float  # skewness of the contributions of the groups, divided by the root of their number

    def interval(self, confidence: float = 0.95, within: tuple[float, float] = (-inf, inf)) -> tuple[float, float]:
        """The interval, cut to the values that the figure can have; not numbers for too few groups."""
        if isnan(self.stderr):
            return nan, nan
        reach = float(special.stdtrit(self.freedom, (1 + confidence) / 2))  # as stats.t.ppf, at a hundredth of its cost
        low = self.value - self.stderr * max(reach, self._unskewed(reach))
        high = self.value - self.stderr * min(-reach, self._unskewed(-reach))
        return max(low, within[0]), min(high, within[1])

    def p_value(self) -> float:
        """The two-sided p that the figure is 0: the least p at which the interval still reaches 0."""
        if isnan(self.stderr) or self.stderr == 0:
            return nan if isnan(self.stderr) else float(self.value == 0)
        score = self.value / self.stderr
        distance = min(abs(score), abs(self._skewed(score)))
        return float(2 * special.stdtr(self.freedom, -distance))

    def _skewed(self, score: float) -> float:
        """Hall's transformation: what is nearly symmetric of a score (estimate - truth) / stderr that is not."""
        return score + self.skew * score**2 / 3 + self.skew**2 * score**3 / 27 + self.skew / 6

    def _unskewed(self, score: float) -> float:
        """The inverse of `_skewed`."""
        if abs(self.skew) < 1e-6:
            return score
        return float(3 / self.skew * (np.cbrt(1 + self.skew * (score - self.skew / 6)) - 1))


def group_estimate(
    sums: NDArray[np.float64], sizes: NDArray[Any], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> GroupEstimate:
    """A figure that is a function of sums over groups, such as a ratio of them.

    Args:
        sums: (K, G), K sums of each of G groups.
        sizes: (G,), how many values each group has.
        statistic: from sums over any groups, (K, ...), to the figure, (...).
    """
    whole = sums.sum(axis=1)
    value, count = float(statistic(whole)), sums.shape[1]
    if count < FEWEST_GROUPS:
        return GroupEstimate(value, nan, nan, nan)
    pull = (count - 1) * (value - statistic(whole[:, None] - sums))  # (G,), what each group contributes
    if not np.isfinite(pull).all():
        return GroupEstimate(value, nan, nan, nan)
    freedom = max(float(sizes.sum() ** 2 / (sizes.astype(np.float64) ** 2).sum()) - 1, 1.0)
    spread = pull.std()
    skew = float(((pull - pull.mean()) ** 3).mean() / spread**3 / sqrt(count)) if spread > 0 else 0.0
    return GroupEstimate(value, sqrt(float((pull**2).sum()) / (count * (count - 1))), freedom, skew)


def group_mean(values: NDArray[Any], groups: NDArray[np.int64]) -> GroupEstimate:
    """The mean of values (N,) that come in groups (N,) of any sizes."""
    if not len(values):
        return GroupEstimate(nan, nan, nan, nan)
    sums = _sums(groups, values, np.ones(len(values)))
    return group_estimate(sums, sums[1], lambda total: total[0] / total[1])


def group_r2(true: NDArray[np.float64], squared: NDArray[np.float64], groups: NDArray[np.int64]) -> GroupEstimate:
    """R2 from true values and squared errors, (N,) each, that come in groups; NaN where the value never changes."""
    centred = true - true.mean()  # first, so that a far offset costs no digits
    sums = _sums(groups, squared, centred, centred**2, np.ones(len(true)))

    def r2(total: NDArray[np.float64]) -> NDArray[np.float64]:
        variation = total[2] - total[1] ** 2 / total[3]
        known = variation > 1e-12 * np.maximum(total[2], 1e-300)
        return np.where(known, 1 - total[0] / np.where(known, variation, 1.0), np.nan)

    return group_estimate(sums, sums[3], r2)


def group_ratio(above: NDArray[Any], below: NDArray[Any], groups: NDArray[np.int64]) -> GroupEstimate:
    """The ratio of the means of two kinds of values, (N,) each, that come in groups (N,); NaN where it divides by 0."""
    sums = _sums(groups, above, below, np.ones(len(above)))

    def ratio(total: NDArray[np.float64]) -> NDArray[np.float64]:
        known = total[1] > 0
        return np.where(known, total[0] / np.where(known, total[1], 1.0), np.nan)

    return group_estimate(sums, sums[2], ratio)


def group_rms(squared: NDArray[np.float64], groups: NDArray[np.int64]) -> GroupEstimate:
    """The root mean of squared errors (N,) that come in groups (N,)."""
    sums = _sums(groups, squared, np.ones(len(squared)))
    return group_estimate(sums, sums[1], lambda total: np.sqrt(total[0] / total[1]))


def _sums(groups: NDArray[np.int64], *values: NDArray[Any]) -> NDArray[np.float64]:
    """The sums of K kinds of values (N,) over each of G groups, (K, G)."""
    _, group = np.unique(groups, return_inverse=True)
    return np.stack([np.bincount(group, np.asarray(own, np.float64)) for own in values])


def group_interval(
    values: NDArray[Any], groups: NDArray[np.int64], confidence: float = 0.95, within: tuple[float, float] = (-inf, inf)
) -> tuple[float, float]:
    """The interval of the mean of values that come in groups, such as recordings.

    Args:
        values: (N,).
        groups: (N,), the group of each value.
        confidence: how often the interval should hold the true mean.
        within: the values that the mean can have; the interval is cut to them.

    Returns:
        Both ends; not numbers for fewer than `FEWEST_GROUPS` groups, for which `why_no_interval` has the words.
    """
    return group_mean(values, groups).interval(confidence, within)


def why_no_interval(groups: int, kind: str = "recording") -> str | None:
    """Why there is no interval over so many groups, in words; nothing where there is one."""
    too_few = f"what is measured comes from {plural(groups, kind)}, and an interval needs {FEWEST_GROUPS}"
    return too_few if groups < FEWEST_GROUPS else None


def block_interval(
    count: int,
    statistic: Callable[[NDArray[np.int64]], float],
    length: int,
    *,
    confidence: float = 0.95,
    within: tuple[float, float] = (-inf, inf),
    draws: int = 1_000,
    seed: int = 0,
) -> tuple[float, float]:
    """The interval of a figure of frames in order, of which neighbours resemble each other.

    The standard error comes from a bootstrap over blocks: frames are drawn again as blocks that follow each other, from
    any beginning (the last block goes on at the first frame). The quantile is Student's t with one less than the number
    of blocks that fit in, and the error is that of so few blocks. A simulation in the tests checks the coverage.

    Args:
        count: how many frames there are.
        statistic: from the numbers of frames (count,), some of them several times, to the figure.
        length: frames of a block; much longer than neighbours resemble each other.
        confidence: how often the interval should hold the true figure.
        within: the values that the figure can have; the interval is cut to them.
        draws: how often frames are drawn.
        seed: draws them.

    Returns:
        Both ends; not numbers for fewer than `FEWEST_GROUPS` blocks.
    """
    blocks = count // max(length, 1)
    if blocks < FEWEST_GROUPS:
        return nan, nan
    rng = np.random.default_rng([seed, count, length])
    begins = rng.integers(count, size=(draws, -(-count // length)))
    chosen = ((begins[..., None] + np.arange(length)) % count).reshape(draws, -1)[:, :count]
    value = statistic(np.arange(count))
    spread = float(np.std([statistic(rows) for rows in chosen], ddof=1))
    half = float(special.stdtrit(blocks - 1, (1 + confidence) / 2)) * spread * sqrt(blocks / (blocks - 1))
    return max(value - half, within[0]), min(value + half, within[1])
