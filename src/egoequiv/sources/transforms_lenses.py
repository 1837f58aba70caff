"""The lens in the JSON of instant-ngp and nerfstudio: of the whole scene, or of each frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.pose.camera import Lens
from egoequiv.sources.lenses import check_not_turned, common_lens, distortion_of, lens_or_note, pinhole, size_of
from egoequiv.sources.trees import Tree

_KEYS = (
    *("w", "h", "fl_x", "fl_y", "cx", "cy", "camera_angle_x", "camera_angle_y"),
    *("k1", "k2", "p1", "p2", "k3", "k4", "camera_model", "is_fisheye"),
)


def scene_lens(
    content: Mapping[str, Any],
    frames: Sequence[Mapping[str, Any]],
    tree: Tree,
    first: str | None,
    where: str,
    name: str,
    notes: list[str],
) -> Lens | None:
    """The lens of a scene; frames may have their own. `first` is the path of a picture."""

    def read() -> Lens | None:
        whole = _described(content)
        each = Counter(tuple(sorted((whole | _described(frame)).items())) for frame in frames)
        given = {described: count for described, count in each.items() if _has_focal(dict(described))}
        size = _picture_size(tree, first)
        lenses: Counter[Lens] = Counter()
        for described, count in given.items():
            lenses[_lens(dict(described), size, where, notes)] += count
        if first is not None and len(given) == 1:
            only = dict(next(iter(given)))
            if "w" in only and "h" in only:
                check_not_turned((_number(only, "h", where), _number(only, "w", where)), tree, first, where)
        return common_lens(lenses, name, "", notes)

    return lens_or_note(read, notes)


def _described(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a scene or a frame says about the lens; lists and the like, which nothing can be made of, as text."""
    found = {key: values[key] for key in _KEYS if values.get(key) is not None}
    return {key: value if isinstance(value, int | float | str) else repr(value)[:40] for key, value in found.items()}


def _has_focal(values: Mapping[str, Any]) -> bool:
    return any(key in values for key in ("fl_x", "fl_y", "camera_angle_x", "camera_angle_y"))


def _picture_size(tree: Tree, first: str | None) -> tuple[int, int] | None:
    try:
        return None if first is None else size_of(tree, first)
    except (BrokenFrameError, DataError):
        return None


def _lens(values: Mapping[str, Any], first: tuple[int, int] | None, where: str, notes: list[str]) -> Lens:
    """A lens; the corner of the first pixel is the origin of these files, and its centre that of a lens."""
    size: tuple[float, float] | None = first
    is_size_stated = "w" in values and "h" in values
    if is_size_stated:
        size = _number(values, "h", where), _number(values, "w", where)
    if size is None:
        raise DataError(f"{where}: it does not say w and h, and the size of the first picture cannot be read")
    focal = _focal(values, size, where)
    center = None
    if "cx" in values and "cy" in values:
        center = _number(values, "cx", where) - 0.5, _number(values, "cy", where) - 0.5
    numbers = [_number(values, key, where) if key in values else 0.0 for key in ("k1", "k2", "p1", "p2", "k3", "k4")]
    model = "OPENCV_FISHEYE" if values.get("is_fisheye") is True else str(values.get("camera_model", "OPENCV"))
    distortion = distortion_of(model, numbers, where, notes)
    return pinhole(focal, center, size, where, distortion=distortion, is_size_stated=is_size_stated)


def _focal(values: Mapping[str, Any], size: tuple[float, float], where: str) -> tuple[float, float]:
    """Focal lengths in pixels, from themselves or from fields of view in radians; pixels are square by default."""
    found: list[float | None] = []
    for axis, side in (("x", size[1]), ("y", size[0])):
        if f"fl_{axis}" in values:
            found.append(_number(values, f"fl_{axis}", where))
        elif f"camera_angle_{axis}" in values:
            angle = _number(values, f"camera_angle_{axis}", where)
            if not 0 < angle < np.pi:
                raise DataError(f"{where}: camera_angle_{axis} is {angle:g}, expected radians from 0 to pi")
            found.append(side / 2 / float(np.tan(angle / 2)))
        else:
            found.append(None)
    x, y = found
    one = x if x is not None else y
    assert one is not None  # one of them is there: see `_has_focal`
    return one if x is None else x, one if y is None else y


def _number(values: Mapping[str, Any], key: str, where: str) -> float:
    value = values[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise DataError(f"{where}: expected a number for {key}, found {str(value)[:40]!r}")
    return float(value)
