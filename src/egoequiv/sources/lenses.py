"""Lenses as the files of logs describe them: numbers that are checked, and distortion models by their names."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, DataError, EgoEquivError
from egoequiv.pose.camera import Lens
from egoequiv.remarks import Remark
from egoequiv.sources.pictures import picture_size
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]
Size = tuple[float, float]  # height and width

# How ROS, Kalibr, COLMAP and nerfstudio name lenses without distortion, and with k1 k2 p1 p2 k3 as OpenCV has them.
_PLAIN = ("", "none", "pinhole", "simple_pinhole")
_OPENCV = (
    *("plumb_bob", "rational_polynomial", "radial-tangential", "radtan"),
    *("opencv", "full_opencv", "simple_radial", "radial"),
)
_NO_LENS = ("equirectangular", "orthophoto", "omni", "vr180")  # with these, a point is not seen along a focal length
_FEWEST, _MOST = 4, 5  # numbers of distortion that a lens has
_FOCAL = (0.05, 100.0)  # sides of the picture
_CENTER = (-0.5, 1.5)  # sides of the picture: a part of a sensor may be to the side of the axis
_NEAR_MIDDLE = (0.25, 0.75)
_SAME = 0.02  # of the picture, by which lenses of one recording may differ


def lens_or_note(read: Callable[[], Lens | None], notes: list[str]) -> Lens | None:
    """A lens; if its file is damaged, none and a note, because frames and poses can be used without it."""
    try:
        return read()
    except EgoEquivError as problem:
        text = f"lens not read: {problem}"
        if text not in notes:  # many recordings may share one file
            notes.append(text)
        return None


def pinhole(
    focal: Sequence[float],
    center: Sequence[float] | None,
    size: Size,
    where: str,
    *,
    distortion: tuple[float, ...] = (),
    origin: str = "",
    is_size_stated: bool = True,
) -> Lens:
    """A lens from numbers in pixels, if they can be those of a camera.

    Args:
        focal: of x and y.
        center: x and y, where the centre of the first pixel is 0; None for the middle.
        size: height and width of the pictures that the numbers are for.
        where: the file, for messages.
        distortion: k1, k2, p1, p2 and perhaps k3.
        origin: how people are told where the lens comes from; by default the name of the file.
        is_size_stated: whether the file says the size; else the centre must be near the middle, because pictures may
            have been made smaller since.

    """
    numbers = [*focal, *(center or ()), *size, *distortion]
    if not np.isfinite(numbers).all() or min(size) < 1 or min(focal) <= 0:
        shown = ", ".join(f"{number:g}" for number in numbers)
        raise DataError(f"{where}: expected focal lengths and a size above 0, and finite numbers, found {shown}")
    middle = None if center is None else (float(center[0]), float(center[1]))
    pixels = round(size[0]), round(size[1])
    lens = Lens.of_pixels((focal[0], focal[1]), middle, pixels, distortion, origin or where.rpartition("/")[2])
    fits = all(_FOCAL[0] <= one <= _FOCAL[1] for one in (lens.focal_x, lens.focal_y))
    low, high = _CENTER if is_size_stated else _NEAR_MIDDLE
    if not fits or not all(low <= one <= high for one in (lens.center_x, lens.center_y)):
        shown = f"{focal[0]:g}, {focal[1]:g}" + ("" if center is None else f" and centre {center[0]:g}, {center[1]:g}")
        raise DataError(f"{where}: focal lengths {shown} do not fit pictures of {pixels[1]} x {pixels[0]}")
    return lens


def matrix_lens(
    matrix: Array,
    size: Size,
    where: str,
    *,
    distortion: tuple[float, ...] = (),
    origin: str = "",
    is_size_stated: bool = True,
) -> Lens:
    """A lens from its matrix (3, 3) in pixels; the rest as for `pinhole`."""
    if matrix.shape != (3, 3) or not np.allclose(matrix[2], [0.0, 0.0, 1.0]):
        shown = " ".join(f"{value:g}" for value in matrix.ravel()[:9])
        raise DataError(f"{where}: expected the 3 x 3 matrix of a camera, with the last row 0 0 1, found {shown}")
    focal, center = (matrix[0, 0], matrix[1, 1]), (matrix[0, 2], matrix[1, 2])
    return pinhole(focal, center, size, where, distortion=distortion, origin=origin, is_size_stated=is_size_stated)


def matrix_in(contents: bytes, where: str) -> Array:
    """The 3 x 3 matrix in a text of 9 numbers, with blanks or commas between them."""
    try:
        numbers = np.array([float(word) for word in contents.decode("ascii").replace(",", " ").split()])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != 9:
        raise DataError(f"{where}: expected 9 numbers, the matrix of a camera")
    return numbers.reshape(3, 3)


def distortion_of(model: str, numbers: Sequence[float], where: str, notes: list[str]) -> tuple[float, ...]:
    """The distortion k1 k2 p1 p2 (k3) of a model; none, and a remark, if it is of another kind."""
    name = model.strip().lower()
    if name.startswith(_NO_LENS):
        raise DataError(f"{where}: a camera of the model {model.strip()[:40]} has no focal length that can be used")
    used = list(map(float, numbers))
    while used and used[-1] == 0:
        used.pop()
    if name in (*_PLAIN, *_OPENCV) and not used:
        return ()
    if name in _OPENCV and len(used) <= _MOST:
        return tuple(used + [0.0] * (_FEWEST - len(used)))
    shown = model.strip()[:40] or "without a name"
    text = f"{where}: the distortion model {shown} ({len(used)} numbers) is ignored: its lens is read as a pinhole"
    if text not in notes:
        notes.append(Remark(text))
    return ()


def common_lens(found: Counter[Lens], name: str, hint: str, notes: list[str]) -> Lens | None:
    """The lens of a recording whose frames have several: that of most frames, if the others are nearly the same."""
    if not found:
        return None
    lens = found.most_common(1)[0][0]
    if all(_difference(lens, other) <= _SAME for other in found):
        return lens
    low, high = (pick(other.view_deg for other in found) for pick in (min, max))
    views = f"field of view from {low:.0f}° to {high:.0f}°"
    notes.append(Remark(f"{name}: {len(found)} lenses, {views}, so none is used for all of it{hint}"))
    return None


def _difference(one: Lens, other: Lens) -> float:
    """The largest difference of focal lengths, as a share, and of centres, in sides of the picture."""
    focal = abs(np.log([one.focal_x / other.focal_x, one.focal_y / other.focal_y])).max()
    return float(max(focal, abs(one.center_x - other.center_x), abs(one.center_y - other.center_y)))


def check_not_turned(size: Size, tree: Tree, file: str, where: str) -> None:
    """Refuse a lens for pictures that lie on their side: photographs that were turned after the calibration."""
    try:
        height, width = size_of(tree, file)
    except (BrokenFrameError, DataError):  # it is counted when it is decoded
        return
    if (height - width) * (size[0] - size[1]) < 0:
        raise DataError(
            f"{where} is for pictures of {size[1]:g} x {size[0]:g}, but {tree.where(file)} has {width} x {height}: "
            "it was turned"
        )


def size_of(tree: Tree, file: str) -> tuple[int, int]:
    """Height and width of a picture in a tree, from its header."""
    return picture_size(io.BytesIO(tree.read(file)), tree.where(file))
