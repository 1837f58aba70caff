"""Finished runs side by side: what they were made with, what was measured of them, and tests between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import class_scores, embed
from egoequiv.evaluation.recognition import top_k_right
from egoequiv.evaluation.statistics import FEWEST_GROUPS, Interval, Number, group_mean
from egoequiv.evaluation.task import OnProgress, counted, silent
from egoequiv.experiments.measure import BASIC, RunMeasurer, measure_runs
from egoequiv.experiments.run_groups import RunGroup, check_same_frames, differing_settings, group_runs
from egoequiv.experiments.runs_table import table_of_runs
from egoequiv.experiments.table import FEWEST_FOR_TEST, Strict, Table

STAGE = "measuring"
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


class Answered(Strict):
    """The answers of two groups, by their letters, to the same validation frames; the difference is a - b."""

    a: str
    b: str
    compared: AnswersCompared


class Untested(Strict):
    """Two groups between which some metrics were not tested, and why."""

    a: str
    b: str
    metrics: Literal["all", "rho"]
    reason: str


class RunComparison(Strict):
    """Groups of repetitions, each under a letter: the settings in which they differ, a table of them, and tests."""

    groups: dict[str, str]  # the name of each
    runs: dict[str, list[str]]  # their folders
    seeds: dict[str, list[int]]
    settings: dict[str, list[Any]]  # that differ: one value for each group
    table: Table  # what was measured, a row for each group under its letter
    answers: list[Answered]  # frame by frame, where there are too few repetitions for a test over them
    untested: list[Untested]


def letter(number: int) -> str:
    """A, B, ..., Z, A1, B1 and so on."""
    turn, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(turn) if turn else "")


def compare_runs(runs: Sequence[Path], store: str | None = None, on_progress: OnProgress = silent) -> RunComparison:
    """Measure two or more runs on their validation frames, or on all frames of another store, and test them."""
    distinct = {run.resolve(): run for run in reversed(runs)}  # the same run by two paths is no repetition
    groups = group_runs([run for run in runs if distinct[run.resolve()] is run])
    for group in groups:
        if len(set(group.repetitions)) < len(group.repetitions):
            raise ConfigError(f"{group.runs[0]} and another run have the same settings and seed: leave one out")
    if store is None:
        check_same_frames(groups)
    named = {letter(number): group for number, group in enumerate(groups)}
    tasks = BASIC if store is None else ("equivariance",)
    each = measure_runs([run for group in groups for run in group.runs], tasks, store, STAGE, on_progress)
    measured = {run: found for run, found in each if found}
    table = table_of_runs("Runs side by side", named, measured, Path.cwd())
    if table is None:
        raise DataError(
            f"{store or 'the stores of these runs'}: no poses and no labels that the runs know: nothing to measure"
        )
    answers = [] if store is not None else _answers(named, on_progress)
    return RunComparison(
        groups={key: group.name for key, group in named.items()},
        runs={key: [str(run) for run in group.runs] for key, group in named.items()},
        seeds={key: list(group.seeds) for key, group in named.items()},
        settings=differing_settings(groups),
        table=table,
        answers=answers,
        untested=_untested(named, table, answers, store),
    )


def _untested(
    groups: dict[str, RunGroup], table: Table, answers: Sequence[Answered], store: str | None
) -> list[Untested]:
    """The pairs of groups without any test, and those of which only the answers, that is top-1, were compared."""
    tested = {(one.a, one.b) for one in table.comparisons}
    answered = {(one.a, one.b) for one in answers}
    rho = {metric.name for metric in table.metrics if metric.family == "rho"}
    measured = {row.name: set(row.entries) for row in table.rows}
    found = []
    for b, a in combinations(groups, 2):
        common, is_answered = _common_seeds(groups[a], groups[b]), (a, b) in answered
        few = f"a test over seeds needs {FEWEST_FOR_TEST} in common, and they have {common}; answers to single frames"
        if is_answered and rho & measured.get(a, set()) & measured.get(b, set()):
            found.append(Untested(a=a, b=b, metrics="rho", reason=f"{few} are about top-1 only"))
        elif not is_answered and (a, b) not in tested:
            reason = f"{few} are compared where both have learned labels"
            if common >= FEWEST_FOR_TEST:
                reason = f"no metric is defined for both in the {common} seeds that they have in common"
            elif store is not None:
                reason = f"{few} are not compared on another store"
            found.append(Untested(a=a, b=b, metrics="all", reason=reason))
    return found


def _common_seeds(a: RunGroup, b: RunGroup) -> int:
    return len(set(a.repetitions) & set(b.repetitions))


def _answers(groups: dict[str, RunGroup], on_progress: OnProgress) -> list[Answered]:
    """Frame by frame, where there are too few repetitions for a test over them."""
    few = [
        (a, b)
        for b, a in combinations(groups, 2)
        if groups[a].uses_labels and groups[b].uses_labels and _common_seeds(groups[a], groups[b]) < FEWEST_FOR_TEST
    ]
    wanted = sorted({key for pair in few for key in pair})
    shares: dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
    for key in counted(wanted, "answers to frames", on_progress):
        each = [right_answers(run) for run in groups[key].runs]
        shares[key] = np.mean([right for right, _ in each], axis=0), each[0][1]
    return [Answered(a=a, b=b, compared=compare_answers(shares[a][0], shares[b][0], shares[a][1])) for a, b in few]


def right_answers(run: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Whether a run recognises each labelled validation frame, and the recording of each; (N,) both."""
    data = RunMeasurer(run).data
    task = data.recognition
    if task is None:
        raise ConfigError(f"{run} was trained without labels: there are no answers to compare")
    rows = task.split.validation[task.classes[task.split.validation] >= 0]
    scores = class_scores(data.net, embed(data.net, task.store, rows))
    return top_k_right(scores, task.classes[rows]).astype(np.float64), task.store.recording[rows]


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
        test = f"no test: measured on {recordings} recordings, and a test needs {FEWEST_GROUPS}"
    else:
        test = MCNEMAR
        if np.isin(gap, (-1.0, 0.0, 1.0)).all():  # shares over several repetitions are no counts of right answers
            p_value = mcnemar(round(only_a), round(only_b))
    return AnswersCompared(float(gap.mean()), interval, p_value, test, len(gap), recordings, only_a, only_b)


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p that questions which one alone gets right fall to both sides equally."""
    from scipy import stats  # here, because the import takes seconds

    return float(stats.binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0
