"""Stores drawn at random, and the slow and plain way to find pairs in them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from egoequiv.store import FrameStore
from helpers import bare_store

STEP_E, STEP_A, TURN = 10.0, 60.0, 360.0


@st.composite
def grid_stores(draw: st.DrawFn) -> FrameStore:
    """Up to four recordings, each a part of the 4 x 6 grid, their frames interleaved and in any order."""
    places = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5))
    rows = draw(st.lists(places, min_size=1, max_size=30, unique=True))
    poses = np.array([[30 + STEP_E * e, STEP_A * a] for _, e, a in rows])
    return bare_store(poses, [recording for recording, _, _ in rows])


@st.composite
def timed_stores(draw: st.DrawFn) -> FrameStore:
    """Up to three recordings at times that are eighths of a second (exact in binary), some of them equal."""
    places = st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 3), st.integers(0, 5))
    rows = draw(st.lists(places, min_size=1, max_size=30))
    poses = np.array([[30 + STEP_E * e, STEP_A * a] for _, _, e, a in rows])
    return bare_store(poses, [row[0] for row in rows], times_s=[row[1] / 8 for row in rows])


def some_frames(store: FrameStore, seed: int) -> np.ndarray:
    """About two thirds of the frames, in random order."""
    rng = np.random.default_rng(seed)
    return rng.permutation(len(store))[: max(1, round(len(store) * 0.67))]


def steps(store: FrameStore, i: int, j: int) -> tuple[float, float]:
    """Steps of elevation and azimuth from i to j, the azimuth the short way round (3 or -3 for half a turn)."""
    elevation = (store.poses[j, 0] - store.poses[i, 0]) / STEP_E
    azimuth = (store.poses[j, 1] - store.poses[i, 1]) / STEP_A
    while azimuth > 3:
        azimuth -= 6
    while azimuth < -3:
        azimuth += 6
    return elevation, azimuth


def slow_neighbours(store: FrameStore, frames: np.ndarray, max_gap_s: float) -> set[frozenset[int]]:
    """Every pair of neighbours, by looking at all pairs."""
    found = set()
    for i in frames.tolist():
        for j in frames.tolist():
            if i == j or store.recording[i] != store.recording[j]:
                continue
            if store.times_s is None:
                elevation, azimuth = steps(store, i, j)
                near = abs(elevation) <= 1 and abs(azimuth) <= 1
            else:
                near = abs(store.times_s[i] - store.times_s[j]) <= max_gap_s
            if near:
                found.add(frozenset((i, j)))
    return found
