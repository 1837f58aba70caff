"""Small scans of phones, in the layouts that Stray Scanner and Record3D document."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation

from logs.video import moving_pictures, write_video

# The camera as ARKit has it: x right, y up, z backward. It is level and looks along the world's -z at first.
STEP_M, TURN_DEG = 0.05, 3.0


def walk(count: int) -> tuple[np.ndarray, Rotation]:
    """T_world_camera in ARKit's axes: straight on along -z by `STEP_M`, while the camera turns left by `TURN_DEG`."""
    position = np.stack([np.zeros(count), np.zeros(count), -STEP_M * np.arange(count)], axis=1)
    return position, Rotation.from_euler("y", TURN_DEG * np.arange(count)[:, None], degrees=True)


def stray_rows(count: int, every: int = 1) -> list[str]:
    """Lines of odometry.csv as the app writes them: the quaternion of ARKit times half a turn about x."""
    position, rotation = walk(count)
    turned = (rotation * Rotation.from_quat([1.0, 0.0, 0.0, 0.0])).as_quat()
    return [
        f"{7000 + k / 60:.6f}, {every * k:06d}, {', '.join(f'{v:.9f}' for v in (*position[k], *turned[k]))}"
        for k in range(count)
    ]


def write_stray(
    folder: Path, images: np.ndarray, rows: Sequence[str] | None = None, pts: np.ndarray | None = None
) -> None:
    folder.mkdir(parents=True)
    write_video(folder / "rgb.mp4", images, rate=60, pts=pts)
    lines = ["timestamp, frame, x, y, z, qx, qy, qz, qw", *(stray_rows(len(images)) if rows is None else rows)]
    (folder / "odometry.csv").write_text("\n".join(lines) + "\n")
    height, width = images.shape[1:3]
    focal = 0.75 * width
    matrix = f"{focal}, 0, {width / 2 - 0.5}\n0, {focal}, {height / 2 + 1.5}\n0, 0, 1\n"
    (folder / "camera_matrix.csv").write_text(matrix)


def record3d_metadata(count: int, **changed: Any) -> dict[str, Any]:
    position, rotation = walk(count)
    poses = np.concatenate([rotation.as_quat(), position], axis=1)
    metadata = {
        "w": 48,
        "h": 32,
        "fps": 60,
        "K": [36, 0, 0, 0, 36, 0, 23.5, 17.5, 1],
        "poses": poses.tolist(),
        **changed,
    }
    return {name: value for name, value in metadata.items() if value is not None}


def record3d_files(images: np.ndarray, folder: str, metadata: str, **changed: Any) -> dict[str, bytes]:
    """The files of a scan by their paths."""
    files = {metadata: json.dumps(record3d_metadata(len(images), **changed)).encode()}
    for k, image in enumerate(images):
        file = io.BytesIO()
        Image.fromarray(image).save(file, "jpeg", quality=95)
        files[f"{folder}/{k}.jpg"] = file.getvalue()
        files[f"{folder}/{k}.depth"] = b"lzfse"
    return files


def write_record3d(folder: Path, images: np.ndarray, **changed: Any) -> None:
    """The export as EXR + JPG: metadata.json and the folder rgb."""
    for name, contents in record3d_files(images, "rgb", "metadata.json", **changed).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(contents)


def write_r3d(file: Path, images: np.ndarray, **changed: Any) -> None:
    """The export as .r3d: a zip archive."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, contents in record3d_files(images, "rgbd", "metadata", **changed).items():
            archive.writestr(name, contents)


def prepare(folder: Path) -> None:
    """A scan of each app, for the page on phones."""
    write_stray(folder / "scans" / "71de12f9", moving_pictures(40))
    write_r3d(folder / "scans" / "kitchen.r3d", moving_pictures(40, start=300))
