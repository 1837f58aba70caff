"""Pictures that belong to the motion of another time, or of another recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.evidence import Comparison, block_means, explains, fitted_factor, lower_bound
from egoequiv.doctor.finding import Finding, Moment
from egoequiv.doctor.offset import at_best_offset, own_fit

Array = NDArray[np.float64]

WINDOW_S = 8.0
_GAIN = 0.25  # log-likelihood of a step that the other place must gain, its uncertainty aside
_FARTHEST = 3000  # steps
_AT_A_TIME = 200  # other times that are tried together
_NEAR_S = 2.0  # closer than this it is an offset
_FEWEST = 10  # steps
_CLEARLY = 0.8  # log-likelihood of a turning step, each limited to 2, that another time must reach
_HALF = 0.5  # of the turn of a step: log and pictures agree if they differ by less
_CLEARLY_OFF = 2.0  # tolerances: a step that neither agrees nor differs by more says nothing
_BY_CHANCE = 0.05  # of all steps: so many differ by two tolerances by noise alone
_USUAL_SHARE, _LOW_SHARE = 0.8, 0.4  # of turning steps that agree with a sound log; below the second it is a fault
_MOST_TOLD = 0.9  # of all steps: below it, pictures alone do not say that the camera turns
_AGREES = 0.3  # log-likelihood of a step above which pictures and log agree


def agreement(comparison: Comparison, shift_s: float = 0.0) -> Finding:
    """Whether the rotation of the log explains that of the pictures at all."""
    check, name = "agreement", comparison.recording
    if not comparison.motion.has_rotation:
        return Finding(check, name, np.nan, "the log has no rotation to compare with")
    logged = comparison.logged(shift_s)[0]
    fit = comparison.rotation_fit(logged)
    size, off = _turns_and_differences(comparison, logged)
    agrees, clearly_off = off < _HALF * size, off > _CLEARLY_OFF * comparison.tolerance_deg
    turns = np.isfinite(fit) & (size > 2 * comparison.tolerance_deg) & (agrees | clearly_off)
    if turns.sum() < max(_FEWEST, _BY_CHANCE * np.isfinite(fit).sum()):
        return Finding(check, name, np.nan, "the camera turns too little to tell")
    mean = float(fit[turns].mean())
    share = float(agrees[turns].mean())
    upper = -lower_bound(-np.where(turns, fit, np.nan), comparison.block)
    score = float(np.clip((_AGREES - upper) / _AGREES + 1.0, 0.0, 9.0)) if np.isfinite(upper) else np.nan
    shares = block_means(np.where(turns, agrees, np.nan), comparison.block)
    error = float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else np.nan
    score = float(np.fmax(score, (_USUAL_SHARE - share - error) / (_USUAL_SHARE - _LOW_SHARE)))
    values = (("mean", mean), ("share", share), ("share_error", error), ("upper_bound", upper))
    text = f"in {100 * share:.0f} % of {int(turns.sum())} turning steps the log differs by less than half of the turn"
    if score >= 1 and not comparison.motion.is_scaled:  # a car that stands does not turn, however it steers
        return Finding(check, name, 0.99, f"{text}; a command need not act", values=values)
    if score >= 1:
        text = f"the pictures do not follow the rotation of the log: {text}"
    return Finding(check, name, score, text, "compare the two curves on the page" if score >= 1 else "", values=values)


def _turns_and_differences(comparison: Comparison, logged: Array) -> tuple[Array, Array]:
    """How far each step turns, by the pictures or by the log (the larger), and how far they differ; (S,) each.

    Pictures that leave many steps open, such as tiny ones, are often wrong in the others: they prove no turn.
    """
    seen, parts = comparison.steps.rotation_deg, np.isfinite(logged)
    if not comparison.motion.is_scaled:
        logged = logged * fitted_factor(seen, logged)
    both = [np.where(parts, one, 0.0) for one in (seen, logged)]
    by_pictures, by_log = (np.linalg.norm(one, axis=1) for one in both)
    is_told = comparison.steps.rotation_known.mean() >= _MOST_TOLD if len(seen) else False
    size = np.maximum(by_pictures, by_log) if is_told or not comparison.motion.is_scaled else by_log
    return size, np.linalg.norm(both[0] - both[1], axis=1)


def other_time(comparison: Comparison) -> Finding:
    """Whether parts of the pictures belong to the motion of another part of the recording."""
    check, name = "order of parts", comparison.recording
    windows = _windows(comparison)
    if not comparison.motion.has_rotation or len(windows) < 2:
        return Finding(check, name, np.nan, "no rotation in the log, or too short")
    own, logged = own_fit(comparison)[1], comparison.logged()[0]
    moments, scores, explained = [], [], 0.0
    for rows in windows:
        found = _best_elsewhere(comparison, rows, own, logged)
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
    longest = WINDOW_S if comparison.motion.is_timed else 60.0
    length = max(min(longest, float(span.max(initial=0.0)) / 4), longest / 3)  # of a short recording, quarters
    number = (span // length).astype(np.int64)
    parts = [np.flatnonzero(number == k) for k in range(int(number.max(initial=-1)) + 1)]
    return [rows for rows in parts if len(rows) >= 20]


def _best_elsewhere(
    comparison: Comparison, rows: NDArray[np.int64], own: Array, logged: Array
) -> tuple[float, float, float] | None:
    """The gain of a step (lower bound) at the best other time, the sum of gains, and how far away that time is."""
    steps = len(comparison.steps)
    low, high = max(-int(rows[0]), -_FARTHEST), min(steps - 1 - int(rows[-1]), _FARTHEST)
    shifts = np.arange(low, high + 1)
    usual = float(np.median(comparison.second_s - comparison.first_s))
    far = _NEAR_S if comparison.motion.is_timed else 10.0
    shifts = shifts[np.abs(shifts) * usual > far]
    if not len(shifts) or np.isfinite(own[rows]).sum() < _FEWEST:
        return None
    part = comparison.part(rows)
    if explains(part, own[rows], _CLEARLY):
        return -1.0, 0.0, 0.0  # it fits its own time
    best, fit, shift = -np.inf, np.empty(0), 0
    for some in np.array_split(shifts, -(-len(shifts) // _AT_A_TIME)):
        fits = part.rotation_fit(np.stack([logged[rows + each] for each in some]))
        known = np.isfinite(fits).sum(axis=1) >= 0.8 * np.isfinite(own[rows]).sum()
        mean = np.where(known, np.nanmean(np.where(known[:, None], fits, 0.0), axis=1), -np.inf)
        k = int(mean.argmax())
        if mean[k] > best:
            best, fit, shift = float(mean[k]), fits[k].copy(), int(some[k])
    if not np.isfinite(best):
        return None
    if not explains(part, fit, _CLEARLY):
        return -1.0, 0.0, 0.0  # it fits no other time either
    gain = fit - own[rows]
    return lower_bound(gain, comparison.block[rows]), float(np.nansum(gain)), shift * usual


def other_recording(comparison: Comparison, others: Sequence[Comparison]) -> Finding:
    """Whether the pictures of a recording fit the motion of another one better than its own."""
    check, name = "right recording", comparison.recording
    others = [other for other in others if other is not comparison and other.motion.has_rotation]
    if not comparison.motion.has_rotation or not others:
        return Finding(check, name, np.nan, "no rotation in the log, or no other recording")
    own = own_fit(comparison)[1]
    known = int(np.isfinite(own).sum())
    if known < _FEWEST:
        return Finding(check, name, np.nan, "too few steps that can be compared")
    if explains(comparison, own, _CLEARLY):
        return Finding(check, name, 0.0, "the pictures fit the motion of their own recording")
    best: tuple[float, float, str] | None = None
    for other in others:
        there = _fit_of(comparison, other)
        gain = there - own
        bound = lower_bound(gain, comparison.block)
        is_enough = np.isfinite(gain).sum() >= max(_FEWEST, 0.5 * known) and np.isfinite(bound)
        if is_enough and explains(comparison, there, _CLEARLY) and (best is None or bound > best[0]):
            best = (bound, float(np.nansum(gain)), other.recording)
    if best is None:
        return Finding(check, name, np.nan, "the camera turns too little to tell")
    bound, explained, where = best
    score, values = max(bound, 0.0) / _GAIN, (("lower_bound", bound), ("explained", explained))
    if score < 1:
        return Finding(check, name, score, "no other recording's motion fits better", values=values)
    text = f"the pictures fit the motion of {where} better than their own"
    return Finding(check, name, score, text, f"exchange the motion of {name} and {where}", values=values)


def _fit_of(comparison: Comparison, other: Comparison) -> Array:
    """How well the rotation of another recording, from its beginning on, explains the steps; (S,)."""
    start = other.motion.times_s[0] - comparison.motion.times_s[0]

    def fits(offsets: Array) -> tuple[Array, Array]:
        shift = start + offsets[:, None]
        turned = other.motion.between(comparison.first_s + shift, comparison.second_s + shift)[0]
        rotation = comparison.rotation_fit(turned, other.motion.is_scaled)
        return rotation, rotation

    return at_best_offset(comparison, fits)[1]
