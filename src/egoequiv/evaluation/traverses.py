"""Traverses: passes along a route, and which frames of two of them show the same place."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.places import positions_of
from egoequiv.pairs.shared import PART_OF, WORLD, clocks_of
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_FRAMES = 4_000  # of a traverse: of longer ones, evenly spaced frames
METRES = "m"
USUAL_FRAMES = 2  # the tolerance where poses are not in one map


@dataclass(frozen=True)
class Tolerance:
    """How far a match may be from the true place: a number of frames, or of metres."""

    value: float
    in_metres: bool

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Such as `2` (frames) or `5m` (metres)."""
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(m|frames?)?\s*", text)
        if found is None or (found[2] != METRES and not float(found[1]).is_integer()):
            raise ConfigError(f"--tolerance {text!r}: expected a number of frames such as 2, or metres such as 5m")
        return cls(float(found[1]), found[2] == METRES)

    def __str__(self) -> str:
        return f"{self.value:g} m" if self.in_metres else f"{self.value:g} frame{'s' * (self.value != 1)}"


@dataclass(frozen=True, eq=False)
class Traverse:
    """One pass along a route: frames of a store in the order in which they were captured."""

    name: str  # of the recording; parts that a recording was cut into are one traverse
    store: FrameStore
    rows: Indices  # (N,) store rows
    numbers: Indices  # (N,) of the frames in the log
    times_s: Array | None  # (N,)
    positions_m: Array | None  # (N, 2) or (N, 3)
    along: Array  # (N,) how far the camera had come: metres where positions are known, else the numbers
    world: str  # the map of its poses, where the log says it

    def __len__(self) -> int:
        return len(self.rows)

    def thinned(self, most: int = MOST_FRAMES) -> Traverse:
        """At most so many of its frames, evenly spaced."""
        if len(self) <= most:
            return self
        return self.taken(np.unique(np.linspace(0, len(self) - 1, most).astype(np.int64)))

    def taken(self, kept: Indices | Mask) -> Traverse:
        """Some of its frames."""
        arrays: dict[str, Any] = {name: own[kept] for name, own in vars(self).items() if isinstance(own, np.ndarray)}
        return replace(self, **arrays)

    def by_number(self) -> Traverse:
        """The same, with the way counted in frames."""
        return replace(self, along=self.numbers.astype(np.float64))


def traverses_of(store: FrameStore) -> dict[str, Traverse]:
    """The traverses of a store by name, in its order: recordings, and those that were cut into parts as one."""
    names = np.array(store.recording_names, dtype=np.str_)[store.recording]
    if PART_OF in store.attributes:
        whole = store.attributes[PART_OF]
        names = np.where(whole == "", names, whole)
    return {str(name): _traverse(store, str(name), np.flatnonzero(names == name)) for name in dict.fromkeys(names)}


def _traverse(store: FrameStore, name: str, rows: Indices) -> Traverse:
    numbers = store.frame if store.log_frame is None else store.log_frame
    is_cut = len(np.unique(store.recording[rows])) > 1
    rows = rows[np.lexsort((numbers[rows], store.recording[rows]))]
    if is_cut and store.log_frame is not None:
        rows = rows[np.argsort(numbers[rows], kind="stable")]
    times = None if store.times_s is None else clocks_of(store)[1][rows] if is_cut else store.times_s[rows]
    worlds = store.attributes[WORLD][rows] if WORLD in store.attributes else np.array([""])
    world = str(worlds[0]) if (worlds == worlds[0]).all() else ""
    positions = positions_of(store)
    has_metres = positions is not None and store.space.length_unit == METRES and not is_cut
    own = positions[rows] if positions is not None and has_metres else None
    along = numbers[rows].astype(np.float64)
    if own is not None:
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(own, axis=0), axis=1))])
    return Traverse(name, store, rows, numbers[rows], times, own, along, world)


def share_a_map(one: Traverse, other: Traverse) -> bool | None:
    """Whether the poses of two traverses are in one map; None where the log does not say it."""
    if one.world and other.world:
        return one.world == other.world
    same = one.store.place == other.store.place and one.name == other.name
    return True if same else None


def true_places(reference: Traverse, query: Traverse, tolerance: Tolerance, matches: Indices | None = None) -> Mask:
    """Which reference frames (R) show the place of which query frames (Q), (Q, R).

    Args:
        reference: the traverse that is searched.
        query: the traverse whose places are looked for.
        tolerance: in metres, positions are compared; in frames, numbers of reference frames with those of matches.
        matches: (P, 2), the numbers of a query and of a reference frame that show one place; by default, frames with
            the same number do.
    """
    if not tolerance.in_metres:
        same = np.stack([query.numbers, query.numbers], axis=1)
        return _near_matches(reference, query, same if matches is None else matches, tolerance.value)
    for one in (reference, query):
        if one.positions_m is None:
            raise DataError(
                f"{one.store.place}, {one.name}: no positions in metres, so --tolerance must be a number of frames"
            )
    assert reference.positions_m is not None
    assert query.positions_m is not None
    if share_a_map(reference, query) is False:
        raise DataError(
            f"the poses of {reference.name} and {query.name} are in different maps ({reference.world}, {query.world}), "
            "so --tolerance must be a number of frames"
        )
    from scipy.spatial.distance import cdist

    columns = min(reference.positions_m.shape[1], query.positions_m.shape[1])
    apart: Mask = cdist(query.positions_m[:, :columns], reference.positions_m[:, :columns]) <= tolerance.value
    return apart


def _near_matches(reference: Traverse, query: Traverse, matches: Indices, most: float) -> Mask:
    """Which reference frames are at most so many frames from a match of which query frames, (Q, R)."""
    row, match = np.nonzero(query.numbers[:, None] == matches[None, :, 0])
    near, column = np.nonzero(np.abs(matches[match, 1, None] - reference.numbers[None]) <= most)
    found = np.zeros((len(query), len(reference)), bool)
    found[row[near], column] = True
    return found
