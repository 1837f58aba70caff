"""A small valid log of every format: what the cases with logs damage, and the store that it is without damage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from drives import write_kitti
from logs import colmap, donkey, euroc, lerobot, phone, seven_scenes, transforms, tum
from logs.ros import START_NS, STEP_NS, BagWriter
from logs.table import write_csv, write_pictures
from logs.video import moving_pictures, write_video

Array = NDArray[np.float64]
FRAMES = 12
ROS_KINDS = ("ros1", "sqlite3", "mcap")


def uneven_camera(count: int, per_frame: int = 1) -> Array:
    """T_world_camera (N, 4, 4) in OpenCV axes; no two steps are alike, so that a pose of another frame is noticed."""
    t = np.arange(count) / per_frame
    level = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("z", (2 * t + 6 * np.sin(t / 2))[:, None], degrees=True).as_matrix() @ level
    poses[:, :3, 3] = np.stack([0.4 * t + 0.25 * np.sin(t), 0.3 * np.cos(t / 2), 0.05 * np.sin(t / 3)], axis=1)
    return poses


def body_rows(count: int, per_frame: int = 1) -> Array:
    """The same camera with x forward: x y z qx qy qz qw (N, 7)."""
    level = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    poses = uneven_camera(count, per_frame)
    turn = Rotation.from_matrix(poses[:, :3, :3] @ level.T).as_quat()
    return np.concatenate([poses[:, :3, 3], turn], axis=1)


def _bag(kind: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        folder.mkdir()
        drive_bag(kind).write(folder / ("drive.bag" if kind == "ros1" else "drive"))

    return write


def drive_bag(kind: str) -> BagWriter:
    """A camera at 10 Hz, poses at 50 Hz, and commands."""
    bag = BagWriter(kind)
    y, x = np.mgrid[0:6, 0:8]
    for k in range(FRAMES):
        bag.image("/camera/image_raw", START_NS + k * STEP_NS, (10 * k + 3 * x + y).astype(np.uint8))
    for k, row in enumerate(body_rows(5 * FRAMES, 5)):
        bag.pose("/pose", START_NS + k * STEP_NS // 5, row)
        bag.twist("/cmd_vel", START_NS + k * STEP_NS // 5, 1.0, 0.1)
    return bag


def _table(folder: Path) -> None:
    names = [f"{k:03d}.png" for k in range(FRAMES)]
    write_pictures(folder / "images", names)
    rows = body_rows(FRAMES)
    yaw = Rotation.from_quat(rows[:, 3:]).as_euler("zyx")[:, 0]
    write_csv(
        folder / "poses.csv",
        {"file": names, "time": 0.1 * np.arange(FRAMES), "x": rows[:, 0], "y": rows[:, 1], "yaw": yaw},
    )


def _table_parquet(folder: Path) -> None:
    names = [f"{k:03d}.png" for k in range(FRAMES)]
    write_pictures(folder / "images", names)
    columns = dict(zip(("x", "y", "z", "qx", "qy", "qz", "qw"), body_rows(FRAMES).T, strict=True))
    lerobot.write_table(folder / "poses.parquet", {"file": names, "time": 0.1 * np.arange(FRAMES), **columns})


def _table_video(folder: Path) -> None:
    folder.mkdir()
    write_video(folder / "clip.mkv", moving_pictures(FRAMES, 24, 32)[..., 0], codec="ffv1", rate=10)
    columns = dict(zip(("x", "y", "z", "qx", "qy", "qz", "qw"), body_rows(5 * FRAMES, 5).T, strict=True))
    write_csv(folder / "poses.csv", {"t": 0.02 * np.arange(5 * FRAMES), **columns})


def _video(folder: Path) -> None:
    folder.mkdir()
    for name in ("one.mp4", "two.mkv"):
        write_video(folder / name, moving_pictures(FRAMES), rate=5)


def _lerobot(version: str) -> Callable[[Path], None]:
    """Two episodes, the pictures of the second brighter; every row has the pose of the camera."""

    def write(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        counts = (FRAMES, 9)
        lerobot.write_v21(folder, counts) if version == "v2.1" else lerobot.write_v3(folder, counts)
        poses = body_rows(sum(counts))
        for file in sorted((folder / "data").rglob("*.parquet")):
            table = pq.read_table(file)
            own = poses[:FRAMES] if file.stem == "episode_000000" else poses[-table.num_rows :]
            pq.write_table(table.append_column("observation.camera_pose", pa.array(list(own))), file)
        if version == "v2.1":
            write_video(lerobot.video_file(folder, 1), lerobot.levels(9, FRAMES), gop=4)

    return write


def _r3d(folder: Path) -> None:
    folder.mkdir()
    stamps = [7.0 + k / 60 for k in range(FRAMES)]
    phone.write_r3d(
        folder / "kitchen.r3d", moving_pictures(FRAMES), poses=_opengl_rows().tolist(), frameTimestamps=stamps
    )


def _opengl_rows() -> Array:
    poses = uneven_camera(FRAMES)
    turn = Rotation.from_matrix(poses[:, :3, :3] @ np.diag([1.0, -1.0, -1.0])).as_quat()
    return np.concatenate([turn, poses[:, :3, 3]], axis=1)


def _record3d(folder: Path) -> None:
    stamps = [7.0 + k / 60 for k in range(FRAMES)]
    phone.write_record3d(folder, moving_pictures(FRAMES), poses=_opengl_rows().tolist(), frameTimestamps=stamps)


def _stray(folder: Path) -> None:
    poses = uneven_camera(FRAMES)
    turn = Rotation.from_matrix(poses[:, :3, :3]).as_quat()
    rows = [
        f"{7000 + k / 60:.6f}, {k:06d}, {', '.join(f'{v:.9f}' for v in (*poses[k, :3, 3], *turn[k]))}"
        for k in range(FRAMES)
    ]
    phone.write_stray(folder, moving_pictures(FRAMES), rows)


def _odometry(folder: Path) -> None:
    from fuzz.inputs import MAKERS, Inputs

    MAKERS["odometry"](Inputs(folder.parent), folder)


@dataclass(frozen=True)
class Log:
    """A log of one format.

    `tables` are files with poses or times whose rows say themselves what they belong to. In `ordered` ones a row
    belongs to something by its place, so that another order is as good as the first.
    """

    name: str
    source: str
    write: Callable[[Path], object]
    tables: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    file: str = ""  # the log is this file of the folder, and not the folder
    most: float = 0.02  # by how many metres or degrees a motion may be off, see `fuzz.log_check`


LOGS = [
    Log("tum", "tum", lambda path: tum.write(path, uneven_camera(4 * FRAMES, 4), every=4), ("*.txt",)),
    Log("euroc", "euroc", lambda path: euroc.write(path, uneven_camera(60, 5), every=5), ("mav0/*/data.csv",)),
    Log(
        "seven-scenes",
        "seven-scenes",
        lambda path: seven_scenes.write(path / "seq-01", uneven_camera(FRAMES)),
        (),
        ("*/*.pose.txt",),
    ),
    Log("colmap", "colmap", lambda path: colmap.write(path / "sparse" / "0", uneven_camera(FRAMES))),
    Log(
        "colmap-text",
        "colmap",
        lambda path: colmap.write(path / "sparse" / "0", uneven_camera(FRAMES), text=True),
        (),
        ("sparse/0/images.txt",),
    ),
    Log("transforms", "transforms", lambda path: transforms.write(path, uneven_camera(FRAMES)), ("transforms.json",)),
    Log("donkey", "donkey", lambda path: donkey.write(path, donkey.drive(2 * FRAMES), per_catalog=10), ("*.catalog",)),
    Log("table", "table", _table, ("poses.csv",)),
    Log("table-parquet", "table", _table_parquet, ("poses.parquet",)),
    Log("table-video", "table", _table_video, ("poses.csv",)),
    Log("video", "video", _video),
    Log("lerobot-2", "lerobot", _lerobot("v2.1"), ("data/*/*.parquet",)),
    Log("lerobot-3", "lerobot", _lerobot("v3.0"), ("data/*/*.parquet",)),
    Log("stray", "phone", _stray, ("odometry.csv",)),
    Log("record3d", "phone", _record3d, ("metadata.json",)),
    Log("r3d", "phone", _r3d, file="kitchen.r3d"),
    *(Log(f"ros-{kind}", "ros", _bag(kind), ("drive.bag",) if kind == "ros1" else ("drive",)) for kind in ROS_KINDS),
    Log(
        "kitti-log",
        "kitti",
        lambda path: write_kitti(path, 1, [(1.0, 8.0, 0.0), (0.6, 5.0, 25.0)], 8),
        (),
        ("*/*/*/timestamps.txt", "*/*/oxts/data/*.txt"),
        most=0.5,
    ),
    Log("odometry-log", "kitti-odometry", _odometry, (), ("poses/*.txt", "sequences/*/times.txt")),
]
