"""What a function chosen by the caller keeps of each decoded frame, as arrays that a file can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Looker = Callable[[Any], Any]  # picklable: from an image to a dataclass of numbers and arrays, or to one array
_ALONE = "array"  # the name of what is no dataclass


def packed(looks: Sequence[Any | None]) -> dict[str, NDArray[Any]]:
    """What was kept of some frames, None of a broken one, as arrays without objects in them.

    Arrays of one field may differ in shape from frame to frame; they lie one after another.
    """
    known = [_parts(look) for look in looks if look is not None]
    arrays: dict[str, NDArray[Any]] = {"known": np.array([look is not None for look in looks], bool)}
    for name in known[0] if known else ():
        values = [np.asarray(parts[name]) for parts in known]
        arrays[f"{name}.shapes"] = np.array([value.shape for value in values], np.int64).reshape(len(values), -1)
        arrays[f"{name}.values"] = _one_kind([parts[name] for parts in known], values)
    return arrays


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> list[Any | None]:
    """The looks that `packed` put away, with the same attributes; plain arrays as they were."""
    names = [name.removesuffix(".values") for name in arrays if name.endswith(".values")]
    columns = {name: _apart(arrays[f"{name}.values"], arrays[f"{name}.shapes"]) for name in names}
    known = arrays["known"]
    looks: list[Any | None] = [None] * len(known)
    for row, frame in enumerate(np.flatnonzero(known)):
        parts = {name: column[row] for name, column in columns.items()}
        looks[frame] = parts[_ALONE] if names == [_ALONE] else SimpleNamespace(**parts)
    return looks


def _parts(look: Any) -> dict[str, Any]:
    if isinstance(look, np.ndarray):
        return {_ALONE: look}
    return {part.name: getattr(look, part.name) for part in fields(look)}


def _one_kind(found: Sequence[Any], values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The values of all frames in a row; large whole numbers keep all their digits."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in found):
        return np.array(found, np.uint64 if min(found) >= 0 else np.int64)
    return np.concatenate([value.ravel() for value in values])


def _apart(values: NDArray[Any], shapes: NDArray[np.int64]) -> list[Any]:
    """The values of each frame: an array, or a plain number."""
    pieces = np.split(values, np.cumsum(np.prod(shapes, axis=1))[:-1])
    return [
        piece.reshape(shape) if len(shape) else piece[0].item() for piece, shape in zip(pieces, shapes, strict=True)
    ]
