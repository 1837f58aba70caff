"""The driving world: what it declares, how its car moves, and what its pictures must show."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.sources.oxts import FIELDS, packet_column, packet_poses
from egoequiv.sources.recording import Image, Source
from egoequiv_worlds.drive import DriveRecording, drive
from egoequiv_worlds.street import AREAS
from egoequiv_worlds.street.motion import Motion, motion

pytestmark = pytest.mark.slow  # the renderer is compiled first, which takes long


def small(**changes: Any) -> Source:
    settings: dict[str, Any] = {"drives_per_area": 1, "seconds": 4.0, "width": 124, "height": 38}
    return drive(**(settings | changes))


def recordings(source: Source) -> list[DriveRecording]:
    found = [recording for recording in source.recordings if isinstance(recording, DriveRecording)]
    assert len(found) == len(source.recordings)
    return found


def true_motion(recording: DriveRecording) -> Motion:
    assert recording.times_s is not None
    return motion(recording.drive, recording.times_s)


def first_image(recording: DriveRecording) -> bytes:
    return recording.image(3).tobytes()


def distance(a: Image, b: Image) -> float:
    return float(np.abs(a.astype(float) - b.astype(float)).mean())


@pytest.fixture(scope="module")
def drives() -> list[DriveRecording]:
    """Two drives of each area, long enough for turns and stops; nothing is drawn yet."""
    return recordings(drive(drives_per_area=2, width=155, height=47))


def test_the_defaults_are_like_kittis() -> None:
    source = drive()
    assert source.frame_count == 4 * 6 * 300
    assert isinstance(source.space, PlanarSpace)
    assert source.pose_columns == DRIVING_POSES
    assert source.recordings[0].image(0).shape == (94, 310)


def test_a_recording_is_one_drive_through_one_area() -> None:
    source = small(drives_per_area=2)
    assert [r.name for r in source.recordings] == [f"2031_05_01_drive_{k:04d}" for k in range(1, 9)]
    assert [r.attributes["location"] for r in source.recordings] == [a for a in AREAS for _ in (0, 1)]
    for recording in source.recordings:
        assert recording.labels is not None
        assert set(recording.labels) == {recording.attributes["location"]}
        assert len(recording.labels) == len(recording) == 40
        assert np.shape(recording.poses) == (40, 9)


def test_settings_are_the_arguments_and_make_the_same_source_again() -> None:
    source = small(seed=4, color=True)
    assert source.settings == {
        "seed": 4,
        "drives_per_area": 1,
        "seconds": 4.0,
        "width": 124,
        "height": 38,
        "color": True,
    }
    again = drive(**source.settings)
    assert first_image(recordings(again)[0]) == first_image(recordings(source)[0])


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("seed", -1),
        ("seed", 1.5),
        ("drives_per_area", 0),
        ("drives_per_area", True),
        ("drives_per_area", 3000),
        ("seconds", 0.5),
        ("seconds", 601),
        ("seconds", float("nan")),
        ("seconds", "ten"),
        ("width", 31),
        ("height", 15),
        ("color", 1),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(setting: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^drive: {setting} must be [^\n]*, found [^\n]*$"):
        drive(**{setting: value})


def test_times_are_those_of_a_camera_at_ten_hertz(drives: list[DriveRecording]) -> None:
    for recording in drives:
        assert recording.times_s is not None
        assert recording.times_s[0] == 0.0
        assert np.all(np.abs(np.diff(recording.times_s) - 0.1) < 0.002)
        assert np.all(recording.stamps_ns % 10_000 == 0)
        assert np.array_equal(recording.times_s, (recording.stamps_ns - recording.stamps_ns[0]) / 1e9)


def test_poses_follow_from_the_packets(drives: list[DriveRecording]) -> None:
    for recording in drives:
        assert recording.times_s is not None
        assert recording.packets.shape == (len(recording), len(FIELDS))
        assert np.array_equal(recording.poses, packet_poses(recording.packets, recording.times_s))


def test_the_sensor_is_right_but_for_a_little_noise(drives: list[DriveRecording]) -> None:
    for recording in drives:
        true = true_motion(recording)
        way_m = np.hypot(*np.diff(true.places_m, axis=0).T).sum()
        assert recording.poses[-1, 7] == pytest.approx(way_m, rel=0.02)
        places = true.places_m - true.places_m[0]
        off_m = np.abs(recording.poses[:, :2] - places)
        assert 0.002 < off_m.max() < 0.4
        yaw_deg = recording.poses[:, 8] - np.degrees(true.yaw_rad)
        off_deg = yaw_deg - 360.0 * np.rint(yaw_deg / 360.0)
        assert 0.01 < np.abs(off_deg).max() < 0.4
        assert 0.01 < np.std(packet_column(recording.packets, "vf") - true.speed_mps) < 0.06


def test_a_car_goes_where_it_looks(drives: list[DriveRecording]) -> None:
    for recording in drives:
        true = true_motion(recording)
        step = np.diff(true.places_m, axis=0)
        moves = np.hypot(*step.T) > 0.2
        halfway = (true.yaw_rad[1:] + true.yaw_rad[:-1]) / 2
        off = np.angle(np.exp(1j * (np.arctan2(step[:, 1], step[:, 0]) - halfway)))
        assert np.abs(off[moves]).max() < np.radians(3.0)


def test_areas_are_driven_in_their_own_way() -> None:
    source = recordings(drive(drives_per_area=6))
    speeds = {
        area: np.concatenate([true_motion(r).speed_mps for r in source if r.drive.area == area]) for area in AREAS
    }
    turns = {area: np.concatenate([true_motion(r).yaw_rate for r in source if r.drive.area == area]) for area in AREAS}
    assert speeds["road"].min() > 14.0
    assert speeds["road"].max() < 29.0
    assert np.abs(turns["road"]).max() < np.radians(5.0)
    for area, fastest in (("campus", 8.5), ("residential", 9.5), ("city", 13.0)):
        assert 0.6 * fastest < speeds[area].max() < fastest
        assert (speeds[area] < 0.05).mean() > 0.02
        assert turns[area].max() > np.radians(15.0)
        assert turns[area].min() < np.radians(-15.0)


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    recording = recordings(small())[2]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(first_image, (recording,)) == first_image(recording)


def test_a_recording_survives_pickling_and_is_small() -> None:
    recording = recordings(small())[1]
    packed = pickle.dumps(recording)
    assert len(packed) < 60_000
    again = pickle.loads(packed)
    assert first_image(again) == first_image(recording)
    assert np.array_equal(again.poses, recording.poses)


def test_another_seed_gives_another_world() -> None:
    ours, theirs = recordings(small()), recordings(small(seed=1))
    for a, b in zip(ours, theirs, strict=True):
        assert not np.array_equal(a.poses, b.poses)
        assert distance(a.image(5), b.image(5)) > 8.0


def test_a_drive_does_not_depend_on_how_many_there_are() -> None:
    alone, among = recordings(small()), recordings(small(drives_per_area=3))
    assert first_image(alone[1]) == first_image(among[3])
    assert distance(among[3].image(3), among[4].image(3)) > 8.0


@pytest.mark.parametrize(("width", "height"), [(32, 16), (33, 17), (97, 61)])
def test_any_size(width: int, height: int) -> None:
    for recording in small(width=width, height=height, seconds=1.0).recordings:
        assert recording.image(9).shape == (height, width)


def test_gray_is_the_luminance_of_colour() -> None:
    gray, colour = recordings(small())[0].image(5), recordings(small(color=True))[0].image(5)
    assert colour.shape == (*gray.shape, 3)
    assert np.ptp(colour.astype(int), axis=2).max() > 20
    blurred = colour.astype(float) @ [0.299, 0.587, 0.114]
    assert np.corrcoef(blurred.ravel(), gray.ravel())[0, 1] > 0.98


def test_pictures_have_contrast_and_detail(drives: list[DriveRecording]) -> None:
    for recording in drives[::2]:
        picture = recording.image(20).astype(float)
        assert picture.std() > 25.0
        assert 40.0 < picture.mean() < 190.0
        assert np.abs(np.diff(picture, axis=1)).mean() > 2.0


def test_areas_look_different(drives: list[DriveRecording]) -> None:
    """The upper middle of a road is open sky; that of a city is mostly facades."""
    openness = {}
    for area in AREAS:
        views = [r.image(k).astype(float) for r in drives if r.drive.area == area for k in (10, 150, 290)]
        top = np.stack([view[: len(view) // 4] for view in views])
        openness[area] = float(np.abs(np.diff(top, axis=2)).mean())
    assert openness["road"] < 0.6 * openness["city"]
    assert openness["road"] < 0.6 * openness["residential"]


def turning(drives: list[DriveRecording], left: bool) -> tuple[DriveRecording, int]:
    """The drive and the frame of the fastest turn to one side."""
    rates = [(1 if left else -1) * true_motion(r).yaw_rate for r in drives]
    best = int(np.argmax([rate.max() for rate in rates]))
    return drives[best], int(np.argmax(rates[best]))


def shift_px(a: Image, b: Image) -> int:
    """How far the upper half of a picture, which is far away, has moved to the right."""
    first, second = (view[: len(view) // 2].astype(float) for view in (a, b))
    scores = {}
    for shift in range(-20, 21):
        left, right = max(0, shift), min(0, shift)
        one: NDArray[np.float64] = first[:, -right : first.shape[1] - left].ravel()
        two: NDArray[np.float64] = second[:, left : second.shape[1] + right].ravel()
        scores[shift] = np.corrcoef(one, two)[0, 1]
    return max(scores, key=lambda shift: scores[shift])


@pytest.mark.parametrize("left", [True, False])
def test_a_turn_moves_the_world_the_other_way(drives: list[DriveRecording], left: bool) -> None:
    recording, frame = turning(drives, left)
    frame = min(max(frame, 1), len(recording) - 2)
    turned_rad = true_motion(recording).yaw_rad[frame + 1] - true_motion(recording).yaw_rad[frame]
    expected_px = turned_rad * 721.5 / 1242.0 * recording.width
    assert abs(expected_px) > 3.0
    found = shift_px(recording.image(frame), recording.image(frame + 1))
    assert found == pytest.approx(expected_px, abs=2.0)
    assert (found > 0) == left


def test_a_stop_gives_nearly_the_same_picture(drives: list[DriveRecording]) -> None:
    found = 0
    for recording in drives:
        still = np.flatnonzero(true_motion(recording).speed_mps < 0.005)
        if len(still) > 12:
            off = np.abs(recording.image(still[4]).astype(float) - recording.image(still[5]).astype(float))
            assert np.median(off) <= 3.0
            found += 1
    assert found >= 2


def test_nothing_stands_in_the_way(drives: list[DriveRecording]) -> None:
    from egoequiv_worlds.render import solids as s
    from egoequiv_worlds.street.renderer import scene

    for recording in drives:
        rows, places_m = scene(recording.drive).rows, true_motion(recording).places_m
        low, high = rows[:, s.Z] - rows[:, s.HALF_Z], rows[:, s.Z] + rows[:, s.HALF_Z]
        for row in rows[(low < 2.0) & (high > 0.1)]:
            x, y = (places_m - row[[s.X, s.Y]]).T
            along, across = row[s.COS] * x + row[s.SIN] * y, row[s.COS] * y - row[s.SIN] * x
            away_m = np.hypot(
                np.maximum(np.abs(along) - row[s.HALF_X], 0.0), np.maximum(np.abs(across) - row[s.HALF_Y], 0.0)
            )
            assert away_m.min() > 1.05  # our own car is 1.8 m wide


def test_driving_on_changes_the_picture_smoothly(drives: list[DriveRecording]) -> None:
    for recording in drives[::2]:
        speed = true_motion(recording).speed_mps
        frame = int(np.argmax(speed[:200]))
        near = distance(recording.image(frame), recording.image(frame + 1))
        far = distance(recording.image(frame), recording.image(frame + 60))
        assert 1.0 < near < 0.8 * far


def test_importing_the_world_does_not_import_numba() -> None:
    check = "import egoequiv_worlds.drive, sys; assert not {'torch', 'numba', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
