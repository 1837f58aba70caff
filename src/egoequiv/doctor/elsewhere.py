"""Pictures that belong to the motion of another time, or of another recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.evidence import Comparison, explains, lower_bound
from egoequiv.doctor.finding import Finding, Moment
from egoequiv.doctor.offset import coarse_shift

Array = NDArray[np.float64]

WINDOW_S = 8.0
_GAIN = 0.25  # log-likelihood of a step that the other place must gain, its uncertainty aside
_FARTHEST = 3000  # steps
_NEAR_S = 2.0  # closer than this it is an offset
_FEWEST = 10  # steps
_CLEARLY = 0.8  # log-likelihood of a turning step, each limited to 2, that another time must reach
_AGREES = 0.3  # log-likelihood of a step above which pictures and log agree


def agreement(comparison: Comparison, shift_s: float = 0.0) -> Finding:
    """Whether the rotation of the log explains that of the pictures at all."""
    check, name = "agreement", comparison.recording
    if not comparison.motion.has_rotation:
        return Finding(check, name, np.nan, "the log has no rotation to compare with")
    logged = comparison.logged(shift_s)[0]
    fit = comparison.rotation_fit(logged)
    size = np.sqrt(np.square(np.where(np.isfinite(logged), logged, 0.0)).sum(axis=-1))
    if not comparison.motion.is_scaled:
        size = np.where(np.isfinite(fit), np.inf, 0.0)
    turns = np.isfinite(fit) & (size > 2 * comparison.tolerance_deg)
    if turns.sum() < _FEWEST:
        return Finding(check, name, np.nan, "the camera turns too little to tell")
    mean = float(fit[turns].mean())
    share = float((fit[turns] > 0).mean())
    upper = -lower_bound(-np.where(turns, fit, np.nan), comparison.block)
    score = float(np.clip((_AGREES - upper) / _AGREES + 1.0, 0.0, 9.0)) if np.isfinite(upper) else np.nan
    values = (("mean", mean), ("share", share), ("upper_bound", upper))
    text = f"{100 * share:.0f} % of {int(turns.sum())} turning steps agree with the log better than with no turn"
    if score >= 1 and not comparison.motion.is_scaled:  # a car that stands does not turn, however it steers
        return Finding(check, name, 0.99, f"{text}; a command need not act", values=values)
    if score >= 1:
        text = f"the pictures do not follow the rotation of the log: {text}"
    return Finding(check, name, score, text, "compare the two curves on the page" if score >= 1 else "", values=values)


def other_time(comparison: Comparison) -> Finding:
    """Whether parts of the pictures belong to the motion of another part of the recording."""
    check, name = "order of parts", comparison.recording
    windows = _windows(comparison)
    if not comparison.motion.has_rotation or len(windows) < 2:
        return Finding(check, name, np.nan, "no rotation in the log, or too short")
    own = comparison.rotation_fit(comparison.logged(coarse_shift(comparison))[0])
    moments, scores, explained = [], [], 0.0
    for rows in windows:
        found = _best_elsewhere(comparison, rows, own)
        if found is None:
            continue
        gain, total, shift = found
        scores.append(gain)
        if gain >= _GAIN:
            explained += total
            begin, end = comparison.first_s[rows[0]], comparison.second_s[rows[-1]]
            text = f"pictures of {begin:.1f} to {end:.1f} s fit the motion {shift:+.1f} s away"
            moments.append(Moment(int(comparison.steps.first[rows[0]]), int(comparison.steps.second[rows[-1]]), text))
    if not scores:
        return Finding(check, name, np.nan, "the camera turns too little to tell")
    bound = float(np.mean(sorted(scores)[-2:]))
    score, values = max(bound, 0.0) / _GAIN, (("lower_bound", bound), ("explained", explained))
    if score < 1 or not moments:
        text = "every part fits the motion of its own time best"
        return Finding(check, name, min(score, 0.99), text, values=values)
    return Finding(check, name, score, moments[0].text, "put the parts in order again", tuple(moments), values)


def _windows(comparison: Comparison) -> list[NDArray[np.int64]]:
    span = comparison.first_s - comparison.first_s[0] if len(comparison.steps) else np.empty(0)
    length = WINDOW_S if comparison.motion.is_timed else 60.0
    number = (span // length).astype(np.int64)
    parts = [np.flatnonzero(number == k) for k in range(int(number.max(initial=-1)) + 1)]
    return [rows for rows in parts if len(rows) >= 20]


def _best_elsewhere(comparison: Comparison, rows: NDArray[np.int64], own: Array) -> tuple[float, float, float] | None:
    """The gain of a step (lower bound) at the best other time, the sum of gains, and how far away that time is."""
    steps = len(comparison.steps)
    low, high = max(-int(rows[0]), -_FARTHEST), min(steps - 1 - int(rows[-1]), _FARTHEST)
    shifts = np.arange(low, high + 1)
    usual = float(np.median(comparison.second_s - comparison.first_s))
    far = _NEAR_S if comparison.motion.is_timed else 10.0
    shifts = shifts[np.abs(shifts) * usual > far]
    if not len(shifts) or np.isfinite(own[rows]).sum() < _FEWEST:
        return None
    logged = comparison.logged()[0]
    part = comparison.part(rows)
    fit = part.rotation_fit(np.stack([logged[rows + shift] for shift in shifts]))
    known = np.isfinite(fit).sum(axis=1) >= 0.8 * np.isfinite(own[rows]).sum()
    if not known.any():
        return None
    mean = np.where(known, np.nanmean(np.where(known[:, None], fit, 0.0), axis=1), -np.inf)
    k = int(mean.argmax())
    if not explains(part, fit[k], _CLEARLY):
        return -1.0, 0.0, 0.0  # it fits no other time either
    gain = fit[k] - own[rows]
    return lower_bound(gain, comparison.block[rows]), float(np.nansum(gain)), float(shifts[k] * usual)


def other_recording(comparison: Comparison, others: Sequence[Comparison]) -> Finding:
    """Whether the pictures of a recording fit the motion of another one better than its own."""
    check, name = "right recording", comparison.recording
    others = [other for other in others if other is not comparison and other.motion.has_rotation]
    if not comparison.motion.has_rotation or not others:
        return Finding(check, name, np.nan, "no rotation in the log, or no other recording")
    own = comparison.rotation_fit(comparison.logged(coarse_shift(comparison))[0])
    known = int(np.isfinite(own).sum())
    best: tuple[float, float, str] | None = None
    for other in others:
        start = other.motion.times_s[0] - comparison.motion.times_s[0]
        there = other.motion.between(comparison.first_s + start, comparison.second_s + start)[0]
        gain = comparison.rotation_fit(there, other.motion.is_scaled) - own
        bound = lower_bound(gain, comparison.block)
        is_enough = np.isfinite(gain).sum() >= max(_FEWEST, 0.5 * known) and np.isfinite(bound)
        is_enough = is_enough and explains(comparison, gain + own, _CLEARLY)
        if is_enough and (best is None or bound > best[0]):
            best = (bound, float(np.nansum(gain)), other.recording)
    if best is None:
        return Finding(check, name, np.nan, "the camera turns too little to tell")
    bound, explained, where = best
    score, values = max(bound, 0.0) / _GAIN, (("lower_bound", bound), ("explained", explained))
    if score < 1:
        return Finding(check, name, score, "no other recording's motion fits better", values=values)
    text = f"the pictures fit the motion of {where} better than their own"
    return Finding(check, name, score, text, f"exchange the motion of {name} and {where}", values=values)
