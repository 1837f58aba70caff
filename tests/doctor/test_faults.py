"""Each fault does to numbers and pictures what it says."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from doctor.conftest import Kept
from egoequiv.doctor.changed import Case
from egoequiv.doctor.faults import FAULTS, dropped, duplicated, faulty, frozen, reordered, shuffled, swapped_halves
from egoequiv.doctor.motion_faults import axis_permutations, clock_offset, flipped, permuted_axes, radians_as_degrees
from egoequiv.errors import BrokenFrameError, ConfigError
from egoequiv.pose import CAMERA_POSES, DRIVING_POSES, PlanarSpace, SE3Space, driving_poses
from egoequiv.sources import Recording, Source


def rows_of(recording: Recording) -> list[int]:
    """The number that each made-up picture shows."""
    found = []
    for decoded in recording.images(range(len(recording))):
        assert not isinstance(decoded, BrokenFrameError)
        found.append(int(np.asarray(decoded)[0, 0]))
    return found


def numbered(count: int = 100) -> Kept:
    """Frames whose first pixel is their number, on a curve to the left: 1 m and 2 degrees a step, at 10 Hz."""
    pictures = np.zeros((count, 4, 6), np.uint8)
    pictures[:, 0, 0] = np.arange(count)
    yaw = np.deg2rad(2.0 * np.arange(count))
    position = np.column_stack([np.cumsum(np.cos(yaw)), np.cumsum(np.sin(yaw)), 0 * yaw])
    poses = driving_poses(position, Rotation.from_euler("z", yaw[:, None]), np.arange(count) * 1.0, yaw)
    return Kept("numbered", pictures, poses, np.arange(count) / 10, labels=[str(k) for k in range(count)])


def motions(recording: Recording) -> np.ndarray:
    return SE3Space().difference(recording.poses[:-1, :7], recording.poses[1:, :7])


CASE = Case(numbered(), DRIVING_POSES, seed=3)


def test_frozen_repeats_one_picture_for_a_second() -> None:
    rows = rows_of(frozen(CASE))
    still = np.flatnonzero(np.diff(rows) == 0)
    assert len(still) == 10
    assert (np.diff(still) == 1).all()
    assert rows[still[-1] + 2] == still[-1] + 2  # afterwards every picture is in its place


def test_dropped_pictures_move_up_while_poses_stay() -> None:
    made = dropped(CASE)
    rows = rows_of(made)
    assert len(made) == 95
    assert rows == sorted(set(rows))
    assert rows[0] == 0
    assert rows[-1] == 99
    assert np.array_equal(made.poses, CASE.recording.poses[:95])
    assert made.times_s is not None
    assert np.array_equal(made.times_s, np.arange(95) / 10)
    assert made.labels is not None
    assert list(made.labels) == [str(row) for row in rows]


def test_duplicated_and_reordered_pictures() -> None:
    rows = np.array(rows_of(duplicated(CASE)))
    again = np.flatnonzero(rows != np.arange(100))
    assert len(again) == 5
    assert (rows[again] == again - 1).all()
    rows = np.array(rows_of(reordered(CASE, share=0.1)))
    moved = np.flatnonzero(rows != np.arange(100))
    assert len(moved) == 10
    assert sorted(rows) == list(range(100))
    assert (np.abs(rows - np.arange(100))[moved] == 1).all()


def test_swapped_halves_and_shuffled_recordings() -> None:
    made = swapped_halves(CASE)
    assert rows_of(made) == [*range(50, 100), *range(50)]
    assert np.array_equal(made.poses, CASE.recording.poses)
    made = FAULTS["other half"](CASE)
    assert rows_of(made) == list(range(50, 100))
    assert np.array_equal(made.poses, CASE.recording.poses[:50])
    short, long = numbered(60), numbered(80)
    first, second = shuffled([short, long], seed=1)
    assert len(first) == len(second) == 60
    assert first.pictures is long
    assert np.array_equal(second.poses, long.poses[:60])
    with pytest.raises(ConfigError, match="takes two"):
        shuffled([short])


def test_views_are_turned() -> None:
    picture = CASE.recording.image(7)
    assert np.array_equal(FAULTS["mirrored"](CASE).image(7), np.fliplr(picture))
    assert np.array_equal(FAULTS["upside down"](CASE).image(7), np.rot90(picture, 2))
    assert np.array_equal(next(iter(FAULTS["upside down"](CASE).images(range(7, 8)))), np.rot90(picture, 2))


def test_a_clock_offset_gives_each_frame_an_earlier_pose() -> None:
    made = clock_offset(CASE, offset_s=0.3)
    assert len(made) == 97
    assert rows_of(made) == list(range(3, 100))
    assert np.allclose(made.poses, CASE.recording.poses[:97], atol=1e-9)
    half = clock_offset(CASE, offset_s=-0.05)  # between two frames
    assert rows_of(half) == list(range(99))
    assert np.allclose(half.poses[:, 7:], CASE.recording.poses[:99, 7:] + [0.5, 1.0])
    heading = Rotation.from_quat(half.poses[:, 3:7]).as_euler("zyx", degrees=True)[:40, 0]
    assert np.allclose(heading, 2.0 * np.arange(40) + 1.0)
    assert half.times_s is not None
    assert half.times_s[0] == 0
    assert clock_offset(CASE, offset_s=0.3).times_s[0] == 0
    with pytest.raises(ConfigError, match="needs times"):
        clock_offset(Case(Kept("r", np.zeros((3, 2, 2), np.uint8), np.zeros((3, 9)), None), DRIVING_POSES))


@pytest.mark.parametrize(
    ("axis", "component"), [("roll", 3), ("pitch", 4), ("yaw", 5), ("forward", 0), ("left", 1), ("up", 2)]
)
def test_a_flip_negates_one_component_of_every_motion(street: Kept, axis: str, component: int) -> None:
    made = flipped(Case(street, DRIVING_POSES), axis=axis)
    sign = np.ones(6)
    sign[component] = -1
    assert np.allclose(motions(made), motions(street) * sign, atol=1e-9)
    steps, before = np.diff(made.poses[:, 7:], axis=0), np.diff(street.poses[:, 7:], axis=0)
    assert np.allclose(steps, before * [-1 if axis == "forward" else 1, -1 if axis == "yaw" else 1])


def test_permuted_axes_turn_the_camera_in_its_place(street: Kept) -> None:
    axes = axis_permutations()
    assert len(axes) == 24
    assert np.array_equal(axes[0], np.eye(3))
    for turn in axes[1:4]:
        made = permuted_axes(Case(street, DRIVING_POSES), axes=turn)
        assert np.allclose(made.poses[:, :3], street.poses[:, :3], atol=1e-6)
        rotation = Rotation.from_quat(street.poses[:, 3:7]).as_matrix() @ turn
        assert np.allclose(Rotation.from_quat(made.poses[:, 3:7]).as_matrix(), rotation, atol=1e-6)
    back = FAULTS["backwards mount"](CASE)
    assert np.allclose(np.diff(back.poses[:, 7:], axis=0), [-1.0, 2.0])  # backwards, and the same turn


def test_quaternions_in_the_wrong_order() -> None:
    made = FAULTS["quaternion order"](CASE)
    x, y, z, w = CASE.recording.poses[20, 3:7]
    sign = -1 if z < 0 else 1
    assert np.allclose(made.poses[20, 3:7], sign * np.array([w, x, y, z]))
    assert np.allclose(np.diff(made.poses[:, 8]), motions(made)[:, 5])


def test_radians_taken_for_degrees() -> None:
    made = radians_as_degrees(CASE)
    assert np.allclose(np.diff(made.poses[:, 8]), 2.0 * np.pi / 180)
    assert np.allclose(motions(made)[:, 5], 2.0 * np.pi / 180)
    assert np.allclose(motions(made)[:, 0], motions(CASE.recording)[:, 0])
    steering = Kept("r", np.zeros((2, 2, 2), np.uint8), np.array([[1.0, 5.0], [2.0, 6.0]]), None)
    columns = radians_as_degrees(Case(steering, ("steering_rad", "throttle")), inverse=True)
    assert np.allclose(columns.poses, [[180 / np.pi, 5], [360 / np.pi, 6]])
    with pytest.raises(ConfigError, match="needs angles"):
        radians_as_degrees(Case(steering, ("steering", "throttle")))


def test_a_recording_with_planar_columns_alone() -> None:
    planar = Kept("p", CASE.recording.pictures, CASE.recording.poses[:, 7:], CASE.recording.times_s)
    made = flipped(Case(planar, PlanarSpace().pose_names), axis="yaw")
    assert np.allclose(np.diff(made.poses, axis=0), [1.0, -2.0])
    with pytest.raises(ConfigError, match="needs quaternions"):
        FAULTS["quaternion order"](Case(planar, PlanarSpace().pose_names))
    rigid = Kept("r", planar.pictures, CASE.recording.poses[:, :7], planar.times_s)
    assert flipped(Case(rigid, CAMERA_POSES), axis="yaw").poses.shape == (100, 7)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_seeded_and_pickles(fault: str) -> None:
    made = FAULTS[fault](CASE)
    copy = pickle.loads(pickle.dumps(made))
    again = FAULTS[fault](CASE)
    assert np.array_equal(copy.poses, made.poses)
    assert np.array_equal(again.poses, made.poses)
    assert np.array_equal(again.rows, made.rows)
    assert [np.asarray(one).tobytes() for one in copy.images(range(20, 50))] == [
        made.image(frame).tobytes() for frame in range(20, 50)
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_changes_a_real_drive(street: Kept, fault: str) -> None:
    made = FAULTS[fault](Case(street, DRIVING_POSES))
    pictures_differ = any(not np.array_equal(made.image(frame), street.image(frame)) for frame in range(len(made)))
    poses_differ = not np.allclose(made.poses, street.poses[: len(made)], atol=1e-6)
    assert pictures_differ or poses_differ
    assert np.isfinite(made.poses).all()
    assert np.allclose(np.linalg.norm(made.poses[:, 3:7], axis=1), 1)


def test_pictures_that_are_read_in_order_are_decoded_once() -> None:
    decoded: list[int] = []

    class Counted(Kept):
        def image(self, frame: int) -> np.ndarray:
            decoded.append(frame)
            return super().image(frame)

    base = Counted("r", CASE.recording.pictures, CASE.recording.poses, CASE.recording.times_s)
    for fault in (dropped, duplicated, reordered, frozen):
        decoded.clear()
        rows_of(fault(Case(base, DRIVING_POSES)))
        assert len(decoded) <= len(base)


def test_broken_pictures_stay_broken() -> None:
    base = Kept("r", CASE.recording.pictures, CASE.recording.poses, CASE.recording.times_s, broken=(4,))
    made = FAULTS["mirrored"](Case(base, DRIVING_POSES))
    assert [isinstance(one, BrokenFrameError) for one in made.images(range(3, 6))] == [False, True, False]


def test_a_source_with_a_fault() -> None:
    source = Source("s", PlanarSpace(), [numbered(60), numbered(80)], pose_names=DRIVING_POSES)
    assert [len(each) for each in faulty(source, "dropped").recordings] == [57, 76]
    assert [len(each) for each in faulty(source, "shuffled").recordings] == [60, 60]
    with pytest.raises(ConfigError, match="'typo' is not known"):
        faulty(source, "typo")
    with pytest.raises(ConfigError, match="needs 6 frames"):
        reordered(Case(numbered(5), DRIVING_POSES))
    with pytest.raises(ConfigError, match="share"):
        dropped(CASE, share=1.5)
