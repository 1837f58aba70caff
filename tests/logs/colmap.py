"""COLMAP models, written by the tests byte by byte."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from logs.motion import Array, camera_to_world, save_picture

PINHOLE = 1
Pose = tuple[list[float], list[float]]


def world_to_camera(poses: Array) -> list[Pose]:
    """Quaternions w x y z and translations, as COLMAP has them."""
    inverse = np.linalg.inv(poses)
    xyzw = Rotation.from_matrix(inverse[:, :3, :3]).as_quat()
    return [([q[3], *q[:3]], list(t)) for q, t in zip(xyzw, inverse[:, :3, 3], strict=True)]


def images_bin(names: Sequence[bytes], poses: Sequence[Pose], points: int = 2) -> bytes:
    parts = [struct.pack("<Q", len(names))]
    for number, (name, (quaternion, translation)) in enumerate(zip(names, poses, strict=True), 1):
        parts.append(struct.pack("<I7dI", number, *quaternion, *translation, 1) + name + b"\0")
        parts.append(struct.pack("<Q", points) + struct.pack("<ddq", 1.5, 2.5, -1) * points)
    return b"".join(parts)


def images_txt(names: Sequence[str], poses: Sequence[Pose]) -> str:
    lines = ["# Image list with two lines of data per image:", f"# Number of images: {len(names)}"]
    for number, (name, (quaternion, translation)) in enumerate(zip(names, poses, strict=True), 1):
        lines += [" ".join(map(repr, map(float, [*quaternion, *translation]))).join([f"{number} ", f" 1 {name}"])]
        lines += ["" if number % 2 else "1.5 2.5 -1"]
    return "\n".join(lines) + "\n"


def write(model: Path, poses: Array | None = None, *, text: bool = False, first: int = 0) -> list[str]:
    """A model of pictures in `images` two folders above it, in no order; the names of the pictures."""
    poses = camera_to_world() if poses is None else poses
    names = [f"{first + k:04d}.png" for k in range(len(poses))]
    for k, name in enumerate(names):
        save_picture(model.parents[1] / "images" / name, k)
    model.mkdir(parents=True)
    order = list(range(len(names)))[::-1]
    listed, posed = [names[k] for k in order], [world_to_camera(poses)[k] for k in order]
    if text:
        (model / "images.txt").write_text(images_txt(listed, posed))
        (model / "cameras.txt").write_text("1 PINHOLE 32 24 30.0 30.0 16.0 12.0\n")
        (model / "points3D.txt").write_text("")
    else:
        (model / "images.bin").write_bytes(images_bin([name.encode() for name in listed], posed))
        (model / "cameras.bin").write_bytes(struct.pack("<QIiQQ4d", 1, 1, PINHOLE, 32, 24, 30.0, 30.0, 16.0, 12.0))
        (model / "points3D.bin").write_bytes(struct.pack("<Q", 0))
    return names


def prepare(folder: Path) -> None:
    """A project `house` with one model of 60 photographs."""
    write(folder / "house" / "sparse" / "0")
