"""Two networks on the same frames: which is right more often, and whether that is more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from egoequiv.evaluation.statistics import FEWEST_GROUPS, Interval, Number, group_mean, why_no_interval

OVER_RECORDINGS, MCNEMAR = "paired t-test over recordings", "McNemar's exact test over frames"


@dataclass(frozen=True)
class AnswersCompared:
    """How much more often a is right than b, as a share of the frames, and the two-sided p of no difference."""

    difference: float
    interval: Interval  # 95 %; not a number where there are fewer than five recordings
    p_value: Number
    test: str
    frames: int
    recordings: int
    only_a: float  # frames that a alone gets right, the mean over repetitions
    only_b: float


def compare_answers(right_a: NDArray[Any], right_b: NDArray[Any], recording: NDArray[np.int64]) -> AnswersCompared:
    """Compare answers to the same questions, right (1) or wrong (0), or the share of repetitions that are; (N,) each.

    Frames of one recording resemble each other, so the test is over recordings. With a single recording McNemar's
    test takes every frame as independent of the others, which gives a p that is too small. Two to four recordings are
    too few for a test over them.
    """
    if not len(right_a) == len(right_b) == len(recording):
        raise ValueError(f"answers must be as many on both sides, found {len(right_a)} and {len(right_b)}")
    gap = np.asarray(right_a, np.float64) - np.asarray(right_b, np.float64)
    only_a, only_b = float(gap[gap > 0].sum()), float(-gap[gap < 0].sum())
    recordings = len(np.unique(recording))
    interval, p_value = (nan, nan), nan
    if recordings >= FEWEST_GROUPS:
        found, test = group_mean(gap, recording), OVER_RECORDINGS
        interval, p_value = found.interval(within=(-1.0, 1.0)), found.p_value()
    elif recordings > 1:
        test = f"no test: {why_no_interval(recordings)}"
    else:
        test = MCNEMAR
        if np.isin(gap, (-1.0, 0.0, 1.0)).all():  # shares over several repetitions are no counts of right answers
            p_value = mcnemar(round(only_a), round(only_b))
    return AnswersCompared(float(gap.mean()), interval, p_value, test, len(gap), recordings, only_a, only_b)


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p that questions which one alone gets right fall to both sides equally."""
    return float(stats.binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0
