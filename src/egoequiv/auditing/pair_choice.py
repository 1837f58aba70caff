"""Which motions an audit measures, and on which pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from egoequiv.auditing.parts import DividedBy, PairParts, divide_pairs
from egoequiv.errors import ConfigError, DataError, TooFewPairsError
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.evaluation.statistics import why_no_interval
from egoequiv.pairs import (
    MinedPatterns,
    MotionPatterns,
    atomic_names,
    composite_names,
    declare_patterns,
    find_motion_pairs,
    mine_patterns,
)
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

LIMIT = 2_000  # pairs of a motion

# What was done where whole recordings could not be kept apart.
SHARED: dict[DividedBy, str] = {
    "time": "so each was divided in time: its first half to fit, a quarter to choose, the last quarter to measure",
    "frames": "so frames were divided in order, none of them in two parts: maps are measured on {hold_out}s that they "
    "were fitted on, and rho is lower than it would be on others",
}


def choose_motions(
    store: FrameStore, motions: Sequence[str] | MotionPatterns | None, max_gap_s: float
) -> MotionPatterns:
    """The motions of an audit: those given, or the named steps of the store's grid, or what is mined from its poses."""
    if not store.has_images:
        raise DataError(f"{store.place} holds poses but no images: ingest it with images")
    if not store.space.axes:
        raise DataError(f"{store.place} has no poses, and an audit needs to know how the camera moved between frames")
    if isinstance(motions, MotionPatterns):
        if motions.space != store.space:
            raise ConfigError(f"the patterns were mined in another motion space than {store.place} has")
        patterns = motions
    elif motions is not None or store.space.named_motions():
        patterns = declare_patterns(store.space, motions or atomic_names(store.space) + composite_names(store.space))
    else:
        patterns = mine_patterns(store, max_gap_s=max_gap_s).patterns
    # Pairs of no pattern are of no use here.
    return replace(patterns, others_are_negatives=False) if isinstance(patterns, MinedPatterns) else patterns


def divide_store(
    store: FrameStore,
    frames: Indices,
    patterns: MotionPatterns,
    *,
    max_gap_s: float = 1.0,
    hold_out: str = "recording",
    limit: int = LIMIT,
    seed: int = 0,
) -> tuple[list[PairParts], list[str]]:
    """The pairs among some frames of every motion that has enough, and a line about all that is to be known of them."""
    groups, notes = groups_of(store, hold_out), []
    unknown = int((groups[frames] < 0).sum())
    if unknown:
        notes.append(
            f"{plural(unknown, f'frame has no {hold_out} and is', f'frames have no {hold_out} and are')} left out"
        )
        frames = frames[groups[frames] >= 0]
    pairs = find_motion_pairs(store, frames, patterns, max_gap_s)
    parts = []
    for motion in pairs.names:
        try:
            parts.append(divide_pairs(pairs, motion, groups, limit, seed, store.times_s))
        except TooFewPairsError as problem:
            notes.append(str(problem))
    if not parts:
        fewer = "; or take all frames (--frames all)" if len(frames) + unknown < len(store) else ""
        raise TooFewPairsError(f"{store.place}: no motion has enough pairs to be measured; {notes[-1]}{fewer}")
    notes += [note for by, words in SHARED.items() for note in _about(parts, by, words, hold_out)]
    return parts, notes + _without_interval(parts, hold_out)


def _without_interval(parts: list[PairParts], hold_out: str) -> list[str]:
    """Lines about motions whose rho has no interval."""
    why = {part.motion: why_no_interval(len(np.unique(part.measure.group)), hold_out) for part in parts}
    reasons = dict.fromkeys(reason for reason in why.values() if reason)
    return [f"pairs of {', '.join(one for one in why if why[one] == reason)}: {reason}" for reason in reasons]


def _about(parts: list[PairParts], by: DividedBy, words: str, hold_out: str) -> list[str]:
    """A line about motions whose parts share recordings."""
    motions = [part.motion for part in parts if part.by == by]
    if not motions:
        return []
    few = f"too few {hold_out}s with these motions to keep whole ones apart"
    return [f"{', '.join(motions)}: {few}, {words.format(hold_out=hold_out)}"]
