"""The features of numbers of a LeRobot data set, and the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]
Pick = tuple[str, int]  # a feature, and the place of a column in it

_OWN = re.compile(r"(timestamp|frame_index|episode_index|index|task_index|next\..*|annotation\..*)")
_OF_A_CAMERA = re.compile(r"cam|head|ego|base|body|odom", re.IGNORECASE)
_NOT_OF_A_CAMERA = re.compile(r"action|eef|effector|gripper|hand|wrist|goal|target|object", re.IGNORECASE)


@dataclass(frozen=True)
class Feature:
    """A feature of numbers: one or more columns."""

    name: str
    columns: tuple[str, ...]  # the names of its columns inside it

    @property
    def full(self) -> tuple[str, ...]:
        """The names of its columns in the data set, such as observation.state.kLeftElbow; its own if there is one."""
        return (self.name,) if self.columns == ("",) else tuple(f"{self.name}.{column}" for column in self.columns)

    @property
    def picks(self) -> tuple[Pick, ...]:
        return tuple((self.name, place) for place in range(len(self.columns)))

    @property
    def short(self) -> tuple[str, ...]:
        """Names without the feature's; a number alone says too little."""
        last = self.name.rpartition(".")[2]
        return tuple(last if not c else f"{last}.{c}" if c.isdigit() else c for c in self.columns)

    @property
    def looks_like_camera_pose(self) -> bool:
        about_poses = re.search(r"pose|odom", self.name, re.IGNORECASE) is not None
        right = _OF_A_CAMERA.search(self.name) is not None and _NOT_OF_A_CAMERA.search(self.name) is None
        return about_poses and right and len(self.columns) in (7, 16)


def numeric_features(table: pa.Table, described: Mapping[str, Mapping[str, Any]]) -> list[Feature]:
    """The features of numbers in the first rows of a table, with the names that info.json gives their columns."""
    found = []
    for name in table.column_names:
        if _OWN.fullmatch(name):
            continue
        try:
            size = flat_values(table[name], name).shape[1]
        except DataError:
            continue
        if size:
            found.append(Feature(name, _column_names(described.get(name, {}).get("names"), size)))
    return found


def _column_names(names: Any, size: int) -> tuple[str, ...]:
    """Names as info.json writes them: a list, a list in a list, or a dict; numbers where they do not fit."""
    if isinstance(names, dict):
        inside = list(names.values())
        names = inside if all(isinstance(one, list) for one in inside) else list(names)
    while isinstance(names, list) and any(isinstance(one, list) for one in names):
        names = [name for one in names for name in (one if isinstance(one, list) else [one])]
    if isinstance(names, list) and len(set(map(str, names))) == len(names) == size and (size > 1):
        return tuple(str(name) for name in names)
    return ("",) if size == 1 else tuple(str(place) for place in range(size))


def flat_values(column: pa.ChunkedArray, where: str) -> Array:
    """A column of numbers or of (nested) lists of them as an array (N, C)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    count = len(values)
    while (
        pa.types.is_list(values.type) or pa.types.is_large_list(values.type) or pa.types.is_fixed_size_list(values.type)
    ):
        lengths = pc.min_max(pc.list_value_length(values)).as_py()
        if values.null_count or lengths["min"] != lengths["max"]:
            raise DataError(f"{where}: rows have from {lengths['min']} to {lengths['max']} numbers, or none at all")
        values = values.flatten()
    kind = values.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise DataError(f"{where} holds {kind}, expected numbers")
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.array(numbers, np.float64).reshape(count, -1) if count else np.empty((0, 0))


def find_feature(features: Sequence[Feature], word: str) -> Feature:
    """A feature by its name, or by the last part of it."""
    found = [one for one in features if one.name == word] or [
        one for one in features if one.name.rpartition(".")[2] == word
    ]
    if len(found) != 1:
        raise ConfigError(f"poses {word!r}: expected a feature of numbers: {', '.join(one.name for one in features)}")
    return found[0]


def find_columns(features: Sequence[Feature], word: str) -> list[Pick]:
    """The columns that a word names: one, or all below it."""
    full = {name: (one.name, place) for one in features for place, name in enumerate(one.full)}
    if word in full:
        return [full[word]]
    below = [pick for name, pick in full.items() if name.startswith(f"{word}.")]
    short = [(one.name, place) for one in features for place, name in enumerate(one.short) if name == word]
    if not below and len(short) != 1:
        why = "is in more than one feature" if short else "is not there"
        raise ConfigError(f"column {word!r} {why}: expected names such as {some_names(features)}")
    return below or short


def names_of(features: Sequence[Feature], picks: Sequence[Pick]) -> tuple[str, ...]:
    """Short names where they are unique, and else full ones."""
    by_name = {one.name: one for one in features}
    short = tuple(by_name[name].short[place] for name, place in picks)
    return short if len(set(short)) == len(short) else tuple(by_name[name].full[place] for name, place in picks)


def words(text: str) -> list[str]:
    """The names in a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def some_names(features: Sequence[Feature]) -> str:
    """A few names of columns, for messages."""
    names = [name for one in features for name in one.full]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "") if names else "none"
