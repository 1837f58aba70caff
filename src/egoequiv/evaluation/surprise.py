"""A second opinion on the motion of a log: do the features of a run move as the log says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.finding import Finding, Moment
from egoequiv.errors import DataError
from egoequiv.evaluation.equivariance import SAME, apply_map, fit_change
from egoequiv.evaluation.features import OnProgress, embed
from egoequiv.evaluation.frame_features import FrameFeatures, fold_groups
from egoequiv.evaluation.statistics import FEWEST_GROUPS, GroupEstimate, group_estimate
from egoequiv.models.maps import fewest_pairs
from egoequiv.pairs import MotionPairs, MotionPatterns, Split, find_motion_pairs
from egoequiv.pairs.candidates import Indices, recordings_of, thinned
from egoequiv.sources.recording import Recording
from egoequiv.store import FrameStore
from egoequiv.training.open_run import OpenRun

CHECK = "surprise"
BLOCK_S, BLOCK_FRAMES = 2.0, 20  # stretches of a recording that count as independent: pairs are up to 1 s long
GAP_S = 0.1  # gaps between frames that count as the same
ERRORS = 3.0  # standard errors, as in the other checks
FEWEST_PAIRS = 50  # of a recording
MOST_EQUAL = 0.8  # of the pairs of a recording
MOST_PAIRS = 20_000  # of a recording, and of a pattern to fit its map
MOMENT_FRAMES, MOMENTS, NOTABLE = 10, 3, 1.5  # frames where there are no times; how many; times the usual surprise

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the maps of all patterns say about pairs, (N,) each."""

    i: Indices  # store rows of the first frames
    block: Indices
    hit: Array  # 1 where the map of the logged pattern predicts best
    chance: Array  # how often it would if motions were permuted among pairs of the recording with the same time gap
    equal: Array  # how often these pairs have this logged pattern
    rho: Array  # error of the logged pattern's map, relative to how far the features moved
    usual_rho: Array  # its median over pairs with the same time gap
    best_rho: Array  # error of the best map

    def __len__(self) -> int:
        return len(self.i)

    def too_few(self) -> str:
        """Why the pairs of a recording cannot tell; empty if they can. Equal motions look the same in any order."""
        blocks = len(np.unique(self.block))
        if len(self) < FEWEST_PAIRS or blocks < FEWEST_GROUPS:
            found = f"{len(self)} pairs in {blocks} stretches of the recording have a motion that the run knows"
            return f"{found}: {FEWEST_PAIRS} in {FEWEST_GROUPS} are needed"
        if self.equal.mean() > MOST_EQUAL:
            return (
                f"nearly all of {len(self):,} pairs have the same motion, so no other order of motions can be compared"
            )
        return ""

    def agreement(self) -> GroupEstimate:
        """Cohen's kappa: 0 if features and log agree as often as by chance, 1 if always; its error is over blocks."""
        block = np.unique(self.block, return_inverse=True)[1]
        sums = np.stack([np.bincount(block, self.hit - self.chance), np.bincount(block, 1 - self.chance)])
        if not len(self) or sums[1].sum() < 1e-6 * len(self):
            return GroupEstimate(nan, nan, nan, nan)  # one motion alone
        with np.errstate(divide="ignore", invalid="ignore"):
            return group_estimate(sums, np.bincount(block), lambda total: np.asarray(total[0] / total[1]))


@dataclass(frozen=True, eq=False)
class Surprise:
    """What the features say about one recording."""

    finding: Finding
    curve: Array | None = None  # of the pairs that begin at each frame, its median 1; NaN: no pairs


@dataclass(frozen=True, eq=False)
class Reader:
    """The maps of a run, and how well they tell motions apart on its own validation frames."""

    patterns: MotionPatterns
    maps: dict[int, Array]  # by pattern
    max_gap_s: float
    reference: GroupEstimate = GroupEstimate(nan, nan, nan, nan)
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
        errors = np.stack([np.linalg.norm(z_i - apply_map(one, z_j), axis=1) / moved for one in self.maps.values()])
        best, logged = errors.argmin(axis=0), np.searchsorted(numbers, pairs.pattern)
        rho = np.take_along_axis(errors, logged[None], axis=0)[0]
        chance, equal, usual = np.empty((3, len(pairs)))
        gaps = _gaps(store, pairs)
        for gap in np.unique(gaps):  # long gaps have large motions: features may know that of any log
            own = np.flatnonzero(gaps == gap)
            chance[own], equal[own] = (
                (np.bincount(one[own], minlength=len(numbers)) / len(own))[logged[own]] for one in (best, logged)
            )
            usual[own] = np.median(rho[own])
        hit = (best == logged).astype(np.float64)
        return Beliefs(pairs.i, _blocks(store, pairs.i), hit, chance, equal, rho, usual, errors.min(axis=0))

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
    whole = Beliefs(*(np.concatenate(parts) for parts in zip(*(vars(one).values() for one in found), strict=True)))
    reference = whole.agreement()
    single = [one.agreement() for one in found if not one.too_few()]
    # A recording may be harder than others although its motion is right, so the worst of them is also a limit.
    limit = min([reference.value / 2, *(one.value for one in single if not isnan(one.stderr))])
    best = float(np.median(whole.best_rho)) if len(whole) else nan
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


def read_surprise(reader: Reader, features: FrameFeatures, recording: Recording) -> Surprise:
    """Judge one recording of a store by its features; see `surprises`."""
    name, store = recording.name, features.store
    why = reader.why_not()
    if not why and name not in store.recording_names:
        why = "no picture of the recording can be read"
    if why:
        return Surprise(Finding(CHECK, name, nan, why))
    rows = np.flatnonzero(store.recording == store.recording_names.index(name))
    rows = rows[np.argsort(store.frame[rows], kind="stable")]
    beliefs = reader.beliefs(features, rows)
    if why := beliefs.too_few():
        return Surprise(Finding(CHECK, name, nan, why))
    places = np.arange(len(rows)) if len(rows) == len(recording) else store.frame[rows]  # some may be unreadable
    curve = np.full(len(recording), nan)
    curve[places] = _mean_by_frame(beliefs, rows)
    curve /= np.nanmedian(curve)
    return Surprise(_judged(reader, beliefs, name, _moments(curve, recording.times_s)), curve)


def _judged(reader: Reader, beliefs: Beliefs, name: str, moments: tuple[Moment, ...]) -> Finding:
    found, usual = beliefs.agreement(), reader.reference.value
    share, chance = float(beliefs.hit.mean()), float(beliefs.chance.mean())
    expected, best = chance + usual * (1 - chance), float(np.median(beliefs.best_rho))
    reach = ERRORS * found.stderr
    text = (
        f"the features agree with the logged motion in {100 * share:.0f} % of {len(beliefs):,} pairs "
        f"({100 * chance:.0f} % by chance, {100 * expected:.0f} % expected of this run)"
    )
    score = max((usual - (found.value + reach)) / (usual - reader.limit), 0.0)
    if best > (max(reader.best_rho, 1.0) + reader.best_rho) / 2:
        score, text = nan, f"{text}; no map of the run predicts these features, so the pictures are new to it"
    elif isnan(score) or (score < 1 and found.value - reach <= 0):
        score, text = nan, f"{text}; this is too little to decide"
    values = (("share", share), ("chance", chance), ("reference", expected), ("rho", float(beliefs.rho.mean())))
    return Finding(CHECK, name, score, text, moments=moments, values=values)


def _mean_by_frame(beliefs: Beliefs, rows: Indices) -> Array:
    """Mean of rho, relative to the usual, of the pairs that begin at each of the rows; NaN where none does."""
    order = np.argsort(rows)
    place = order[np.searchsorted(rows[order], beliefs.i)]
    count = np.bincount(place, minlength=len(rows))
    total = np.bincount(place, beliefs.rho / np.maximum(beliefs.usual_rho, 1e-12), minlength=len(rows))
    return np.where(count > 0, total / np.maximum(count, 1), nan)


def _moments(curve: Array, times_s: Array | None) -> tuple[Moment, ...]:
    """The seconds with the largest mean surprise, apart from each other, the worst first."""
    step_s = nan if times_s is None or len(times_s) < 2 else float(np.median(np.diff(times_s)))
    width = max(round(1 / step_s), 2) if step_s > 0 else MOMENT_FRAMES
    if len(curve) < width:
        return ()
    window = np.ones(width)
    count = np.convolve(np.isfinite(curve), window, "valid")
    mean = np.where(2 * count >= width, np.convolve(np.nan_to_num(curve), window, "valid") / np.maximum(count, 1), 0.0)
    moments: list[Moment] = []
    while len(moments) < MOMENTS and mean.max() >= NOTABLE:
        first = int(mean.argmax())
        text = f"the surprise of the features is {mean[first]:.1f} times the usual"
        moments.append(Moment(first, first + width - 1, text))
        mean[max(first - width, 0) : first + width + 1] = 0.0
    return tuple(moments)


def surprises(
    run: OpenRun, store: FrameStore, recordings: Sequence[Recording], on_progress: OnProgress | None = None
) -> list[Surprise]:
    """Ask the features of a run whether they believe the motions of a log.

    For each pair of frames whose logged motion is a pattern of the run, the maps of all patterns predict the features.
    If the motion is right, the map of the logged pattern is the best one more often than by chance.

    Args:
        run: with maps fitted here, on its own training frames.
        store: the frames of the log.
        recordings: those that the doctor examines; they have the names of the store.
        on_progress: gets what is done, how much of it, and how much there is.

    Returns:
        A finding for each recording, and its surprise over time.

    Example:
        >>> surprises(open_run("run"), FrameStore.open("log"), source.recordings)  # doctest: +SKIP

    """
    patterns, own = run.patterns, run.store
    why = "" if patterns is not None else "the run knows no motions"
    if patterns is not None:
        try:
            store = store.in_space(patterns.space)
        except DataError as problem:
            why = f"the log has not the motions of the run ({problem})"
    if why or patterns is None:
        return [Surprise(Finding(CHECK, one.name, nan, why)) for one in recordings]
    frames = np.concatenate([run.split.train, run.split.validation])
    features = FrameFeatures(own, frames, embed(run.net, own, frames, on_progress=on_progress))
    reader = make_reader(features, run.split, patterns, run.config.max_gap_s)
    rows = np.arange(len(store))
    of_log = FrameFeatures(store, rows, embed(run.net, store, fit=True, on_progress=on_progress))
    return [read_surprise(reader, of_log, one) for one in recordings]
