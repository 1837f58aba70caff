"""What is never both fitted and measured: recordings or values of an attribute, or where they are too few, times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.frame_features import BLOCKS, groups_of
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.shared import clocks_of
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

RECORDING, BLOCK = "recording", "block of time"
FEWER_BLOCKS = (5, 3)  # of a recording that is too short for many blocks with gaps between them
LEAST_KEPT = 0.5  # of the frames, where gaps are left out


@dataclass(frozen=True, eq=False)
class KeptApart:
    """The groups of frames, of which each is either fitted or measured."""

    groups: Indices  # (N,) of every frame of the store; -1: not used
    name: str  # what a group is: recording, block of time, or an attribute
    notes: tuple[str, ...] = ()

    def count(self, frames: Indices) -> int:
        """How many groups some frames (store rows) have."""
        found = self.groups[frames]
        return len(np.unique(found[found >= 0]))

    def only(self, frames: Indices) -> Indices:
        """Those of the frames that are used."""
        return frames[self.groups[frames] >= 0]

    def within(self, i: Indices, j: Indices) -> NDArray[np.bool_]:
        """Which pairs of store rows lie within one group, (P,); where groups are no blocks, all do."""
        found: NDArray[np.bool_] = (self.groups[i] >= 0) & (self.groups[i] == self.groups[j])
        return found if self.name == BLOCK else np.ones(len(i), np.bool_)


def keep_apart(
    store: FrameStore, frames: Indices, hold_out: str = RECORDING, *, fewest: int, max_gap_s: float
) -> KeptApart:
    """The recordings of some frames, or the values of an attribute; blocks of time where recordings are too few.

    Args:
        store: The frames.
        frames: Those that are measured, as store rows.
        hold_out: recording, label, or the name of an attribute.
        fewest: How many groups are needed; fewer recordings are divided by time where frames have times.
        max_gap_s: The time between two blocks, as far as recordings are long enough for it.
    """
    usual = KeptApart(groups_of(store, hold_out), hold_out)
    recordings = usual.count(frames)
    if hold_out != RECORDING or recordings >= fewest or store.times_s is None or not len(frames):
        return usual
    each = -(-BLOCKS // recordings)
    found = [_blocks(store, frames, count, max_gap_s) for count in (each, *(few for few in FEWER_BLOCKS if few < each))]
    enough = [one for one in found if (one[frames] >= 0).mean() >= LEAST_KEPT]
    groups = enough[0] if enough else _blocks(store, frames, each, 0.0)
    return KeptApart(groups, BLOCK, (_note(recordings, max_gap_s, bool(enough)),))


def _note(recordings: int, max_gap_s: float, has_gap: bool) -> str:
    """That blocks of time take the place of recordings."""
    few = plural(recordings, "recording is", "recordings are")
    gap = f"{max_gap_s:g} s between them" if has_gap else f"without a gap, because they last less than {max_gap_s:g} s"
    return (
        f"{few} too few to be kept apart, so blocks of time are, {gap}: they resemble each other more than recordings "
        "do, and numbers may be too good for new recordings"
    )


def _blocks(store: FrameStore, frames: Indices, each: int, gap_s: float) -> Indices:
    """So many blocks of time of each recording, (N,); -1 for other frames and those at most the gap after a block."""
    recording, times_s = clocks_of(store)
    groups = np.full(len(store), -1, np.int64)
    for number, name in enumerate(np.unique(recording[frames])):
        rows = frames[recording[frames] == name]
        rows = rows[np.argsort(times_s[rows], kind="stable")]
        block = np.arange(len(rows)) * each // len(rows)
        ends = np.array([times_s[rows[block < k]].max(initial=-np.inf) for k in range(each)])
        is_apart = times_s[rows] - ends[block] > gap_s if gap_s else np.ones(len(rows), np.bool_)
        groups[rows] = np.where(is_apart, number * each + block, -1)
    return groups
