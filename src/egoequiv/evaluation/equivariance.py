"""How equivariant features are: the normalised error rho_g of Eq. 9 for each motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite, nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError, TooFewPairsError
from egoequiv.evaluation.features import embed
from egoequiv.evaluation.folds import group_folds
from egoequiv.evaluation.frame_features import fold_groups, groups_of
from egoequiv.evaluation.statistics import group_interval, group_ratio
from egoequiv.models import EgoNet
from egoequiv.models.maps import FEWEST_SCORED, RANK_TOLERANCE, fewest_pairs
from egoequiv.models.network import ALL
from egoequiv.pairs import MotionPairs, MotionPatterns, declare_patterns, find_motion_pairs
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore

Features = NDArray[np.float32] | NDArray[np.float64]

# Two images whose features are this close, relative to the mean distance, have the same features but for rounding.
SAME = 1e-6
PENALTIES = tuple(10.0**k for k in range(-7, 3))  # of the change of features, as shares of their total variance
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the change that a map predicts
FOLDS = 5
GAP = 0.1  # of the pairs of a motion in time, between their two halves
LEAST_HALF = 8  # pairs of a half on which a map is chosen


@dataclass(frozen=True)
class MotionError:
    """The equivariance error of one motion.

    It is compared with two maps that know nothing: copying the features has a rho of 1, and predicting the mean of all
    features has one of `constant`, which is 0.71 for features that have nothing to do with each other. Only a rho below
    both says that features answer to the motion.
    """

    motion: str
    rho: float  # mean over pairs of |z(x) - M'z(gx)| / |z(x) - z(gx)|
    interval: tuple[float, float]  # 95 %, over recordings
    ratio_of_means: float  # mean |z(x) - M'z(gx)| / mean |z(x) - z(gx)|, which leaves no pair out
    pairs_fitted: int
    pairs_scored: int
    pairs_excluded: int  # scored pairs left out of rho because both images have the same features
    pairs_needed: int | None = None  # where there are too few, how many it would take
    constant: float = nan  # rho of the map that always predicts the mean of z(x)
    recordings: int = 0  # that rho and its interval are of
    part: str | None = None  # of which there are too few, training or validation, where they are kept apart
    ratio_interval: tuple[float, float] = (nan, nan)  # 95 %, over recordings
    ratio_constant: float = nan  # the ratio of means of the map that always predicts the mean of z(x)
    is_copied: bool = False  # whether nothing was better than a map that changes nothing

    def why_undefined(self) -> str | None:
        """Why there is no rho, in words; nothing where there is one."""
        if isfinite(self.rho):
            return None
        if self.pairs_fitted:
            return "all pairs have the same features: the network collapsed"
        least = "" if self.pairs_needed is None else f", {self.pairs_needed:,} are needed"
        if self.part is not None:
            what = "fit" if self.part == "training" else "measure"
            return f"{self.pairs_scored:,} {self.part} pairs are too few to {what} a map{least}"
        return f"{self.pairs_scored:,} pairs are too few to fit and measure a map{least}"


def fit_map(z_from: Features, z_to: Features) -> NDArray[np.float64]:
    """The affine map that best takes z_from to z_to, by least squares; (N, D), (N, E) -> (D + 1, E), bias last.

    The features are centred first, which makes the fit independent of their offset. Where they are linearly dependent,
    the map of least norm is taken; directions below `RANK_TOLERANCE` are rounding of single precision, not features.
    """
    source, target = np.asarray(z_from, np.float64), np.asarray(z_to, np.float64)
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    linear = np.linalg.lstsq(source - source_mean, target - target_mean, rcond=RANK_TOLERANCE)[0]
    return np.concatenate([linear, (target_mean - source_mean @ linear)[None]])


def fit_change(z_from: Features, z_to: Features, groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """An affine map as `fit_map` gives it, by ridge regression of the change z_to - z_from; (N, D), (N, D), (N,).

    It is for recordings that are not among those it is fitted on: a strong penalty makes it a copy of the features with
    a shift. The penalty is the best one on groups that it was not fitted on, in up to five folds.
    """
    source, change = np.asarray(z_from, np.float64), np.asarray(z_to, np.float64) - z_from
    codes = groups if len(np.unique(groups)) > 1 else np.arange(len(groups)) * FOLDS // len(groups)
    errors = np.zeros(len(PENALTIES))
    for fit, held in group_folds(codes, FOLDS):
        for number, affine in enumerate(_ridges(source[fit], change[fit])):
            left = change[held] - apply_map(affine, source[held])
            errors[number] += float((left**2).sum())
    best = _ridges(source, change)[int(errors.argmin())]
    best[:-1] += np.eye(len(best) - 1)
    return best


def _ridges(source: NDArray[np.float64], target: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The affine maps of ridge regression, (D + 1, E) each, for every penalty, from one decomposition."""
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    centred = source - source_mean
    squares, axes = np.linalg.eigh(centred.T @ centred)  # several times as fast as the singular values of all rows
    seen = axes.T @ (centred.T @ (target - target_mean))
    maps = []
    for penalty in PENALTIES:
        strength = np.maximum(squares, 0.0) + penalty * max(squares.sum(), 1e-300)
        linear = axes @ (seen / strength[:, None])
        maps.append(np.concatenate([linear, (target_mean - source_mean @ linear)[None]]))
    return maps


def predict_other_half(
    z_from: Features, z_to: Features, fit: tuple[Features, Features], halves: NDArray[np.int64]
) -> tuple[NDArray[np.float64], bool]:
    """What z_to is predicted to be, (N, D), by maps that are fitted elsewhere, and whether it is a copy of z_from.

    A map is fitted on the pairs `fit` alone: by ridge regression of the change of features, of which it predicts a
    share. How strong the penalty is and how large the share are chosen on one half of the measured pairs for the other
    half, and the other way round: a network that was trained on the pairs of the fit knows them too well to choose.

    Args:
        z_from: (N, D).
        z_to: (N, D).
        fit: the same of other pairs.
        halves: (N,) of 0 and 1, and of -2 and -1 for those of a half that are too near to the other one to choose.
    """
    source, target = (np.asarray(z, np.float64) for z in fit)
    measured, change = np.asarray(z_from, np.float64), np.asarray(z_to, np.float64) - z_from
    changes = [apply_map(affine, measured) for affine in _ridges(source, target - source)]
    squares = np.array([[((change - share * found) ** 2).sum(axis=1) for share in SHARES] for found in changes])
    predicted, shares = measured.copy(), []
    for half in (0, 1):
        own, other = halves % 2 == half, halves == 1 - half
        penalty, share = np.unravel_index(squares[:, :, other].sum(axis=2).argmin(), squares.shape[:2])
        predicted[own] += SHARES[share] * changes[penalty][own]
        shares.append(SHARES[share])
    return predicted, not any(shares)


def halves_of(store: FrameStore, rows: Indices) -> NDArray[np.int64] | None:
    """The half of each measured pair of video, (N,), for `predict_other_half`; None without times, or of too few pairs.

    `rows` are the first frames of the pairs. Halves are recordings where each has pairs enough; otherwise the first and
    the second half in time.
    """
    if store.times_s is None or len(rows) < FEWEST_SCORED:
        return None
    recordings = groups_of(store, "recording")[rows]
    if len(np.unique(recordings)) > 1:
        first, _ = group_folds(recordings, 2)[0]
        if LEAST_HALF <= len(first) <= len(rows) - LEAST_HALF:
            halves = np.ones(len(rows), np.int64)
            halves[first] = 0
            return halves
    place = np.empty(len(rows))
    place[np.lexsort((np.asarray(store.times_s)[rows], recordings))] = np.linspace(0, 1, len(rows))
    halves = (place >= 0.5).astype(np.int64)
    return np.where(np.abs(place - 0.5) < GAP / 2, halves - 2, halves)


def apply_map(affine: NDArray[np.float64], z: Features) -> NDArray[np.float64]:
    """Apply what `fit_map` found; (N, D) -> (N, E)."""
    mapped: NDArray[np.float64] = np.asarray(z, np.float64) @ affine[:-1] + affine[-1]
    return mapped


def equivariance_error(
    z_i: Features, z_j: Features, groups: NDArray[np.int64], *, motion: str = "", seed: int = 0
) -> MotionError:
    """Rho of one motion from the features of its pairs, x_j = g x_i; (N, D), (N, D), (N,).

    The map M' is fitted on a random half of the pairs, the error measured on the other half; `groups` are the
    recordings of the pairs.
    """
    error = MotionFeatures(z_i, z_j, groups).error(motion, seed)
    if error.pairs_needed is not None:
        raise TooFewPairsError(
            f"motion {motion!r}: {len(z_i)} pairs are too few to fit a map of these features and to measure it; "
            f"at least {error.pairs_needed} are needed: measure on more frames, or leave this motion out"
        )
    return error


@dataclass(frozen=True)
class MotionFeatures:
    """Features of the pairs of one motion or sequence, x_j = g x_i, and the recordings they are from."""

    z_i: Features
    z_j: Features
    groups: NDArray[np.int64]
    training: MotionFeatures | None = None  # what maps are fitted on; None: a random half of these pairs
    is_ridge: bool = False  # whether a map is fitted by `fit_change` on a half of these pairs too
    halves: NDArray[np.int64] | None = None  # of these pairs, where a map of `training` is chosen on them

    def __len__(self) -> int:
        return len(self.z_i)

    def divided(self, seed: int) -> tuple[MotionFeatures, MotionFeatures]:
        """The pairs to fit maps on, and those to measure them on."""
        if self.training is not None:
            return self.training, self
        order = np.random.default_rng([seed, 0xE9]).permutation(len(self))
        fit, held = (
            MotionFeatures(self.z_i[half], self.z_j[half], self.groups[half])
            for half in (order[: len(self) // 2], order[len(self) // 2 :])
        )
        return fit, held

    def turned(self) -> MotionFeatures:
        """The pairs of the inverse motion."""
        other = None if self.training is None else self.training.turned()
        return MotionFeatures(self.z_j, self.z_i, self.groups, other)

    @cached_property
    def lacking(self) -> tuple[int, int, str | None] | None:
        """Where a map cannot be fitted and measured: the pairs there are, those needed, and of which part they are."""
        if self.is_ridge:
            enough = min(map(len, self.divided(0))) >= FEWEST_SCORED
            return None if enough else (len(self), 2 * FEWEST_SCORED, None)
        if self.training is None:
            needed = fewest_pairs(self.z_j)
            return (len(self), needed, None) if len(self) < needed else None
        needed = fewest_pairs(self.training.z_j) // 2
        if len(self.training) < needed:
            return len(self.training), needed, "training"
        return (len(self), FEWEST_SCORED, "validation") if len(self) < FEWEST_SCORED else None

    def fit_back(self, seed: int = 0) -> NDArray[np.float64]:
        """The map from z(gx) to z(x), fitted on pairs that it is not measured on."""
        fit, _ = self.divided(seed)
        if self.training is None and not self.is_ridge:
            return fit_map(fit.z_j, fit.z_i)
        return fit_change(fit.z_j, fit.z_i, fit.groups)

    def error(self, motion: str, seed: int = 0, back: NDArray[np.float64] | None = None) -> MotionError:
        """Rho by maps that `halves` choose, or by the map of `fit_back`; not a number where there are too few pairs."""
        fit, held = self.divided(seed)
        check_finite(motion, fit.z_i, fit.z_j, held.z_i, held.z_j)
        if (lacking := self.lacking) is not None:
            found, needed, part = lacking
            return MotionError(motion, nan, (nan, nan), nan, 0, found, 0, needed, part=part)
        is_copied = False
        if back is None and self.training is not None and self.halves is not None:
            mapped, is_copied = predict_other_half(held.z_j, held.z_i, (fit.z_j, fit.z_i), self.halves)
        else:
            mapped = apply_map(self.fit_back(seed) if back is None else back, held.z_j)
        error = score_mapped(mapped, held.z_i, held.z_j, held.groups, motion, len(fit))
        constant = score_constant(fit.z_i, held.z_i, held.z_j, held.groups)
        return replace(error, constant=constant.rho, ratio_constant=constant.ratio_of_means, is_copied=is_copied)


def check_finite(motion: str, *features: Features) -> None:
    """Refuse features that are not finite."""
    if not all(np.isfinite(z).all() for z in features):
        raise DataError(f"motion {motion!r}: some features are not finite; the network has diverged, train it again")


def score_constant(z_fit: Features, z_i: Features, z_j: Features, groups: NDArray[np.int64]) -> MotionError:
    """The error of always predicting the mean of some features z(x); (M, D), (N, D), (N, D), (N,)."""
    return score_mapped(np.asarray(z_fit, np.float64).mean(axis=0), z_i, z_j, groups)


def score_mapped(
    mapped: NDArray[np.float64],
    z_i: Features,
    z_j: Features,
    groups: NDArray[np.int64],
    motion: str = "",
    pairs_fitted: int = 0,
) -> MotionError:
    """Eq. 9 for features z_j that some map has taken to where z_i should be; (N, D) each, (N,)."""
    error = np.linalg.norm(np.asarray(z_i, np.float64) - mapped, axis=1)
    moved = np.linalg.norm(np.asarray(z_i, np.float64) - z_j, axis=1)
    distinct = moved > SAME * moved.mean()  # but for rounding
    relative, ratio = error[distinct] / moved[distinct], group_ratio(error, moved, groups)
    return MotionError(
        motion=motion,
        rho=float(relative.mean()) if len(relative) else nan,
        interval=group_interval(relative, groups[distinct], within=(0.0, inf)),
        ratio_of_means=ratio.value,
        pairs_fitted=pairs_fitted,
        pairs_scored=len(moved),
        pairs_excluded=int((~distinct).sum()),
        recordings=len(np.unique(groups[distinct])),
        ratio_interval=ratio.interval(within=(0.0, inf)),
    )


def measure_equivariance(
    model: EgoNet,
    store: FrameStore,
    frames: Indices,
    motions: Sequence[str] | MotionPatterns,
    *,
    max_gap_s: float = 1.0,
    seed: int = 0,
    part: str = ALL,
) -> list[MotionError]:
    """Rho of each motion over all its pairs among the given frames of a store; motions by name, or mined patterns.

    With `part`, of this part of the features, for a network that has parts.
    """
    patterns = motions if isinstance(motions, MotionPatterns) else declare_patterns(store.space, motions)
    pairs = find_motion_pairs(store, frames, patterns, max_gap_s)
    return errors_of_pairs(embed(model, store, frames, part=part), frames, store, pairs, seed=seed)


def errors_of_pairs(
    features: Features,
    frames: Indices,
    store: FrameStore,
    pairs: MotionPairs,
    *,
    seed: int = 0,
    training: MotionPairs | None = None,
    is_ridge: bool = False,
) -> list[MotionError]:
    """Rho of each pattern, from the features of `frames` (store rows), in their order.

    Maps are fitted on a random half of the pairs and measured on the other; or, with `training`, fitted on those pairs
    and measured on all others. A motion with too few pairs gets a rho that is not a number, and no pairs fitted; the
    others are still measured. With `is_ridge`, maps of halves are fitted by ridge regression too: it needs fewer pairs.
    """
    place = np.full(len(store), -1)
    place[frames] = np.arange(len(frames))
    errors, recordings = [], groups_of(store, "recording")
    for name in pairs.names:
        own, fitted = pairs.of(name), None
        if training is not None:
            fit = training.of(name)
            fitted = MotionFeatures(features[place[fit.i]], features[place[fit.j]], fold_groups(store, fit.i))
        z_i, z_j = features[place[own.i]], features[place[own.j]]
        halves = None if store.space.named_motions() else halves_of(store, own.i)
        error = MotionFeatures(z_i, z_j, recordings[own.i], fitted, is_ridge, halves).error(name, seed)
        if error.pairs_needed is not None and not is_ridge and error.part != "validation":
            # A few pairs cannot show all dimensions that the features have, and as more are added it takes more.
            seen = fewest_pairs(features[np.isfinite(features).all(axis=1)]) // (1 if training is None else 2)
            error = replace(error, pairs_needed=max(error.pairs_needed, seen))
        errors.append(error)
    return errors
