"""How equivariant features are: the normalised error rho_g of Eq. 9 for each motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError, TooFewPairsError
from egoequiv.evaluation.features import embed
from egoequiv.evaluation.statistics import group_interval
from egoequiv.models import EgoNet
from egoequiv.models.maps import RANK_TOLERANCE, fewest_pairs
from egoequiv.pairs import MotionPairs, MotionPatterns, declare_patterns, find_motion_pairs
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore

Features = NDArray[np.float32] | NDArray[np.float64]

# Two images whose features are this close, relative to the mean distance, have the same features but for rounding.
SAME = 1e-6


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

    def why_undefined(self) -> str | None:
        """Why there is no rho, in words; nothing where there is one."""
        if isfinite(self.rho):
            return None
        if self.pairs_fitted:
            return "all pairs have the same features: the network collapsed"
        least = "" if self.pairs_needed is None else f", {self.pairs_needed:,} are needed"
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
    error = _measured(z_i, z_j, groups, motion, seed)
    if error.pairs_needed is not None:
        raise TooFewPairsError(
            f"motion {motion!r}: {len(z_i)} pairs are too few to fit a map of these features and to measure it; "
            f"at least {error.pairs_needed} are needed: measure on more frames, or leave this motion out"
        )
    return error


def _measured(z_i: Features, z_j: Features, groups: NDArray[np.int64], motion: str, seed: int) -> MotionError:
    """Rho of one motion; not a number, with no pairs fitted, where there are too few."""
    count = len(z_i)
    if not (np.isfinite(z_i).all() and np.isfinite(z_j).all()):
        raise DataError(f"motion {motion!r}: some features are not finite; the network has diverged, train it again")
    needed = fewest_pairs(z_j)
    if count < needed:
        return MotionError(motion, nan, (nan, nan), nan, 0, count, 0, needed)
    fit, held = halves(count, seed)
    mapped = apply_map(fit_map(z_j[fit], z_i[fit]), z_j[held])
    error = score_mapped(mapped, z_i[held], z_j[held], groups[held], motion, len(fit))
    return replace(error, constant=constant_rho(z_i[fit], z_i[held], z_j[held]))


def constant_rho(z_fit: Features, z_i: Features, z_j: Features) -> float:
    """Rho of always predicting the mean of some features z(x); (M, D), (N, D), (N, D)."""
    error, moved, distinct = _distances(np.asarray(z_fit, np.float64).mean(axis=0), z_i, z_j)
    return float((error[distinct] / moved[distinct]).mean()) if distinct.any() else nan


def _distances(
    mapped: NDArray[np.float64], z_i: Features, z_j: Features
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """How far a map ends from z_i and how far z_j is from it, (N,) each; and which z_j is not z_i but for rounding."""
    error = np.linalg.norm(np.asarray(z_i, np.float64) - mapped, axis=1)
    moved = np.linalg.norm(np.asarray(z_i, np.float64) - z_j, axis=1)
    return error, moved, moved > SAME * moved.mean()


def halves(count: int, seed: int) -> tuple[Indices, Indices]:
    """So many pairs in two random halves: one to fit a map on, one to measure it on."""
    order = np.random.default_rng([seed, 0xE9]).permutation(count)
    return order[: count // 2], order[count // 2 :]


def score_mapped(
    mapped: NDArray[np.float64],
    z_i: Features,
    z_j: Features,
    groups: NDArray[np.int64],
    motion: str = "",
    pairs_fitted: int = 0,
) -> MotionError:
    """Eq. 9 for features z_j that some map has taken to where z_i should be; (N, D) each, (N,)."""
    error, moved, distinct = _distances(mapped, z_i, z_j)
    relative = error[distinct] / moved[distinct]
    return MotionError(
        motion=motion,
        rho=float(relative.mean()) if len(relative) else nan,
        interval=group_interval(relative, groups[distinct], within=(0.0, inf)),
        ratio_of_means=float(error.mean() / moved.mean()) if moved.mean() > 0 else nan,
        pairs_fitted=pairs_fitted,
        pairs_scored=len(moved),
        pairs_excluded=int((~distinct).sum()),
    )


def measure_equivariance(
    model: EgoNet,
    store: FrameStore,
    frames: Indices,
    motions: Sequence[str] | MotionPatterns,
    *,
    max_gap_s: float = 1.0,
    seed: int = 0,
) -> list[MotionError]:
    """Rho of each motion over all its pairs among the given frames of a store; motions by name, or mined patterns."""
    patterns = motions if isinstance(motions, MotionPatterns) else declare_patterns(store.space, motions)
    pairs = find_motion_pairs(store, frames, patterns, max_gap_s)
    return errors_of_pairs(embed(model, store, frames), frames, store, pairs, seed=seed)


def errors_of_pairs(
    features: Features, frames: Indices, store: FrameStore, pairs: MotionPairs, *, seed: int = 0
) -> list[MotionError]:
    """Rho of each pattern, from the features of `frames` (store rows), in their order.

    A motion with too few pairs gets a rho that is not a number, and no pairs fitted; the others are still measured.
    """
    place = np.full(len(store), -1)
    place[frames] = np.arange(len(frames))
    errors = []
    for name in pairs.names:
        own = pairs.of(name)
        z_i, z_j = features[place[own.i]], features[place[own.j]]
        error = _measured(z_i, z_j, store.recording[own.i], name, seed)
        if error.pairs_needed is not None:
            # A few pairs cannot show all dimensions that the features have, and as more are added it takes more.
            seen = features[np.isfinite(features).all(axis=1)]
            error = replace(error, pairs_needed=max(error.pairs_needed, fewest_pairs(seen)))
        errors.append(error)
    return errors
