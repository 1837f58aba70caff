"""Motion pairs, against looking at all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.pairs import declare_patterns, find_motion_pairs
from egoequiv.pairs.candidates import half_a_step_s
from egoequiv.pairs.motion import MotionPairs
from egoequiv.store import FrameStore
from helpers import GRID, bare_store, grid_poses
from pairs.stores import grid_stores, some_frames, steps, timed_stores

MOTIONS = {"up": (1, 0), "right": (0, 1), "up+right": (1, 1), "up+left": (1, -1), "down+right": (-1, 1)}
PATTERNS = declare_patterns(GRID, list(MOTIONS))


def triples(pairs: MotionPairs) -> list[tuple[int, int, str]]:
    return [(int(i), int(j), pairs.names[g]) for i, j, g in zip(pairs.i, pairs.j, pairs.pattern, strict=True)]


def slow_pairs(store: FrameStore, frames: np.ndarray, gap: float) -> set[tuple[int, int, str]]:
    found = set()
    for i in frames.tolist():
        for j in frames.tolist():
            if i == j or store.recording[i] != store.recording[j]:
                continue
            if store.times_s is not None:
                forwards = (store.times_s[i], i) < (store.times_s[j], j)
                if not forwards or store.times_s[j] - store.times_s[i] > gap:
                    continue
            for name, motion in MOTIONS.items():
                if steps(store, i, j) == motion:
                    found.add((i, j, name))
    return found


def test_a_whole_grid_by_hand(small_store: FrameStore) -> None:
    pairs = find_motion_pairs(small_store, np.arange(144), PATTERNS)
    # 6 recordings of 4 x 6 poses; right wraps around, up does not.
    assert pairs.counts() == {"up": 108, "right": 144, "up+right": 108, "up+left": 108, "down+right": 108}
    assert len(pairs) == 576
    for name, (elevation, azimuth) in MOTIONS.items():
        own = pairs.of(name)
        assert len(own) == pairs.counts()[name]
        assert (small_store.recording[own.i] == small_store.recording[own.j]).all()
        moved = small_store.poses[own.j] - small_store.poses[own.i]
        assert (moved[:, 0] == 10 * elevation).all()
        assert ((moved[:, 1] - 60 * azimuth) % 360 == 0).all()


def test_the_seam_by_hand() -> None:
    store = bare_store(np.array([[30.0, 300.0], [30.0, 0.0], [40.0, 0.0]]), [0, 0, 0])
    pairs = find_motion_pairs(store, np.arange(3), declare_patterns(GRID, ["right", "up+right", "left"]))
    assert triples(pairs) == [(0, 1, "right"), (0, 2, "up+right"), (1, 0, "left")]


@given(grid_stores(), st.integers(0, 1_000))
def test_pairs_of_incomplete_grids_are_those_of_a_slow_search(store: FrameStore, seed: int) -> None:
    frames = some_frames(store, seed)
    found = triples(find_motion_pairs(store, frames, PATTERNS))
    assert set(found) == slow_pairs(store, frames, 1.0)
    assert len(found) == len(set(found))


@given(timed_stores(), st.integers(0, 1_000), st.sampled_from([0.0, 0.125, 1.0, 100.0]))
def test_pairs_of_timed_tracks_are_those_of_a_slow_search(store: FrameStore, seed: int, gap: float) -> None:
    frames = some_frames(store, seed)
    found = triples(find_motion_pairs(store, frames, PATTERNS, gap))
    assert set(found) == slow_pairs(store, frames, gap + half_a_step_s(store))
    assert len(found) == len(set(found))


@given(grid_stores(), st.integers(0, 1_000))
def test_the_order_of_frames_does_not_matter(store: FrameStore, seed: int) -> None:
    frames = some_frames(store, seed)
    a, b = (find_motion_pairs(store, chosen, PATTERNS) for chosen in (frames, np.sort(frames)))
    assert triples(a) == triples(b)


def test_no_frames_and_single_frames_give_no_pairs() -> None:
    store = bare_store(grid_poses(), [0] * 24)
    for frames in (np.empty(0, np.int64), np.array([3])):
        pairs = find_motion_pairs(store, frames, PATTERNS)
        assert len(pairs) == 0
        assert set(pairs.counts().values()) == {0}
        assert pairs.i.dtype == pairs.j.dtype == pairs.pattern.dtype == np.int64


def test_an_unknown_pattern_is_not_given_pairs() -> None:
    pairs = find_motion_pairs(bare_store(grid_poses(), [0] * 24), np.arange(24), PATTERNS)
    with pytest.raises(ValueError, match="not in tuple"):
        pairs.of("down")
