"""Pictures and log compared, on steps that are computed from a known way: no picture is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from egoequiv.doctor.diagnosis import MOTION_CHECKS, check_motion
from egoequiv.doctor.elsewhere import agreement, other_recording
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.frames_of_reference import axes_in_words, frame_of_reference, rotations_of_axes
from egoequiv.doctor.logged import LoggedMotion, logged_motion
from egoequiv.doctor.offset import clock_drift, clock_offset, estimate_offset, own_fit, wider
from egoequiv.odometry.steps import VisualSteps
from egoequiv.pose import CAMERA_POSES
from egoequiv.pose.conventions import axes_matrix
from egoequiv.pose.rigid import SE3Space

Array = NDArray[np.float64]
SECONDS, HZ = 40.0, 10.0


class Way:
    """A hand-held camera: it turns about all axes and drifts forward."""

    def __init__(self, seed: int = 0, seconds: float = SECONDS) -> None:
        rng = np.random.default_rng(seed)
        self.rates = rng.uniform(0.15, 0.7, (3, 4)), rng.uniform(0, 6, (3, 4)), rng.uniform(1, 6, (3, 4))
        self.seconds = seconds

    def poses(self, times_s: Array) -> Array:
        hertz, phase, size = self.rates
        angles = (size * np.sin(2 * np.pi * hertz * times_s[:, None, None] + phase)).sum(axis=2)
        rotation = Rotation.from_euler("xyz", angles, degrees=True)
        place = np.stack([times_s, 0.3 * np.sin(times_s), 0.2 * np.cos(0.7 * times_s)], axis=1)
        return np.concatenate([place, rotation.as_quat()], axis=1)


def seen(poses: Array, noise_deg: float = 0.05, seed: int = 0) -> VisualSteps:
    """The steps that perfect pictures would show, with noise and some steps that are wrong altogether."""
    rng = np.random.default_rng(seed)
    motion = SE3Space().difference(poses[:-1], poses[1:])
    count = len(motion)
    rotation = motion[:, 3:] + rng.normal(0, noise_deg, (count, 3))
    wrong = rng.random(count) < 0.05
    rotation[wrong] += rng.normal(0, 3, (int(wrong.sum()), 3))
    length = np.linalg.norm(motion[:, :3], axis=1, keepdims=True)
    return VisualSteps(
        first=np.arange(count),
        second=np.arange(1, count + 1),
        rotation_deg=rotation,
        direction=motion[:, :3] / length,
        rotation_error_deg=np.full(count, noise_deg),
        direction_error_deg=np.full(count, 2.0),
        length_ratio=np.concatenate([[np.nan], length[1:, 0] / length[:-1, 0]])[:count],
        matches=np.full(count, 200),
        inliers=np.full(count, 150),
        flow=np.full(count, 0.02),
        reason=np.full(count, "", np.str_),
    )


class Logged:
    """A recording of poses alone, as the doctor reads it."""

    def __init__(self, poses: Array, times_s: Array | None) -> None:
        self.poses, self.times_s = poses, times_s

    def __len__(self) -> int:
        return len(self.poses)


def compared(
    change: Callable[[Array], Array] = lambda poses: poses,
    *,
    late_s: float = 0.0,
    seed: int = 0,
    timed: bool = True,
    settings: dict[str, str] | None = None,
) -> Comparison:
    """Pictures of a way beside its log, which is `late_s` late and changed."""
    times = np.arange(0, SECONDS, 1 / HZ)
    way = Way(seed)
    logged = change(way.poses(times - late_s))
    recording = Logged(logged, times if timed else None)
    motion = logged_motion(recording, CAMERA_POSES, settings)  # type: ignore[arg-type]
    return Comparison("walk", seen(way.poses(times), seed=seed), motion)


def faults(comparison: Comparison) -> dict[str, Finding]:
    found = check_motion(comparison).findings
    assert [one.check for one in found] == list(MOTION_CHECKS)
    return {one.check: one for one in found if one.is_fault}


def in_camera_axes(turn: Array) -> Callable[[Array], Array]:
    """Poses whose camera axes are turned: what was read as forward is another axis of the camera."""

    def change(poses: Array) -> Array:
        rotation = Rotation.from_quat(poses[:, 3:]) * Rotation.from_matrix(turn)
        return np.concatenate([poses[:, :3], rotation.as_quat()], axis=1)

    return change


def inverted(poses: Array) -> Array:
    back = Rotation.from_quat(poses[:, 3:]).inv()
    return np.concatenate([-back.apply(poses[:, :3]), back.as_quat()], axis=1)


@pytest.mark.parametrize("seed", range(2))
def test_a_sound_log_has_no_fault(seed: int) -> None:
    assert faults(compared(seed=seed)) == {}
    assert faults(compared(seed=seed, timed=False)) == {}
    assert check_motion(compared(seed=seed, late_s=0.005)).offset_s == 0.0  # nothing to correct, so nothing is drawn


def test_only_a_clock_that_is_wrong_is_corrected() -> None:
    assert check_motion(compared(late_s=0.3)).offset_s == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("late_s", [-1.0, -0.1, 0.05, 0.5])
def test_an_offset_is_found_with_its_sign(late_s: float) -> None:
    found = faults(compared(late_s=late_s, settings={"offset_s": "0.2"}))
    assert set(found) == {"clock offset"}
    values = dict(found["clock offset"].values)
    assert values["offset_s"] == pytest.approx(late_s, abs=0.01)
    assert values["low_s"] - 0.005 <= late_s <= values["high_s"] + 0.005
    corrected = float(found["clock offset"].fix.removeprefix("--read offset_s="))
    assert corrected == pytest.approx(0.2 - late_s, abs=0.011)  # on top of what was typed before


def test_the_interval_of_an_offset_covers_the_truth() -> None:
    inside = 0
    for seed in range(24):
        found = estimate_offset(compared(late_s=0.07, seed=seed))
        assert not isinstance(found, str)
        inside += found.low <= 0.07 <= found.high
    assert inside >= 20


# Every third of the 24: all of them are compared each time.
@pytest.mark.parametrize("matrix", rotations_of_axes()[::3], ids=axes_in_words)
def test_other_axes_are_named(matrix: Array) -> None:
    found, _ = frame_of_reference(compared(in_camera_axes(matrix), settings={"axes": "ros"}))
    assert found.is_fault != np.array_equal(matrix, np.eye(3))
    right = found.fix.removeprefix("--read axes=") if found.is_fault else "ros"
    np.testing.assert_array_equal(axes_matrix(right), matrix)


def test_the_order_of_quaternions_is_that_of_the_log() -> None:
    """The poses of a log with other axes were turned after its quaternions were read."""
    axes = Rotation.from_matrix(axes_matrix("opencv"))

    def misread(poses: Array) -> Array:
        log = (Rotation.from_quat(poses[:, 3:]) * axes).as_quat()  # of the camera, in its own axes
        read = Rotation.from_quat(log[:, [3, 0, 1, 2]]) * axes.inv()  # wxyz, taken for xyzw
        return np.concatenate([poses[:, :3], read.as_quat()], axis=1)

    found = faults(compared(misread, settings={"axes": "opencv", "quaternion": "xyzw"}))
    assert {name: one.fix for name, one in found.items()} == {"axes and signs": "--read quaternion=wxyz"}


def test_the_fix_of_axes_continues_what_was_typed() -> None:
    opencv, opengl = axes_matrix("opencv"), axes_matrix("opengl")
    read_as_opengl = in_camera_axes(opencv @ opengl.T)  # in truth opencv
    found = faults(compared(read_as_opengl, settings={"axes": "opengl"}))
    assert found["axes and signs"].fix == "--read axes=right,down,forward"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (inverted, "inverted"),
        (lambda poses: poses[:, [0, 1, 2, 6, 3, 4, 5]], "another order: they are wxyz"),
        (lambda poses: poses[:, [0, 1, 2, 4, 5, 6, 3]], "another order: they are xyzw"),
    ],
)
def test_other_readings_are_named(change: Callable[[Array], Array], words: str) -> None:
    found = faults(compared(change))
    assert set(found) == {"axes and signs"}
    assert words in found["axes and signs"].text


@pytest.mark.parametrize(
    ("rotation", "direction", "words"),
    [
        ((-1, 1, -1), (1, -1, 1), "mirrored"),
        ((1, 1, -1), (1, 1, 1), "sign of yaw"),
        ((1, -1, 1), (1, 1, 1), "sign of pitch"),
        ((-1, 1, 1), (1, 1, 1), "sign of roll"),
        ((1, 1, 1), (-1, 1, 1), "sign of the way forward"),
    ],
)
def test_signs_are_named(rotation: tuple[int, ...], direction: tuple[int, ...], words: str) -> None:
    sound = compared(late_s=0.2)
    steps = replace(
        sound.steps,
        rotation_deg=sound.steps.rotation_deg * np.array(rotation),
        direction=sound.steps.direction * np.array(direction),
    )
    found = faults(replace(sound, steps=steps))
    assert set(found) == {"axes and signs", "clock offset"}  # both are wrong, and both are found
    assert words in found["axes and signs"].text
    assert dict(found["clock offset"].values)["offset_s"] == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("factor", "unit"), [(np.pi / 180, "radians taken"), (180 / np.pi, "degrees taken")])
def test_units_of_angles_are_named(factor: float, unit: str) -> None:
    sound = compared()
    motion = replace(sound.motion, turned_deg=sound.motion.turned_deg * factor, poses=None)
    assert unit in faults(sound.with_motion(motion))["axes and signs"].text


def test_halves_that_are_exchanged() -> None:
    sound = compared()
    half = len(sound.steps) // 2
    order = np.concatenate([np.arange(half, 2 * half), np.arange(half)])
    exchanged = sound.steps.part(order)
    steps = replace(exchanged, first=sound.steps.first[: 2 * half], second=sound.steps.second[: 2 * half])
    found = faults(replace(sound, steps=steps))
    assert set(found) == {"order of parts"}
    assert "+20.0 s away" in found["order of parts"].text or "+19.9 s away" in found["order of parts"].text


def test_pictures_of_another_recording() -> None:
    one, other = compared(seed=1), replace(compared(seed=2), recording="run")
    exchanged = one.with_motion(other.motion), replace(other, motion=one.motion)
    found = check_motion(exchanged[0], exchanged).findings[0]
    assert found.is_fault
    assert "run" in found.text
    assert not other_recording(one, [one, other]).is_fault
    told = np.where(np.arange(len(one.steps)) < 9, 0.0, np.nan)[:, None]  # of the others the pictures do not say it
    blind = replace(one, steps=replace(one.steps, rotation_deg=one.steps.rotation_deg + told))
    assert not other_recording(blind, [blind, other]).can_tell


def test_frames_dropped_without_a_trace() -> None:
    """Every twentieth picture is lost and the rest moves up: the offset grows."""
    times = np.arange(0, SECONDS, 1 / HZ)
    way = Way(3)
    kept = np.delete(np.arange(len(times)), np.arange(10, len(times), 20))
    steps = seen(way.poses(times[kept]))
    motion = logged_motion(Logged(way.poses(times), times), CAMERA_POSES)  # type: ignore[arg-type]
    found = faults(Comparison("walk", steps, motion))
    assert set(found) == {"clock drift", "step lengths"}
    assert dict(found["clock drift"].values)["drift"] == pytest.approx(0.05, abs=0.015)


def test_a_motion_that_has_nothing_to_do_with_the_pictures() -> None:
    found = faults(compared().with_motion(compared(seed=9).motion))
    assert "agreement" in found


def test_an_offset_that_cannot_be_told_does_not_make_a_wrong_log_agree() -> None:
    """One turn to the left in the log, and one in the pictures at another time: at some offset they overlap."""
    times = np.arange(0, 7.5, 1 / HZ)

    def turned(begin_s: float, end_s: float) -> Array:
        poses = np.zeros((len(times), 7))
        yaw = 25 * np.interp(times, [begin_s, end_s], [0, end_s - begin_s])
        poses[:, 0] = times
        poses[:, 3:] = Rotation.from_rotvec(yaw[:, None] * np.array([0, 0, 1]), degrees=True).as_quat()
        return poses

    motion = logged_motion(Logged(turned(0.0, 2.2), times), CAMERA_POSES)  # type: ignore[arg-type]
    wrong = Comparison("walk", seen(turned(2.0, 5.0)), motion)
    checked = check_motion(wrong)
    offset, agrees = (
        next(one for one in checked.findings if one.check == name) for name in ("clock offset", "agreement")
    )
    assert not offset.can_tell
    assert agrees.is_fault
    shares = [dict(agreement(wrong, shift_s).values)["share"] for shift_s in (0.0, own_fit(wrong)[2])]
    assert shares[0] < 0.1 < 0.5 < shares[1]


def test_pictures_that_turn_while_the_log_does_not() -> None:
    """Steps that only the pictures turn count as well as those that only the log turns."""
    sound = compared()
    still = replace(sound.motion, turned_deg=0.05 * sound.motion.turned_deg, poses=None)
    found = check_motion(sound.with_motion(still)).findings[-1]
    assert found.check == "agreement"
    assert found.is_fault
    assert dict(found.values)["share"] == 0.0
    assert dict(check_motion(sound).findings[-1].values)["share"] > 0.85


def test_a_camera_that_hardly_turns_but_looks_backwards() -> None:
    """Too few turning steps say that the clock is right; the direction of travel says that the camera is not."""
    times = np.arange(0, 6, 1 / HZ)
    poses = Way(0).poses(times)
    poses[:, 3:] = Rotation.from_rotvec(0.02 * Rotation.from_quat(poses[:, 3:]).as_rotvec()).as_quat()
    logged = in_camera_axes(np.diag([-1.0, -1.0, 1.0]))(poses)
    motion = logged_motion(Logged(logged, times), CAMERA_POSES)  # type: ignore[arg-type]
    found = faults(Comparison("straight", seen(poses), motion))
    assert "backwards" in found["axes and signs"].text


def test_one_strong_turn_is_enough_to_see_its_sign() -> None:
    """The gain of a few seconds is far larger than that of the rest, so it varies; that is no reason to doubt it."""
    times = np.arange(0, 15, 1 / HZ)
    angles = np.zeros((len(times), 3))
    angles[:, 0] = 35 / (1 + np.exp(-4 * (times - 12))) + 0.4 * np.sin(2 * times)
    angles[:, 1] = 0.3 * np.sin(3 * times)
    turned = [Rotation.from_euler("zyx", angles * [sign, 1, 1], degrees=True) for sign in (1.0, -1.0)]
    poses, flipped = (  # it drives where it looks
        np.concatenate([one.apply([1.0, 0.0, 0.0]).cumsum(axis=0), one.as_quat()], axis=1) for one in turned
    )
    motion = logged_motion(Logged(flipped, times), CAMERA_POSES)  # type: ignore[arg-type]
    found = faults(Comparison("turn", seen(poses), motion))
    assert "sign of yaw" in found["axes and signs"].text


def test_a_guessed_lens_makes_turns_longer_but_does_not_tilt_them() -> None:
    steps = replace(compared().steps.part(np.arange(3)), rotation_deg=np.tile([0.0, 0.0, 10.0], (3, 1)))
    longer, tilted = np.tile([0.0, 0.0, 11.5], (3, 1)), np.tile([0.0, 1.5, 10.0], (3, 1))
    known, guessed = (Comparison("r", steps, compared().motion, is_known) for is_known in (True, False))
    assert known.rotation_fit(longer) == pytest.approx(known.rotation_fit(tilted))
    assert (guessed.rotation_fit(longer) > guessed.rotation_fit(tilted) + 3).all()
    # By hand: 1.5 off of a tolerance of 15 % of 10 degrees, 0.05 and 0.05; (2 + 3) / 2 of the logarithms.
    scale = 2 * (1.5**2 + 0.05**2 + 0.05**2)
    by_hand = 2.5 * (np.log1p(100 / scale) - np.log1p(1.5**2 / scale))
    assert guessed.rotation_fit(longer) == pytest.approx(by_hand)


def columns(names: tuple[str, ...], sign: float = 1.0) -> LoggedMotion:
    """The heading of the way as a column."""
    times = np.arange(0, SECONDS, 1 / HZ)
    poses = Way(0).poses(times)
    turned = np.concatenate([[0.0], np.cumsum(SE3Space().difference(poses[:-1], poses[1:])[:, 5])])
    values = np.stack([sign * turned, times], axis=1)
    return logged_motion(Logged(values, times), names)  # type: ignore[arg-type]


def test_columns_of_known_and_unknown_units() -> None:
    sound = compared()
    assert faults(sound.with_motion(columns(("yaw_deg", "forward_m")))) == {}
    assert "sign of yaw" in faults(sound.with_motion(columns(("yaw_deg", "forward_m"), -1)))["axes and signs"].text
    assert (
        faults(sound.with_motion(columns(("steering over time", "throttle over time"), -0.01))) == {}
    )  # steering grows to the right
    wrong = faults(sound.with_motion(columns(("steering over time", "throttle over time"), 0.01)))
    assert "sign of steering" in wrong["axes and signs"].text
    assert not columns(("gripper_angle", "elbow")).has_rotation  # not every angle turns the camera


def test_what_cannot_be_told() -> None:
    sound = compared()
    nothing = replace(sound.motion, turned_deg=np.full_like(sound.motion.turned_deg, np.nan), poses=None)
    told = [one.check for one in check_motion(sound.with_motion(nothing)).findings if one.can_tell]
    assert told == ["step lengths"]  # which needs no rotation
    still = replace(sound.motion, turned_deg=0 * sound.motion.turned_deg, poses=None)
    steps = replace(sound.steps, rotation_deg=np.random.default_rng(0).normal(0, 0.05, (len(sound.steps), 3)))
    found = check_motion(replace(sound, steps=steps, motion=still)).findings
    offset = next(one for one in found if one.check == "clock offset")
    assert not offset.can_tell
    assert "turns too little" in offset.text
    assert not any(one.is_fault for one in found)
    short = sound.part(np.arange(5))
    assert not any(one.is_fault for one in check_motion(short).findings)
    empty = sound.part(np.arange(0))
    assert not any(one.is_fault for one in check_motion(empty).findings)


class Sway(Way):
    """Somebody walks: the camera swings with every step."""

    def __init__(self, period_s: float) -> None:
        super().__init__()
        self.rates = np.full((3, 1), 1 / period_s), np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [6.0]])


def beside(way: Way, late_s: float, seed: int = 0, noise_deg: float = 0.0) -> Comparison:
    """The pictures of a way beside its log, which is late and noisy."""
    times = np.arange(0, way.seconds, 1 / HZ)
    poses = way.poses(times - late_s)
    noise = Rotation.from_rotvec(np.random.default_rng(seed).normal(0, noise_deg, (len(times), 3)), degrees=True)
    poses[:, 3:] = (Rotation.from_quat(poses[:, 3:]) * noise).as_quat()
    motion = logged_motion(Logged(poses, times), CAMERA_POSES)  # type: ignore[arg-type]
    return Comparison(f"way {seed}", seen(way.poses(times), seed=seed), motion)


@pytest.mark.parametrize("period_s", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("late_s", [0.0, 0.05])
def test_a_swinging_camera_is_not_taken_for_a_mirrored_one(period_s: float, late_s: float) -> None:
    assert set(faults(beside(Sway(period_s), late_s))) <= {"clock offset"}


def test_repeated_motion_is_not_taken_for_exchanged_recordings() -> None:
    """Episodes of a robot that repeats one motion: all late by half a frame, some logs noisier than others."""
    episodes = [beside(Way(5), 0.05, seed, noise) for seed, noise in enumerate((0.0, 0.05, 0.15, 0.3))]
    for episode in episodes:
        assert not other_recording(episode, episodes).is_fault


def test_exchanged_recordings_that_are_late_too() -> None:
    one, other = beside(Way(1), 0.3), beside(Way(2), 0.3, seed=1)
    exchanged = one.with_motion(other.motion), replace(other, motion=one.motion)
    assert check_motion(exchanged[0], exchanged).findings[0].is_fault


def test_laps_are_not_taken_for_parts_in_the_wrong_order() -> None:
    class Laps(Way):
        def poses(self, times_s: Array) -> Array:
            return super().poses(times_s % 10.05)

    found = faults(beside(Laps(4), 0.05))
    assert "order of parts" not in found


def test_uneven_stamps_do_not_move_the_offset() -> None:
    rng = np.random.default_rng(0)
    way = Way(0)
    times = np.sort(np.arange(0, SECONDS, 1 / HZ) + rng.uniform(-0.045, 0.045, int(SECONDS * HZ)))
    motion = logged_motion(Logged(way.poses(times), times), CAMERA_POSES)  # type: ignore[arg-type]
    found = estimate_offset(Comparison("walk", seen(way.poses(times)), motion))
    assert not isinstance(found, str)
    assert abs(found.seconds) < 0.01


def test_the_interval_holds_where_the_log_is_noisy() -> None:
    inside = 0
    for seed in range(12):
        found = estimate_offset(beside(Way(seed), 0.07, seed, noise_deg=0.1))
        assert not isinstance(found, str)
        inside += found.low <= 0.07 <= found.high
    assert inside >= 10


def test_an_interval_of_few_seconds_is_wide() -> None:
    """A bootstrap over few blocks is too narrow by itself."""
    assert wider(4) == pytest.approx(3.1824 / 1.96 * np.sqrt(4 / 3), rel=1e-4)  # the 97.5 % quantile of Student's t
    assert wider(40) == pytest.approx(1.045, abs=0.001)
    half = []
    for seconds in (6.0, 40.0):
        found = estimate_offset(beside(Way(3, seconds), 0.07, noise_deg=0.1))
        assert not isinstance(found, str)
        assert found.seconds - found.low == pytest.approx(found.high - found.seconds)
        half.append(found.high - found.seconds)
    assert half[0] > 2 * half[1]
    short = [clock_offset(beside(Way(seed, 6.0), 0.0, seed, noise_deg=0.15)) for seed in range(8)]
    assert all(one.can_tell and not one.is_fault for one in short)


def test_steps_within_their_tolerance_neither_agree_nor_disagree() -> None:
    """A log that turns by little more than the pictures can tell is not wrong because they differ by that."""
    sound = compared()
    rng = np.random.default_rng(0)
    turn = 0.2 * sound.steps.rotation_deg / np.linalg.norm(sound.steps.rotation_deg, axis=1, keepdims=True)
    off = rng.normal(size=turn.shape)
    off *= 0.14 / np.linalg.norm(off, axis=1, keepdims=True)  # two tolerances of 0.07 degrees
    turned = np.concatenate([np.zeros((1, 3)), np.cumsum(turn + off, axis=0)])
    log = replace(sound.motion, turned_deg=turned, poses=None)
    steps = replace(sound.steps, rotation_deg=turn)
    assert not agreement(replace(sound, steps=steps, motion=log)).is_fault
    assert agreement(replace(sound, steps=replace(steps, rotation_deg=-turn), motion=log)).is_fault


@pytest.mark.parametrize("name", ["gyro_z", "yaw_rate_deg", "steering"])
def test_rates_are_summed_up(name: str) -> None:
    times = np.arange(0, SECONDS, 1 / HZ)
    fine = Way(0).poses(np.arange(0, SECONDS, 0.001))
    heading = np.concatenate([[0.0], np.cumsum(SE3Space().difference(fine[:-1], fine[1:])[:, 5])])
    rate = np.gradient(heading, 0.001)[:: int(1000 / HZ)] * (-1.0 if name == "steering" else 1.0)
    motion = logged_motion(Logged(rate[:, None], times), (name,))  # type: ignore[arg-type]
    assert faults(compared().with_motion(motion)) == {}


def test_poses_from_the_pictures_are_not_compared_with_them() -> None:
    poses = np.concatenate([Way(0).poses(np.arange(20.0)), np.zeros((20, 1))], axis=1)
    names = (*CAMERA_POSES, "visual_rotation_error_deg")
    assert not logged_motion(Logged(poses, np.arange(20.0)), names).has_rotation  # type: ignore[arg-type]


@pytest.mark.slow
def test_memory_is_bounded_for_a_long_recording() -> None:
    import tracemalloc

    def peak(seconds: float) -> float:
        way = Way(0, seconds)
        comparison = beside(way, 0.0)
        tracemalloc.start()
        frame_of_reference(comparison)
        clock_drift(comparison)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found / 1e6

    assert peak(900.0) < 250
