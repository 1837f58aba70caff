"""Real bags: poses against rosbags read by hand, and against evo."""

from pathlib import Path

import numpy as np
from evo.tools import file_interface
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest


def by_hand(path: Path, topic: str) -> tuple[np.ndarray, np.ndarray]:
    """Stamps in seconds and poses of a topic."""
    rows = []
    with AnyReader([path]) as reader:
        connections = [one for one in reader.connections if one.topic == topic]
        for connection, _, data in reader.messages(connections):
            message = reader.deserialize(data, connection.msgtype)
            pose = message.pose.pose if hasattr(message.pose, "pose") else message.pose
            at, turn = pose.position, pose.orientation
            stamp = message.header.stamp
            rows.append([stamp.sec + stamp.nanosec / 1e9, at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w])
    found = np.array(rows)
    return found[:, 0], found[:, 1:]


def same_poses(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found[:, :3], expected[:, :3], atol=1e-9)
    turned = Rotation.from_quat(found[:, 3:]).inv() * Rotation.from_quat(expected[:, 3:])
    assert turned.magnitude().max() < 1e-6


def test_a_ros1_bag_of_trajectories(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "bags" / "ROS_example.bag"
    assert guess_format(path).source == "ros"
    source = open_source("ros", path)
    assert not source.has_images
    assert "poses groundtruth of 3 topics: choose with --read poses=ORB-SLAM" in source.remarks
    assert {one.name: one.used for one in source.listed} == {"groundtruth": True, "ORB-SLAM": False, "S-PTAM": False}
    for topic in ("groundtruth", "ORB-SLAM", "S-PTAM"):
        recording = open_source("ros", path, poses=topic).recordings[0]
        times, poses = by_hand(path, topic)
        same_poses(recording.poses, poses)
        np.testing.assert_allclose(recording.times_s, times - times[0], atol=1e-6)
        with Reader1(path) as reader:
            evo = file_interface.read_bag_trajectory(reader, topic)
        same_poses(recording.poses, np.hstack([evo.positions_xyz, evo.orientations_quat_wxyz[:, [1, 2, 3, 0]]]))
    assert len(ingest(source, tmp_path / "store", progress=False)) == 12765


def test_an_mcap_of_a_robot_with_tf(real_data: Path) -> None:
    path = real_data / "bags" / "nav2_turtlebot.mcap"
    source = open_source("ros", path)
    assert source.convention.startswith("poses of base_link in odom from /odom (nav_msgs/Odometry)")
    _, poses = by_hand(path, "/odom")
    same_poses(source.recordings[0].poses, poses)
    same_poses(open_source("ros", path, poses="/amcl_pose").recordings[0].poses, by_hand(path, "/amcl_pose")[1])
    with Reader2(path) as reader:
        evo = file_interface.read_bag_trajectory(reader, "/odom")
    same_poses(poses, np.hstack([evo.positions_xyz, evo.orientations_quat_wxyz[:, [1, 2, 3, 0]]]))


def test_tf_says_the_same_as_the_odometry_that_it_comes_from(real_data: Path) -> None:
    path = real_data / "bags" / "nav2_turtlebot.mcap"
    source = open_source("ros", path, poses="tf:odom->base_link")
    times, poses = by_hand(path, "/odom")
    (recording,) = source.recordings
    assert recording.times_s is not None
    start = float(recording.attributes["start"])
    common, here, there = np.intersect1d(
        np.round((recording.times_s + start) * 1e4), np.round(times * 1e4), return_indices=True
    )
    assert len(common) > 2000
    same_poses(recording.poses[here], poses[there])


def test_a_chain_of_two_moving_links_agrees_with_the_localisation(real_data: Path) -> None:
    """The pose of the base in the map, by tf, is near that of the localisation at its own stamps."""
    path = real_data / "bags" / "nav2_turtlebot.mcap"
    recording = open_source("ros", path, poses="tf:map->base_link").recordings[0]
    localised = open_source("ros", path, poses="/amcl_pose").recordings[0]
    late_s = float(localised.attributes["start"]) - float(recording.attributes["start"])
    assert recording.times_s is not None
    assert localised.times_s is not None
    asked = localised.times_s + late_s
    inside = (asked > recording.times_s[0]) & (asked < recording.times_s[-1])
    x, y = (np.interp(asked[inside], recording.times_s, recording.poses[:, k]) for k in (0, 1))
    off = np.hypot(x - localised.poses[inside, 0], y - localised.poses[inside, 1])
    assert inside.sum() > 100
    assert np.median(off) < 0.1


def test_the_folder_with_both(real_data: Path) -> None:
    source = open_source("ros", real_data / "bags")
    assert [one.name for one in source.recordings] == ["ROS_example", "nav2_turtlebot"]
