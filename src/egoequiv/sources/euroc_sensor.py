"""sensor.yaml of the ASL layout: where a sensor sits on the body, and the lens of a camera."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.camera import Lens
from egoequiv.pose.conventions import parse_transform
from egoequiv.sources.lenses import distortion_of, pinhole
from egoequiv.sources.sequences import join
from egoequiv.sources.trajectories import decode
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]

SENSOR = "sensor.yaml"
_T_BS = re.compile(r"^T_BS:[^\n]*\n(?:[ \t][^\n]*\n)*?[ \t]+data:\s*\[([^\]]{0,2000})\]", re.MULTILINE)


def extrinsics(tree: Tree, folder: str) -> Array | None:
    """T_body_sensor (4, 4) from sensor.yaml; None where it has none. Only the numbers after T_BS are read."""
    text = _text(tree, folder)
    found = _T_BS.search(text)
    if found is None:
        return None
    try:
        return parse_transform(" ".join(found[1].split()), f"{tree.where(join(folder, SENSOR))}, T_BS")
    except ConfigError as problem:
        raise DataError(str(problem)) from problem


def sensor_lens(tree: Tree, folder: str, notes: list[str]) -> Lens | None:
    """The lens of a camera from sensor.yaml; None where it has no intrinsics."""
    text, where = _text(tree, folder), tree.where(join(folder, SENSOR))
    intrinsics = _numbers(text, "intrinsics", where)
    if not intrinsics:
        return None
    size = _numbers(text, "resolution", where)
    camera = _word(text, "camera_model") or "pinhole"
    if camera != "pinhole" or len(intrinsics) != 4 or len(size) != 2:
        raise DataError(
            f"{where}: expected camera_model pinhole, 4 intrinsics and the 2 sides of resolution, found {camera[:40]}, "
            f"{len(intrinsics)} and {len(size)}"
        )
    numbers = _numbers(text, "distortion_coefficients", where)
    distortion = distortion_of(_word(text, "distortion_model"), numbers, where, notes)
    return pinhole(intrinsics[:2], intrinsics[2:], (size[1], size[0]), where, distortion=distortion)


def _text(tree: Tree, folder: str) -> str:
    """The file without its comments; empty where there is none."""
    if SENSOR not in tree.files(folder):
        return ""
    return re.sub(r"#.*", "", decode(tree.read(join(folder, SENSOR))).replace("\r\n", "\n"))


def _word(text: str, key: str) -> str:
    found = re.search(rf"^{key}:[ \t]*([^\n]{{1,200}})", text, re.MULTILINE)
    return found[1].strip().strip("\"'").lower() if found else ""


def _numbers(text: str, key: str, where: str) -> list[float]:
    found = re.search(rf"^{key}:\s*\[([^\]]{{0,2000}})\]", text, re.MULTILINE)
    try:
        return [float(word) for word in found[1].replace(",", " ").split()] if found else []
    except ValueError:
        raise DataError(f"{where}: {key} contains something that is not a number") from None
