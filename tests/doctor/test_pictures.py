"""Each fault of the pictures is found by its check, and not in the same recording without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from doctor.conftest import Kept, look
from egoequiv.doctor import Finding
from egoequiv.doctor.changed import Case, changed
from egoequiv.doctor.faults import FAULTS
from egoequiv.doctor.glance import Glances
from egoequiv.doctor.pictures import PICTURE_CHECKS, check_pictures, check_recording
from egoequiv.doctor.speed import logged_speed, steady_speed
from egoequiv.pose import CAMERA_POSES, DRIVING_POSES, PlanarSpace
from egoequiv.sources import Recording


def findings(recording: Recording, speed: bool = True, times: bool = True) -> dict[str, Finding]:
    moved = logged_speed(recording.poses, DRIVING_POSES) if speed else None
    found = check_pictures(
        recording.name, look(recording), recording.times_s if times else None, moved, recording.log_frames()
    )
    assert [one.check for one in found] == list(PICTURE_CHECKS)
    assert all(one.fix and one.moments for one in found if one.is_fault)
    assert all(len(one.moments) <= 5 for one in found)
    return {one.check: one for one in found}


def faults(recording: Recording, speed: bool = True, times: bool = True) -> set[str]:
    return {name for name, one in findings(recording, speed, times).items() if one.is_fault}


@pytest.mark.parametrize(("speed", "times"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_sound_drive_has_no_fault(street: Kept, speed: bool, times: bool) -> None:
    assert faults(street, speed, times) == set()


@pytest.mark.parametrize(
    ("fault", "check"),
    [("frozen", "frozen"), ("dropped", "dropped"), ("duplicated", "duplicates"), ("reordered", "order")],
)
def test_a_fault_is_found_by_its_check(street: Kept, fault: str, check: str) -> None:
    assert check in faults(FAULTS[fault](Case(street, DRIVING_POSES, seed=1)))
    if check != "frozen":  # without the log, the camera may have stood still
        assert check in faults(FAULTS[fault](Case(street, DRIVING_POSES, seed=1)), speed=False, times=False)


def test_frozen_says_where(street: Kept) -> None:
    made = FAULTS["frozen"](Case(street, DRIVING_POSES, seed=1))
    rows = made.rows
    first = int(np.flatnonzero(np.diff(rows) == 0)[0])
    found = findings(made)["frozen"]
    assert (found.moments[0].first, found.moments[0].last) == (first, first + 10)
    assert found.score == pytest.approx(10 / 3, rel=0.4)
    assert f"frame {first} (" in found.text


def test_a_frozen_camera_through_a_lossy_codec(street: Kept) -> None:
    made = FAULTS["frozen"](Case(street, DRIVING_POSES, seed=1))
    noise = np.random.default_rng(0).integers(-2, 3, street.pictures.shape)
    pictures = np.stack([made.image(frame) for frame in range(len(made))])
    noisy = Kept("noisy", (pictures + noise).clip(0, 255).astype(np.uint8), made.poses, made.times_s)
    assert "frozen" in faults(noisy)


def test_a_parked_car_is_not_frozen(street: Kept) -> None:
    rows = np.arange(len(street))
    rows[120:160] = 120
    parked = changed(street, rows=rows, poses=street.poses[rows])  # the log stands still too
    assert faults(parked) == set()
    assert {"frozen", "still pictures"} <= faults(changed(street, rows=rows))
    assert "still log" in faults(changed(street, poses=street.poses[rows]))
    assert not findings(changed(street, rows=rows), speed=False)["frozen"].can_tell


def test_a_slow_camera_in_a_fast_video_between_long_pauses(street: Kept) -> None:
    rows = np.concatenate([np.zeros(150, int), np.repeat(np.arange(100, 130), 2), np.full(150, 129)])
    noise = np.random.default_rng(0).integers(-1, 2, (len(rows), *street.pictures.shape[1:]))
    pictures = (street.pictures[rows] + noise).clip(0, 255).astype(np.uint8)
    found = findings(Kept("robot", pictures, np.zeros((len(rows), 9)), np.arange(len(rows)) / 30), speed=False)
    assert found["duplicates"].is_fault
    assert not found["dropped"].is_fault


def test_scores_grow_with_the_fault(street: Kept) -> None:
    def score(fault: str, check: str, **strength: float) -> float:
        return findings(FAULTS[fault](Case(street, DRIVING_POSES, seed=2), **strength))[check].score

    assert score("frozen", "frozen", seconds=1) < score("frozen", "frozen", seconds=3)
    assert score("duplicated", "duplicates", share=0.02) < score("duplicated", "duplicates", share=0.1)
    assert score("reordered", "order", share=0.02) < score("reordered", "order", share=0.1)
    assert 0 < score("dropped", "dropped", share=0.02) < score("dropped", "dropped", share=0.1)


def test_gaps_of_the_stamps(street: Kept) -> None:
    kept = np.setdiff1d(np.arange(len(street)), np.arange(50, 60))
    gone = findings(
        replace(street, pictures=street.pictures[kept], poses=street.poses[kept], times_s=street.times_s[kept])
    )
    assert gone["dropped"].score == pytest.approx(10 / 200 / 0.02)
    assert "10 frames" in gone["dropped"].text
    assert gone["dropped"].moments[0].first == 49
    left_out = changed(street, frames=kept)  # a source says which frames it left out
    assert left_out.log_frames() is not None
    assert not findings(left_out)["dropped"].is_fault


def test_a_run_that_is_reversed_or_moved(street: Kept) -> None:
    rows = np.arange(len(street))
    rows[80:86] = rows[80:86][::-1]
    turned = findings(changed(street, rows=rows))["order"]
    assert turned.is_fault
    assert (turned.moments[0].first, turned.moments[0].last) == (80, 85)
    rows = np.arange(len(street))
    rows[120:126] = [124, 125, 120, 121, 122, 123]
    moved = findings(changed(street, rows=rows))["order"]
    assert moved.is_fault
    assert (moved.moments[0].first, moved.moments[0].last) == (120, 125)


@pytest.mark.parametrize("value", [0, 255, 120])
def test_pictures_that_show_nothing(street: Kept, value: int) -> None:
    pictures = street.pictures.copy()
    pictures[[30, 31, 32, 90]] = value
    found = findings(replace(street, pictures=pictures))["exposure"]
    assert found.score == pytest.approx(4 / 200 / 0.01)
    assert "4 of 200 pictures show nothing" in found.text
    assert "frame 30 (" in found.text
    assert (found.moments[0].first, found.moments[0].last) == (30, 32)


def test_jumps_of_brightness_and_a_dark_recording(street: Kept) -> None:
    pictures = street.pictures.copy()
    pictures[50:80] = pictures[50:80] // 2
    jumps = findings(replace(street, pictures=pictures))["exposure"]
    assert jumps.is_fault
    assert dict(jumps.values)["jumps"] == 2
    assert "after frame 49 (" in jumps.text
    dark = findings(replace(street, pictures=street.pictures // 10))["exposure"]
    assert dark.is_fault
    assert "median brightness" in dark.text


def test_broken_pictures(street: Kept) -> None:
    found = findings(replace(street, broken=(10, 11, 50)))
    assert found["broken"].score == pytest.approx(1 + 100 * 3 / 200)
    assert found["broken"].moments[0].last == 11
    assert "frame 10 (" in found["broken"].text
    assert {name for name, one in found.items() if one.is_fault} == {"broken"}


def test_photographs_far_apart_have_no_order() -> None:
    pictures = np.random.default_rng(0).integers(0, 255, (50, 24, 32), dtype=np.uint8)
    found = findings(Kept("photographs", pictures, np.zeros((50, 9)), None), speed=False)
    assert not found["order"].can_tell
    assert not found["dropped"].can_tell
    assert not any(one.is_fault for one in found.values())


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 6, 7, 10])
def test_short_recordings(street: Kept, count: int) -> None:
    short = replace(
        street, pictures=street.pictures[:count], poses=street.poses[:count], times_s=street.times_s[:count]
    )
    assert faults(short) == set()
    assert not faults(short, speed=False, times=False)
    assert faults(replace(short, broken=tuple(range(count)))) == ({"broken"} if count else set())


def test_speed_that_is_not_known_is_no_evidence(street: Kept) -> None:
    seen = look(FAULTS["frozen"](Case(street, DRIVING_POSES)))
    unknown = check_pictures("r", seen, street.times_s, np.full(len(street) - 1, np.nan))
    assert not any(one.is_fault for one in unknown)
    for shape in (0.0, 1.0):  # a log that never moves, or always in the same way
        assert check_pictures("r", look(street), street.times_s, np.full(len(street) - 1, shape))
    with pytest.raises(ValueError, match="expected 199 values"):
        check_pictures("r", seen, street.times_s, np.zeros(3))


def test_one_broken_stamp_does_not_stop_the_checks(street: Kept) -> None:
    same = np.zeros(len(street))
    assert len(check_pictures("r", look(street), same, None)) == len(PICTURE_CHECKS)
    assert Glances.of([]).thumbnails.shape[0] == 0


def test_speed_of_poses() -> None:
    planar = np.column_stack([np.arange(11) * 2.0, np.zeros(11)])
    assert logged_speed(planar, PlanarSpace().pose_names) == pytest.approx(np.ones(10))
    assert logged_speed(planar, ("steering", "throttle")) is None
    assert logged_speed(planar[:1], PlanarSpace().pose_names).shape == (0,)
    turning = np.column_stack([np.zeros(11), np.arange(11) * 3.0])
    assert logged_speed(turning, PlanarSpace().pose_names) == pytest.approx(np.ones(10))


def test_noise_of_a_log_that_stands_is_no_speed() -> None:
    rng = np.random.default_rng(0)
    moving = np.concatenate([np.zeros(40), np.arange(1, 41) * 0.05])  # 0.5 m/s
    poses = np.zeros((80, 7))
    poses[:, 0], poses[:, 6] = moving, 1.0
    assert steady_speed(poses, CAMERA_POSES, 0.1)[[*range(30), *range(50, 79)]] == pytest.approx(
        np.repeat([0.0, 1.0], [30, 29])
    )
    poses[:, :3] += rng.normal(0, 0.01, (80, 3))
    noisy = logged_speed(poses, CAMERA_POSES)
    assert noisy[:35].mean() > 0.25  # steps to and fro add up
    steady = steady_speed(poses, CAMERA_POSES, 0.1)
    assert steady[:35].mean() < 0.02
    assert steady[45:].min() > 0.5
    assert steady_speed(poses, CAMERA_POSES, np.nan).shape == (79,)
    assert steady_speed(poses[:1], CAMERA_POSES, 0.1).shape == (0,)
    assert steady_speed(poses[:2], CAMERA_POSES, 0.1).shape == (1,)
    assert steady_speed(poses, ("steering",), 0.1) is None


def test_a_slow_car_that_stops_under_a_noisy_log_is_sound(street: Kept) -> None:
    """The noise of positions, 1 cm, is a third of the way of a usual step, and the car stands for six seconds."""
    rows = np.arange(len(street))
    rows[100:160] = 100
    rows[160:] -= 60
    poses = np.zeros((len(rows), 7))
    poses[:, 0], poses[:, 6] = 0.03 * rows, 1.0
    poses[:, :3] += np.random.default_rng(0).normal(0, 0.01, (len(rows), 3))
    slow = changed(street, rows=rows, poses=poses)
    for frozen_too in (False, True):
        if frozen_too:  # the log drives on
            slow = changed(
                street, rows=rows, poses=poses + np.outer(0.03 * (np.arange(len(rows)) - rows), np.eye(7)[0])
            )
        found = {one.check: one for one in check_recording(slow, CAMERA_POSES, look(slow))}
        assert found["still pictures"].can_tell
        assert found["frozen"].can_tell
        wrong = {name for name in ("frozen", "still pictures", "still log") if found[name].is_fault}
        assert wrong == ({"frozen", "still pictures"} if frozen_too else set())


def test_short_stops_of_log_and_pictures_are_not_frozen(street: Kept) -> None:
    rows = np.sort(np.concatenate([np.arange(200), np.repeat(np.arange(10, 200, 20), 3)]))  # three steps each
    goes = changed(street, rows=rows, poses=street.poses[rows])
    found = {one.check: one for one in check_recording(goes, DRIVING_POSES, look(goes))}
    assert found["frozen"].can_tell
    assert not found["frozen"].is_fault


@pytest.mark.parametrize("hz", [30.0, 10.0])
def test_a_pose_that_comes_twice_is_a_stop_of_a_slow_camera_only(street: Kept, hz: float) -> None:
    rows = np.arange(100, 190)
    rows[30:60] = 130  # 30 pictures are one
    speed = np.ones(len(rows) - 1)
    speed[::3] = 0.0  # every third pose is that of the frame before
    made = changed(street, rows=rows, frames=np.arange(len(rows)))
    found = check_pictures("r", look(made), np.arange(len(rows)) / hz, speed, steady=np.ones(len(speed)))
    assert next(one for one in found if one.check == "frozen").is_fault == (hz > 10)


@pytest.mark.parametrize(("jumps", "hesitations", "is_fault"), [(3, 0, False), (4, 0, True), (8, 5, False)])
def test_three_jumps_may_be_chance(
    street: Kept, monkeypatch: pytest.MonkeyPatch, jumps: int, hesitations: int, is_fault: bool
) -> None:
    ratio = np.zeros(len(street) - 1)
    ratio[:jumps], ratio[jumps : jumps + hesitations] = 0.4, -0.4
    ratio[115:] = np.nan  # 2.5 % of 115 steps are fewer than four
    monkeypatch.setattr("egoequiv.doctor.dropped.jump_ratio", lambda watched: ratio)
    found = findings(street)["dropped"]
    assert found.score == pytest.approx((jumps - hesitations) / 4)
    assert found.is_fault == is_fault
