"""The cameras of a COLMAP model and their lenses, from its binary or its text file."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from egoequiv.errors import DataError
from egoequiv.pose.camera import Lens
from egoequiv.sources.lenses import check_not_turned, common_lens, distortion_of, lens_or_note, pinhole
from egoequiv.sources.trees import FolderTree, Tree

_COUNT = struct.Struct("<Q")
_HEAD = struct.Struct("<IiQQ")  # camera id, model, width, height
# The models in the order of their numbers, and how many numbers each has: with it the next camera is found.
_MODELS = {
    "SIMPLE_PINHOLE": 3,
    "PINHOLE": 4,
    "SIMPLE_RADIAL": 4,
    "RADIAL": 5,
    "OPENCV": 8,
    "OPENCV_FISHEYE": 8,
    "FULL_OPENCV": 12,
    "FOV": 5,
    "SIMPLE_RADIAL_FISHEYE": 4,
    "RADIAL_FISHEYE": 5,
    "THIN_PRISM_FISHEYE": 12,
    "RAD_TAN_THIN_PRISM_FISHEYE": 16,
    "SIMPLE_DIVISION": 4,
    "DIVISION": 5,
    "SIMPLE_FISHEYE": 3,
    "FISHEYE": 4,
    "EUCM": 6,
    "EQUIRECTANGULAR": 2,
}
_NAMES = tuple(_MODELS)
_ONE_FOCAL = tuple(name for name in _NAMES if name.startswith(("SIMPLE_", "RADIAL")))


@dataclass(frozen=True)
class ModelCamera:
    """One camera as the model has it."""

    model: str
    size: tuple[float, float]  # height and width
    numbers: tuple[float, ...]


def model_lens(
    model: Path, frames: Counter[int], pictures: Tree, first: str | None, name: str, notes: list[str]
) -> Lens | None:
    """The lens of the frames of a recording, counted by their cameras; `first` is one of their pictures."""

    def read() -> Lens | None:
        path = model / ("cameras.bin" if (model / "cameras.bin").is_file() else "cameras.txt")
        cameras = _binary(path) if path.suffix == ".bin" else _text(path)
        lenses: Counter[Lens] = Counter()
        for number, count in frames.items():
            if number not in cameras:
                raise DataError(f"{path} has no camera {number} of a known model, or was cut short")
            lenses[_lens(cameras[number], str(path), notes)] += count
        if first is not None and len(frames) == 1:
            check_not_turned(cameras[next(iter(frames))].size, pictures, first, str(path))
        return common_lens(lenses, name, f": choose a camera with --read camera={min(frames)}", notes)

    return lens_or_note(read, notes)


def _lens(camera: ModelCamera, where: str, notes: list[str]) -> Lens:
    """A lens; the corner of the first pixel is the origin of COLMAP, and its centre that of a lens."""
    numbers = camera.numbers
    if len(numbers) != _MODELS.get(camera.model):
        raise DataError(f"{where}: camera model {camera.model[:40]} with {len(numbers)} numbers is not that of a lens")
    focal = numbers[:1] * 2 if camera.model in _ONE_FOCAL else numbers[:2]
    rest = numbers[1:] if camera.model in _ONE_FOCAL else numbers[2:]
    distortion = distortion_of(camera.model, rest[2:], where, notes)
    return pinhole(focal, (rest[0] - 0.5, rest[1] - 0.5), camera.size, where, distortion=distortion)


def _binary(path: Path) -> dict[int, ModelCamera]:
    """The cameras by their numbers, up to where the file is cut short or has a model that is not known."""
    data = _read(path)
    cameras: dict[int, ModelCamera] = {}
    place = _COUNT.size
    for _ in range(_COUNT.unpack_from(data)[0] if len(data) >= place else 0):
        if place + _HEAD.size > len(data):
            break
        number, model, width, height = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        count = _MODELS[_NAMES[model]] if 0 <= model < len(_NAMES) else len(data)
        if place + 8 * count > len(data):
            break
        numbers = struct.unpack_from(f"<{count}d", data, place)
        cameras[number] = ModelCamera(_NAMES[model], (height, width), numbers)
        place += 8 * count
    return cameras


def _text(path: Path) -> dict[int, ModelCamera]:
    """The cameras by their numbers; rows that cannot be read are left out."""
    cameras: dict[int, ModelCamera] = {}
    for line in _read(path).decode("utf-8", "replace").splitlines():
        words = line.split()
        try:
            size = float(words[3]), float(words[2])
            cameras[int(words[0])] = ModelCamera(words[1].upper(), size, tuple(map(float, words[4:])))
        except (ValueError, IndexError):
            continue
    return cameras


def _read(path: Path) -> bytes:
    return FolderTree(path.parent).read(path.name)
