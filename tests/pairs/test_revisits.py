"""Frames of one place, in other laps and recordings too; and the frames that come after others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from drives import HZ
from egoequiv.pairs.revisits import TURN_DEG, find_coming_pairs, find_place_pairs, place_coordinates
from egoequiv.pose import DRIVING_POSES, PlanarSpace, driving_poses
from egoequiv.store import FrameStore
from helpers import bare_store, data_error
from pairs.stores import some_frames, timed_stores

LAP = 120  # frames of one round, 12 s: one each 3 degrees, or 1.05 m
RADIUS_M = 20.0


def round_trip(laps: int = 2, looks_deg: float = 0.0) -> NDArray[np.float64]:
    """Poses of so many laps of a circle, with a camera that looks so far to the left of the way."""
    turn = 2 * np.pi * np.arange(laps * LAP) / LAP
    position = np.column_stack([RADIUS_M * np.cos(turn), RADIUS_M * np.sin(turn), 0 * turn])
    yaw = turn + np.pi / 2 + np.deg2rad(looks_deg)
    return driving_poses(position, Rotation.from_euler("z", yaw[:, None]), RADIUS_M * turn, yaw)


def store_of(*recordings: NDArray[np.float64], worlds: tuple[str, ...] = (), without: tuple[str, ...] = ()):
    """Recordings at 10 Hz, each said to be in one of the worlds; some columns of poses are left out."""
    codes = np.repeat(np.arange(len(recordings)), [len(poses) for poses in recordings])
    times = np.concatenate([np.arange(len(poses)) / HZ for poses in recordings])
    poses = np.concatenate(recordings)
    columns = {name: poses[:, k] for k, name in enumerate(DRIVING_POSES) if name not in without}
    store = bare_store(poses[:, -2:], codes.tolist(), times.tolist(), PlanarSpace())
    attributes = {"world": np.array(worlds)[codes]} if worlds else {}
    return replace(store, pose_columns=columns, attributes=attributes)


def every(store: FrameStore) -> NDArray[np.int64]:
    return np.arange(len(store))


def apart(store: FrameStore, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many frames of a lap are between frames of laps that begin at one point."""
    away = np.abs(i - j) % LAP
    return np.minimum(away, LAP - away)


def test_both_laps_are_one_place() -> None:
    store = store_of(round_trip())
    pairs = find_place_pairs(store, every(store), place_m=2.5, seed=0)
    assert np.array_equal(np.unique(pairs.i), every(store))
    assert (pairs.i != pairs.j).all()
    assert apart(store, pairs.i, pairs.j).max() == 2  # 2.1 m along the way, and 3 are more
    assert pairs.again == len(store)  # each place is seen in the other lap too
    share = np.mean(np.abs(pairs.i - pairs.j) > LAP / 2)
    assert 0.6 < share < 0.9  # half of the partners, and of the other half, five of nine


def test_the_usual_place_is_the_way_of_a_third_of_a_second() -> None:
    coordinates, size_m = place_coordinates(store_of(round_trip()))
    a_second = 2 * RADIUS_M * np.sin(np.pi * 10 / LAP)  # the chord
    assert size_m is not None
    np.testing.assert_allclose(size_m, 0.3 * a_second, rtol=1e-6)
    steps = np.linalg.norm(np.diff(coordinates[:, :2], axis=0), axis=1) * size_m
    np.testing.assert_allclose(steps, 2 * RADIUS_M * np.sin(np.pi / LAP), rtol=1e-6)


def test_coordinates_say_what_is_one_place_for_the_loss_too() -> None:
    store = store_of(round_trip())
    pairs = find_place_pairs(store, every(store), place_m=2.5, seed=0)
    assert pairs.place_i.dtype == np.float32
    assert np.linalg.norm(pairs.place_i - pairs.place_j, axis=1).max() < 1
    coordinates = place_coordinates(store, 2.5)[0]
    np.testing.assert_allclose(pairs.place_i, coordinates[pairs.i], atol=1e-4)


def test_who_looks_the_other_way_sees_another_place() -> None:
    for looks_deg, is_same in ((0.5 * TURN_DEG, True), (1.1 * TURN_DEG, False), (180.0, False)):
        for without in ((), ("qx", "qy", "qz", "qw")):  # by the rotation, or by the yaw
            store = store_of(round_trip(1), round_trip(1, looks_deg), without=without)
            pairs = find_place_pairs(store, every(store), place_m=0.5, seed=0)
            assert len(pairs) == (len(store) if is_same else 0)
            assert pairs.again == len(pairs)


def test_the_distance_of_headings_is_in_turns() -> None:
    store = store_of(round_trip(1), round_trip(1, TURN_DEG))
    heading = place_coordinates(store, 1.0)[0]
    away = np.linalg.norm(heading[:LAP] - heading[LAP:], axis=1)
    np.testing.assert_allclose(away, 1.0, rtol=1e-6)


def test_other_worlds_are_other_places() -> None:
    shared = store_of(round_trip(1), round_trip(1), worlds=("a", "a"))
    assert find_place_pairs(shared, every(shared), place_m=0.5, seed=0).again == len(shared)
    different = store_of(round_trip(1), round_trip(1), worlds=("a", "b"))
    assert not len(find_place_pairs(different, every(different), place_m=0.5, seed=0))


def test_without_positions_a_place_is_a_short_time_of_a_recording() -> None:
    store = store_of(round_trip(1), round_trip(1), without=("x_m", "y_m", "z_m"))
    assert place_coordinates(store)[1] is None
    pairs = find_place_pairs(store, every(store), place_m=None, seed=0)
    assert len(pairs) == len(store)
    assert np.abs(pairs.i - pairs.j).max() <= 3  # 0.3 s
    assert np.array_equal(store.recording[pairs.i], store.recording[pairs.j])
    assert pairs.again == 0


def test_partners_are_among_the_frames_and_drawn_by_the_seed() -> None:
    store = store_of(round_trip())
    frames = every(store)[::2]
    first, again, other = (find_place_pairs(store, frames, place_m=2.5, seed=seed) for seed in (0, 0, 1))
    assert np.isin(first.i, frames).all()
    assert np.isin(first.j, frames).all()
    assert np.array_equal(first.j, again.j)
    assert not np.array_equal(first.j, other.j)


def test_poses_that_are_not_finite_are_one_line() -> None:
    poses = round_trip(1)
    poses[7, 0] = np.nan
    store = store_of(poses)
    with data_error("poses are not finite"):
        find_place_pairs(store, every(store), place_m=1.0, seed=0)


def test_the_coming_frame_by_hand() -> None:
    store = bare_store(np.zeros((6, 2)), [0, 0, 0, 0, 1, 1], [0.0, 0.4, 1.1, 3.0, 0.0, 1.2])
    i, j = find_coming_pairs(store, np.arange(6), 1.0)
    # After 0.4 s nothing comes between 0.75 and 1.25 s later, and the recordings are not one after the other.
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 2), (4, 5)]


@given(timed_stores(), st.sampled_from([0.25, 1.0, 2.0]), st.integers(0, 99))
def test_coming_frames_are_the_nearest_in_time(store: FrameStore, gap_s: float, seed: int) -> None:
    frames = some_frames(store, seed)
    i, j = find_coming_pairs(store, frames, gap_s)
    assert store.times_s is not None
    found = dict(zip(i.tolist(), j.tolist(), strict=True))
    assert len(found) == len(i)
    for frame in frames.tolist():
        same = [other for other in frames.tolist() if store.recording[other] == store.recording[frame]]
        wrong_s = {other: abs(store.times_s[other] - store.times_s[frame] - gap_s) for other in same}
        if min(wrong_s.values()) > 0.25 * gap_s:
            assert frame not in found
        else:
            assert wrong_s[found[frame]] == min(wrong_s.values())


def test_frames_without_times_have_none_after_them() -> None:
    i, j = find_coming_pairs(bare_store(np.zeros((3, 2)), [0, 0, 0]), np.arange(3), 1.0)
    assert len(i) == len(j) == 0
