"""Scenes of instant-ngp and nerfstudio, written by the tests."""

import json
from pathlib import Path
from typing import Any

from logs.motion import R_OPENCV_OPENGL, Array, camera_to_world, save_picture


def opengl(pose: Array) -> list[list[float]]:
    """Camera to world, with the axes of the camera as OpenGL has them."""
    matrix = pose.copy()
    matrix[:3, :3] = matrix[:3, :3] @ R_OPENCV_OPENGL
    rows: list[list[float]] = matrix.tolist()
    return rows


def write(
    folder: Path, poses: Array | None = None, *, file: str = "transforms.json", ending: str = ".png", **more: Any
) -> dict[str, Any]:
    """One scene; `ending` is what file_path has, the pictures are PNG."""
    poses = camera_to_world() if poses is None else poses
    below = file.removeprefix("transforms").removesuffix(".json").strip("_") or "images"
    frames: list[dict[str, Any]] = []
    for k, pose in enumerate(poses):
        save_picture(folder / below / f"{k:04d}.png", k)
        frames.append({"file_path": f"./{below}/{k:04d}{ending}", "transform_matrix": opengl(pose)})
    content = {"camera_angle_x": 0.75, "w": 32.0, "h": 24.0, "fl_x": 40.0, **more, "frames": frames}
    (folder / file).write_text(json.dumps(content))
    return content


def prepare(folder: Path) -> None:
    """A scene `fox` of 60 photographs."""
    write(folder / "fox")
