"""Bags of ROS 1 and ROS 2 as recordings: pictures, poses, columns, clocks and choices."""

import pickle
import shutil
import sqlite3
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import CAMERA_POSES, ColumnsSpace, NoMotion, SE3Space
from egoequiv.sources import Source
from egoequiv.sources.formats import guess_format
from egoequiv.sources.ros import is_ros
from egoequiv.store import ingest
from logs.ros import KINDS, START_NS, STEP_NS, BagWriter, along_x, bag_name, drive, pictures, pictures_of, robot


def opened(path: Path, **settings: Any) -> Source:
    return open_source("ros", path, **settings)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_pictures_poses_and_times_are_those_that_were_written(kind: str, tmp_path: Path) -> None:
    source = opened(drive(kind).write(tmp_path / bag_name(kind)))
    (recording,) = source.recordings
    assert source.has_images
    assert source.pose_columns == CAMERA_POSES
    assert isinstance(source.space, SE3Space)
    assert np.array_equal(pictures_of(recording), pictures(12))
    np.testing.assert_allclose(recording.poses, [along_x(k) for k in range(12)], atol=1e-12)
    np.testing.assert_allclose(recording.times_s, np.arange(12) / 10, atol=1e-9)
    assert recording.attributes["start"] == "1700000000.000000000"
    assert ["the poses do not name their body" in note for note in source.remarks] == [True]
    assert not opened(source.recordings[0].reader.path, axes="ros").remarks  # type: ignore[attr-defined]
    assert "/pose (geometry_msgs/PoseStamped)" in source.convention
    copy = pickle.loads(pickle.dumps(recording))
    assert np.array_equal(copy.image(7), pictures(12)[7])


def test_the_file_inside_a_ros2_folder_is_read_too(tmp_path: Path) -> None:
    for kind, suffix in (("sqlite3", "db3"), ("mcap", "mcap")):
        folder = drive(kind).write(tmp_path / kind)
        (file,) = folder.glob(f"*.{suffix}")
        assert np.array_equal(pictures_of(opened(file).recordings[0]), pictures(12))
        (folder / "metadata.yaml").unlink()
        assert opened(folder).frame_count == 12


@pytest.mark.parametrize(
    ("kind", "compression"),
    [("ros1", "bz2"), ("ros1", "lz4"), ("sqlite3", "file"), ("sqlite3", "message"), ("mcap", "storage")],
)
def test_compressed_bags(kind: str, compression: str, tmp_path: Path) -> None:
    path = drive(kind, compression=compression).write(tmp_path / bag_name(kind))
    assert np.array_equal(pictures_of(opened(path).recordings[0]), pictures(12))


def test_a_folder_of_bags_is_a_recording_each_and_a_broken_one_is_a_note(tmp_path: Path) -> None:
    for kind in KINDS:
        drive(kind).write(tmp_path / bag_name(kind))
    (tmp_path / "empty.bag").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not a bag")
    source = opened(tmp_path, axes="ros")
    assert [one.name for one in source.recordings] == ["drive", "drive_mcap", "drive_sqlite3"]
    assert source.notes == (
        f"recording empty left out: {tmp_path / 'empty.bag'} cannot be read: damaged, or not a bag: File "
        f"'{tmp_path / 'empty.bag'}' seems to be empty.",
    )
    assert ingest(source, tmp_path / "store", progress=False).images.shape == (36, 6, 8, 1)


def test_bags_of_the_same_name_keep_their_suffix(tmp_path: Path) -> None:
    drive("ros1").write(tmp_path / "a.bag")
    drive("mcap").write(tmp_path / "inner")
    (tmp_path / "inner" / "inner.mcap").rename(tmp_path / "a.mcap")
    assert [one.name for one in opened(tmp_path).recordings] == ["a.bag", "a.mcap"]


def test_what_is_recognised(tmp_path: Path) -> None:
    folder = drive("mcap").write(tmp_path / "one")
    other = tmp_path / "other"
    other.mkdir()
    (other / "metadata.yaml").write_text("name: something else\n")
    assert is_ros(folder)
    assert is_ros(tmp_path)
    assert is_ros(folder / "one.mcap")
    assert not is_ros(other)
    assert not is_ros(other / "metadata.yaml")
    assert not is_ros(tmp_path / "missing")
    assert guess_format(folder).source == "ros"


def test_poses_between_stamps_are_interpolated_and_frames_outside_left_out(kind: str, tmp_path: Path) -> None:
    bag = BagWriter(kind)
    for k, picture in enumerate(pictures(10)):
        bag.image("/cam", START_NS + k * STEP_NS, picture)
    for k in range(2, 8):
        bag.pose("/pose", START_NS + k * STEP_NS + STEP_NS // 2, along_x(k + 0.5))
    source = opened(bag.write(tmp_path / bag_name(kind)), axes="ros")
    np.testing.assert_allclose(source.recordings[0].poses, [along_x(k) for k in range(3, 8)], atol=1e-9)
    assert np.array_equal(pictures_of(source.recordings[0]), pictures(10)[3:8])
    assert "5 of 10 frames left out: 3 before the motion begins, 2 after it ends" in source.notes[0]


def test_odometry_of_the_base_becomes_the_pose_of_the_camera_by_tf(kind: str, tmp_path: Path) -> None:
    path = robot(kind).write(tmp_path / bag_name(kind))
    for settings in ({}, {"poses": "tf"}, {"poses": "tf:odom->camera_link"}, {"poses": "tf:/odom -> base_link"}):
        source = opened(path, **settings)
        for k, pose in enumerate(source.recordings[0].poses):
            base = Rotation.from_quat(along_x(k)[3:])
            np.testing.assert_allclose(pose[:3], along_x(k)[:3] + base.apply([0.2, 0, 0.5]), atol=1e-6)
            np.testing.assert_allclose(pose[3:], along_x(k)[3:], atol=1e-6)
        assert "opencv" in source.convention


def test_transforms_and_poses_with_covariance(kind: str, tmp_path: Path) -> None:
    optical = Rotation.from_quat([-0.5, 0.5, -0.5, 0.5])
    bag = BagWriter(kind)
    for k, picture in enumerate(pictures(6)):
        stamp = START_NS + k * STEP_NS
        bag.image("/cam", stamp, picture)
        turned = [*along_x(k)[:3], *(Rotation.from_quat(along_x(k)[3:]) * optical).as_quat()]
        bag.add("/vicon/cam", stamp, bag.transform(stamp, "world", "camera_optical_frame", turned))
        pose = bag.new(
            "geometry_msgs/msg/PoseWithCovariance", pose=bag.pose_of(along_x(2 * k)), covariance=np.zeros(36)
        )
        header = bag.header(stamp, "map")
        name = "geometry_msgs/msg/PoseWithCovarianceStamped"
        bag.add("/amcl_pose", stamp, bag.new(name, header=header, pose=pose))
    path = bag.write(tmp_path / bag_name(kind))
    source = opened(path)  # of the two, the one that is named like ground truth
    np.testing.assert_allclose(source.recordings[0].poses, [along_x(k) for k in range(6)], atol=1e-9)
    assert source.convention.startswith("poses of camera_optical_frame in world from /vicon/cam")
    other = opened(path, poses="amcl_pose").recordings[0].poses
    np.testing.assert_allclose(other, [along_x(2 * k) for k in range(6)], atol=1e-9)


def test_mount_and_axes_are_as_given(tmp_path: Path) -> None:
    path = drive("ros1").write(tmp_path / "drive.bag")
    moved = opened(path, mount="0 0 2 -0.5 0.5 -0.5 0.5").recordings[0].poses  # the camera's frame is optical
    np.testing.assert_allclose(moved, [[k, 0, 2, *along_x(k)[3:]] for k in range(12)], atol=1e-9)
    turned = opened(path, axes="opencv").recordings[0].poses
    # The poses' z axis is forward now: the store's x axis in the world is R (0, 0, 1), which is up.
    forward = Rotation.from_quat(turned[:, 3:]).apply([1, 0, 0])
    np.testing.assert_allclose(forward, np.tile([0, 0, 1], (12, 1)), atol=1e-9)
    with pytest.raises(ConfigError, match="axes 'sideways'"):
        opened(path, axes="sideways")
    with pytest.raises(ConfigError, match="mount '1 2': expected 7 numbers"):
        opened(path, mount="1 2")


def test_a_camera_that_tf_does_not_know_is_a_note(tmp_path: Path) -> None:
    bag = BagWriter("mcap")
    for k, picture in enumerate(pictures(5)):
        bag.image("/cam", START_NS + k * STEP_NS, picture, frame="gripper_cam")
        bag.odometry("/odom", START_NS + k * STEP_NS, along_x(k))
    source = opened(bag.write(tmp_path / "bag"))
    assert "tf does not say how camera frame 'gripper_cam' sits on 'base_link'" in source.notes[0]
    np.testing.assert_allclose(source.recordings[0].poses, [along_x(k) for k in range(5)], atol=1e-12)


def test_choices_are_noted_and_listed(tmp_path: Path) -> None:
    bag = robot("mcap")
    for k in range(12):
        stamp = START_NS + k * STEP_NS
        bag.image("/depth/image", stamp, np.zeros((6, 8), np.uint16), "16UC1")
        bag.image("/side/image", stamp, np.full((4, 4), k, np.uint8), frame="side") if k < 9 else None
        bag.pose("/goal_pose", stamp, along_x(0))
        bag.pose("/vicon/pose", stamp, along_x(2 * k))
    path = bag.write(tmp_path / "bag")
    source = opened(path)
    assert "camera /camera/image_raw of 2: choose with --read camera=/side/image" in source.remarks
    assert "poses /vicon/pose of 3 topics: choose with --read poses=/odom" in source.remarks
    listed = {one.name: one for one in source.listed}
    assert listed["/camera/image_raw"].details == "sensor_msgs/Image, 12 messages, 9.32 Hz, 8 x 6, mono8"
    assert [one.name for one in source.listed if one.used] == ["/camera/image_raw", "/vicon/pose"]
    assert listed["/side/image"].choose == "camera=/side/image"
    assert listed["/cmd_vel"].choose == "columns=/cmd_vel.linear.x,/cmd_vel.angular.z"
    assert (listed["/depth/image"].kind, listed["/depth/image"].choose) == ("topic", "")
    assert opened(path, camera="side/image").recordings[0].image(3).tolist() == [[3] * 4] * 4
    with pytest.raises(DataError, match="not a camera: its pictures are '16UC1'"):
        opened(path, camera="/depth/image")
    with pytest.raises(DataError, match="no camera '/nope'; it has /camera/image_raw, /side/image"):
        opened(path, camera="/nope")
    with pytest.raises(DataError, match="no poses '/nope'; it has /vicon/pose, /odom, /goal_pose, tf"):
        opened(path, poses="/nope")


def test_columns_and_rates(kind: str, tmp_path: Path) -> None:
    bag = robot(kind)
    for k in range(30):
        stamp = START_NS + k * STEP_NS // 2
        bag.joints("/joint_states", stamp, ["shoulder", "elbow"], [k, 10.0 * k])
        bag.wheels("/wheels", stamp, k, -k, 12.0)
    path = bag.write(tmp_path / bag_name(kind))
    columns = "/joint_states.position.elbow, joint_states.position[0],/wheels.angle[1],/wheels.battery.volts"
    source = opened(path, columns=columns)
    assert source.space == ColumnsSpace(tuple(name.strip() for name in columns.split(",")))
    expected = [[20.0 * k, 2 * k, -2 * k, 12] for k in range(12)]
    np.testing.assert_allclose(source.recordings[0].poses, expected, atol=1e-6)
    driven = opened(path, columns="/cmd_vel.linear.x", rates="/cmd_vel.angular.z")
    np.testing.assert_allclose(driven.recordings[0].poses, [[10, k / 10] for k in range(12)], atol=1e-9)
    assert any("were received; their headers have no stamp" in note for note in driven.remarks)
    store = ingest(source, tmp_path / "store", progress=False)
    assert store.space == source.space


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("/nope.x", "no topic for column '/nope.x'; it has /camera/image_raw, /cmd_vel, /odom, /tf, /tf_static"),
        ("/cmd_vel", "no topic for column"),
        ("/cmd_vel.linear", "is not a number: add the field"),
        ("/cmd_vel.linear.w", "there is no 'w'; expected one of x, y, z"),
        ("/cmd_vel.linear.x.y", "there is no 'y'"),
        ("/cmd_vel.linear[0]", "no message can be read: column /cmd_vel.linear\\[0\\]: there is no value"),
        ("/cmd_vel.__class__", "there is no '__class__'"),
    ],
)
def test_columns_that_are_not_there(columns: str, words: str, tmp_path: Path) -> None:
    path = robot("mcap").write(tmp_path / "bag")
    with pytest.raises((ConfigError, DataError), match=words):
        opened(path, columns=columns)


def test_pictures_alone_and_poses_alone(kind: str, tmp_path: Path) -> None:
    alone = BagWriter(kind)
    for k, picture in enumerate(pictures(4)):
        alone.image("/cam", START_NS + k * STEP_NS, picture)
        alone.twist("/cmd_vel", START_NS + k * STEP_NS, 1, 0)
    source = opened(alone.write(tmp_path / f"a{bag_name(kind)}"))
    assert isinstance(source.space, NoMotion)
    assert source.recordings[0].poses.shape == (4, 0)
    assert (
        "no poses; columns can be the motion: --read columns=/cmd_vel.linear.x,/cmd_vel.angular.z" in source.remarks[0]
    )
    blind = drive(kind)
    blind.messages = [one for one in blind.messages if one[0] == "/pose"]
    told = opened(blind.write(tmp_path / f"blind{bag_name(kind)}"), axes="ros").remarks
    assert [text.endswith("has no pictures that can be read: its motion alone is read") for text in told] == [True]
    shutil.rmtree(tmp_path / f"blind{bag_name(kind)}", ignore_errors=True)
    (tmp_path / f"blind{bag_name(kind)}").unlink(missing_ok=True)
    poses = opened(drive(kind).write(tmp_path / f"b{bag_name(kind)}"), camera="none")
    assert not poses.has_images
    np.testing.assert_allclose(poses.recordings[0].poses, [along_x(k) for k in range(12)], atol=1e-12)
    with pytest.raises(DataError, match="has no pictures"):
        poses.recordings[0].image(0)
    assert len(ingest(poses, tmp_path / "store", progress=False)) == 12
    both = opened(tmp_path)
    assert [one.name for one in both.recordings] == [bag_name(kind).replace("drive", "bdrive").removesuffix(".bag")]
    assert any("left out: it has no poses" in note for note in both.notes)


def test_compressed_pictures(kind: str, tmp_path: Path) -> None:
    bag = BagWriter(kind)
    for k, picture in enumerate(pictures(4, (6, 8, 3))):
        packed = BytesIO()
        Image.fromarray(picture).save(packed, "PNG")
        bag.compressed("/cam/compressed", START_NS + k * STEP_NS, packed.getvalue(), "rgb8; png compressed bgr8")
        bag.compressed("/cam/compressedDepth", START_NS + k * STEP_NS, b"", "16UC1; compressedDepth")
    source = opened(bag.write(tmp_path / bag_name(kind)))
    assert np.array_equal(pictures_of(source.recordings[0]), pictures(4, (6, 8, 3)))


def test_a_bag_of_an_older_ros2_has_no_definitions(tmp_path: Path) -> None:
    """Up to Humble, sqlite3 bags do not carry the definitions of their types."""
    bag = robot("sqlite3")
    for k in range(12):
        bag.ackermann("/drive", START_NS + k * STEP_NS, k / 8, 2.0)
    path = bag.write(tmp_path / "bag")
    expected = opened(path, poses="tf").recordings[0].poses
    file = path / "bag.db3"
    with sqlite3.connect(file) as database:
        database.execute("DROP TABLE message_definitions")
        database.execute("DROP TABLE schema")
    database.close()
    for older in (path, file):
        source = opened(older, poses="tf")
        np.testing.assert_allclose(source.recordings[0].poses, expected)
        (choose,) = (one.choose for one in source.listed if one.name == "/drive")
        steered = opened(older, columns=choose.removeprefix("columns="))
        np.testing.assert_allclose(steered.recordings[0].poses, [[k / 8, 2.0] for k in range(12)])
        assert np.array_equal(pictures_of(source.recordings[0]), pictures(12))
