"""Which traverses are compared when places are looked for, and which of their frames show one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.place_search import mean_differences, patch_normalised
from egoequiv.evaluation.place_truth import PlaceTruth, read_truth
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.traverses import (
    MOST_FRAMES,
    USUAL_FRAMES,
    Array,
    Mask,
    Tolerance,
    Traverse,
    share_a_map,
    traverses_of,
    true_places,
)
from egoequiv.evaluation.walk_alignment import LEAST_GAIN, LEAST_NEAR, NOWHERE, align_walks
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.places import usual_place_m
from egoequiv.plurals import plural
from egoequiv.store import FrameStore
from egoequiv.store.frame_store import META
from egoequiv.store.logs import is_store

HOW = "name two traverses with --reference and --query: recordings of the store, or other stores"
# What says which frames show one place, as a measurement names it.
POSES, TABLE, ORDER, PIXELS = "poses", "table", "order", "alignment of pixels"


@dataclass(frozen=True, eq=False)
class PlacePairs:
    """A traverse that is searched and one whose places are looked for; for loop closure they are the same."""

    reference: Traverse
    query: Traverse
    tolerance: Tolerance
    revisit_s: float | None = None  # of loop closure: how much earlier a place was seen
    thinned_from: int = 0  # frames of the longer traverse, where not all are looked at
    known_by: str = POSES  # what says which frames show one place
    matches: Indices | None = None  # (P, 2), numbers of a query and of a reference frame; None: positions are compared
    notes: tuple[str, ...] = ()  # on the truth
    aligned_by: Array | None = None  # (Q, R), the distances of pixels, where the truth was found from them

    def truth(self) -> Mask:
        """Which reference frames show the place of which query frames, (Q, R)."""
        return true_places(self.reference, self.query, self.tolerance, self.matches)

    def allowed(self) -> Mask | None:
        """Which reference frames a query frame is compared with, (Q, R); None for all."""
        if self.revisit_s is None:
            return None
        times, earlier_s = self.query.times_s, self.reference.times_s
        assert times is not None
        assert earlier_s is not None
        earlier: Mask = earlier_s[None] <= times[:, None] - self.revisit_s
        return earlier

    def pixel_distances(self) -> Array:
        """How much the pictures differ, patch by patch normalised, (Q, R)."""
        return pixel_distances(self.query, self.reference) if self.aligned_by is None else self.aligned_by

    def describe(self) -> list[str]:
        """In words what is compared."""
        if self.revisit_s is not None:
            first = (
                f"loop closure in {self.query.name}: each of {len(self.query):,} frames is compared with those at "
                f"least {self.revisit_s:g} s before it"
            )
        else:
            first = (
                f"{len(self.query):,} query frames of {self.query.name} are looked for among {len(self.reference):,} "
                f"reference frames of {self.reference.name}"
            )
        said = [f"{first}; a match is right within {self.tolerance}", *self.notes]
        if self.thinned_from:
            said.append(f"of {self.thinned_from:,} frames, {MOST_FRAMES:,} evenly spaced ones are looked at")
        return said


def choose_pairs(store: FrameStore, options: TaskOptions, max_gap_s: float) -> PlacePairs:
    """The traverses that are named; without a query, two recordings of the store, or one drive and its own past.

    Which frames show one place is said by the table `truth`, if there is one; with a tolerance in metres, by the poses;
    else by the order of the frames, in walks of different lengths after these were aligned by their pictures.

    Args:
        store: of the run.
        options: `reference`, `query`, `tolerance`, `truth` and `revisit_s`.
        max_gap_s: two frames this far apart in time still show one place, for the usual tolerance in metres.
    """
    reference, query = _chosen(store, options)
    is_loop = reference.name == query.name and is_same_store(reference.store, query.store)
    if reference.positions_m is None or query.positions_m is None:  # the way is counted in one unit
        reference, query = reference.by_number(), query.by_number()
    if is_loop:
        reference = query
    truth = None if options.truth is None else read_truth(Path(options.truth), reference, query)
    if is_loop:
        _check_loop(query, truth)
    tolerance = _tolerance(reference, query, options, max_gap_s, truth)
    if is_loop and truth is None and not tolerance.in_metres:
        raise ConfigError("loop closure in one drive is measured in metres: give --tolerance such as 5m")
    known = truth or PlaceTruth(reference, query, None, ())
    longest = max(len(known.reference), len(known.query))
    pairs = PlacePairs(
        known.reference.thinned(),
        known.query.thinned(),
        tolerance,
        revisit_s=options.revisit_s if is_loop else None,
        thinned_from=longest if longest > MOST_FRAMES else 0,
        known_by=POSES if truth is None else TABLE,
        matches=known.matches,
        notes=known.notes,
    )
    return pairs if truth is not None or tolerance.in_metres else _by_order(pairs)


def _chosen(store: FrameStore, options: TaskOptions) -> tuple[Traverse, Traverse]:
    """The reference and the query; for loop closure, one drive twice."""
    own = traverses_of(store)
    if options.query is not None:
        query = _named(options.query, store, own, "--query")
        return _reference(options.reference, store, own, query), query
    if options.reference is not None:
        raise ConfigError(f"--reference {options.reference} needs a --query: {HOW}")
    if len(own) > 2:
        raise DataError(f"{store.place} has {len(own)} recordings: {HOW}")
    first, *others = own.values()
    return first, others[0] if others else first


def _check_loop(drive: Traverse, truth: PlaceTruth | None) -> None:
    """Refuse a drive that does not say when its frames were captured, or where."""
    if drive.times_s is None or (truth is None and drive.positions_m is None):
        raise DataError(
            f"{drive.store.place}, {drive.name}: loop closure needs times and positions in metres; or {HOW}"
        )


def _tolerance(
    reference: Traverse, query: Traverse, options: TaskOptions, max_gap_s: float, truth: PlaceTruth | None
) -> Tolerance:
    """The one given; else as far as the camera moves in `max_gap_s`, or 2 frames where poses are not in one map."""
    given = None if options.tolerance is None else Tolerance.parse(options.tolerance)
    if truth is not None and truth.matches is None and (given is None or not given.in_metres):
        raise ConfigError(f"--truth {options.truth} has positions: give --tolerance in metres, such as 5m")
    if truth is not None and truth.matches is not None and given is not None and given.in_metres:
        raise ConfigError(
            f"--tolerance {options.tolerance}: --truth {options.truth} has pairs of frames, so give a number of frames"
        )
    if given is not None:
        return given
    have = reference.positions_m is not None and query.positions_m is not None
    if have and share_a_map(reference, query) and truth is None:
        return Tolerance(round(usual_place_m(reference.store, max_gap_s), 3), True)
    return Tolerance(USUAL_FRAMES, False)


def _by_order(pairs: PlacePairs) -> PlacePairs:
    """Frame i shows the place of frame i, in logs of one length; others are aligned by their pictures first."""
    reference, query = pairs.reference, pairs.query
    lengths = [int(one.numbers.max()) + 1 for one in (query, reference)]
    if lengths[0] == lengths[1]:
        same = (
            "frame i of one traverse is taken to show the place of frame i of the other, because both have "
            f"{lengths[0]:,} frames; --truth FILE says otherwise"
        )
        return replace(pairs, known_by=ORDER, notes=(same,))
    distance = pixel_distances(query, reference)
    found = align_walks(distance)
    what = f"{query.name} has {lengths[0]:,} frames and {reference.name} {lengths[1]:,}"
    if not found.is_convincing:
        raise DataError(
            f"{what}, and their pictures cannot be aligned: in their order they match {found.gain:.2f} standard "
            f"deviations better than in another (expected {LEAST_GAIN:g}), and clearly on {found.near:.0%} of the way "
            f"(expected {LEAST_NEAR:.0%}): say with --truth FILE which frames show one place"
        )
    kept = found.place != NOWHERE
    notes = [
        f"{what}, so the truth is an alignment found from pixels: each query frame belongs to one reference frame, in "
        f"order. It favours pixels, and is less exact than a truth that is known (--truth FILE). In their order, the "
        f"pictures match {found.gain:.2f} standard deviations better than in another"
    ]
    if not kept.all():
        lost = plural(int((~kept).sum()), "query frame is", "query frames are")
        notes.append(f"{lost} left out, because the reference begins later or ends earlier")
    query = query.taken(kept)
    matches = np.stack([query.numbers, reference.numbers[found.place[kept]]], axis=1)
    return replace(pairs, query=query, known_by=PIXELS, matches=matches, notes=tuple(notes), aligned_by=distance[kept])


def pixel_distances(query: Traverse, reference: Traverse) -> Array:
    """How much the pictures of two traverses differ, patch by patch normalised, (Q, R)."""
    both = (query, reference)
    sides = tuple(min(one.store.image_shape[axis] for one in both) for axis in (0, 1))
    return mean_differences(*(patch_normalised(one.store.images[one.rows], sides) for one in both))


def is_same_store(one: FrameStore, other: FrameStore) -> bool:
    """Whether two stores have the same frames: one that was opened twice, a copy, or the same log ingested again."""
    if one is other or one.path.resolve() == other.path.resolve():
        return True
    pictures = one.meta.get("images_blake2b")
    if one.has_images and pictures is not None and pictures == other.meta.get("images_blake2b"):
        return True
    have = all(store.known_fingerprint or (store.path / META).is_file() for store in (one, other))
    return have and one.fingerprint() == other.fingerprint()


def _reference(name: str | None, store: FrameStore, own: dict[str, Traverse], query: Traverse) -> Traverse:
    """The traverse that is searched: the one named, or the only one of the store beside the query."""
    if name is not None:
        return _named(name, store, own, "--reference")
    others = [one for one in own.values() if one is not query]
    if len(others) == 1:
        return others[0]
    if not others:
        return query
    raise ConfigError(f"--query alone leaves {len(others)} recordings to search: give --reference, one of {_some(own)}")


def _named(name: str, store: FrameStore, own: dict[str, Traverse], option: str) -> Traverse:
    """A recording of the store by its name, or the only one of another store, or of this one by its place."""
    if name in own:
        return own[name]
    if not is_store(name):
        raise ConfigError(f"{option} {name}: neither a store nor a recording of this one, which has {_some(own)}")
    named = FrameStore.open(name)
    found = own if is_same_store(named, store) else traverses_of(named)
    if len(found) != 1:
        raise DataError(f"{option} {name} has {len(found)} recordings, expected one: ingest the one that is meant")
    return next(iter(found.values()))


def _some(own: dict[str, Traverse]) -> str:
    return ", ".join(list(own)[:5]) + (", ..." if len(own) > 5 else "")
