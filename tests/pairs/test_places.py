"""The split by place: training and validation frames are never at one place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from egoequiv.errors import DataError
from egoequiv.pairs import Split, count_leaked, count_revisited, make_split, split_frames
from egoequiv.pairs.places import distance_m, positions_of, usual_place_m
from egoequiv.pose import SE2Space
from egoequiv.store import FrameStore
from helpers import bare_store


def placed_store(
    positions: np.ndarray, recording: list[int] | None = None, times_s: list[float] | None = None
) -> FrameStore:
    """Frames at positions (N, 2), all with the same heading."""
    poses = np.column_stack([positions, np.zeros(len(positions))])
    store = bare_store(poses, recording or [0] * len(poses), times_s, space=SE2Space())
    return replace(store, pose_columns=dict(zip(("x_m", "y_m", "yaw_deg"), poses.T, strict=True)))


def slow_distance(store: FrameStore, split: Split) -> list[float]:
    """How far each validation frame is from the nearest training frame, by looking at all pairs."""
    x, y = store.pose_columns["x_m"], store.pose_columns["y_m"]
    return [
        min(((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) ** 0.5 for j in split.train.tolist())
        for i in split.validation.tolist()
    ]


@st.composite
def walks(draw: st.DrawFn) -> FrameStore:
    """Walks of one to three recordings in one map, which may cross, stop and come back."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    lengths = draw(st.lists(st.integers(5, 60), min_size=1, max_size=3))
    walked = [np.cumsum(rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=(n, 2)), axis=0) for n in lengths]
    recording = [code for code, n in enumerate(lengths) for _ in range(n)]
    times = [k / 10 for n in lengths for k in range(n)] if draw(st.booleans()) else None
    return placed_store(np.concatenate(walked) + draw(st.sampled_from([0.0, 4.5e6])), recording, times)


@given(walks(), st.floats(0.3, 0.9), st.floats(0.01, 3.0) | st.none(), st.integers(0, 99))
def test_no_validation_frame_is_near_a_training_frame(
    store: FrameStore, fraction: float, place_m: float | None, seed: int
) -> None:
    try:
        split = make_split(store, "by-place", seed=seed, train_fraction=fraction, place_m=place_m)
    except DataError as problem:
        assume("lower place_m" not in str(problem))
        raise
    expected = usual_place_m(store) if place_m is None else place_m
    assert split.place_m == expected
    assert min(slow_distance(store, split)) > expected
    assert min(len(split.train), len(split.validation)) > 0
    assert not set(split.train.tolist()) & set(split.validation.tolist())
    assert count_leaked(store, split) == 0
    again = make_split(store, "by-place", seed=seed, train_fraction=fraction, place_m=place_m)
    assert again.train.tolist() == split.train.tolist()


def test_by_place_by_hand() -> None:
    # Two rooms of six frames each, 10 m apart, seen again and again.
    rooms = np.array([[room * 10.0 + 0.1 * k, 0.0] for k in range(6) for room in (0, 1)])
    store = placed_store(rooms)
    split = make_split(store, "by-place", place_m=1.0)
    sides = [set((store.pose_columns["x_m"][part] > 5).tolist()) for part in (split.train, split.validation)]
    assert sorted(map(sorted, sides)) == [[False], [True]]
    assert (len(split.train), len(split.validation), split.kind) == (6, 6, "by-place")
    # A corridor of 100 frames 1 m apart: whatever is validated on, three metres beside the training part are left out.
    corridor = placed_store(np.column_stack([np.arange(100.0), np.zeros(100)]))
    split = make_split(corridor, "by-place", place_m=3.0)
    gaps = np.diff(np.sort(np.concatenate([split.train, split.validation])))
    assert set(gaps.tolist()) == {1, 4}
    assert len(split.train) == pytest.approx(67, abs=8)


def test_leakage_at_a_place_by_hand() -> None:
    store = placed_store(np.array([[0.0, 0], [1, 0], [2, 0], [9, 0], [0.5, 0]]), [0, 0, 0, 0, 1])
    by_place = Split(np.array([0, 1]), np.array([2, 3, 4]), "by-place", 1.0)
    assert count_leaked(store, by_place) == 2  # frames 2 and 4: another recording that comes to the same place
    assert count_leaked(store, replace(by_place, place_m=0.6)) == 1
    # Frames at random, without times: places tell, but each recording may have a map of its own.
    at_random = replace(by_place, kind="paper", place_m=None)
    assert usual_place_m(store) == 2.0  # two steps of 1 m
    assert count_leaked(store, at_random) == 1
    timed = replace(store, times_s=np.array([0.0, 10, 20, 20.5, 0]))
    assert count_leaked(timed, at_random) == 0  # with times, they tell
    assert count_leaked(timed, replace(at_random, train=np.array([0, 2]), validation=np.array([1, 3]))) == 1


def test_a_route_that_comes_back_is_counted() -> None:
    """Two laps of 20 s round a circle, a frame each second; the first to train on, the second to validate on."""
    angle = np.arange(40) * 2 * np.pi / 20
    laps = replace(placed_store(10 * np.column_stack([np.cos(angle), np.sin(angle)])), times_s=np.arange(40.0))
    split = Split(np.arange(20), np.arange(20, 40), "by-time")
    assert count_leaked(laps, split) == 1  # frame 20, a second after the last one to train on
    assert count_revisited(laps, split) == 19  # all others are at the place of a frame 20 s before
    most_away = replace(split, train=np.arange(6), validation=np.array([7, 12, 18, 20]))
    assert count_revisited(laps, most_away) == 1  # frame 20; the others are two steps or more from those to train on
    assert count_revisited(laps, replace(split, kind="by-place", place_m=1.0)) == 0  # that split is judged by places
    assert count_revisited(replace(laps, times_s=None), split) == 0
    two = replace(laps, recording=np.repeat([0, 1], 20), recording_names=["a", "b"])
    assert count_revisited(two, split) == 0  # another recording may have another map


@given(walks(), st.integers(0, 99), st.floats(0.01, 2.0))
def test_leakage_is_what_looking_at_all_pairs_gives(store: FrameStore, seed: int, place_m: float) -> None:
    split = replace(make_split(store, "paper", seed=seed), kind="by-place", place_m=place_m)
    assert count_leaked(store, split) == sum(distance <= place_m for distance in slow_distance(store, split))


def test_a_place_is_as_large_as_the_camera_moves_in_a_second() -> None:
    way = np.column_stack([np.arange(50) * 0.2, np.zeros(50)])
    timed = placed_store(way, times_s=(np.arange(50) / 8).tolist())  # eighths of a second are exact
    assert usual_place_m(timed) == pytest.approx(8 * 0.2)
    assert usual_place_m(timed, max_gap_s=0.5) == pytest.approx(4 * 0.2)
    assert usual_place_m(placed_store(way)) == pytest.approx(0.05 * 49 * 0.2)  # of the extent: more than two steps
    assert usual_place_m(placed_store(way[:10])) == pytest.approx(2 * 0.2)
    assert usual_place_m(placed_store(way[:1])) == 0.0
    short = placed_store(way[:5], times_s=[0.0, 0.1, 0.2, 0.3, 0.4])
    assert usual_place_m(short) == pytest.approx(2 * 0.2)  # no second to see


def test_height_counts_where_it_is_known() -> None:
    store = placed_store(np.zeros((2, 2)))
    assert positions_of(store).shape == (2, 2)  # type: ignore[union-attr]
    upstairs = replace(store, pose_columns={**store.pose_columns, "z_m": np.array([0.0, 3.0])})
    assert usual_place_m(upstairs) == 6.0
    assert distance_m(positions_of(upstairs)[:1], positions_of(upstairs)[1:]).tolist() == [3.0]  # type: ignore[index]
    assert distance_m(np.zeros((2, 3)), np.empty((0, 3))).tolist() == [np.inf, np.inf]


def test_frames_that_cannot_be_divided_are_told(small_store: FrameStore) -> None:
    with pytest.raises(DataError, match=r"needs the pose columns x_m and y_m, .* has: elevation_deg, azimuth_deg"):
        make_split(small_store, "by-place")
    tripod = placed_store(np.ones((30, 2)))
    with pytest.raises(DataError, match=r"'by-place': all frames .* within 0 m of each other .* lower place_m"):
        make_split(tripod, "by-place")
    with pytest.raises(DataError, match="within 5 m"):
        make_split(placed_store(np.arange(8.0).reshape(4, 2) / 10), "by-place", place_m=5.0)
    assert make_split(tripod).kind == "paper"
    assert count_leaked(tripod, make_split(tripod)) == len(make_split(tripod).validation)


def test_auto_takes_places_where_nothing_else_divides() -> None:
    angle = np.arange(60) / 60 * 2 * np.pi
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert make_split(placed_store(ring)).kind == "by-place"
    assert make_split(placed_store(ring, times_s=np.arange(60.0).tolist())).kind == "by-time"
    assert make_split(placed_store(ring, times_s=(np.arange(60) / 100).tolist())).kind == "by-place"
    assert make_split(placed_store(ring, recording=[0] * 30 + [1] * 30)).kind == "by-recording"
    # The training part can be divided again, for a holdout.
    train = make_split(placed_store(ring)).train
    again = split_frames(placed_store(ring), train, "by-place", seed=1, train_fraction=0.75)
    assert set(again.train.tolist()) | set(again.validation.tolist()) <= set(train.tolist())
    assert again.place_m == usual_place_m(placed_store(ring))
