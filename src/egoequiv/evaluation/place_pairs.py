"""Which traverses are compared when places are looked for, and which of their frames."""

from __future__ import annotations

from dataclasses import dataclass

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.traverses import (
    MOST_FRAMES,
    USUAL_FRAMES,
    Mask,
    Tolerance,
    Traverse,
    share_a_map,
    traverses_of,
    true_places,
)
from egoequiv.pairs.places import usual_place_m
from egoequiv.store import FrameStore
from egoequiv.store.frame_store import META
from egoequiv.store.logs import is_store

HOW = "name two traverses with --reference and --query: recordings of the store, or other stores"


@dataclass(frozen=True, eq=False)
class PlacePairs:
    """A traverse that is searched and one whose places are looked for; for loop closure they are the same."""

    reference: Traverse
    query: Traverse
    tolerance: Tolerance
    revisit_s: float | None = None  # of loop closure: how much earlier a place was seen
    thinned_from: int = 0  # frames of the longer traverse, where not all are looked at

    def truth(self) -> Mask:
        """Which reference frames show the place of which query frames, (Q, R)."""
        return true_places(self.reference, self.query, self.tolerance)

    def allowed(self) -> Mask | None:
        """Which reference frames a query frame is compared with, (Q, R); None for all."""
        if self.revisit_s is None:
            return None
        times = self.query.times_s
        assert times is not None
        earlier: Mask = times[None] <= times[:, None] - self.revisit_s
        return earlier

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
        said = [f"{first}; a match is right within {self.tolerance}"]
        if not self.tolerance.in_metres:
            said.append("frame i of one traverse shows the place of frame i of the other, as the data is read")
        if self.thinned_from:
            said.append(f"of {self.thinned_from:,} frames, {MOST_FRAMES:,} evenly spaced ones are looked at")
        return said


def choose_pairs(store: FrameStore, options: TaskOptions, max_gap_s: float) -> PlacePairs:
    """The traverses that are named; without a query, two recordings of the store, or one drive and its own past.

    Args:
        store: of the run.
        options: `reference`, `query`, `tolerance` and `revisit_s`.
        max_gap_s: two frames this far apart in time still show one place, for the usual tolerance in metres.
    """
    own = traverses_of(store)
    if options.query is not None:
        query = _named(options.query, store, own, "--query")
        reference = _reference(options.reference, store, own, query)
    elif options.reference is not None:
        raise ConfigError(f"--reference {options.reference} needs a --query: {HOW}")
    elif len(own) == 2:
        reference, query = own.values()
    elif len(own) == 1:
        reference = query = next(iter(own.values()))
    else:
        raise DataError(f"{store.place} has {len(own)} recordings: {HOW}")
    if reference.name == query.name and is_same_store(reference.store, query.store):
        return _loop(query, options, max_gap_s)
    longest = max(len(reference), len(query))
    tolerance = _tolerance(reference, query, options, max_gap_s)
    if reference.positions_m is None or query.positions_m is None:  # the way is counted in one unit
        reference, query = reference.by_number(), query.by_number()
    thinned = longest if longest > MOST_FRAMES else 0
    return PlacePairs(reference.thinned(), query.thinned(), tolerance, thinned_from=thinned)


def _loop(drive: Traverse, options: TaskOptions, max_gap_s: float) -> PlacePairs:
    """One drive and its own past."""
    if drive.positions_m is None or drive.times_s is None:
        raise DataError(
            f"{drive.store.place}, {drive.name}: loop closure needs times and positions in metres; or {HOW}"
        )
    tolerance = _tolerance(drive, drive, options, max_gap_s)
    if not tolerance.in_metres:
        raise ConfigError("loop closure in one drive is measured in metres: give --tolerance such as 5m")
    thinned = len(drive) if len(drive) > MOST_FRAMES else 0
    drive = drive.thinned()
    return PlacePairs(drive, drive, tolerance, options.revisit_s, thinned)


def _tolerance(reference: Traverse, query: Traverse, options: TaskOptions, max_gap_s: float) -> Tolerance:
    """The one given; else as far as the camera moves in `max_gap_s`, or 2 frames where poses are not in one map."""
    if options.tolerance is not None:
        return Tolerance.parse(options.tolerance)
    have = reference.positions_m is not None and query.positions_m is not None
    if have and share_a_map(reference, query):
        return Tolerance(round(usual_place_m(reference.store, max_gap_s), 3), True)
    return Tolerance(USUAL_FRAMES, False)


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
