"""A metric says how a number is called, shown and compared; a value is one such number, with its baselines."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, isfinite, nan
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from egoequiv.evaluation.statistics import Interval, Number, Result

MARK = "*"  # behind a value that is not better than each of its baselines, or is of features that have collapsed


BEST = "best of each motion"  # the baseline of a mean over motions
NO_INTERVAL: tuple[float, float] = (nan, nan)


class Metric(BaseModel):
    """What a number means: its name, how it is shown, which way is better, and what it is compared with.

    Args:
        name: The key in tables and JSON, such as `rho_up`.
        title: The head of its column, such as `rho up`.
        digits: Digits behind the point.
        better: Which way is better; `neither` for counts and differences.
        is_percent: Whether it lies between 0 and 100.
        within: The least and the greatest value it can have, to which intervals are cut; None where there is no limit.
        family: Metrics of one family have one scale and share a chart: `rho`, `top`, `MRR`.
        motion: The motion that it is about; None for a mean over motions or a number of another kind.
        is_detail: Left out of summary tables, such as a count of pairs.
        baselines: Values that hold whatever the features are, such as 1 for copying the features.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    digits: Annotated[int, Field(ge=0, le=12)] = 3
    better: Literal["higher", "lower", "neither"] = "higher"
    is_percent: bool = False
    within: tuple[float | None, float | None] = (None, None)
    family: str = ""
    motion: str | None = None
    is_detail: bool = False
    baselines: dict[str, Number] = {}

    def text(self, value: float | None) -> str:
        """A value with the digits of this metric, or `not defined`."""
        return f"{value:.{self.digits}f}" if value is not None and isfinite(value) else "not defined"

    def difference(self, value: float, stderr: float = nan) -> str:
        """A difference with its sign, and its standard error where there is one."""
        error = f" ± {stderr:.{self.digits}f}" if isfinite(stderr) else ""
        return f"{value:+.{self.digits}f}{error}"

    def result(self, result: Result | None) -> str:
        """The mean of repetitions and its standard error; a dash where nothing was measured."""
        if result is None:
            return "-"
        error = f" ± {result.stderr:.{self.digits}f}" if isfinite(result.stderr) else ""
        return f"{self.text(result.mean)}{error if isfinite(result.mean) else ''}"

    def interval(self, ends: Sequence[float] | None) -> str:
        """Such as `[0.412, 0.468]`; empty where there is none."""
        if ends is None or not all(map(isfinite, ends)):
            return ""
        return f"[{ends[0]:.{self.digits}f}, {ends[1]:.{self.digits}f}]"

    def cut(self, ends: tuple[float, float]) -> tuple[float, float]:
        """An interval without the values that the metric cannot have."""
        least, greatest = (0.0, 100.0) if self.is_percent and self.better != "neither" else self.within
        low, high = ends
        return low if least is None else max(low, least), high if greatest is None else min(high, greatest)

    def is_better(self, value: float, other: float) -> bool:
        """Whether one value is better than another; never for a metric that knows no better."""
        return value > other if self.better == "higher" else value < other if self.better == "lower" else False


class Value(BaseModel):
    """One measured number: with its interval over recordings, and baselines measured on the same frames.

    Args:
        metric: What it is.
        value: The number; NaN where it is not defined, and `note` says why.
        interval: The 95 % interval over recordings; NaN where there are too few of them.
        baselines: What a model that knows nothing gets on the same frames, by name.
        note: Why it is not defined, or has no interval.
        is_collapsed: Whether it is of features that collapsed in training, whatever the number says.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: Metric
    value: Number
    interval: Interval = NO_INTERVAL
    baselines: dict[str, Number] = {}
    note: str = ""
    is_collapsed: bool = False

    @property
    def name(self) -> str:
        return self.metric.name

    def all_baselines(self) -> dict[str, float]:
        """The baselines of the metric, and those measured beside the value."""
        return {**self.metric.baselines, **self.baselines}

    def best_baseline(self) -> float:
        """The baseline that is hardest to beat; NaN where none is defined."""
        known = [one for one in self.all_baselines().values() if isfinite(one)]
        return (max if self.metric.better == "higher" else min)(known, default=nan)

    @property
    def is_marked(self) -> bool:
        """Whether it is not better than each of its baselines, or of collapsed features: it is then no evidence."""
        return is_marked(self.metric, self.value, self.all_baselines(), self.is_collapsed)

    def text(self) -> str:
        """The value, with a mark where it is no evidence for the features."""
        return self.metric.text(self.value) + (MARK if self.is_marked else "")


def is_marked(metric: Metric, value: float, baselines: dict[str, float], is_collapsed: bool = False) -> bool:
    """Whether a value is defined and no evidence: not better than each known baseline, or of collapsed features."""
    if not isfinite(value) or metric.better == "neither":
        return False
    known = [one for one in baselines.values() if isfinite(one)]
    return is_collapsed or not all(metric.is_better(value, one) for one in known)


def with_best_of_each(mean: Value, each: Sequence[Value], weights: Sequence[float] | None = None) -> Value:
    """A mean over motions, which is marked where each of its motions is.

    Where another baseline is best for each motion, the mean of these is one more baseline.

    Args:
        mean: The mean.
        each: The value of each motion, by the same metric but for its name.
        weights: How much each motion counts in the mean; None: all the same.

    Returns:
        The mean, with the further baseline where that is harder to beat than the others.
    """
    shares = [1.0] * len(each) if weights is None else weights
    best = sum(share * value.best_baseline() for share, value in zip(shares, each, strict=True)) / (sum(shares) or nan)
    own = mean.best_baseline()
    if not isfinite(best) or isclose(best, own) or (isfinite(own) and not mean.metric.is_better(best, own)):
        return mean
    return mean.model_copy(update={"baselines": {**mean.baselines, BEST: best}})
