"""Mined motion patterns: k-means over the motions of all close pairs, the largest clusters kept and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs.candidates import Indices, count_motion_candidates, half_a_step_s, motion_candidates
from egoequiv.pairs.naming import motion_in_words, name_motions
from egoequiv.pairs.patterns import MotionPatterns
from egoequiv.pose import MotionSpace, space_from_description
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
OnProgress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is in total

MOST_CLUSTERS = 1_000
FEW = 20  # motions: a cluster of fewer is a jump in a small log rather than a way to move, and is kept last
SAMPLE = 500_000  # motions that k-means uses; if there are more, about as many drawn at random
STARTS, START_SAMPLE = 50, 50_000  # of k-means: starts, and motions for each; the best continues with all
DROPPED = "dropped: "
ROUNDING = 1e-12  # share of the largest pose: a component that varies by no more does not move


@dataclass(frozen=True)
class MinedPatterns(MotionPatterns):
    """Clusters of motions, some of which are kept as patterns; a motion belongs to the nearest cluster."""

    names: tuple[str, ...]  # of the kept clusters, G of them
    centres: Array  # (K, M), the kept ones first, in the space's units
    spread: Array  # (M,), by which distances are measured: the standard deviation, of components on one scale together
    space: MotionSpace
    others_are_negatives: bool = True

    def assign_cluster(self, motion: Array) -> NDArray[np.int64]:
        """The nearest cluster of each motion, the kept ones numbered first; (..., M) -> (...)."""
        # One cluster at a time: few clusters and many motions.
        distances = np.stack([self.distance(motion, cluster) for cluster in range(len(self.centres))], axis=-1)
        nearest: NDArray[np.int64] = distances.argmin(-1)
        return nearest

    def distance(self, motion: Array, cluster: int) -> Array:
        """The distance of motions from the centre of a cluster, in spreads; (..., M) -> (...)."""
        off: Array = np.linalg.norm((motion - self.centres[cluster]) / self.spread, axis=-1)
        return off

    def cluster_names(self) -> list[str]:
        """The names of the kept patterns, and what the dropped clusters do."""
        dropped = name_motions(self.space, self.centres[len(self.names) :], self.spread, self.names)
        return [*self.names, *(f"{DROPPED}{name}" for name in dropped)]

    def assign(self, motion: Array) -> NDArray[np.int64]:
        cluster = self.assign_cluster(motion)
        return np.where(cluster < len(self.names), cluster, -1)

    def only(self, names: Sequence[str]) -> MinedPatterns:
        """The clusters of these names alone are kept as patterns, dropped ones too, and motions such as "forward 2 m".

        For a motion that is no cluster, the centre of the nearest cluster without such a name is moved to it.
        """
        names = tuple(dict.fromkeys(names))
        known = [name.removeprefix(DROPPED) for name in self.cluster_names()]
        if len(names) > len(known):
            raise ConfigError(f"{len(names)} motions are named, and there are {len(known)} clusters: raise clusters")
        centres, free = self.centres.copy(), [k for k, name in enumerate(known) if name not in names]
        first = []
        for name in names:
            if name in known:
                first.append(known.index(name))
                continue
            motion = motion_in_words(self.space, name)
            if motion is None:
                such = " and ".join(axis.in_words(1.0) for axis in self.space.axes[:: max(len(self.space.axes) - 1, 1)])
                raise ConfigError(
                    f"motion {name!r} is not known here; choose from {', '.join(known)}, or describe it, as {such!r}"
                )
            first.append(free.pop(int(np.argmin([self.distance(motion, cluster) for cluster in free]))))
            centres[first[-1]] = motion
        rest = [k for k in range(len(centres)) if k not in first]
        return replace(self, names=names, centres=centres[first + rest])

    def describe(self) -> dict[str, Any]:
        """A JSON object from which `from_description` builds equal patterns."""
        return {
            "names": list(self.names),
            "centres": self.centres.tolist(),
            "spread": self.spread.tolist(),
            "space": self.space.describe(),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any], where: str) -> MinedPatterns:
        """Build patterns from what `describe` gave."""
        try:
            names, space = description["names"], space_from_description(description["space"])
            centres, spread = np.array(description["centres"], float), np.array(description["spread"], float)
        except (KeyError, TypeError, ValueError, OverflowError, DataError, ConfigError) as problem:
            raise DataError(
                f"{where} contains no motion patterns ({problem!r}); make them with `egoequiv patterns`"
            ) from None
        width = len(space.axes)
        shapes_fit = centres.ndim == 2 and centres.shape[1] == width and spread.shape == (width,)
        names_fit = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if (
            not (shapes_fit and names_fit)
            or not 0 < len(set(names)) == len(names) <= len(centres)
            or not (np.isfinite(centres).all() and np.isfinite(spread).all() and (spread > 0).all())
        ):
            raise DataError(f"{where}: names, centres and spread of the patterns do not fit together; make them again")
        return cls(tuple(names), centres, spread, space)


@dataclass(frozen=True)
class Mining:
    """What mining found: the patterns, how many motions each cluster has, and how stable the patterns are."""

    patterns: MinedPatterns
    counts: tuple[int, ...]  # motions of each cluster, the kept ones first
    motions: int  # in total
    clustered: int  # how many of them k-means used
    sample: Array  # (S, M) motions to draw
    sample_cluster: NDArray[np.int64]  # (S,)
    wandering: float  # largest distance of a kept centre from the same centre for another seed, in spreads


def mine_patterns(
    store: FrameStore,
    frames: Indices | None = None,
    *,
    clusters: int = 6,
    keep: int = 3,
    max_gap_s: float = 1.0,
    motions: Sequence[str] | None = None,
    seed: int = 0,
    stability_seeds: int = 0,
    on_progress: OnProgress | None = None,
) -> Mining:
    """Cluster the motions of all pairs at most `max_gap_s` apart and keep those that move most.

    Each component is divided by its standard deviation, so that metres and degrees have the same weight. Components
    that a space measures on one scale are divided by that of all of them: the noise of height does not weigh as much as
    driving. Frames without times, such as photographs, are paired with the 3 to 10 before and after. Motions are
    processed in blocks, and k-means uses at most about `SAMPLE` of them, so memory does not grow with their number.

    Args:
        store: a store with poses.
        frames: the store rows to use; all by default.
        clusters: the number of clusters of k-means.
        keep: how many clusters to keep as patterns.
        max_gap_s: the largest time between the two frames of a pair, if frames have times.
        motions: keep these in place of the largest: names of clusters, or such as "forward 2 m and left turn 17°".
        seed: of the sample and of k-means.
        stability_seeds: how many more seeds to try, to see how far the centres move.
        on_progress: called with what is being done, how much is done and how much there is.

    Returns:
        The patterns, the number of motions of each cluster, and a sample of motions to draw.

    Example:
        >>> mining = mine_patterns(FrameStore.open("drives"))
        >>> mining.patterns.names
        ('right turn 22° and forward 6.2 m', 'forward 18.5 m', 'left turn 16° and forward 4.4 m')
    """
    keep = clusters if motions else keep
    _check_request(store, clusters, keep, max_gap_s)
    report = on_progress or _silent
    rows = np.arange(len(store)) if frames is None else frames
    gap_s = max_gap_s + half_a_step_s(store)
    total = count_motion_candidates(store, rows, gap_s)
    seen = _sample(store, rows, gap_s, total, seed, report)
    spread = _spread(store.space, seen, store.poses[rows])
    if len(np.unique(np.round(seen / spread, 6), axis=0)) < clusters:
        raise _too_few(store, total, clusters, max_gap_s)
    found = _centres_by_seed(seen, spread, clusters, range(seed, seed + 1 + stability_seeds), report)
    patterns = MinedPatterns(name_motions(store.space, found[0][:keep], spread), found[0], spread, store.space)
    patterns = patterns.only(motions) if motions else patterns
    shown = seen[np.random.default_rng([seed, 2]).permutation(len(seen))[:20_000]]
    return Mining(
        patterns=patterns,
        counts=_counts(store, rows, gap_s, patterns, total, report),
        motions=total,
        clustered=len(seen),
        sample=shown,
        sample_cluster=patterns.assign_cluster(shown),
        wandering=_wandering([centres[:keep] / spread for centres in found]),
    )


def _check_request(store: FrameStore, clusters: int, keep: int, max_gap_s: float) -> None:
    if clusters > MOST_CLUSTERS:
        raise ConfigError(f"clusters must be at most {MOST_CLUSTERS}, found {clusters}")
    if not 1 <= keep <= clusters:
        raise ConfigError(f"keep must be between 1 and clusters={clusters}, found {keep}")
    if not 0 < max_gap_s < inf:
        raise ConfigError(f"max_gap_s must be a number of seconds above 0, found {max_gap_s:g}")
    if not store.space.axes:
        raise DataError(f"{store.place}: mining patterns needs frames with poses; these frames have no poses")


def _too_few(store: FrameStore, total: int, clusters: int, max_gap_s: float) -> DataError:
    """What to say if there are fewer different motions than clusters."""
    apart, more = f" at most {max_gap_s:g} s apart", ", or raise --max-gap"
    if store.times_s is None:
        apart = more = ""
    found = f"{total} pairs{apart} have fewer than {clusters} different motions"
    return DataError(f"{store.place}: {found}: lower --clusters{more}")


def _wandering(kept: list[Array]) -> float:
    """The largest distance of a kept centre of the first seed from the same centre of another seed; (G, M) each."""
    apart = [np.linalg.norm(kept[0][:, None] - other[None], axis=-1).min(axis=1).max() for other in kept[1:]]
    return float(max(apart, default=0.0))


def _counts(
    store: FrameStore, rows: Indices, gap_s: float, patterns: MinedPatterns, total: int, report: OnProgress
) -> tuple[int, ...]:
    """How many motions each cluster has."""
    counts, done = np.zeros(len(patterns.centres), np.int64), 0
    for motion in _motions(store, rows, gap_s):
        counts += np.bincount(patterns.assign_cluster(motion), minlength=len(counts))
        done += len(motion)
        report("sorting motions", done, total)
    return tuple(int(count) for count in counts)


def _silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def _motions(store: FrameStore, rows: Indices, max_gap_s: float) -> Iterator[Array]:
    for i, j in motion_candidates(store, rows, max_gap_s):
        yield store.space.difference(store.poses[i], store.poses[j])


def _sample(store: FrameStore, rows: Indices, max_gap_s: float, total: int, seed: int, report: OnProgress) -> Array:
    """The motions, or a random part of them if there are too many."""
    rng = np.random.default_rng([seed, 1])
    share = SAMPLE / max(total, 1)
    kept, done = [np.empty((0, len(store.space.axes)))], 0
    for motion in _motions(store, rows, max_gap_s):
        kept.append(motion if share >= 1 else motion[rng.random(len(motion)) < share])
        done += len(motion)
        report("reading motions", done, total)
    return np.concatenate(kept)


def _spread(space: MotionSpace, motions: Array, poses: Array) -> Array:
    """The standard deviation of the components on each scale, or 1 if it is only rounding, which is no motion; (M,)."""
    if not len(motions):
        return np.ones(motions.shape[1])
    spread = np.empty(motions.shape[1])
    for scale in space.scales:
        spread[scale] = np.sqrt(motions[:, scale].var(axis=0).sum())
    spread = np.maximum(spread, space.least_spread)
    return np.where(spread > ROUNDING * max(np.abs(poses).max(), np.abs(motions).max()), spread, 1.0)


def _centres_by_seed(motions: Array, spread: Array, clusters: int, seeds: range, report: OnProgress) -> list[Array]:
    """For each seed the centres of k-means, in order of decreasing motion."""
    found = []
    for k, seed in enumerate(seeds):
        report("k-means", k, len(seeds))
        found.append(_largest_first(_centres(motions, spread, clusters, seed), spread))
    report("k-means", len(seeds), len(seeds))
    return found


def _centres(motions: Array, spread: Array, clusters: int, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """The centres of k-means, (K, M), and how many motions are nearest to each, (K,)."""
    from sklearn.cluster import KMeans  # here, because the import takes a second and most runs mine nothing

    centre = motions.mean(axis=0)
    points = (motions - centre) / spread
    # Motions lie along lines (straight, turning), which k-means can divide in many ways: with a few starts every
    # seed finds another division, and many starts on all motions would take minutes.
    some = points[np.random.default_rng([seed, 3]).permutation(len(points))[:START_SAMPLE]]
    begun = KMeans(clusters, n_init=STARTS, random_state=seed % 2**32).fit(some)
    fitted = KMeans(clusters, init=begun.cluster_centers_, n_init=1, tol=1e-8).fit(points)
    return fitted.cluster_centers_ * spread + centre, np.bincount(fitted.labels_, minlength=clusters)


def _largest_first(found: tuple[Array, NDArray[np.int64]], spread: Array) -> Array:
    """Centres in order of decreasing motion, measured in spreads; those of few motions come last."""
    centres, counts = found
    size = np.linalg.norm(centres / spread, axis=1)
    return centres[np.lexsort((-size, counts < FEW))]
