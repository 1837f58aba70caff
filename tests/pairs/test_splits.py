"""Splits, how much they leak, and labelled draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs import Split, count_leaked, draw_labelled, make_split, split_frames
from egoequiv.store import FrameStore
from helpers import bare_store, grid_poses
from pairs.stores import grid_stores, slow_neighbours, timed_stores

KINDS = ["paper", "by-recording", "by-shape", "by-take", "by-label"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_split_divides_all_frames(small_store: FrameStore, kind: str, seed: int) -> None:
    split = make_split(small_store, kind, seed=seed)
    assert sorted([*split.train.tolist(), *split.validation.tolist()]) == list(range(144))
    assert split.kind == kind
    assert min(len(split.train), len(split.validation)) > 0


@pytest.mark.parametrize(
    ("kind", "in_train"),
    [("paper", 96), ("by-recording", 3 * 24), ("by-shape", 2 * 48), ("by-take", 72), ("by-label", 2 * 48)],
)
def test_two_thirds_go_to_training(small_store: FrameStore, kind: str, in_train: int) -> None:
    assert len(make_split(small_store, kind).train) == in_train


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_kept_whole(small_store: FrameStore, seed: int) -> None:
    for kind, group in (
        ("by-recording", small_store.recording),
        ("by-shape", small_store.attribute("shape")),
        ("by-take", small_store.attribute("take")),
        ("by-label", small_store.labels),
    ):
        split = make_split(small_store, kind, seed=seed)
        assert not set(group[split.train].tolist()) & set(group[split.validation].tolist())


def test_the_seed_decides(small_store: FrameStore) -> None:
    a, b, c = (make_split(small_store, seed=seed) for seed in (3, 3, 4))
    assert a.train.tolist() == b.train.tolist()
    assert a.train.tolist() != c.train.tolist()


@given(st.integers(2, 60), st.floats(0.01, 0.99), st.integers(0, 99))
def test_any_fraction_leaves_something_on_both_sides(count: int, fraction: float, seed: int) -> None:
    store = bare_store(np.zeros((count, 2)), [0] * count)
    split = split_frames(store, np.arange(count), "paper", seed=seed, train_fraction=fraction)
    assert sorted([*split.train.tolist(), *split.validation.tolist()]) == list(range(count))
    assert len(split.train) == min(max(round(fraction * count), 1), count - 1)


def test_only_the_given_frames_are_divided(small_store: FrameStore) -> None:
    frames = np.arange(10, 100, 3)
    split = split_frames(small_store, frames, "paper", seed=0, train_fraction=0.5)
    assert sorted([*split.train.tolist(), *split.validation.tolist()]) == frames.tolist()


@pytest.mark.parametrize("fraction", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_a_bad_fraction_is_named(small_store: FrameStore, fraction: float) -> None:
    with pytest.raises(ConfigError, match=f"train_fraction .* found {fraction}"):
        make_split(small_store, train_fraction=fraction)


def test_an_unknown_split_is_named_with_the_choices(small_store: FrameStore) -> None:
    with pytest.raises(ConfigError, match="split 'random' is not known; choose paper, given, by-recording, by-shape, by-take"):
        make_split(small_store, "random")
    with pytest.raises(ConfigError, match="no attribute 'toy'"):
        make_split(small_store, "by-toy")


def test_one_group_cannot_be_divided() -> None:
    store = bare_store(grid_poses(), [0] * 24)
    with pytest.raises(DataError, match="'by-recording' needs at least two groups to divide, bare-store has 1"):
        make_split(store, "by-recording")


def slow_leak(store: FrameStore, split: Split, gap: float) -> int:
    leaked = 0
    for v in split.validation.tolist():
        near = [slow_neighbours(store, np.array([v, t]), gap) for t in split.train.tolist()]
        leaked += any(near)
    return leaked


def test_leakage_by_hand() -> None:
    # A ring of six places; validation holds 0 and 3. Training holds 1, next to 0, but nothing next to 3.
    ring = bare_store(np.array([[30.0, 60.0 * k] for k in range(6)]), [0] * 6)
    assert count_leaked(ring, Split(np.array([1]), np.array([0, 3]), "paper")) == 1
    assert count_leaked(ring, Split(np.array([5]), np.array([0, 3]), "paper")) == 1
    assert count_leaked(ring, Split(np.array([1, 2]), np.array([0, 3]), "paper")) == 2
    track = bare_store(np.zeros((4, 2)), [0, 0, 0, 1], times_s=[0, 1, 5, 5])
    assert count_leaked(track, Split(np.array([1, 3]), np.array([0, 2]), "paper")) == 1
    assert count_leaked(track, Split(np.array([1, 3]), np.array([0, 2]), "paper"), max_gap_s=4) == 2


@given(st.one_of(grid_stores(), timed_stores()), st.sampled_from([0.125, 1.0]), st.integers(0, 1_000))
def test_leakage_is_that_of_a_slow_search(store: FrameStore, gap: float, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(store))
    cut, end = len(order) // 2, len(order) - len(order) // 5  # some frames are in neither part
    split = Split(order[:cut], order[cut:end], "paper")
    assert count_leaked(store, split, gap) == slow_leak(store, split, gap)


def test_whole_recordings_leak_nothing(small_store: FrameStore) -> None:
    assert count_leaked(small_store, make_split(small_store, "by-recording")) == 0
    assert count_leaked(small_store, make_split(small_store, "paper")) > 0


def test_labelled_draws_are_of_their_class_and_distinct(small_store: FrameStore) -> None:
    frames = make_split(small_store).train
    drawn = draw_labelled(small_store.labels, frames, 7, small_store.class_names, seed=0)
    assert len(set(drawn.tolist())) == len(drawn) == 21
    assert set(drawn.tolist()) <= set(frames.tolist())
    assert np.bincount(small_store.labels[drawn]).tolist() == [7, 7, 7]


def test_labelled_draws_follow_the_seed(small_store: FrameStore) -> None:
    a, b, c = (draw_labelled(small_store.labels, np.arange(144), 5, small_store.class_names, s) for s in (1, 1, 2))
    assert a.tolist() == b.tolist()
    assert a.tolist() != c.tolist()


def test_unlabelled_frames_are_never_drawn() -> None:
    classes = np.array([-1, 0, -1, 1, 0, 1, -1])
    drawn = draw_labelled(classes, np.arange(7), 2, ("a", "b"), seed=0)
    assert sorted(drawn.tolist()) == [1, 3, 4, 5]


def test_too_few_frames_of_a_class_are_named(small_store: FrameStore) -> None:
    with pytest.raises(DataError, match="class 'cross' has 0 training frames, 5 were asked for"):
        draw_labelled(small_store.labels, np.arange(96), 5, small_store.class_names, seed=0)
    with pytest.raises(ConfigError, match="per_class must be at least 1, found 0"):
        draw_labelled(small_store.labels, np.arange(96), 0, small_store.class_names, seed=0)
