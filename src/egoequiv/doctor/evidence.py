"""How well the motion in the log explains the motion in the pictures, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.logged import LoggedMotion
from egoequiv.odometry.steps import VisualSteps

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

BLOCK_S = 1.0  # steps of one block are not independent of each other
BLOCK_STEPS = 5  # without times
_ROUGH_DEG = 0.05  # a rotation from pictures is never better than this
_LENS, _GUESSED_LENS = 0.03, 0.15  # share of a turn by which the lens may be wrong
_FREEDOM = 2.0  # of Student's t: steps that are quite wrong count little
_SURE = 2.0  # weight of a direction
_NOTHING = 0.05  # of the largest block
_FEWEST_BLOCKS = 3
_TURNS, _FEWEST_TURNS = 3.0, 10  # tolerances from which on a step turns, and how many such steps say anything


@dataclass(frozen=True)
class Comparison:
    """The steps that pictures show, beside the motion that the log has for the same times."""

    recording: str
    steps: VisualSteps
    motion: LoggedMotion
    is_lens_known: bool = True

    @cached_property
    def first_s(self) -> Array:
        return self.motion.times_s[self.steps.first]

    @cached_property
    def second_s(self) -> Array:
        return self.motion.times_s[self.steps.second]

    @cached_property
    def tolerance_deg(self) -> Array:
        """(S,) by how much a rotation from pictures may be wrong, along its own axis."""
        return self._tolerance(_LENS if self.is_lens_known else _GUESSED_LENS)

    @cached_property
    def tilt_deg(self) -> Array:
        """(S,) the same across its axis: a wrong field of view makes turns longer or shorter, and hardly tilts them."""
        return self._tolerance(_LENS)

    def _tolerance(self, lens: float) -> Array:
        share = lens * np.linalg.norm(self.steps.rotation_deg, axis=1)
        errors = np.square(self.steps.rotation_error_deg)
        return np.asarray(np.sqrt(_ROUGH_DEG**2 + errors + np.square(share)), np.float64)

    @cached_property
    def block(self) -> NDArray[np.int64]:
        """(S,) the block that a step belongs to."""
        if not self.motion.is_timed:
            return np.arange(len(self.steps)) // BLOCK_STEPS
        return ((self.first_s - self.first_s[0]) // BLOCK_S).astype(np.int64) if len(self.steps) else np.empty(0, int)

    def with_motion(self, motion: LoggedMotion) -> Comparison:
        """The same pictures beside another motion."""
        return replace(self, motion=motion)

    def part(self, rows: NDArray[np.int64]) -> Comparison:
        """Some of the steps."""
        return replace(self, steps=self.steps.part(rows))

    def logged(self, shift_s: Array | float = 0.0) -> tuple[Array, Array]:
        """Rotation and translation of the log at the times of the steps, the log read `shift_s` later; (..., S, 3)."""
        shift = np.asarray(shift_s, np.float64)[..., None]
        return self.motion.between(self.first_s + shift, self.second_s + shift)

    def rotation_fit(self, logged_deg: Array, is_scaled: bool | None = None) -> Array:
        """Log-likelihood of each step's rotation given the log's (..., S, 3), against a camera that does not turn.

        Above 0: the log explains the step better than no rotation does. NaN: the pictures or the log do not tell.
        """
        seen = self.steps.rotation_deg
        parts = np.isfinite(logged_deg)  # parts that the log does not have are not compared
        if not (self.motion.is_scaled if is_scaled is None else is_scaled):
            logged_deg = logged_deg * fitted_factor(seen, logged_deg)
        count = parts.sum(axis=-1)
        turn, off = np.where(parts, seen, 0.0), np.where(parts, seen - logged_deg, 0.0)
        still = np.square(turn).sum(axis=-1)
        along = np.square((turn * off).sum(axis=-1)) / np.maximum(still, 1e-12)
        across = np.maximum(np.square(off).sum(axis=-1) - along, 0.0)
        scale, tilt = (_FREEDOM * np.square(tolerance) for tolerance in (self.tolerance_deg, self.tilt_deg))
        fit = (_FREEDOM + count) / 2 * (np.log1p(still / scale) - np.log1p(along / scale + across / tilt))
        return np.where(self.steps.rotation_known & (count > 0), fit, np.nan)

    def direction_fit(self, moved: Array) -> Array:
        """The same for directions: above 0 if both point to the same side; NaN where one does not tell."""
        length = np.linalg.norm(moved, axis=-1)
        usual = _median_above_zero(length)
        seen = self.steps.direction
        moves = (length > 0.2 * usual) & (np.linalg.norm(seen, axis=-1) > 0.5)
        cosine = (seen * moved).sum(axis=-1) / np.maximum(length, 1e-12)
        return np.where(moves, _SURE * cosine, np.nan)


def explains(comparison: Comparison, fit: Array, at_least: float, *, without_turns: bool = True) -> bool:
    """Whether a fit of rotation (S,) is good on the steps that turn, not only better than that of a wrong log.

    Args:
        comparison: whose steps are explained.
        fit: (S,) log-likelihoods of their rotations.
        at_least: what the mean over turning steps, each limited to 2, must exceed.
        without_turns: the answer if there are too few turning steps to ask.

    """
    turns = np.linalg.norm(comparison.steps.rotation_deg, axis=1) > _TURNS * comparison.tolerance_deg
    known = turns & np.isfinite(fit)
    if known.sum() < _FEWEST_TURNS:
        return without_turns
    return bool(np.mean(np.clip(fit[known], -2.0, 2.0)) > at_least)


def together(rotation: Array, direction: Array) -> Array:
    """The sum of two fits, of which one may not be known."""
    parts = np.stack([rotation, direction])
    known = np.isfinite(parts)
    return np.where(known.any(axis=0), np.where(known, parts, 0.0).sum(axis=0), np.nan)


def _median_above_zero(lengths: Array) -> Array:
    """The median of the lengths (..., S) that are above 0; infinite where there are none; (..., 1)."""
    sizes = np.where(lengths > 0, lengths, np.inf)
    count = np.isfinite(sizes).sum(axis=-1, keepdims=True)
    return np.take_along_axis(np.sort(sizes, axis=-1), np.maximum(count - 1, 0) // 2, axis=-1)


def fitted_factor(seen: Array, logged: Array) -> Array:
    """The factor, 0 or above, by which columns of unknown unit explain rotations best; (..., 1, 1)."""
    both = np.isfinite(seen) & np.isfinite(logged)
    a, b = np.where(both, seen, 0.0), np.where(both, logged, 0.0)
    factor = np.zeros((*logged.shape[:-2], 1, 1))
    weight = np.ones_like(b)
    for _ in range(5):
        top, bottom = ((weight * x).sum(axis=(-1, -2), keepdims=True) for x in (a * b, b * b))
        factor = np.maximum(top / np.maximum(bottom, 1e-12), 0.0)
        off = np.abs(a - factor * b)
        scale = np.maximum(1.4826 * np.median(off.max(axis=-1), axis=-1)[..., None, None], 1e-6)
        weight = 1.0 / (1.0 + np.square(off / scale))
    return factor


def block_means(values: Array, block: NDArray[np.int64]) -> Array:
    """Means of the known values of each block that has any: (S,) -> (B,)."""
    known = np.isfinite(values)
    if not known.any():
        return np.empty(0)
    total = np.bincount(block[known], values[known])
    count = np.bincount(block[known])
    return total[count > 0] / count[count > 0]


def lower_bound(values: Array, block: NDArray[np.int64], errors: float = 3.0) -> float:
    """The mean of values less so many standard errors over blocks; NaN with fewer than three blocks that say anything.

    Blocks whose mean is almost 0, such as those in which the camera does not turn, are left out: they say
    neither yes nor no.
    """
    means = block_means(values, block)
    means = means[np.abs(means) > _NOTHING * np.abs(means).max(initial=0.0)]
    if len(means) < _FEWEST_BLOCKS:
        return np.nan
    return float(means.mean() - errors * means.std(ddof=1) / np.sqrt(len(means)))
