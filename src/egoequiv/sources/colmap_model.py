"""The images of a COLMAP model, from its binary or its text file; counts in the file are never trusted."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from egoequiv.errors import DataError
from egoequiv.plurals import plural
from egoequiv.sources.sequences import in_order_of_capture

_COUNT = struct.Struct("<Q")
_POSE = struct.Struct("<I7dI")  # image id, qw qx qy qz, tx ty tz, camera id
_POINT_BYTES = 24  # x, y and the id of a 3D point
_LONGEST_NAME = 4096


@dataclass(frozen=True)
class PosedImage:
    """One image of a model: world to camera."""

    name: str
    camera: int
    quaternion: tuple[float, ...]  # w x y z
    translation: tuple[float, ...]


def read_images(model: Path, notes: list[str]) -> list[PosedImage]:
    """The images of a model, in order of their names, numbers by size; what cannot be read is a note."""
    binary, text = model / "images.bin", model / "images.txt"
    found = _binary(binary, notes) if binary.is_file() else _text(text, notes)
    return sorted(found, key=lambda image: in_order_of_capture(image.name))


def _binary(path: Path, notes: list[str]) -> list[PosedImage]:
    try:
        with open(path, "rb") as file:
            if path.stat().st_size < _COUNT.size:
                raise DataError(f"{path}: {path.stat().st_size} bytes, expected a COLMAP model: it was cut short")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _images_of(data, path, notes)
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}") from problem


def _images_of(data: mmap.mmap, path: Path, notes: list[str]) -> list[PosedImage]:
    (count,) = _COUNT.unpack_from(data, 0)
    images: list[PosedImage] = []
    place = _COUNT.size
    for _ in range(count):
        end = data.find(b"\0", place + _POSE.size, place + _POSE.size + _LONGEST_NAME)
        if end < 0 or end + 1 + _COUNT.size > len(data):
            break
        _, *pose, camera = _POSE.unpack_from(data, place)
        name = data[place + _POSE.size : end].decode("utf-8", "surrogateescape")
        (points,) = _COUNT.unpack_from(data, end + 1)
        images.append(PosedImage(name, camera, tuple(pose[:4]), tuple(pose[4:])))
        place = end + 1 + _COUNT.size + _POINT_BYTES * points
        if place > len(data):
            break
    if len(images) < count:
        if not images:
            raise DataError(f"{path}: not a COLMAP images.bin, or cut short: none of {count:,} images can be read")
        notes.append(f"{path}: cut short, {len(images):,} of {count:,} images are read")
    return images


def _text(path: Path, notes: list[str]) -> list[PosedImage]:
    images: list[PosedImage] = []
    broken: list[int] = []
    for number, line in _pose_lines(path):
        words = line.split(None, 9)
        try:
            numbers = tuple(float(word) for word in words[1:8])
            images.append(PosedImage(words[9].rstrip("\r\n"), int(words[8]), numbers[:4], numbers[4:]))
        except (ValueError, IndexError):
            broken.append(number)
    if not images:
        raise DataError(f"{path}: no row of IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME")
    if broken:
        notes.append(f"{path}: {plural(len(broken), 'row')} of images cannot be read, first line {broken[0]}")
    return images


def _pose_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Every other line, with its number: the line after a pose lists points, and may be empty."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            is_pose = True
            for number, line in enumerate(file, 1):
                if line.startswith("#") or (is_pose and not line.strip()):
                    continue
                if is_pose:
                    yield number, line
                is_pose = not is_pose
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}") from problem
