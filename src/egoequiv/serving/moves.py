"""Which stored frame is really there after a motion, and which pairs of frames have which motion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoequiv.models.motion_model import Motion
from egoequiv.pairs.candidates import Indices, half_a_step_s, motion_candidates, thinned
from egoequiv.store import FrameStore

NEAR = 0.3  # a motion counts as a named one if it is off by at most this share of it, where there is no grid
MOST_GAP_S = 2.0  # between a frame and the one after a motion
MOST_FRAMES = 40  # between them, where there are no times
MOST_PAIRS = 20_000
MOST_RECORDINGS = 100  # that pairs are drawn from
SEED = 0x5E


class Moves:
    """Named motions in a store: the frame after each of them, where there is one."""

    def __init__(self, store: FrameStore, motions: Mapping[str, Motion]) -> None:
        """Take a store with poses and motions of its space, (M,) each."""
        self.store = store
        self.names = tuple(motions) if store.space.axes else ()
        self.motions = {name: np.asarray(motions[name], np.float64) for name in self.names}
        self._order = np.argsort(store.recording, kind="stable")
        self._ends = np.cumsum(np.bincount(store.recording, minlength=len(store.recording_names)))

    def after(self, row: int, name: str) -> int | None:
        """The frame of the same recording that is nearest to where the motion leads; None if none is near."""
        if name not in self.motions:
            return None
        rows = self._candidates(row)
        if not len(rows):
            return None
        off = self._off(self._between(np.full(len(rows), row), rows), name)
        best = int(np.argmin(off))
        return int(rows[best]) if off[best] <= 1.0 else None

    def all_after(self, row: int) -> dict[str, int | None]:
        """The frame after every motion."""
        return {name: self.after(row, name) for name in self.names}

    def follow(self, row: int, names: list[str]) -> int | None:
        """The frame after a chain of motions; None as soon as one leads to no frame."""
        now: int | None = row
        for name in names:
            now = None if now is None else self.after(now, name)
        return now

    def assign(self, motion: NDArray[np.float64]) -> NDArray[np.int64]:
        """The number of the named motion that each motion (N, M) is, -1 for none; (N,)."""
        if not self.names:
            return np.full(len(motion), -1, np.int64)
        off = np.stack([self._off(motion, name) for name in self.names], axis=1)
        best = off.argmin(axis=1)
        return np.where(off[np.arange(len(off)), best] <= 1.0, best, -1)

    @cached_property
    def pairs(self) -> tuple[Indices, Indices, NDArray[np.float64]]:
        """Some pairs of frames of one recording with their motions, (P,), (P,), (P, M): named ones and others.

        About a third are of no named motion, and no named one outweighs the others.
        """
        codes = thinned(np.arange(len(self.store.recording_names)), MOST_RECORDINGS, SEED)
        frames = thinned(np.flatnonzero(np.isin(self.store.recording, codes)), MOST_PAIRS, SEED)
        share = max(2 * MOST_PAIRS // len(codes) // (len(self.names) + 2), 10)
        found = [np.empty((0, 2), np.int64)]
        for i, j in motion_candidates(self.store, frames, 1.0 + half_a_step_s(self.store)):
            found.append(self._some(np.stack([i, j], axis=1), share))
        i, j = thinned(np.concatenate(found), MOST_PAIRS, SEED).T
        return i, j, self._between(i, j)

    def _some(self, pairs: NDArray[np.int64], share: int) -> NDArray[np.int64]:
        motion = self._between(*pairs.T)
        kind = self.assign(motion)
        others = kind < 0
        if self.store.space.named_motions():  # of a grid those of at most two steps: beyond, little is seen in both
            others &= self.store.space.within_one_step(motion / 2)
        kept = [thinned(pairs[kind == number], share, SEED) for number in range(len(self.names))]
        return np.concatenate([*kept, thinned(pairs[others], 2 * share, SEED)])

    def _between(self, i: Indices, j: Indices) -> NDArray[np.float64]:
        return self.store.space.difference(self.store.poses[i], self.store.poses[j])

    def _candidates(self, row: int) -> Indices:
        """The frames of the same recording that are near in time, or in number where there are no times."""
        code = int(self.store.recording[row])
        rows: Indices = self._order[self._ends[code - 1] if code else 0 : self._ends[code]]
        near = rows != row
        if self.store.times_s is not None:
            near &= np.abs(self.store.times_s[rows] - self.store.times_s[row]) <= MOST_GAP_S
        elif not self.store.space.named_motions():
            near &= np.abs(self.store.frame[rows] - self.store.frame[row]) <= MOST_FRAMES
        found: Indices = rows[near]
        return found

    def _off(self, motion: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        """How far motions (N, M) are from a named one: up to 1 they count as that motion; (N,)."""
        space, wanted = self.store.space, self.motions[name]
        if space.named_motions():
            off = np.abs(space.compose(motion, space.invert(wanted)))
            return np.asarray((off / space.tolerance()).max(axis=-1))
        own = np.linalg.norm((motion - wanted) / self._scale, axis=-1)
        return np.asarray(own / max(NEAR * float(np.linalg.norm(wanted / self._scale)), 1e-9))

    @cached_property
    def _scale(self) -> NDArray[np.float64]:
        """The size of each component of a motion, over the named ones; those on one scale share it."""
        sizes = np.abs(np.stack(list(self.motions.values())))
        scale = np.ones(sizes.shape[1])
        for own in self.store.space.scales:
            scale[own] = max(float(sizes[:, own].max()), 1e-9)
        return scale
