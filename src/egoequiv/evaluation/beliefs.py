"""Which motion the features of two frames show: the pattern whose map predicts best, and how often the log agrees."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.equivariance import SAME, apply_map, fit_change
from egoequiv.evaluation.frame_features import FrameFeatures, fold_groups
from egoequiv.evaluation.statistics import FEWEST_GROUPS, GroupEstimate, group_estimate
from egoequiv.models.maps import fewest_pairs
from egoequiv.pairs import MotionPairs, MotionPatterns, Split, find_motion_pairs
from egoequiv.pairs.candidates import Indices, recordings_of, thinned
from egoequiv.store import FrameStore

BLOCK_S, BLOCK_FRAMES = 2.0, 20  # stretches of a recording that count as independent: pairs are up to 1 s long
GAP_S = 0.1  # gaps between frames that count as the same
ERRORS = 3.0  # standard errors, as in the other checks
FEWEST_PAIRS = 50  # of a recording
MOST_EQUAL = 0.8  # of the pairs of a recording
MOST_PAIRS = 20_000  # of a recording, and of a pattern to fit its map

Array = NDArray[np.float64]
UNKNOWN = GroupEstimate(nan, nan, nan, nan)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the maps of all patterns say about pairs, (N,) each."""

    i: Indices  # store rows of the first frames
    block: Indices
    hit: Array  # 1 where the map of the logged pattern predicts best
    chance: Array  # how often it would if motions were permuted among pairs of the recording with the same time gap
    equal: Array  # how often these pairs have this logged pattern
    rho: Array  # error of the logged pattern's map, relative to how far the features moved
    surprise: Array  # the same error, relative to its median over pairs with the same time gap
    best_rho: Array  # error of the best map

    def __len__(self) -> int:
        return len(self.i)

    @property
    def is_equal(self) -> bool:
        """Whether nearly all pairs have the same motion, so that permuting motions changes nothing."""
        return not len(self) or float(self.equal.mean()) > MOST_EQUAL

    def too_few(self) -> str:
        """Why the pairs of a recording cannot tell; empty if they can."""
        blocks = len(np.unique(self.block))
        if len(self) < FEWEST_PAIRS or blocks < FEWEST_GROUPS:
            found = f"{len(self)} pairs in {blocks} stretches of the recording have a motion that the run knows"
            return f"{found}: {FEWEST_PAIRS} in {FEWEST_GROUPS} are needed"
        if self.is_equal:
            return (
                f"nearly all of {len(self):,} pairs have the same motion, so no other order of motions can be compared"
            )
        return ""

    def agreement(self) -> GroupEstimate:
        """Cohen's kappa: 0 if features and log agree as often as by chance, 1 if always; its error is over blocks."""
        block = np.unique(self.block, return_inverse=True)[1]
        sums: Array = np.stack([np.bincount(block, one) for one in (self.hit - self.chance, 1 - self.chance)])
        if not len(self) or sums[1].sum() < 1e-6 * len(self):
            return UNKNOWN  # one motion alone
        with np.errstate(divide="ignore", invalid="ignore"):
            return group_estimate(sums, np.bincount(block), lambda total: np.asarray(total[0] / total[1]))


@dataclass(frozen=True, eq=False)
class Reader:
    """The maps of a run, and how well they tell motions apart on its own validation frames."""

    patterns: MotionPatterns
    maps: dict[int, Array]  # by pattern
    max_gap_s: float
    reference: GroupEstimate = UNKNOWN
    limit: float = nan  # an agreement that no sound recording is below
    best_rho: float = nan

    def beliefs(self, features: FrameFeatures, rows: Indices) -> Beliefs:
        """Which pattern each pair among frames of one recording has by its features."""
        store = features.store
        pairs = find_motion_pairs(store, rows, self.patterns, self.max_gap_s)
        known = np.flatnonzero(np.isin(pairs.pattern, list(self.maps)))
        pairs = pairs.take(thinned(known, MOST_PAIRS, 0))
        z_i, z_j = (np.asarray(features.of(frames), np.float64) for frames in (pairs.i, pairs.j))
        moved = np.linalg.norm(z_i - z_j, axis=1)
        told = moved > SAME * (moved.mean() if len(moved) else 0.0)
        pairs, z_i, z_j, moved = pairs.take(told), z_i[told], z_j[told], moved[told]
        numbers = np.array(list(self.maps))
        errors = np.stack([np.linalg.norm(z_i - apply_map(one, z_j), axis=1) for one in self.maps.values()])
        best, logged = errors.argmin(axis=0), np.searchsorted(numbers, pairs.pattern)
        error = np.take_along_axis(errors, logged[None], axis=0)[0]
        chance, equal, surprise = np.empty((3, len(pairs)))
        gaps = _gaps(store, pairs)
        for gap in np.unique(gaps):  # long gaps have large motions: features may know that of any log
            own = np.flatnonzero(gaps == gap)
            chance[own], equal[own] = (
                (np.bincount(one[own], minlength=len(numbers)) / len(own))[logged[own]] for one in (best, logged)
            )
            surprise[own] = error[own] / max(float(np.median(error[own])), 1e-12)
        hit = (best == logged).astype(np.float64)
        blocks, best_rho = _blocks(store, pairs.i), errors.min(axis=0) / moved
        return Beliefs(pairs.i, blocks, hit, chance, equal, error / moved, surprise, best_rho)

    def why_not(self) -> str:
        """Why the run has no opinion; empty if it has one."""
        if len(self.maps) < 2:
            return "the run has fewer than two motions with enough training pairs"
        kappa, error = self.reference.value, self.reference.stderr
        if isnan(error):
            return "the run has too few validation pairs to say whether it tells motions apart"
        if kappa <= ERRORS * error or self.limit <= 0:
            return f"the run does not tell motions apart on its own validation frames (kappa {kappa:.2f} ± {error:.2f})"
        return ""


def make_reader(features: FrameFeatures, split: Split, patterns: MotionPatterns, max_gap_s: float = 1.0) -> Reader:
    """Fit a map for each pattern on training frames, and measure on validation frames whether they tell motions apart.

    Args:
        features: of the training and validation frames of a store.
        split: the two parts.
        patterns: the motions.
        max_gap_s: the longest time between the two frames of a pair.

    Returns:
        The maps, with what is to be expected of a sound recording.
    """
    pairs = find_motion_pairs(features.store, split.train, patterns, max_gap_s)
    fitted = ((number, _map_of(features, pairs.of(name))) for number, name in enumerate(pairs.names))
    reader = Reader(patterns, {number: found for number, found in fitted if found is not None}, max_gap_s)
    if len(reader.maps) < 2:
        return reader
    found = [reader.beliefs(features, rows) for rows in recordings_of(features.store, split.validation)]
    found = [one for one in found if not one.is_equal]
    if not found:
        return reader
    whole = Beliefs(*(np.concatenate(parts) for parts in zip(*(vars(one).values() for one in found), strict=True)))
    reference = whole.agreement()
    single = [one.agreement() for one in found if not one.too_few()]
    # A recording may be harder than others although its motion is right, so the worst of them is also a limit.
    limit = min([reference.value / 2, *(one.value for one in single if not isnan(one.stderr))])
    best = float(np.median(whole.best_rho))
    return Reader(patterns, reader.maps, max_gap_s, reference, limit, best)


def _map_of(features: FrameFeatures, pairs: MotionPairs) -> Array | None:
    """The map of one pattern; None where there are too few pairs."""
    pairs = pairs.take(thinned(np.arange(len(pairs)), MOST_PAIRS, 1))
    z_i, z_j = features.of(pairs.i), features.of(pairs.j)
    if len(pairs) < max(fewest_pairs(z_j) // 2, FEWEST_PAIRS):
        return None
    return fit_change(z_j, z_i, fold_groups(features.store, pairs.i))


def _blocks(store: FrameStore, rows: Indices) -> Indices:
    """The stretch of its recording that each row is in, (N,)."""
    number = store.frame[rows] // BLOCK_FRAMES
    if store.times_s is not None:
        number = ((store.times_s[rows] - store.times_s.min()) // BLOCK_S).astype(np.int64)
    blocks: Indices = store.recording[rows] + len(store.recording_names) * number
    return blocks


def _gaps(store: FrameStore, pairs: MotionPairs) -> Indices:
    """The time between the frames of each pair, in tenths of a second; 0 where there are no times."""
    if store.times_s is None:
        return np.zeros(len(pairs), np.int64)
    gaps: Indices = np.round((store.times_s[pairs.j] - store.times_s[pairs.i]) / GAP_S).astype(np.int64)
    return gaps
