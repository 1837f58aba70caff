"""The pairs of a motion in three disjoint parts: one to fit maps, one to choose among them, one to measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, TooFewPairsError
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural

SHARES = (0.5, 0.25, 0.25)  # of the pairs: to fit, to choose, to measure
FEWEST = 10  # pairs in each part
FEWEST_GROUPS = 2  # recordings to measure on: a single one may be unlike all others

# Whole groups, such as recordings; where these are too few, the time of each of them; where there is no time, its
# frames in order. No frame is ever in two parts.
DividedBy = Literal["groups", "time", "frames"]


@dataclass(frozen=True, eq=False)
class PairPart:
    """Pairs of store rows with x_j = g x_i."""

    i: Indices  # (N,)
    j: Indices  # (N,)
    group: Indices  # (N,), the recording, or what else was kept apart

    def __len__(self) -> int:
        return len(self.i)


@dataclass(frozen=True, eq=False)
class PairParts:
    """The pairs of one motion, divided."""

    motion: str
    fit: PairPart
    choose: PairPart
    measure: PairPart
    by: DividedBy

    def rows(self) -> Indices:
        """Every store row that occurs, once."""
        parts = (self.fit, self.choose, self.measure)
        return np.unique(np.concatenate([rows for part in parts for rows in (part.i, part.j)]))


def divide_pairs(
    pairs: MotionPairs,
    motion: str,
    groups: Indices,
    limit: int,
    seed: int = 0,
    times_s: NDArray[np.float64] | None = None,
) -> PairParts:
    """At most `limit` pairs of one motion in three parts, by whole groups where these are enough.

    Groups and times are those of all frames of the store, (frames,).
    """
    needed = round(FEWEST / min(SHARES))
    if limit < needed:
        raise ConfigError(
            f"at most {limit} pairs of a motion (--limit) are too few to fit a map, to choose and to measure it: "
            f"{needed} are needed"
        )
    own = pairs.of(motion)
    group = groups[own.i]
    rng = np.random.default_rng([seed, 0xA0D1, pairs.names.index(motion)])
    if len(own) < needed:
        raise TooFewPairsError(
            f"motion {motion!r}: {len(own)} pairs are too few to fit a map, to choose and to measure it; "
            f"{needed} are needed: take more frames, or leave this motion out"
        )
    part, by = _divided(own, group, groups, times_s, rng)
    if not _is_enough(part):
        frames = len(np.unique(np.concatenate([own.i, own.j])))
        raise TooFewPairsError(
            f"motion {motion!r}: {plural(frames, 'frame')} with it are too few for three parts that have no frame in "
            f"common and {FEWEST} pairs each: take more frames, or leave this motion out"
        )
    drawn = [_draw(np.flatnonzero(part == k), round(share * limit), rng) for k, share in enumerate(SHARES)]
    fit, choose, measure = (PairPart(own.i[rows], own.j[rows], group[rows]) for rows in drawn)
    return PairParts(motion, fit, choose, measure, by)


def _divided(
    own: MotionPairs,
    group: Indices,
    groups: Indices,
    times_s: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], DividedBy]:
    """The part of each pair in the first way that gives each part enough of them; if none does, as in the last way.

    Whole groups, with several to measure; the order within each group; all groups as if they were one; a group alone.
    """
    whole = _by_groups(group, rng)
    if _is_enough(whole) and len(np.unique(group[whole == 2])) >= FEWEST_GROUPS:
        return whole, "groups"
    order = np.arange(len(groups)) if times_s is None else times_s
    place = np.argsort(np.lexsort((order, groups)))
    each = _by_order(group, order[own.i], order[own.j])
    together = _by_order(np.zeros_like(group), place[own.i], place[own.j])
    for part in (each, together):
        if _is_enough(part):
            return part, "frames" if times_s is None else "time"
    return whole, "groups"


def _draw(rows: Indices, most: int, rng: np.random.Generator) -> Indices:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _is_enough(part: NDArray[np.int64]) -> bool:
    return all(int((part == k).sum()) >= FEWEST for k in range(len(SHARES)))


def _cuts(count: int) -> NDArray[np.int64]:
    """Where to cut so many pairs."""
    cuts: NDArray[np.int64] = np.cumsum(np.multiply(SHARES, count))[:-1].round().astype(np.int64)
    return cuts


def _by_groups(group: Indices, rng: np.random.Generator) -> NDArray[np.int64]:
    """The part of each pair: the groups with most pairs are placed first, each where most is lacking."""
    names, number, sizes = np.unique(group, return_inverse=True, return_counts=True)
    order = rng.permutation(len(names))
    order = order[np.argsort(-sizes[order], kind="stable")]
    lacking = np.multiply(SHARES, len(group))
    part = np.zeros(len(names), np.int64)
    for k in order:
        part[k] = int(lacking.argmax())
        lacking[part[k]] -= sizes[k]
    return part[number]


def _by_order(group: Indices, one_end: NDArray[Any], other_end: NDArray[Any]) -> NDArray[np.int64]:
    """The part of each pair: the first half of each group is fitted, and so on; -1 for pairs that lie across a cut.

    The order is by time, or by number where frames have no times. Frames of video resemble those just before and after
    them; divided at random, a pair that is measured would have its likes among those that were fitted.
    """
    part = np.full(len(group), -1)
    begin, end = np.minimum(one_end, other_end), np.maximum(one_end, other_end)
    for one in np.unique(group):
        rows = np.flatnonzero(group == one)
        rows = rows[np.argsort(begin[rows], kind="stable")]
        passed: float = -np.inf
        for k, stretch in enumerate(np.split(rows, _cuts(len(rows)))):
            part[stretch[begin[stretch] > passed]] = k
            passed = max(passed, float(end[stretch].astype(np.float64).max(initial=-np.inf)))
    return part
