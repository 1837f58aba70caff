"""Splits, how much they leak, and labelled draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs import Split, count_leaked, draw_labelled, make_split, split_frames
from egoequiv.pairs.splits import first_fitting
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
    a, b, c = (make_split(small_store, "paper", seed=seed) for seed in (3, 3, 4))
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
    with pytest.raises(
        ConfigError,
        match="split 'random' is not known; choose auto, paper, given, by-recording, by-time, by-place, by-shape",
    ):
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
    frames = make_split(small_store, "paper").train
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
    with pytest.raises(DataError, match="class 'cross' has 0 training frames, per_class needs 5"):
        draw_labelled(small_store.labels, np.arange(96), 5, small_store.class_names, seed=0)
    with pytest.raises(ConfigError, match="per_class must be at least 1, found 0"):
        draw_labelled(small_store.labels, np.arange(96), 0, small_store.class_names, seed=0)


def drives(lengths: list[int], classes: list[int]) -> FrameStore:
    """Recordings of the given lengths, each of one class (-1 for none)."""
    recording = np.repeat(np.arange(len(lengths)), lengths)
    return bare_store(np.zeros((len(recording), 2)), recording.tolist(), labels=np.repeat(classes, lengths).tolist())


def parts(store: FrameStore, split: Split) -> tuple[set[int], set[int]]:
    return set(store.recording[split.train].tolist()), set(store.recording[split.validation].tolist())


def given_store(values: list[str]) -> FrameStore:
    store = bare_store(np.zeros((len(values), 2)), [0] * len(values))
    return replace(store, attributes={"part": np.array(values)})


def test_given_parts_are_taken_as_they_are() -> None:
    split = make_split(given_store(["train", "test", "Train", "val", "train"]), "given", seed=9, train_fraction=0.1)
    assert split.train.tolist() == [0, 2, 4]
    assert split.validation.tolist() == [1, 3]
    assert split.kind == "given"


@pytest.mark.parametrize("values", [["train", "train"], ["test", "val"], ["trains", ""]])
def test_given_parts_must_be_two_of_which_one_is_train(values: list[str]) -> None:
    with pytest.raises(DataError, match="'given' needs a part called train and another one"):
        make_split(given_store(values), "given")


def test_a_store_without_parts_cannot_be_split_as_given(small_store: FrameStore) -> None:
    with pytest.raises(ConfigError, match="no attribute 'part'"):
        make_split(small_store, "given")


def test_the_training_part_of_a_given_split_is_cut_at_random() -> None:
    frames = np.arange(0, 60, 2)
    split = split_frames(given_store(["train"] * 60), frames, "given", seed=1, train_fraction=0.75)
    assert sorted([*split.train.tolist(), *split.validation.tolist()]) == frames.tolist()
    assert len(split.train) == round(0.75 * 30)


@pytest.mark.parametrize("seed", range(6))
def test_every_class_is_in_both_parts(seed: int) -> None:
    lengths, classes = [30, 20, 10, 10, 50, 5, 5, 40, 41, 39], [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    store = drives(lengths, classes)
    split = make_split(store, "by-recording", seed=seed)
    for part in (split.train, split.validation):
        assert set(store.labels[part].tolist()) == {0, 1, 2}
    assert not set.intersection(*parts(store, split))
    # 50 of 60 frames of class 1 are one recording; of the others two thirds can be had.
    for label, low, high in ((0, 0.6, 0.75), (1, 0.83, 0.92), (2, 0.6, 0.7)):
        share = (store.labels[split.train] == label).sum() / (store.labels == label).sum()
        assert low <= share <= high


def test_shares_are_of_frames_not_of_recordings() -> None:
    # One long drive and many short ones: two thirds of the recordings may be a tenth of the frames.
    store = drives([1_000, *[10] * 50], [0] * 51)
    for seed in range(4):
        train = len(make_split(store, "by-recording", seed=seed).train) / len(store)
        assert abs(train - 0.67) < 0.01


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 2)), min_size=2, max_size=14),
    st.floats(0.01, 0.99),
    st.integers(0, 50),
)
def test_no_part_is_empty_and_no_recording_is_torn(drawn: list[tuple[int, int]], fraction: float, seed: int) -> None:
    lengths, classes = [length for length, _ in drawn], [label for _, label in drawn]
    store = drives(lengths, classes)
    split = split_frames(store, np.arange(len(store)), "by-recording", seed=seed, train_fraction=fraction)
    train, validation = parts(store, split)
    assert train
    assert validation
    assert not train & validation
    assert train | validation == set(range(len(lengths)))
    assert sorted([*split.train.tolist(), *split.validation.tolist()]) == list(range(len(store)))
    if all(classes.count(label) > 1 for label in set(classes)):
        for own in (train, validation):
            assert {classes[k] for k in own} == set(classes)


@given(st.lists(st.integers(1, 100), min_size=2, max_size=12), st.floats(0.05, 0.95), st.integers(0, 20))
def test_the_share_is_off_by_half_of_the_longest_recording_at_most(
    lengths: list[int], fraction: float, seed: int
) -> None:
    store = drives(lengths, [0] * len(lengths))
    split = split_frames(store, np.arange(len(store)), "by-recording", seed=seed, train_fraction=fraction)
    train, validation = parts(store, split)
    off = abs(len(split.train) - fraction * len(store))
    # Where one part would be empty, it gets one recording whatever its length.
    assert off <= max(lengths) / 2 + 1e-9 or len(train) == 1 or len(validation) == 1


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_extreme_fractions_still_give_every_class_to_both_parts(fraction: float) -> None:
    store = drives([10, 20, 30, 5, 6, 7], [0, 0, 0, 1, 1, 1])
    split = split_frames(store, np.arange(len(store)), "by-recording", seed=0, train_fraction=fraction)
    train, validation = parts(store, split)
    if fraction < 0.5:
        assert train == {0, 3}  # the shortest of each class
    else:
        assert len(validation) == 2
    assert {k // 3 for k in train} == {k // 3 for k in validation} == {0, 1}


def test_by_recording_follows_its_seed() -> None:
    store = drives([10] * 12, [0, 1, 2] * 4)
    a, b, c = (make_split(store, "by-recording", seed=seed).train.tolist() for seed in (3, 3, 4))
    assert a == b
    assert a != c


def test_a_lone_recording_without_a_label_disturbs_no_class() -> None:
    for seed in range(8):
        store = drives([10] * 7, [-1, 0, 0, 1, 1, 2, 2])
        split = make_split(store, "by-recording", seed=seed)
        for part in (split.train, split.validation):
            assert {0, 1, 2} <= set(store.labels[part].tolist())


def test_recordings_without_labels_are_shared_out_too() -> None:
    store = drives([10] * 9, [-1] * 9)
    assert len(make_split(store, "by-recording").train) == 60


@pytest.mark.parametrize(
    "store",
    [
        drives([10, 10, 10, 10], [0, 0, 0, 1]),  # class 1 has one recording
        bare_store(np.zeros((40, 2)), np.repeat(np.arange(4), 10).tolist(), labels=[0, 1] * 20),  # of two classes each
    ],
    ids=["alone", "mixed"],
)
def test_where_classes_cannot_be_in_both_parts_all_recordings_are_cut_together(store: FrameStore) -> None:
    chosen = {frozenset(parts(store, make_split(store, "by-recording", seed=seed))[0]) for seed in range(30)}
    assert all(len(train) == 3 for train in chosen)
    assert len(chosen) == 4  # any of the four may be the one left out


def test_by_attribute_still_goes_by_the_number_of_groups(small_store: FrameStore) -> None:
    split = make_split(small_store, "by-shape")
    assert len(set(small_store.attribute("shape")[split.train].tolist())) == 2


def timed_store(lengths_s: list[float], hz: float = 10.0, labels: list[int] | None = None) -> FrameStore:
    """One recording of each length, driven along the first axis."""
    counts = [round(length * hz) for length in lengths_s]
    recording = np.repeat(np.arange(len(counts)), counts)
    times = np.concatenate([np.arange(count) / hz for count in counts])
    marks = None if labels is None else np.repeat(labels, counts).tolist()
    return bare_store(np.zeros((len(times), 2)), recording.tolist(), times.tolist(), labels=marks)


@given(
    st.lists(st.floats(10, 120), min_size=1, max_size=4),
    st.floats(0.3, 0.9),
    st.floats(0.05, 3.0),
    st.integers(0, 99),
)
def test_by_time_leaks_nothing(lengths: list[float], fraction: float, gap: float, seed: int) -> None:
    store = timed_store(lengths)
    assume(max(lengths) * (1 - fraction) > gap + 0.3)
    split = make_split(store, "by-time", seed=seed, train_fraction=fraction, max_gap_s=gap)
    assert count_leaked(store, split, gap) == 0
    assert not set(split.train.tolist()) & set(split.validation.tolist())
    assert min(len(split.train), len(split.validation)) > 0


@pytest.mark.parametrize("seed", range(4))
def test_recordings_too_short_for_a_gap_are_refused(seed: int) -> None:
    with pytest.raises(DataError, match=r"too short for a gap of 2 s .* lower max_gap_s"):
        make_split(timed_store([3.0, 5.0]), "by-time", seed=seed, max_gap_s=2.0)


def test_by_time_by_hand() -> None:
    store = timed_store([10.0])
    split = make_split(store, "by-time", seed=0, train_fraction=0.6)
    train, validation = store.times_s[split.train], store.times_s[split.validation]  # type: ignore[index]
    # One block: six seconds are trained on, and of the other four the nearest second is in neither part.
    assert (len(train), len(validation)) == (60, 30)
    first, second = sorted([(train.min(), train.max()), (validation.min(), validation.max())])
    assert second[0] - first[1] == pytest.approx(1.1)


def test_by_time_sees_all_of_a_long_recording() -> None:
    store = timed_store([600.0])
    split = make_split(store, "by-time")
    assert split.kind == "by-time"
    for part, share in ((split.train, 0.67), (split.validation, 0.27)):
        assert len(part) / len(store) == pytest.approx(share, abs=0.03)
        minutes = np.unique(store.times_s[part] // 120)  # type: ignore[index]
        assert len(minutes) == 5
    other = make_split(store, "by-time", seed=1)
    assert other.train.tolist() != split.train.tolist()


def test_by_time_needs_times(small_store: FrameStore) -> None:
    with pytest.raises(DataError, match=r"'by-time' needs times, .* has none: choose by-recording"):
        make_split(small_store, "by-time")


def test_auto_takes_the_split_that_leaks_least(small_store: FrameStore) -> None:
    assert make_split(small_store).kind == "by-recording"
    assert make_split(given_store(["train", "test", "train"])).kind == "given"
    assert make_split(timed_store([30.0])).kind == "by-time"
    assert make_split(timed_store([30.0, 30.0, 30.0])).kind == "by-recording"
    assert make_split(timed_store([300.0, 3.0])).kind == "by-time"  # three seconds are too little to validate on
    assert make_split(bare_store(grid_poses(), [0] * 24)).kind == "paper"


def test_auto_keeps_every_class_in_training() -> None:
    whole, mixed = timed_store([30.0, 30.0], labels=[0, 1]), timed_store([30.0, 30.0, 30.0, 30.0], labels=[0, 0, 1, 1])
    for store, kind in ((whole, "by-time"), (mixed, "by-recording")):
        split = first_fitting(store, np.arange(len(store)), classes=store.labels, per_class=5)
        assert split.kind == kind
        assert set(store.labels[split.train].tolist()) == {0, 1}
    assert first_fitting(whole, np.arange(len(whole))).kind == "by-recording"  # where no class is asked for
    many = first_fitting(mixed, np.arange(len(mixed)), classes=mixed.labels, per_class=350)
    assert many.kind == "by-time"  # a whole recording has 300 frames
