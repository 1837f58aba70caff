"""Finished runs side by side: what they were made with, their figures, and paired tests between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.evaluation import PairedTest, Result, class_scores, embed, paired_test
from egoequiv.evaluation.comparison import AnswersCompared, compare_answers
from egoequiv.evaluation.equivariance import why_undefined
from egoequiv.experiments.measure import measure_run, measure_store
from egoequiv.experiments.recipe import OnStage, silent
from egoequiv.experiments.run_groups import RunGroup, differing_settings, group_runs
from egoequiv.files import or_nan, plain
from egoequiv.store import FrameStore
from egoequiv.training.open_run import open_run

SHOWN = ("top", "rho_", "ratio_")  # how the metrics begin that are set side by side
FEWEST = 3  # repetitions for a test over them, as in a table
# What decides which frames a run is measured on, beside the store.
SPLITTING = (
    "split",
    "label_split",
    "split_seed",
    "train_fraction",
    "holdout_split",
    "holdout_fraction",
    "label_column",
)


@dataclass(frozen=True)
class Tested:
    """A paired test of one metric between two groups, over the seeds that both have."""

    metric: str
    a: int  # numbers of groups; the difference is a - b
    b: int
    test: PairedTest
    seeds: int


@dataclass(frozen=True)
class Answered:
    """The answers of two groups to the same validation frames."""

    a: int
    b: int
    compared: AnswersCompared


@dataclass(frozen=True)
class Untested:
    """Two groups between which some figures were not tested, and why."""

    a: int
    b: int
    figures: Literal["all", "rho"]
    reason: str


@dataclass(frozen=True)
class RunComparison:
    """Groups of repetitions, the settings in which they differ, their metrics, and the tests."""

    groups: list[RunGroup]
    settings: dict[str, list[Any]]
    metrics: list[dict[str, Result]]
    tests: list[Tested]
    answers: list[Answered]
    untested: list[Untested]
    undefined: list[dict[str, str]]  # of each group the motions that have no rho, and why

    def describe(self) -> dict[str, Any]:
        """A JSON object; a group is told by its number, and a difference is a - b."""
        return {
            "groups": [
                {
                    "name": group.name,
                    "runs": [str(run) for run in group.runs],
                    "seeds": list(group.seeds),
                    "undefined": undefined,
                    "metrics": {
                        name: {
                            "mean": plain(result.mean),
                            "stderr": plain(result.stderr),
                            "values": plain(result.values),
                        }
                        for name, result in metrics.items()
                    },
                }
                for group, metrics, undefined in zip(self.groups, self.metrics, self.undefined, strict=True)
            ],
            "settings": self.settings,
            "tests": [
                {
                    "metric": one.metric,
                    "a": one.a,
                    "b": one.b,
                    "difference": plain(one.test.difference),
                    "stderr": plain(one.test.stderr),
                    "p_value": plain(one.test.p_value),
                    "seeds": one.seeds,
                }
                for one in self.tests
            ],
            "answers": [{"a": one.a, "b": one.b, **one.compared.describe()} for one in self.answers],
            "untested": [asdict(one) for one in self.untested],
        }


def compare_runs(runs: Sequence[Path], store: str | None = None, on_stage: OnStage = silent) -> RunComparison:
    """Measure runs on their validation frames, or on all frames of another store, and test their differences."""
    distinct = {run.resolve(): run for run in reversed(runs)}  # the same run by two paths is no repetition
    groups = group_runs([run for run in runs if distinct[run.resolve()] is run])
    if store is None:
        check_same_frames(groups)
    total = sum(len(group.runs) for group in groups)
    measured: list[dict[str, Result]] = []
    undefined: list[dict[str, str]] = []
    done = 0
    for group in groups:
        each = []
        for run in group.runs:
            on_stage("measuring", done, total)
            each.append(measure_run(run) if store is None else measure_store(run, store))
            done += 1
        measured.append(_results([one["metrics"] for one in each]))
        undefined.append(_undefined([one["motions"] for one in each]))
    on_stage("measuring", total, total)
    if not any(measured):
        raise DataError(
            f"{store or 'the stores of these runs'}: no poses and no labels that the runs know: nothing to measure"
        )
    tests = [test for a, b in combinations(range(len(groups)), 2) for test in _test(groups, measured, b, a)]
    answers = [] if store is not None else _answers(groups, on_stage)
    untested = _untested(groups, measured, tests, answers, store)
    return RunComparison(groups, differing_settings(groups), measured, tests, answers, untested, undefined)


def _results(each: Sequence[Mapping[str, float | None]]) -> dict[str, Result]:
    """The metrics that are set side by side, over the repetitions."""
    names = dict.fromkeys(name for metrics in each for name in metrics if name.startswith(SHOWN))
    return {name: Result(tuple(or_nan(metrics.get(name)) for metrics in each)) for name in names}


def _undefined(each: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """The motions that have no rho in some repetition, and why; one such repetition leaves the mean undefined."""
    reasons: dict[str, Counter[str]] = {}
    for motions in each:
        for motion in motions:
            reason = why_undefined(motion)
            if reason is not None:
                reasons.setdefault(motion["motion"], Counter())[reason] += 1
    words = {}
    for name, counts in reasons.items():
        often = counts.most_common(1)[0][0]
        words[name] = often if counts.total() == len(each) else f"in {counts.total()} of {len(each)} runs {often}"
    return words


def _untested(
    groups: list[RunGroup],
    measured: list[dict[str, Result]],
    tests: Sequence[Tested],
    answers: Sequence[Answered],
    store: str | None,
) -> list[Untested]:
    """The pairs of groups without any test, and those of which only the answers, that is top-1, were compared."""
    tested, answered = {(one.a, one.b) for one in tests}, {(one.a, one.b) for one in answers}
    found = []
    for b, a in combinations(range(len(groups)), 2):
        if (a, b) in answered and any(name.startswith("rho_") for name in measured[a].keys() & measured[b].keys()):
            reason = f"{_too_few_seeds(groups[a], groups[b])}; answers to single frames tell of top-1 only"
            found.append(Untested(a, b, "rho", reason))
        elif (a, b) not in tested | answered:
            found.append(Untested(a, b, "all", _why_untested(groups[a], groups[b], store)))
    return found


def _why_untested(a: RunGroup, b: RunGroup, store: str | None) -> str:
    common = len(set(a.repetitions) & set(b.repetitions))
    if common >= FEWEST:
        return f"no figure is defined for both in all of the {common} seeds that they have in common"
    seeds = _too_few_seeds(a, b)
    if store is not None:
        return f"{seeds}; answers to single frames are not compared on another store"
    return f"{seeds}; answers to single frames are compared where both have learned labels"


def _too_few_seeds(a: RunGroup, b: RunGroup) -> str:
    return f"a test over seeds takes {FEWEST} in common, and they have {len(set(a.repetitions) & set(b.repetitions))}"


def have_same_frames(groups: Sequence[RunGroup]) -> bool:
    """Whether all runs are measured on the same frames."""
    try:
        check_same_frames(groups)
    except EgoEquivError:
        return False
    return True


def check_same_frames(groups: Sequence[RunGroup]) -> None:
    """Refuse runs that are measured on different frames: the difference would be one of frames, not of features."""
    for first, other in combinations(groups, 2):  # all with all: where the first has no labels, others still have
        for key, what in (("data", "store"), ("labels", "store of labelled images")):
            places = [group.settings[key] for group in (first, other)]
            if key == "labels" and not (first.labels and other.labels):
                continue
            if places[0] != places[1] and _fingerprint(places[0]) != _fingerprint(places[1]):
                raise ConfigError(
                    f"{first.runs[0]} and {other.runs[0]} were trained on different stores ({what} {places[0]} against "
                    f"{places[1]}): compare runs on the same one, or measure both on a third with --store"
                )
        for key in SPLITTING:
            ours, theirs = first.settings[key], other.settings[key]
            idle = key == "holdout_split" and not first.settings["holdout_fraction"]
            if ours != theirs and not idle:
                raise ConfigError(
                    f"{first.runs[0]} and {other.runs[0]} validate on different frames ({key}={ours} against "
                    f"{theirs}): compare runs with the same split, or measure both on a store with --store"
                )


def _fingerprint(place: str | None) -> str | None:
    return None if place is None else FrameStore.open(place).fingerprint()


def _test(groups: list[RunGroup], measured: list[dict[str, Result]], a: int, b: int) -> list[Tested]:
    """Tests of all metrics that two groups have, over the seeds that both have."""
    common = list(dict.fromkeys(one for one in groups[a].repetitions if one in groups[b].repetitions))
    if len(common) < FEWEST:
        return []
    tests = []
    for metric in measured[a]:
        if metric in measured[b]:
            left, right = (
                [measured[g][metric].values[groups[g].repetitions.index(one)] for one in common] for g in (a, b)
            )
            if all(map(isfinite, left + right)):
                tests.append(Tested(metric, a, b, paired_test(left, right), len(common)))
    return tests


def _answers(groups: list[RunGroup], on_stage: OnStage) -> list[Answered]:
    """Frame by frame, where there are too few repetitions for a test over them."""
    few = [
        (a, b)
        for b, a in combinations(range(len(groups)), 2)
        if groups[a].labels
        and groups[b].labels
        and len(set(groups[a].repetitions) & set(groups[b].repetitions)) < FEWEST
    ]
    wanted = sorted({number for pair in few for number in pair})
    shares: dict[int, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
    for done, number in enumerate(wanted):
        on_stage("asking about frames", done, len(wanted))
        each = [right_answers(run) for run in groups[number].runs]
        shares[number] = np.mean([right for right, _ in each], axis=0), each[0][1]
    if wanted:
        on_stage("asking about frames", len(wanted), len(wanted))
    return [Answered(a, b, compare_answers(shares[a][0], shares[b][0], shares[a][1])) for a, b in few]


def right_answers(run: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Whether a run recognises each labelled validation frame, and the recording of each; (N,) both."""
    opened = open_run(run)
    task = opened.recognition
    if task is None:
        raise ConfigError(f"{run} was trained without labels: there are no answers to compare")
    rows = task.split.validation[task.classes[task.split.validation] >= 0]
    scores = class_scores(opened.net, embed(opened.net, task.store, rows))
    own = scores[np.arange(len(rows)), task.classes[rows]]
    right = (scores < own[:, None]).sum(axis=1) == scores.shape[1] - 1  # a tie is no success, as in top-1
    return right.astype(np.float64), task.store.recording[rows]
