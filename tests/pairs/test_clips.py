"""Clips of recordings, and pairs of frames within them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import DataError
from egoequiv.pairs import declare_patterns
from egoequiv.pairs.clips import ClipPairs, clip_numbers, find_clip_pairs
from egoequiv.pose import NoMotion, PlanarSpace
from egoequiv.store import FrameStore
from helpers import bare_store
from pairs.stores import grid_stores, slow_neighbours, some_frames, steps, timed_stores


def found(store: FrameStore, frames: np.ndarray | None = None, **settings: Any) -> ClipPairs:
    chosen = {"clip_s": 2.0, "max_gap_s": 1.0, "most": 10_000, "seed": 0, **settings}
    return find_clip_pairs(store, np.arange(len(store)) if frames is None else frames, **chosen)  # type: ignore[arg-type]


def film(lengths: list[int], hz: float = 10.0) -> FrameStore:
    """Recordings of so many frames each, without poses."""
    recording = np.repeat(np.arange(len(lengths)), lengths)
    times = np.concatenate([100.0 * k + np.arange(n) / hz for k, n in enumerate(lengths)])
    return bare_store(np.empty((len(times), 0)), recording.tolist(), times.tolist(), space=NoMotion())


def test_clips_by_hand() -> None:
    store = film([50, 10, 25])
    clip = clip_numbers(store, 2.0)
    # Clips of 20 frames: three in the first recording, one in the second, two in the third; a number is left out
    # between recordings.
    expected = np.repeat([0, 1, 2, 4, 6, 7], [20, 20, 10, 10, 20, 5])
    np.testing.assert_array_equal(clip, expected)
    without = bare_store(np.zeros((4, 0)), [0, 0, 1, 2], space=NoMotion())
    assert clip_numbers(without, 2.0).tolist() == [0, 0, 2, 4]


@given(timed_stores(), st.sampled_from([0.5, 1.0, 3.0]))
def test_neighbouring_clips_differ_by_one_and_recordings_by_more(store: FrameStore, clip_s: float) -> None:
    clip = clip_numbers(store, clip_s)
    assert store.times_s is not None
    for i in range(len(store)):
        for j in range(len(store)):
            apart = abs(int(clip[i]) - int(clip[j]))
            if store.recording[i] != store.recording[j]:
                assert apart > 1
            elif apart == 0:
                assert abs(store.times_s[i] - store.times_s[j]) < clip_s
            else:
                assert abs(store.times_s[i] - store.times_s[j]) > (apart - 1) * clip_s


@given(timed_stores(), st.integers(0, 99), st.sampled_from([0.25, 1.0]))
def test_all_pairs_of_video_are_found(store: FrameStore, seed: int, max_gap_s: float) -> None:
    frames = some_frames(store, seed)
    near = slow_neighbours(store, frames, max_gap_s)
    if not near:
        with pytest.raises(DataError, match="raise max_gap_s"):
            found(store, frames, max_gap_s=max_gap_s)
        return
    pairs = found(store, frames, max_gap_s=max_gap_s)
    assert {frozenset((int(i), int(j))) for i, j in zip(pairs.i, pairs.j, strict=True)} == near
    check(store, frames, pairs)


@given(grid_stores(), st.integers(0, 99))
def test_pairs_with_named_motions_are_found_in_both_directions(store: FrameStore, seed: int) -> None:
    frames = some_frames(store, seed)
    one_step = {(1.0, 0.0), (0.0, 1.0)}
    pairs_of = [(i, j) for i in frames.tolist() for j in frames.tolist() if store.recording[i] == store.recording[j]]
    near = sorted((i, j) for i, j in pairs_of if steps(store, i, j) in one_step)
    patterns = declare_patterns(store.space, ["up", "right"])
    if not near:
        with pytest.raises(DataError, match="recordings of several frames"):
            found(store, frames, patterns=patterns)
        return
    pairs = found(store, frames, patterns=patterns)
    is_swapped = np.array([steps(store, i, j) not in one_step for i, j in zip(pairs.i, pairs.j, strict=True)])
    i, j = np.where(is_swapped, pairs.j, pairs.i), np.where(is_swapped, pairs.i, pairs.j)
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == near
    check(store, frames, pairs)


def test_pairs_go_to_any_recording_in_the_same_map() -> None:
    # Two recordings of one toy and one of another, each at azimuths 0 and 60.
    store = bare_store(np.array([[30.0, 0.0], [30.0, 60.0]] * 3), [0, 0, 1, 1, 2, 2])
    right = declare_patterns(store.space, ["right"])
    maps = np.array([0, 0, 0, 0, 1, 1])
    drawn = [found(store, patterns=right, maps=maps, seed=seed) for seed in range(20)]
    seen = {frozenset((int(i), int(j))) for pairs in drawn for i, j in zip(pairs.i, pairs.j, strict=True)}
    assert seen == {frozenset(pair) for pair in [(0, 1), (0, 3), (2, 1), (2, 3), (4, 5)]}
    assert drawn[0].clip.tolist() == [0, 0, 2]  # the recordings of one toy are one clip


@given(grid_stores(), st.integers(0, 99))
def test_the_motion_of_a_pair_does_not_depend_on_the_recording_that_it_goes_to(store: FrameStore, seed: int) -> None:
    frames, patterns = some_frames(store, seed), declare_patterns(store.space, ["up", "right"])
    maps = store.recording % 2
    try:
        plain = found(store, frames, patterns=patterns)
    except DataError:
        return
    pairs = found(store, frames, patterns=patterns, maps=maps)
    assert set(pairs.j) <= set(frames.tolist())
    np.testing.assert_array_equal(maps[pairs.i], maps[pairs.j])
    np.testing.assert_array_equal(pairs.clip, 2 * maps[pairs.i])
    expected = store.space.difference(store.poses[pairs.i], store.poses[pairs.j])
    np.testing.assert_allclose(pairs.motion, expected, atol=1e-5)

    def moved(some: ClipPairs) -> list[tuple[float, ...]]:
        return sorted(map(tuple, np.round(np.column_stack([some.i, some.motion]), 3).tolist()))

    assert moved(pairs) == moved(plain)


def check(store: FrameStore, frames: np.ndarray, pairs: ClipPairs) -> None:
    """Pairs are of the given frames, in the order of the clips of their first frames, with the motion between them."""
    assert set(pairs.i) | set(pairs.j) <= set(frames.tolist())
    assert (pairs.i != pairs.j).all()
    np.testing.assert_array_equal(pairs.clip, clip_numbers(store, 2.0)[pairs.i])
    assert (np.diff(pairs.clip) >= 0).all()
    expected = store.space.difference(store.poses[pairs.i], store.poses[pairs.j])
    np.testing.assert_allclose(pairs.motion, expected, atol=1e-5)


def test_the_first_frame_of_a_pair_is_as_often_the_later_one() -> None:
    store = film([100] * 4)
    pairs = found(store)
    assert store.times_s is not None
    gap = store.times_s[pairs.j] - store.times_s[pairs.i]
    assert (np.abs(gap) <= 1.0 + 1e-9).all()
    assert 0.45 < (gap > 0).mean() < 0.55
    assert pairs.motion.shape == (len(pairs), 0)


def test_motions_change_sign_with_the_direction() -> None:
    poses = np.column_stack([np.arange(40.0), np.zeros(40)])
    store = bare_store(poses, [0] * 40, (np.arange(40) / 10).tolist(), space=PlanarSpace())
    pairs = found(store)
    np.testing.assert_allclose(pairs.motion[:, 0], pairs.j - pairs.i, atol=1e-4)


def test_clips_have_even_shares_and_there_are_at_most_so_many() -> None:
    store = film([400, 20, 20])
    pairs = found(store, most=330)
    counts = np.unique(pairs.clip, return_counts=True)[1]
    assert len(pairs) <= 330
    assert len(counts) == 22  # 20 clips of the long recording, and one of each other
    assert counts.max() - counts.min() <= 5
    assert counts.min() >= 330 // 22 - 5


@pytest.mark.parametrize("most", [4, 7])
def test_fewer_pairs_than_clips_are_spread_over_the_clips(most: int) -> None:
    pairs = found(film([400, 20, 20]), most=most)
    assert len(pairs) == len(np.unique(pairs.clip)) == most
    assert pairs.clip[-1] > 12 > pairs.clip[0]


def test_the_seed_decides() -> None:
    store = film([300, 300])
    a, b, c = (found(store, most=100, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(a.i, b.i)
    assert np.array_equal(a.j, b.j)
    assert not np.array_equal(a.i, c.i)


def test_memory_does_not_grow_with_the_number_of_pairs() -> None:
    store = film([20_000], hz=100.0)  # two million pairs
    tracemalloc.start()
    try:
        pairs = found(store, most=1_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 500 < len(pairs) <= 1_000
    assert peak < 25e6  # all of them would take 32 MB, and more while they are put in order


def test_photographs_are_paired_with_those_near_them_in_order() -> None:
    store = bare_store(np.empty((60, 0)), [0] * 40 + [1] * 20, space=NoMotion())
    pairs = found(store)
    assert (store.recording[pairs.i] == store.recording[pairs.j]).all()
    assert np.abs(pairs.i - pairs.j).max() == 3
    assert set(pairs.clip) == {0, 2}
