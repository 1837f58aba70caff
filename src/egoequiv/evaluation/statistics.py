"""Means, standard errors, bootstrap intervals and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats


@dataclass(frozen=True)
class Result:
    """One figure, measured in several repetitions."""

    values: tuple[float, ...]

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
        half = float(stats.t.ppf((1 + confidence) / 2, len(self.values) - 1)) * self.stderr
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
    return PairedTest(gap.mean, gap.stderr, float(stats.ttest_rel(a, b).pvalue))


def bootstrap_mean(
    values: NDArray[np.float64],
    groups: NDArray[np.int64],
    *,
    seed: int = 0,
    resamples: int = 2_000,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """The bootstrap interval of a mean, resampling whole groups.

    Pairs of one recording resemble each other; resampling them one by one would give an interval that is too narrow.
    """
    if len(np.unique(groups)) < 2:
        return nan, nan
    low, high = np.quantile(
        resampled_means(values, groups, seed, resamples), [(1 - confidence) / 2, (1 + confidence) / 2]
    )
    return float(low), float(high)


def resampled_means(
    values: NDArray[np.float64], groups: NDArray[np.int64], seed: int, resamples: int
) -> NDArray[np.float64]:
    """The means of values when whole groups are drawn anew, with replacement; (N,), (N,) -> (resamples,)."""
    _, group = np.unique(groups, return_inverse=True)
    count = int(group.max()) + 1
    sums, sizes = np.bincount(group, values), np.bincount(group)
    draws = np.random.default_rng([seed, 0xB007]).multinomial(count, np.full(count, 1 / count), size=resamples)
    means: NDArray[np.float64] = (draws @ sums) / (draws @ sizes)
    return means
