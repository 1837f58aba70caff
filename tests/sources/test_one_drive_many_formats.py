"""One drive, written in many formats without loss, is the same drive whichever of them it is read from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.pose import SE3Space
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from egoequiv_worlds import drive as drive_world
from egoequiv_worlds import write_kitti_raw
from kitti_files import START_NS
from logs import euroc, lerobot
from logs.motion import tum_row
from logs.ros import BagWriter
from logs.table import write_csv
from logs.video import write_video

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Drive:
    """Pictures and poses of one drive, each with stamps of their own."""

    images: np.ndarray  # (N, H, W) gray
    frame_ns: np.ndarray  # (N,)
    poses: np.ndarray  # (M, 7) T_world_camera: x y z qx qy qz qw; camera x forward, y left, z up
    pose_ns: np.ndarray  # (M,)


@dataclass(frozen=True)
class Written:
    """Where a drive was written, and the settings that its reader needs."""

    path: Path
    settings: dict[str, Any]


Writer = Callable[[Drive, Path], Written]


def as_bag(kind: str) -> Writer:
    def write(drive: Drive, folder: Path) -> Written:
        bag = BagWriter(kind)
        for stamp, image in zip(drive.frame_ns, drive.images, strict=True):
            bag.image("/camera/image_raw", int(stamp), image)
        for stamp, pose in zip(drive.pose_ns, drive.poses, strict=True):
            bag.pose("/pose", int(stamp), pose)
        return Written(bag.write(folder / ("drive.bag" if kind == "ros1" else "drive")), {})

    return write


# The axes of OpenCV (x right, y down, z forward) in those of a body (x forward, y left, z up).
R_BODY_OPENCV = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


def in_opencv(poses: np.ndarray) -> np.ndarray:
    """Poses of the same camera, its axes those of OpenCV: (N, 4, 4) T_world_camera."""
    matrices = np.tile(np.eye(4), (len(poses), 1, 1))
    matrices[:, :3, :3] = Rotation.from_quat(poses[:, 3:]).as_matrix() @ R_BODY_OPENCV
    matrices[:, :3, 3] = poses[:, :3]
    return matrices


def seconds(stamp_ns: int) -> str:
    """A stamp with all its digits."""
    return f"{stamp_ns // 10**9}.{stamp_ns % 10**9:09d}"


def save(image: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)


def as_tum(drive: Drive, folder: Path) -> Written:
    names = [f"rgb/{seconds(int(stamp))}.png" for stamp in drive.frame_ns]
    for name, image in zip(names, drive.images, strict=True):
        save(image, folder / "drive" / name)
    rows = [
        f"{seconds(int(ns))} {tum_row(pose)}" for ns, pose in zip(drive.pose_ns, in_opencv(drive.poses), strict=True)
    ]
    (folder / "drive" / "groundtruth.txt").write_text("# timestamp tx ty tz qx qy qz qw\n" + "\n".join(rows) + "\n")
    (folder / "drive" / "rgb.txt").write_text("".join(f"{name[4:-4]} {name}\n" for name in names))
    return Written(folder / "drive", {})


def as_euroc(drive: Drive, folder: Path) -> Written:
    """The truth is that of a body; sensor.yaml says where the camera sits on it."""
    root = folder / "drive" / "mav0"
    names = [f"{stamp}.png" for stamp in drive.frame_ns]
    for name, image in zip(names, drive.images, strict=True):
        save(image, root / "cam0" / "data" / name)
    (root / "cam0" / "data.csv").write_text("#timestamp [ns],filename\n" + "".join(f"{n[:-4]},{n}\n" for n in names))
    (root / "cam0" / "sensor.yaml").write_text(euroc.sensor_yaml(euroc.T_BODY_CAM0))
    truth = root / "state_groundtruth_estimate0"
    truth.mkdir()
    body = in_opencv(drive.poses) @ np.linalg.inv(euroc.T_BODY_CAM0)
    rows = [
        f"{stamp}," + ",".join(f"{value:.12f}" for value in [*pose[:3, 3], w, x, y, z, 0.0])
        for stamp, pose in zip(drive.pose_ns, body, strict=True)
        for x, y, z, w in [Rotation.from_matrix(pose[:3, :3]).as_quat()]
    ]
    (truth / "data.csv").write_text("\n".join([euroc.HEADER, *rows]) + "\n")
    (truth / "sensor.yaml").write_text(euroc.sensor_yaml(np.eye(4)))
    return Written(folder / "drive", {})


def milliseconds(drive: Drive) -> np.ndarray:
    """Times of frames as a video in Matroska has them: whole milliseconds, here never later than they were."""
    return (drive.frame_ns - drive.frame_ns[0]) // 1_000_000


def as_table_and_video(drive: Drive, folder: Path) -> Written:
    (folder / "drive").mkdir()
    write_video(folder / "drive" / "clip.mkv", drive.images, codec="ffv1", pts=milliseconds(drive))
    columns = dict(zip(("x", "y", "z", "qx", "qy", "qz", "qw"), drive.poses.T, strict=True))
    write_csv(folder / "drive" / "poses.csv", {"time": [seconds(int(ns)) for ns in drive.pose_ns], **columns})
    return Written(folder / "drive", {})


def as_lerobot(version: str, pictures: bool = False) -> Writer:
    """One episode, its camera as a video without loss or as pictures in the table; every row has a pose."""

    def write(drive: Drive, folder: Path) -> Written:
        root, count = folder / "drive", len(drive.images)
        shown = {lerobot.CAMERA: [{"bytes": lerobot.png(image), "path": None} for image in drive.images]}
        since_s = (drive.frame_ns - drive.frame_ns[0]) / 1e9
        columns = lerobot.table(
            count, 0, more={"observation.camera_pose": list(drive.poses), **(shown if pictures else {})}
        )
        columns["timestamp"] = since_s
        kind = {"dtype": "image"} if pictures else {"dtype": "video", "info": {"video.codec": "ffv1"}}
        more = {
            "observation.camera_pose": {"dtype": "float64", "shape": [7], "names": None},
            lerobot.CAMERA: {"shape": [*drive.images.shape[1:], 1], **kind},
        }
        video = lerobot.video_file(root, 0) if version == "v2.1" else lerobot.shared_video_file(root)
        template = "videos/chunk-000/{video_key}/episode_{episode_index:06d}.mkv"
        if version == "v3.0":
            template = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mkv"
            lerobot.write_episodes(root, [count], since_s[[0, -1]])
        lerobot.write_info(root, version, 1, more, video_path=template, fps=10)
        lerobot.write_table(
            lerobot.data_file(root, 0) if version == "v2.1" else lerobot.shared_data_file(root), columns
        )
        if not pictures:
            video.parent.mkdir(parents=True)
            write_video(video.with_suffix(".mkv"), drive.images, codec="ffv1", pts=milliseconds(drive))
        return Written(root, {"axes": "ros"})

    return write


@dataclass(frozen=True)
class Format:
    """A source with a writer that loses nothing of the pictures; a further format is one function and one line."""

    source: str
    title: str
    write: Writer
    clock_s: float = 0.0  # how far the times of frames may be off, where the format rounds them
    has_own_pose_times: bool = True  # whether poses may have other times than frames


FORMATS = [
    Format("ros", "ROS 1 bag", as_bag("ros1")),
    Format("ros", "ROS 2 sqlite3", as_bag("sqlite3")),
    Format("ros", "ROS 2 MCAP", as_bag("mcap")),
    Format("tum", "TUM", as_tum),
    Format("euroc", "EuRoC", as_euroc),
    Format("table", "CSV and video", as_table_and_video, clock_s=1e-3),
    Format("lerobot", "LeRobot 2.1", as_lerobot("v2.1"), has_own_pose_times=False),
    Format("lerobot", "LeRobot 3.0", as_lerobot("v3.0"), has_own_pose_times=False),
    Format("lerobot", "LeRobot 2.1 with pictures in its table", as_lerobot("v2.1", True), has_own_pose_times=False),
]


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Drive:
    """A drive of the embedded world, written as KITTI raw and read back with the poses of its camera."""
    folder = tmp_path_factory.mktemp("drive") / "kitti"
    write_kitti_raw(drive_world(drives_per_area=1, seconds=3, width=64, height=32), folder)
    (name, *_) = sorted(one.name for one in open_source("kitti", folder).recordings)
    (seen,) = open_source("kitti", folder, drives=name, pose_of="camera").recordings
    assert seen.times_s is not None
    images = np.stack([np.asarray(image) for image in seen.images(range(len(seen)))])
    frame_ns = START_NS + np.round(seen.times_s * 1e9).astype(np.int64)
    return Drive(images, frame_ns, seen.poses[:, :7], frame_ns)


@pytest.mark.parametrize("form", FORMATS, ids=lambda one: one.title)
def test_the_same_pictures_and_poses(form: Format, driven: Drive, tmp_path: Path) -> None:
    """Pictures to the bit. Poses too, but for the digits of text, and for the way that is driven while a clock is off.

    A video in Matroska has whole milliseconds, so that its frames ask for the pose of up to 1 ms earlier.
    """
    written = form.write(driven, tmp_path)
    opened = open_source(form.source, written.path, **written.settings)
    assert guess_format(written.path).source == form.source
    assert isinstance(opened.space, SE3Space)
    assert opened.notes == ()
    store = ingest(opened, tmp_path / "store", progress=False, strict=True)
    assert np.array_equal(store.images[..., 0], driven.images)
    np.testing.assert_allclose(store.times_s, (driven.frame_ns - driven.frame_ns[0]) / 1e9, atol=1e-6 + form.clock_s)
    speed_mps, turn_radps = largest_rates(driven)
    compare(store.poses, driven.poses, 1e-6 + form.clock_s * speed_mps, 1e-6 + form.clock_s * turn_radps)


@pytest.mark.parametrize("form", [one for one in FORMATS if one.has_own_pose_times], ids=lambda one: one.title)
def test_poses_between_stamps_are_interpolated(form: Format, driven: Drive, tmp_path: Path) -> None:
    """Every second pose is left out; the frames between get theirs within what the curve between them can hide."""
    sparse = Drive(driven.images, driven.frame_ns, driven.poses[::2], driven.pose_ns[::2])
    written = form.write(sparse, tmp_path)
    (recording,) = open_source(form.source, written.path, **written.settings).recordings
    count = len(recording)
    assert count >= len(driven.frame_ns) - 1
    straight = (driven.poses[:-2, :3] + driven.poses[2:, :3]) / 2
    bend_m = np.linalg.norm(driven.poses[1:-1, :3] - straight, axis=1).max()
    assert bend_m > 1e-4
    speed_mps, turn_radps = largest_rates(driven)
    most_m, most_rad = bend_m + form.clock_s * speed_mps, np.deg2rad(0.5) + form.clock_s * turn_radps
    compare(recording.poses, driven.poses[:count], most_m, most_rad)


def largest_rates(drive: Drive) -> tuple[float, float]:
    """The largest speed and turn from one frame to the next."""
    step_s = np.diff(drive.frame_ns) / 1e9
    rotation = Rotation.from_quat(drive.poses[:, 3:])
    moved = np.linalg.norm(np.diff(drive.poses[:, :3], axis=0), axis=1)
    return float((moved / step_s).max()), float(((rotation[:-1].inv() * rotation[1:]).magnitude() / step_s).max())


def compare(found: np.ndarray, expected: np.ndarray, most_m: float, most_rad: float) -> None:
    """Poses are the same but for the choice of the world, which has its origin anywhere."""
    assert np.linalg.norm(found[:, :3] - expected[:, :3], axis=1).max() <= most_m
    turned = Rotation.from_quat(found[:, 3:]).inv() * Rotation.from_quat(expected[:, 3:])
    assert turned.magnitude().max() <= most_rad
