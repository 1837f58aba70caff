"""Motion pairs, against looking at all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.pairs import MinedPatterns, candidates, declare_patterns, find_motion_pairs, thin_out
from egoequiv.pairs.candidates import half_a_step_s
from egoequiv.pairs.motion import MotionPairs
from egoequiv.pose import PlanarSpace
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


# A motion is one step ahead, one step aside, or neither; distances are measured in steps.
MINED = MinedPatterns(
    ("ahead", "aside"), np.array([[10.0, 0.0], [0.0, 60.0], [0.0, 0.0]]), np.array([10.0, 60.0]), GRID
)


@given(timed_stores(), st.integers(0, 1_000), st.sampled_from([0.125, 1.0, 100.0]), st.sampled_from([3, 250_000]))
def test_mined_patterns_give_every_close_pair_with_its_pattern_or_none(
    store: FrameStore, seed: int, gap: float, block: int
) -> None:
    frames = some_frames(store, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "BLOCK", block)
        pairs = find_motion_pairs(store, frames, MINED, gap)
    assert store.times_s is not None
    expected = {}
    for i in frames.tolist():
        for j in frames.tolist():
            forwards = (store.times_s[i], i) < (store.times_s[j], j)
            near = store.times_s[j] - store.times_s[i] <= gap + half_a_step_s(store)
            if store.recording[i] == store.recording[j] and forwards and near:
                motion = store.space.difference(store.poses[i], store.poses[j]) / MINED.spread
                off = [float(((motion - centre / MINED.spread) ** 2).sum()) for centre in MINED.centres]
                expected[i, j] = {k if k < 2 else -1 for k in range(3) if off[k] <= min(off) + 1e-9}
    found = dict(zip(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True), pairs.pattern.tolist(), strict=True))
    assert len(pairs) == len(found)
    assert found.keys() == expected.keys()
    assert all(pattern in expected[pair] for pair, pattern in found.items())


def test_negatives_by_hand() -> None:
    space = PlanarSpace()
    mined = MinedPatterns(("turn",), np.array([[4.0, 16.0], [5.0, 0.0]]), np.array([5.0, 8.0]), space)
    poses = np.array([[0.0, 0.0], [4.0, 15.0], [9.0, 15.0]])
    store = bare_store(poses, [0, 0, 0], times_s=[0, 1, 2], space=space)
    pairs = find_motion_pairs(store, np.arange(3), mined, 1.0)
    assert [*zip(pairs.i.tolist(), pairs.j.tolist(), pairs.pattern.tolist(), strict=True)] == [(1, 2, -1), (0, 1, 0)]
    assert pairs.counts() == {"turn": 1}
    assert pairs.of("turn").i.tolist() == [0]


def labelled_pairs(positive: int, negative: int, patterns: int = 3) -> MotionPairs:
    """Pairs of distinct rows, negatives and positives mixed."""
    pattern = np.concatenate([np.arange(positive) % patterns, np.full(negative, -1)])
    order = np.random.default_rng(0).permutation(len(pattern))
    rows = np.arange(len(pattern))
    return MotionPairs(rows, rows + 1, pattern[order], tuple("abc"[:patterns]))


def test_thinned_pairs_are_one_to_three() -> None:
    thin = thin_out(labelled_pairs(5_000, 20_000), 400, 0.25, seed=0)
    assert len(thin) == 400
    assert int((thin.pattern >= 0).sum()) == 100
    assert all(count > 20 for count in thin.counts().values())  # no pattern is forgotten


def test_the_number_of_the_paper() -> None:
    thin = thin_out(labelled_pairs(12_500, 40_000), 47_984, 0.25, seed=0)
    assert (len(thin), int((thin.pattern >= 0).sum())) == (47_984, 11_996)


@given(st.integers(0, 40), st.integers(0, 120), st.integers(4, 200), st.integers(0, 5))
def test_thinning_never_invents_pairs_and_keeps_the_ratio_it_can(
    positive: int, negative: int, count: int, seed: int
) -> None:
    pairs = labelled_pairs(positive, negative)
    thin = thin_out(pairs, count, 0.25, seed)
    every = set(zip(pairs.i.tolist(), pairs.j.tolist(), pairs.pattern.tolist(), strict=True))
    kept = [*zip(thin.i.tolist(), thin.j.tolist(), thin.pattern.tolist(), strict=True)]
    assert len(kept) == len(set(kept)) <= count
    assert set(kept) <= every
    positives = sum(pattern >= 0 for _, _, pattern in kept)
    wanted = min(positive, count // 4 if negative else count)
    assert positives == wanted
    assert len(kept) - positives == min(negative, 3 * wanted)
    again = thin_out(pairs, count, 0.25, seed)
    assert (again.i.tolist(), again.pattern.tolist()) == (thin.i.tolist(), thin.pattern.tolist())


def test_the_seed_decides_which_pairs_stay() -> None:
    pairs = labelled_pairs(500, 2_000)
    a, b = (thin_out(pairs, 100, 0.25, seed).i.tolist() for seed in (1, 2))
    assert a != b


def test_pairs_without_negatives_are_only_cut_to_their_number() -> None:
    pairs = labelled_pairs(50, 0)
    assert thin_out(pairs, 100, 0.25, 0).i.tolist() == pairs.i.tolist()
    assert len(thin_out(pairs, 20, 0.25, 0)) == 20


def test_pairs_keep_their_order_by_pattern() -> None:
    store = bare_store(np.cumsum(np.ones((80, 2)), axis=0), [0] * 80, times_s=np.arange(80.0).tolist())
    thin = thin_out(find_motion_pairs(store, np.arange(80), MINED, 3.0), 40, 0.25, 0)
    assert thin.pattern.tolist() == sorted(thin.pattern.tolist())
