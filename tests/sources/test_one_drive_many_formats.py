"""One drive, written in many formats without loss, is the same drive whichever of them it is read from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.pose import SE3Space
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from egoequiv.worlds import drive as drive_world
from egoequiv.worlds import write_kitti_raw
from kitti_files import START_NS
from logs.ros import BagWriter

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


# Each source with a writer that loses nothing; a further format is one function and one line.
WRITERS: list[tuple[str, str, Writer]] = [
    ("ros", "ROS 1 bag", as_bag("ros1")),
    ("ros", "ROS 2 sqlite3", as_bag("sqlite3")),
    ("ros", "ROS 2 MCAP", as_bag("mcap")),
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


@pytest.mark.parametrize(("source", "title", "write"), WRITERS, ids=[title for _, title, _ in WRITERS])
def test_the_same_pictures_and_poses(source: str, title: str, write: Writer, driven: Drive, tmp_path: Path) -> None:
    written = write(driven, tmp_path)
    opened = open_source(source, written.path, **written.settings)
    assert guess_format(written.path).source == source
    assert isinstance(opened.space, SE3Space)
    store = ingest(opened, tmp_path / "store", progress=False)
    assert np.array_equal(store.images[..., 0], driven.images)
    np.testing.assert_allclose(store.times_s, (driven.frame_ns - driven.frame_ns[0]) / 1e9, atol=1e-6)
    compare(store.poses, driven.poses, 1e-6, 1e-6)


@pytest.mark.parametrize(("source", "title", "write"), WRITERS, ids=[title for _, title, _ in WRITERS])
def test_poses_between_stamps_are_interpolated(
    source: str, title: str, write: Writer, driven: Drive, tmp_path: Path
) -> None:
    """Every second pose is left out; the frames between get theirs within what the curve between them can hide."""
    sparse = Drive(driven.images, driven.frame_ns, driven.poses[::2], driven.pose_ns[::2])
    written = write(sparse, tmp_path)
    (recording,) = open_source(source, written.path, **written.settings).recordings
    count = len(recording)
    assert count >= len(driven.frame_ns) - 1
    straight = (driven.poses[:-2, :3] + driven.poses[2:, :3]) / 2
    bend_m = np.linalg.norm(driven.poses[1:-1, :3] - straight, axis=1).max()
    assert bend_m > 1e-4
    compare(recording.poses, driven.poses[:count], bend_m, np.deg2rad(0.5))


def compare(found: np.ndarray, expected: np.ndarray, most_m: float, most_rad: float) -> None:
    """Poses are the same but for the choice of the world, which has its origin anywhere."""
    assert np.linalg.norm(found[:, :3] - expected[:, :3], axis=1).max() <= most_m
    turned = Rotation.from_quat(found[:, 3:]).inv() * Rotation.from_quat(expected[:, 3:])
    assert turned.magnitude().max() <= most_rad
