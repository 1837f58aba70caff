"""The lens of a camera in a bag: the CameraInfo that is published beside its pictures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose.camera import Lens
from egoequiv.remarks import Remark
from egoequiv.sources.lenses import distortion_of, lens_or_note, matrix_lens
from egoequiv.sources.ros_topics import Camera, Topics

CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
_TRANSPORT = re.compile(r"/(compressed|compressedDepth|theora|ffmpeg|zstd|republish\w*)$")
_RECTIFIED = re.compile(r"(^|_)rect(ified)?(_|$)")


def camera_lens(topics: Topics, camera: Camera, notes: list[str]) -> Lens | None:
    """The lens of a camera, from the topic camera_info of its namespace; None where there is none."""
    pictures = _TRANSPORT.sub("", camera.topic.name)
    names = (f"{pictures.rpartition('/')[0]}/camera_info", f"{pictures}/camera_info")
    found = {one.name for one in topics.all if one.kind == CAMERA_INFO and one.count}
    name = next((name for name in names if name in found), None)
    if name is None:
        return None
    where = f"{topics.bag.path}, {name}"
    is_rectified = _RECTIFIED.search(pictures.rpartition("/")[2]) is not None
    return lens_or_note(lambda: _lens(topics.first(name), camera, is_rectified, name, where, notes), notes)


def _lens(info: Any, camera: Camera, is_rectified: bool, name: str, where: str, notes: list[str]) -> Lens | None:
    """The lens that a message describes: P for rectified pictures, K with distortion for others."""
    K, P = _numbers(info, "k"), _numbers(info, "p")
    if not K.any():
        notes.append(Remark(f"{where}: the camera is not calibrated"))
        return None
    size = float(info.height), float(info.width)
    if not min(size):
        if camera.size is None:
            raise DataError(f"{where}: it does not say for which size of pictures it is")
        size = camera.size
    matrix = P.reshape(3, 4)[:, :3] if is_rectified and P.any() else K.reshape(3, 3)
    matrix, size = _cut_to_region(matrix, size, info.roi)
    distortion: tuple[float, ...] = ()
    if not is_rectified:
        distortion = distortion_of(info.distortion_model, _numbers(info, "d").tolist(), where, notes)
    return matrix_lens(matrix, size, where, distortion=distortion, origin=name)


def _cut_to_region(
    matrix: NDArray[np.float64], size: tuple[float, float], region: Any
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """Matrix and size of the part of the sensor that is in the pictures; a region without a size is all of it."""
    if not (region.width and region.height):
        return matrix, size
    moved = matrix.copy()
    moved[:2, 2] -= (region.x_offset, region.y_offset)
    return moved, (float(region.height), float(region.width))


def _numbers(info: Any, field: str) -> NDArray[np.float64]:
    """An array of a message (N,): ROS 1 writes its name large, ROS 2 small."""
    value = getattr(info, field) if hasattr(info, field) else getattr(info, field.upper())
    return np.asarray(value, np.float64).reshape(-1)
