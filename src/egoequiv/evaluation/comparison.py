"""Two networks asked about the same frames: which is right more often, and whether that is more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from egoequiv.evaluation.statistics import resampled_means

BOOTSTRAP, MCNEMAR = "paired bootstrap over recordings", "McNemar's exact test over frames"
RESAMPLES = 10_000


@dataclass(frozen=True)
class AnswersCompared:
    """How much more often a is right than b, as a share of the frames, and the two-sided p of no difference."""

    difference: float
    interval: tuple[float, float]  # 95 %; not a number where there is one recording only
    p_value: float
    test: str
    frames: int
    recordings: int
    only_a: float  # frames that a alone gets right, the mean over repetitions
    only_b: float

    def describe(self) -> dict[str, Any]:
        """A JSON object."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        interval = list(self.interval) if np.isfinite(self.interval).all() else None
        return values | {"interval": interval, "p_value": self.p_value if isfinite(self.p_value) else None}


def compare_answers(
    right_a: NDArray[Any], right_b: NDArray[Any], recording: NDArray[np.int64], seed: int = 0
) -> AnswersCompared:
    """Compare answers to the same questions, right (1) or wrong (0), or the share of repetitions that are; (N,) each.

    Frames of one recording resemble each other, so whole recordings are resampled. Of one recording nothing can be
    resampled: there McNemar's test takes every frame as a question of its own, which flatters the p.
    """
    if not len(right_a) == len(right_b) == len(recording):
        raise ValueError(f"answers must be as many on both sides, found {len(right_a)} and {len(right_b)}")
    gap = np.asarray(right_a, np.float64) - np.asarray(right_b, np.float64)
    only_a, only_b = float(gap[gap > 0].sum()), float(-gap[gap < 0].sum())
    recordings = len(np.unique(recording))
    if recordings > 1:
        interval, p_value = paired_bootstrap(gap, recording, seed)
        test = BOOTSTRAP
    else:
        # Of shares over several repetitions a count of right answers makes no sense.
        whole = bool(np.isin(gap, (-1.0, 0.0, 1.0)).all())
        p_value = mcnemar(round(only_a), round(only_b)) if whole else nan
        interval, test = (nan, nan), MCNEMAR
    return AnswersCompared(float(gap.mean()), interval, p_value, test, len(gap), recordings, only_a, only_b)


def paired_bootstrap(
    gap: NDArray[np.float64], groups: NDArray[np.int64], seed: int = 0, resamples: int = RESAMPLES
) -> tuple[tuple[float, float], float]:
    """The 95 % interval of a mean difference and its two-sided p, resampling whole groups; (N,), (N,)."""
    means = resampled_means(gap, groups, seed, resamples)
    low, high = np.quantile(means, [0.025, 0.975])
    # One more on both sides: so many resamples cannot show a p below one in so many; nor can so few groups, whose
    # differences fall to one side by chance once in 2^(groups - 1).
    beyond = min((means <= 0).sum(), (means >= 0).sum())
    p_value = max(2 * (float(beyond) + 1) / (resamples + 1), 2.0 ** (1 - len(np.unique(groups))))
    return (float(low), float(high)), min(1.0, p_value)


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p that questions which one alone gets right fall to both sides alike."""
    total = only_a + only_b
    alternative: Literal["two-sided"] = "two-sided"
    return float(stats.binomtest(only_a, total, 0.5, alternative).pvalue) if total else 1.0
