"""How well faults are found: AUROC, shares and their intervals, false alarms, and errors of the clock offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from egoequiv.doctor.finding import FAULT
from egoequiv.evaluation.statistics import FEWEST_GROUPS, GroupEstimate, Number, group_estimate, group_mean
from egoequiv.experiments.faults.trials import UNTOUCHED, Trial
from egoequiv.experiments.faults.verdicts import TrialVerdicts, Verdict

Array = NDArray[np.float64]
ByTrial = Mapping[str, TrialVerdicts]  # of one log

TURNS_DEG = 5.0  # by the log as it is, about one axis, between any two moments of a piece
NEAR_S = 0.02  # an offset that is so close counts as found
ALL = "all"
RIVALS = ("pixel difference", "mean flow")


class Plain(BaseModel):
    """A frozen record."""

    model_config = ConfigDict(frozen=True)


class Share(Plain):
    """A number between 0 and 1 with its 95 % interval."""

    value: Number
    low: Number
    high: Number

    @classmethod
    def of(cls, estimate: GroupEstimate) -> Share:
        """The estimate over groups."""
        low, high = estimate.interval(within=(0.0, 1.0))
        return cls(value=estimate.value, low=low, high=high)


class FaultRow(Plain):
    """How well one fault is found in one log, or in all of them."""

    log: str
    fault: str
    pieces: int
    groups: str  # what intervals are over: recordings or pieces
    auroc: Share  # of the largest score of all checks
    auroc_meant: Share  # of the checks that are meant for it
    turning: int  # pieces in which the camera turns by `TURNS_DEG`
    auroc_turning: Share
    auroc_unreported: Share  # the same of what the doctor does not report of the piece as it is, see `_unreported`
    found: Share  # pieces with any fault reported
    named: Share  # pieces with one of the checks meant for it reported
    rivals: dict[str, Share]  # AUROC of the plain checks


class AlarmRow(Plain):
    """How often the doctor reports a fault in a log as it is."""

    log: str
    cut: str  # into pieces of this length
    pieces: int
    groups: str
    alarms: Share
    checks: dict[str, int]  # how often each check did


class OffsetRow(Plain):
    """How well the clock offset is estimated."""

    log: str
    cut: str
    injected: int  # offsets put in, over all pieces
    told: Number  # the share for which the doctor says an offset
    median_s: Number  # of the absolute error
    ninth_s: Number  # the 90 % quantile
    near: Number  # the share within `NEAR_S` of the told ones
    within_frame: Number
    own_median_s: Number  # of the absolute error after the offset that the log has as it is


def fault_row(log: str, trial: Trial, logs: Sequence[ByTrial]) -> FaultRow | None:
    """One fault in one log or several; None if it cannot be put into any."""
    pairs = [(number, *both) for number, one in enumerate(logs) for both in _pairs(one, trial.name)]
    if not pairs:
        return None
    sound, faulty = [one for _, one, _ in pairs], [one for _, _, one in pairs]
    groups, kind = _groups([(number, one.recording) for number, one, _ in pairs])
    turns = np.array([one.turned_deg >= TURNS_DEG for one in sound])

    def area_of(scores: tuple[Array, Array], rows: NDArray[np.bool_]) -> Share:
        values = [np.nan_to_num(each[rows]) for each in scores]
        return Share.of(auroc(values[0], values[1], groups[rows]))

    def area(score: Callable[[Verdict], float], rows: NDArray[np.bool_] | None = None) -> Share:
        scores = [np.array([score(one) for one in each]) for each in (faulty, sound)]
        return area_of((scores[0], scores[1]), np.ones(len(pairs), bool) if rows is None else rows)

    def share(is_so: Callable[[Verdict], bool]) -> Share:
        return Share.of(group_mean(np.array([is_so(one) for one in faulty]), groups))

    return FaultRow(
        log=log,
        fault=trial.name,
        pieces=len(pairs),
        groups=kind,
        auroc=area(lambda one: one.score),
        auroc_meant=area(lambda one: one.largest(trial.meant)),
        turning=int(turns.sum()),
        auroc_turning=area(lambda one: one.score, turns),
        auroc_unreported=area_of(_unreported(sound, faulty, trial.meant), turns),
        found=share(lambda one: one.score >= FAULT),
        named=share(lambda one: one.largest(trial.meant) >= FAULT),
        rivals={name: area(lambda one, name=name: one.rivals.get(name, 0.0)) for name in RIVALS},  # type: ignore[misc]
    )


def alarm_row(log: str, cut: str, logs: Sequence[ByTrial]) -> AlarmRow:
    """False alarms in logs as they are."""
    sound = [(number, one) for number, by_trial in enumerate(logs) for one in by_trial[UNTOUCHED].verdicts]
    groups, kind = _groups([(number, one.recording) for number, one in sound])
    checks: dict[str, int] = {}
    for _, one in sound:
        for check in one.faults():
            checks[check] = checks.get(check, 0) + 1
    alarms = group_mean(np.array([bool(one.faults()) for _, one in sound]), groups)
    return AlarmRow(log=log, cut=cut, pieces=len(sound), groups=kind, alarms=Share.of(alarms), checks=checks)


def offset_row(log: str, cut: str, trials: Sequence[Trial], logs: Sequence[ByTrial]) -> OffsetRow | None:
    """The errors of all offsets that were put in; None if there are none."""
    rows = [
        (trial.offset_s, sound.offset_s, faulty.offset_s, faulty.step_s)
        for by_trial in logs
        for trial in trials
        if trial.offset_s
        for sound, faulty in _pairs(by_trial, trial.name)
    ]
    if not rows:
        return None
    injected, before, found, step_s = np.array(rows, np.float64).T
    error, own = np.abs(found - injected), np.abs(found - before - injected)
    told = np.isfinite(error)
    known = error[told]
    return OffsetRow(
        log=log,
        cut=cut,
        injected=len(rows),
        told=float(told.mean()),
        median_s=_quantile(known, 0.5),
        ninth_s=_quantile(known, 0.9),
        near=float((known <= NEAR_S).mean()) if len(known) else np.nan,
        within_frame=float((known <= step_s[told]).mean()) if len(known) else np.nan,
        own_median_s=_quantile(own[np.isfinite(own)], 0.5),
    )


def auroc(faulty: Array, sound: Array, groups: NDArray[np.int64]) -> GroupEstimate:
    """How often a faulty piece has a higher score than a sound one, ties by half, with an interval over groups.

    Args:
        faulty: (N,) scores of pieces with a fault.
        sound: (N,) scores of the same pieces without it.
        groups: (N,) the group of each piece.

    """
    if not len(faulty):
        return GroupEstimate(np.nan, np.nan, np.nan, np.nan)
    wins = (faulty[:, None] > sound) + 0.5 * (faulty[:, None] == sound)  # (N, N)
    _, group = np.unique(groups, return_inverse=True)
    weights = np.zeros((len(faulty), int(group.max()) + 1))  # (N, G): which pieces a group has
    weights[np.arange(len(faulty)), group] = 1.0

    def of(weight: Array) -> Array:
        total = np.einsum("i...,ij,j...->...", weight, wins, weight)
        return np.asarray(total / np.square(weight.sum(axis=0)))

    return group_estimate(weights, weights.sum(axis=0), of)


def _unreported(sound: Sequence[Verdict], faulty: Sequence[Verdict], meant: Sequence[str]) -> tuple[Array, Array]:
    """The largest score of each piece with the fault and without it, but for checks that report the piece as it is.

    A log may have faults of its own, such as repeated pictures, and then a piece without the fault is not sound. The
    checks that are meant for the fault count all the same.
    """
    scores = []
    for before, after in zip(sound, faulty, strict=True):
        reported = set(before.faults()) - set(meant)
        scores.append(
            [one.largest([check for check in one.scores if check not in reported]) for one in (after, before)]
        )
    both = np.array(scores, np.float64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _pairs(by_trial: ByTrial, trial: str) -> list[tuple[Verdict, Verdict]]:
    """The pieces that have the fault, each beside itself as it was."""
    if trial not in by_trial:
        return []
    sound = {one.piece: one for one in by_trial[UNTOUCHED].verdicts}
    return [(sound[one.piece], one) for one in by_trial[trial].verdicts if one.piece in sound]


def _groups(names: Sequence[tuple[int, str]]) -> tuple[NDArray[np.int64], str]:
    """The recording of each piece; with fewer than five recordings each piece by itself."""
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    if len(place) < FEWEST_GROUPS:
        return np.arange(len(names)), "pieces"
    return np.array([place[name] for name in names], np.int64), "recordings"


def _quantile(values: Array, q: float) -> float:
    return float(np.quantile(values, q)) if len(values) else float("nan")
