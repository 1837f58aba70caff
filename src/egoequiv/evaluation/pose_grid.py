"""The poses of a grid as places: which frame of each recording is at each, and where motions lead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from egoequiv.errors import DataError
from egoequiv.pairs.candidates import Indices
from egoequiv.planning.displacements import Displacements, net_displacements
from egoequiv.pose import GridSpace
from egoequiv.store import FrameStore


@dataclass(frozen=True, eq=False)
class PoseGrid:
    """Places of a grid, and the frames of recordings that were taken there."""

    displacements: Displacements  # every net motion from one place to another, K or more of them
    between: Indices  # (C, C) the displacement from each place to each other
    rows: Indices  # (R, C) the frame (store row) of each recording at each place; -1 for none
    recordings: Indices  # (R,) the numbers of the recordings

    @cached_property
    def reached(self) -> Indices:
        """The place that each displacement leads to from each place, (C, K); -1 for none."""
        count, width = len(self.between), len(self.displacements)
        found = np.full((count, width), -1, np.int64)
        start, end = np.nonzero(self.between >= 0)
        found[start, self.between[start, end]] = end
        return found

    @cached_property
    def after(self) -> Indices:
        """The place that each motion leads to from each place, (C, G); -1 for none."""
        return self.reached[:, self.displacements.next_places[0]]

    def only(self, frames: Indices) -> PoseGrid:
        """The same places with these frames (store rows), and the recordings that have any of them."""
        rows = np.where(np.isin(self.rows, frames), self.rows, -1)
        kept = np.flatnonzero((rows >= 0).any(axis=1))
        return replace(self, rows=rows[kept], recordings=self.recordings[kept])

    def after_in(self, recording: int) -> Indices:
        """Where motions lead in a recording (its place among `recordings`), (C, G); -1 where it has no frame."""
        here = self.rows[recording] >= 0
        return np.where(here[self.after] & (self.after >= 0) & here[:, None], self.after, -1)

    def steps_in(self, recording: int, starts: Indices) -> Indices:
        """The moves of the shortest way in a recording from some places to each, (S, C); -1 where there is none."""
        after = self.after_in(recording)
        here, motion = np.nonzero(after >= 0)
        moves = csr_array((np.ones(len(here)), (here, after[here, motion])), (len(after), len(after)))
        steps = shortest_path(moves, unweighted=True, indices=starts)
        return np.where(np.isfinite(steps), steps, -1).astype(np.int64)


def pose_grid(store: FrameStore) -> PoseGrid:
    """The grid of a store; an error where poses are of another kind."""
    space = store.space
    if not isinstance(space, GridSpace) or len(store) == 0:
        source, kind = store.meta.get("source", "frames"), space.describe()["kind"]
        raise DataError(
            f"{store.place}: planning is measured where every move has a picture: on a grid of poses, or in the "
            f"embedded drive by forward and yaw (space=planar); this store is of {source!r}, with poses "
            f"of the kind {kind}"
        )
    poses, place = np.unique(np.round(store.poses, 6), axis=0, return_inverse=True)
    place = place.ravel()
    steps = np.array([axis.step for axis in space.grid_axes])
    pairs = space.difference(poses[:, None], poses[None])  # (C, C, M)
    largest = np.abs(pairs).max(axis=(0, 1))
    most_steps = sum(ceil(size - 0.25) for size in largest / steps)
    displacements = net_displacements(space, space.named_motions(), max(most_steps, 1), largest)
    between = displacements.find(pairs.reshape(-1, pairs.shape[-1])).reshape(len(poses), len(poses))
    rows = np.full((len(store.recording_names), len(poses)), -1, np.int64)
    rows[store.recording, place] = np.arange(len(store))
    return PoseGrid(displacements, between, rows, np.arange(len(store.recording_names)))


def things_of(store: FrameStore) -> Indices:
    """What each recording shows, (R,): its label; one without a label is a thing of its own."""
    _, first = np.unique(store.recording, return_index=True)
    labels = np.full(len(store.recording_names), -1, np.int64)
    labels[store.recording[first]] = store.labels[first]
    return np.where(labels >= 0, labels, -1 - np.arange(len(labels)))


def partners(store: FrameStore, recordings: Indices) -> tuple[str, dict[int, list[int]]]:
    """Recordings of the same thing that differ in one attribute, such as the lighting; those without a label are none.

    Args:
        store: Its labels and attributes.
        recordings: The numbers of the recordings to pair.

    Returns:
        The attribute, the one that most pairs differ in, and for each recording the others that differ in it alone;
        an empty name where there are none.
    """
    first = np.array([int(np.flatnonzero(store.recording == number)[0]) for number in recordings], np.int64)
    known = store.labels[first] >= 0
    first, recordings = first[known], recordings[known]
    found: dict[str, dict[int, list[int]]] = {}
    for name, own in store.attributes.items():
        others = [values[first] for other, values in store.attributes.items() if other != name]
        keys = list(zip(store.labels[first].tolist(), *(values.tolist() for values in others), strict=True))
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, key in enumerate(keys):
            groups.setdefault(key, []).append(number)
        found[name] = {
            int(recordings[a]): others_of
            for group in groups.values()
            for a in group
            if (others_of := [int(recordings[b]) for b in group if own[first[a]] != own[first[b]]])
        }
    best = max(found, key=lambda name: sum(map(len, found[name].values())), default="")
    return (best, found[best]) if best and found[best] else ("", {})
