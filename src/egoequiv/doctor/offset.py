"""Clock offset between camera and motion, and a clock that drifts: from the rotation that both show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.evidence import Comparison, fitted_factor, lower_bound, together
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.logged import LoggedMotion

Array = NDArray[np.float64]

LONGEST_S = 1.6  # offsets are looked for up to this, or a quarter of the recording
GRID_S = 0.01
_COARSE_S, _FINE = 0.1, 5
SUREST_S = 0.003  # no interval is narrower to either side
TOLERANCE_S = 0.015  # an offset below this, its uncertainty aside, is no fault
COMMAND_S = 0.4  # motion follows a command (steering, throttle) later; up to this it is no fault
_DRAWS = 400
_FEWEST_BLOCKS = 3
_PEAK = 1.5  # the best offset must be better than others by so many standard errors
_APART_S = 0.3  # others: offsets further away than this
FASTEST_DRIFT = 0.12  # of the time that passes
_LONGEST_DRIFT_S = 10.0
_FEWEST_STEPS = 20
_MOST_STEPS = 4000
_AT_A_TIME = 50_000  # fits of a step at an offset
_RATES = 30  # drifts of either sign that are tried
_DRIFT_GAIN = 0.1  # log-likelihood of a step that a drift must gain


@dataclass(frozen=True)
class Offset:
    """How much later (above 0) the log must be read for its rotation to agree with the pictures."""

    seconds: float
    low: float  # 95 % interval over blocks of time, as wide to both sides: which side is in doubt is not known either
    high: float
    peak: float  # how clearly it is the best, in standard errors


def clock_offset(comparison: Comparison) -> Finding:
    """Whether the clock of the motion differs from that of the camera, and by how much."""
    name, check = comparison.recording, "clock offset"
    motion = comparison.motion
    if not motion.is_timed:
        return Finding(check, name, np.nan, "frames have no times")
    if not motion.has_rotation:
        return Finding(check, name, np.nan, "the log has no rotation to compare with")
    found = estimate_offset(comparison)
    if isinstance(found, str):
        return Finding(check, name, np.nan, found)
    half = max((found.high - found.low) / 2, GRID_S / 2)
    late = motion.is_scaled or not -COMMAND_S <= found.seconds <= 0
    score = abs(found.seconds) / (TOLERANCE_S + half) if late else 0.0
    words = f"{1e3 * found.seconds:+.0f} ms ({1e3 * found.low:+.0f} to {1e3 * found.high:+.0f})"
    values = (("offset_s", found.seconds), ("low_s", found.low), ("high_s", found.high), ("peak", found.peak))
    if score < 1:
        lag = "" if motion.is_scaled else f"; {motion.turn_name} acts on the pictures with that delay"
        return Finding(check, name, score, f"none to speak of: {words}{lag}", values=values)
    text = f"the motion in the log is {words} {'late' if found.seconds > 0 else 'early'} against the pictures"
    return Finding(check, name, score, text, _fix(motion, found.seconds), values=values)


def _fix(motion: LoggedMotion, seconds: float) -> str:
    """What to type, on top of what was typed before."""
    if "offset_s" not in motion.settings:
        return f"add {-seconds:+.3f} s to the time stamps of the motion in the log"
    return f"--read offset_s={float(motion.settings['offset_s'] or 0.0) - seconds:.3f}"


def estimate_offset(comparison: Comparison) -> Offset | str:
    """The offset with its interval, or why it cannot be told."""
    comparison = thinned(comparison)
    grid = _offsets(comparison, LONGEST_S)
    blocks = _block_sums(comparison, grid)
    if len(blocks) < _FEWEST_BLOCKS or len(grid) < 5:
        return "too short, or too few steps that can be compared"
    best = _peak(grid, blocks.sum(axis=0))
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), size=_DRAWS)
    half = max(wider(len(blocks)) * float(np.quantile(np.abs(_peak(grid, drawn @ blocks) - best), 0.95)), SUREST_S)
    k = int(np.abs(grid - best).argmin())
    others = np.abs(grid - best) > _APART_S
    gain = blocks[:, [k]] - blocks[:, others]
    clear = float((gain.mean(axis=0) / (gain.std(axis=0, ddof=1) / np.sqrt(len(blocks)) + 1e-12)).min())
    if clear < _PEAK or half > _APART_S:
        return f"the camera turns too little to tell (best {1e3 * float(best):+.0f} ms)"
    return Offset(float(best), float(best - half), float(best + half), clear)


def wider(blocks: int) -> float:
    """By which factor the interval of a bootstrap over few blocks is too narrow: Student's t, and their variance."""
    from scipy.special import stdtrit

    return float(stdtrit(blocks - 1, 0.975) / 1.96 * np.sqrt(blocks / (blocks - 1)))


Fits = tuple[Array, Array]  # (T, S) each: rotation and direction together, and rotation alone


def at_best_offset(comparison: Comparison, fits: Callable[[Array], Fits]) -> tuple[Array, Array, float]:
    """How well a motion explains each step at the clock offset that suits it best, because the clock may be wrong too.

    Args:
        comparison: whose steps are explained.
        fits: for clock offsets (T,), how well steps are explained, as a whole and by rotation alone.

    Returns:
        Both fits (S,) at the best offset, and that offset.

    """
    if not comparison.motion.is_timed:
        whole, rotation = fits(np.zeros(1))
        return whole[0], rotation[0], 0.0
    times = comparison.motion.times_s
    count = np.floor(min(LONGEST_S, (times[-1] - times[0]) / 4) / _COARSE_S)
    best, found = 0.0, (np.empty(0), np.empty(0))
    # The second grid is finer: half a step off, the right motion may lose against a wrong one.
    for offsets in (np.arange(-count, count + 1) * _COARSE_S, np.arange(-_FINE, _FINE + 1) * (_COARSE_S / _FINE)):
        most, around = -np.inf, best
        for part in _parts(len(offsets), len(comparison.steps)):
            some = np.asarray(around + offsets[part], np.float64)
            whole, rotation = fits(some)
            sums = np.where(np.isfinite(whole), whole, 0.0).sum(axis=1)
            k = int(sums.argmax())
            if sums[k] > most:
                most, best, found = float(sums[k]), float(some[k]), (whole[k].copy(), rotation[k].copy())
    return *found, best


def own_fit(comparison: Comparison) -> tuple[Array, Array, float]:
    """The same for the log as it was read."""

    def fits(offsets: Array) -> Fits:
        turned, moved = comparison.logged(offsets)
        rotation = comparison.rotation_fit(turned)
        return together(rotation, comparison.direction_fit(moved)), rotation

    return at_best_offset(comparison, fits)


def clock_drift(comparison: Comparison) -> Finding:
    """Whether the offset grows with time: a clock that runs fast, or frames that were dropped without a trace."""
    name, check = comparison.recording, "clock drift"
    motion = comparison.motion
    if not motion.is_timed or not motion.has_rotation:
        return Finding(check, name, np.nan, "no times, or no rotation in the log")
    lasts = float(motion.times_s[-1] - motion.times_s[0])
    comparison = thinned(comparison)
    fit = comparison.rotation_fit(comparison.logged()[0])
    used = np.isfinite(fit)
    if used.sum() < _FEWEST_STEPS:
        return Finding(check, name, np.nan, "too few steps that turn")
    comparison = comparison.part(np.flatnonzero(used))
    grid = _offsets(comparison, min(LONGEST_S + FASTEST_DRIFT * lasts / 2, _LONGEST_DRIFT_S))
    drifting, even = _best_lines(comparison, grid)
    gain = _along(comparison, grid, *drifting) - _along(comparison, grid, *even)
    rate = drifting[1]
    bound = lower_bound(gain, comparison.block, errors=2.5)
    values = (("drift", float(rate)), ("gain", float(gain.mean())), ("explained", float(gain.sum())))
    score = max(bound, 0.0) / _DRIFT_GAIN if np.isfinite(bound) else 0.0
    if score < 1:
        return Finding(check, name, score, "none", values=values)
    text = (
        f"the offset changes by {1e3 * rate:+.0f} ms a second ({rate * lasts:+.2f} s over the recording): "
        "frames were dropped or repeated without a trace in their times, or a clock runs at another speed"
    )
    return Finding(check, name, score, text, "correct the times of the frames", values=values)


def thinned(comparison: Comparison) -> Comparison:
    """Of a long recording, whole blocks of time evenly over it: what is kept in memory does not grow without end."""
    every = -(-len(comparison.steps) // _MOST_STEPS)
    return comparison if every <= 1 else comparison.part(np.flatnonzero(comparison.block % every == 0))


def _offsets(comparison: Comparison, longest_s: float) -> Array:
    """Offsets up to a quarter of the recording, (T,)."""
    lasts = float(comparison.motion.times_s[-1] - comparison.motion.times_s[0])
    reach = np.floor(min(longest_s, lasts / 4) / GRID_S)
    return np.asarray(np.arange(-reach, reach + 1) * GRID_S)


def _fits(comparison: Comparison, grid: Array) -> Iterator[tuple[NDArray[np.int64], Array]]:
    """How well the log, read so much later, explains steps: some rows (R,) at a time, and their fits (R, T).

    There may be thousands of steps and offsets, so not all fits are in memory at the same time.
    """
    factor = _factors(comparison, grid)
    for rows in _parts(len(comparison.steps), len(grid)):
        part = comparison.part(rows)
        yield rows, part.rotation_fit(factor * part.logged(grid)[0], is_scaled=True).T


def _parts(count: int, each: int) -> list[NDArray[np.int64]]:
    """The numbers below `count` in parts, if each of them needs so many fits in memory."""
    parts = -(-count * each // _AT_A_TIME)
    return np.array_split(np.arange(count), min(max(parts, 1), max(count, 1)))


def _factors(comparison: Comparison, grid: Array) -> Array:
    """By which factor the log explains all steps together best at each offset, if its unit is not known; (T, 1, 1)."""
    if comparison.motion.is_scaled:
        return np.ones((len(grid), 1, 1))
    seen = comparison.steps.rotation_deg
    parts = _parts(len(grid), len(comparison.steps))
    return np.concatenate([fitted_factor(seen, comparison.logged(grid[part])[0]) for part in parts])


def _block_sums(comparison: Comparison, grid: Array) -> Array:
    """Sums of fits over the steps of each block that are known at every offset, so that all have the same; (B, T)."""
    sums: dict[int, Array] = {}
    for rows, fit in _fits(comparison, grid):
        for k in np.flatnonzero(np.isfinite(fit).all(axis=1)):
            block = int(comparison.block[rows[k]])
            sums[block] = sums.get(block, 0.0) + fit[k]
    return np.stack([sums[block] for block in sorted(sums)]) if sums else np.empty((0, len(grid)))


Line = tuple[float, float]  # the offset in the middle of the recording, and by how much it grows in a second


def _best_lines(comparison: Comparison, grid: Array) -> tuple[Line, Line]:
    """The offset that grows with time, and the constant one, that explain the steps best."""
    starts = grid[np.abs(grid) <= LONGEST_S / 2][::2]
    rates = np.arange(-_RATES, _RATES + 1) * (FASTEST_DRIFT / _RATES)
    since = comparison.first_s - comparison.first_s.mean()
    sums = np.zeros((len(rates), len(starts)))
    for rows, fit in _fits(comparison, grid):
        fit = np.nan_to_num(fit)
        for r, rate in enumerate(rates):
            place = np.round((starts[:, None] + rate * since[rows] - grid[0]) / GRID_S).astype(np.int64)
            sums[r] += fit[np.arange(len(rows)), np.clip(place, 0, len(grid) - 1)].sum(axis=1)
    best, even = divmod(int(sums.argmax()), len(starts)), int(sums[_RATES].argmax())
    return (float(starts[best[1]]), float(rates[best[0]])), (float(starts[even]), 0.0)


def _along(comparison: Comparison, grid: Array, start: float, rate: float) -> Array:
    """How well each step is explained if the offset is `start` in the middle and grows by `rate`; 0: not known."""
    shift = np.clip(start + rate * (comparison.first_s - comparison.first_s.mean()), grid[0], grid[-1])
    logged = comparison.motion.between(comparison.first_s + shift, comparison.second_s + shift)[0]
    return np.nan_to_num(comparison.rotation_fit(logged))


def _peak(grid: Array, fit: Array) -> Array:
    """Where fits (..., T) are largest, between the points of the grid by a parabola; (...)."""
    k = np.clip(fit.argmax(axis=-1), 1, len(grid) - 2)
    left, middle, right = (np.take_along_axis(fit, (k + d)[..., None], -1)[..., 0] for d in (-1, 0, 1))
    bend = left - 2 * middle + right
    shift = np.where(bend < 0, (left - right) / (2 * np.where(bend < 0, bend, -1.0)), 0.0)
    return np.asarray(grid[k] + np.clip(shift, -1, 1) * GRID_S)
