"""Recordings that ran at the same time, and recordings that share a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.pairs import Split, count_leaked, make_split
from egoequiv.pairs.shared import clocks_of, groups_of_recordings, maps_by
from egoequiv.pose import SE2Space
from egoequiv.store import FrameStore
from egoequiv.store.starts import start_s
from helpers import bare_store

FRAMES = 40  # of each recording, ten a second


def drives(starts: Sequence[str], *, worlds: Sequence[str] = (), timed: bool = True, same: bool = False) -> FrameStore:
    """One recording a start, 4 s each, on parallel ways 100 m apart, or all on one way."""
    count = len(starts)
    recording = np.repeat(np.arange(count), FRAMES)
    along = np.tile(np.arange(FRAMES) * 0.3, count)
    poses = np.stack([along, recording * (0.0 if same else 100.0), np.zeros(len(along))], axis=1)
    times = np.tile(np.arange(FRAMES) / 10, count) if timed else None
    store = bare_store(poses, recording, times, SE2Space())
    told = {"start": starts, "world": worlds} if worlds else {"start": starts}
    columns = {"x_m": poses[:, 0], "y_m": poses[:, 1]}
    return replace(
        store, attributes={name: np.repeat(values, FRAMES) for name, values in told.items()}, pose_columns=columns
    )


def groups(store: FrameStore) -> list[int]:
    return clocks_of(store)[0][::FRAMES].tolist()


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        (["2024-05-01T10:00:00", "2024-05-01T10:00:02+00:00", "2024-05-01T11:00:00"], [0, 0, 2]),  # a rig
        (["2024-05-01T10:00:04.5", "2024-05-01T10:00:00", "2024-05-01T10:00:09.5"], [0, 0, 2]),  # parts of one drive
        (["1714557600.5", "2024-05-01T10:00:00", ""], [0, 0, 2]),  # the same second, as a number and as a date
        (["0.0", "0.0", "1.0"], [0, 1, 2]),  # clocks that do not count from 1970 say nothing
        (["yesterday", "", "nan"], [0, 1, 2]),
    ],
)
def test_recordings_that_ran_at_the_same_time_are_one_group(starts: list[str], expected: list[int]) -> None:
    store = drives(starts)
    assert groups(store) == expected
    assert np.array_equal(groups_of(store, "recording"), np.repeat(expected, FRAMES))


def test_times_of_a_group_are_on_one_clock() -> None:
    store = drives(["2024-05-01T10:00:02", "2024-05-01T10:00:00", ""])
    _, times = clocks_of(store)
    assert times[::FRAMES] == pytest.approx([2, 0, 0])
    assert np.array_equal(times[-FRAMES:], store.times_s[-FRAMES:])


def test_recordings_of_the_same_times_and_poses_are_cameras_of_one_rig() -> None:
    assert groups(drives(["", "", ""], same=True)) == [0, 0, 0]
    moved = drives(["", "", ""], same=True)
    moved.poses[0, 0] += 1e-3
    assert groups(moved) == [0, 1, 1]
    still = replace(moved, poses=np.zeros_like(moved.poses))
    assert groups(still) == [0, 1, 2]  # nothing moves: two tripods look the same
    photographs = drives(["", "", ""], same=True, timed=False)
    assert np.array_equal(groups_of_recordings(photographs), photographs.recording)


def test_no_group_is_in_both_parts() -> None:
    store = drives(["2024-05-01T10:00:00"] * 3 + ["2024-05-02T10:00:00"] * 3)
    for seed in range(5):
        split = make_split(store, "by-recording", seed=seed)
        assert not np.intersect1d(store.recording[split.train] // 3, store.recording[split.validation] // 3).size
        assert count_leaked(store, split) == 0
    cameras = Split(np.flatnonzero(store.recording != 1), np.flatnonzero(store.recording == 1), "by-recording")
    assert count_leaked(store, cameras) == FRAMES
    assert count_leaked(replace(store, attributes={}), cameras) == 0


def test_one_rig_is_divided_by_time_for_all_cameras_at_once() -> None:
    rig = drives([""] * 3, same=True)
    with pytest.raises(DataError, match="has 1; recordings that ran at the same time, or with the same"):
        make_split(rig, "by-recording")
    split = make_split(rig, "by-time")
    assert count_leaked(rig, split) == 0
    assert count_leaked(rig, make_split(rig)) == 0
    gap = np.abs(rig.times_s[split.train][:, None] - rig.times_s[split.validation][None])
    assert gap.min() > 1.0


@pytest.mark.parametrize("timed", [False, True])
def test_parts_of_one_map_leak_where_they_are_at_the_same_place(timed: bool) -> None:
    starts, kwargs = ["2024-05-01", "2024-05-02", "2024-05-03"], {"timed": timed, "same": True}
    parts = {name: np.arange(FRAMES) + k * FRAMES for k, name in enumerate(("train", "test", "other"))}
    split = Split(parts["train"], np.concatenate([parts["test"], parts["other"]]), "given")
    assert count_leaked(drives(starts, **kwargs), split) == 0  # each may have its own map
    assert count_leaked(drives(starts, worlds=["a", "a", "b"], **kwargs), split) == FRAMES
    assert count_leaked(drives(starts, worlds=["a", "a", "a"], **kwargs), split) == 2 * FRAMES
    assert count_leaked(drives(starts, worlds=["", "", ""], **kwargs), split) == 0
    apart = drives(starts, worlds=["a", "a", "a"], timed=timed)
    assert count_leaked(apart, split) == 0  # 100 m apart


def test_a_split_by_place_does_not_compare_maps_that_are_said_to_differ() -> None:
    starts = ["2024-05-01", "2024-05-02"]
    one, two = (drives(starts, worlds=worlds, same=True) for worlds in (["a", "a"], ["a", "b"]))
    split = Split(np.arange(FRAMES), np.arange(FRAMES, 2 * FRAMES), "by-place", 0.5)
    assert (count_leaked(one, split), count_leaked(two, split)) == (FRAMES, 0)
    assert count_leaked(replace(one, attributes={}), split) == FRAMES  # nothing is said: rather too careful
    for seed in range(3):
        found = make_split(two, "by-place", seed=seed, place_m=0.5)
        assert count_leaked(two, found) == 0
        assert count_leaked(one, make_split(one, "by-place", seed=seed, place_m=0.5)) == 0


def test_starts_are_dates_or_seconds() -> None:
    assert start_s("2024-05-01T10:00:00.250000") == 1714557600.25
    assert start_s("2024-05-01T12:00:00+02:00") == 1714557600
    assert start_s("1714557600.5") == 1714557600.5
    assert np.isnan(start_s("yesterday"))


def test_recordings_of_one_value_share_a_map_and_those_without_one_have_their_own() -> None:
    store = bare_store(np.zeros((6, 2)), [0, 0, 1, 2, 3, 4])
    store = replace(store, attributes={"toy": np.array(["car", "car", "owl", "car", "", ""])})
    assert maps_by(store, "toy").tolist() == [0, 0, 1, 0, 5, 6]
    with pytest.raises(ConfigError, match="no attribute 'lamp'"):
        maps_by(store, "lamp")
