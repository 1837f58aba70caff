"""The motion of a LeRobot data set: named columns of its state or actions, or a feature that holds poses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import ColumnsSpace, MotionSpace, NoMotion, PoseTrack, SE3Space, integrate
from egoequiv.pose.clock import Nanoseconds
from egoequiv.pose.conventions import QUATERNION_ORDERS, parse_transform
from egoequiv.sources.lerobot_features import (
    Feature,
    Pick,
    find_columns,
    flat_values,
    names_of,
    some_names,
    words,
)

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]

MOST_COLUMNS = 3  # of the default: motions of many joints at once hardly ever repeat, so they make poor patterns
_LITTLE = 0.01  # of the largest variance: less than this is noise
_ROWS = 1000  # of a table are enough to see which columns vary
_STATES = (r"observation\.state", r"state", r"observation\.state\..*", r".*state.*", r"actions?", r"actions?\..*")
_QUATERNION_NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw")


@dataclass(frozen=True)
class Motion:
    """What is read from each row of a table as its motion."""

    space: MotionSpace
    names: tuple[str, ...]
    picks: tuple[Pick, ...] = ()  # feature and place of each column, or of each number of a pose
    rates: frozenset[str] = frozenset()  # columns that are integrated over time
    axes: str = "ros"
    mount: Array | None = None
    note: str = ""
    convention: str = "no poses and no columns of numbers"

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.picks))

    def values(self, table: pa.Table, times_ns: Nanoseconds, where: str) -> tuple[Array, NDArray[np.bool_]]:
        """Poses or columns (N, P) of the rows of an episode, and which of them are known (N,)."""
        missing = [name for name in self.features if name not in table.column_names]
        if missing:
            raise DataError(f"{where} has no feature {missing[0]!r}")
        parts = {name: flat_values(table[name], f"{where}, {name}") for name in self.features}
        short = [name for name, place in self.picks if place >= parts[name].shape[1]]
        if short:
            raise DataError(f"{where}: {short[0]} has {parts[short[0]].shape[1]} columns, fewer than in other tables")
        values = np.column_stack(
            [np.empty((table.num_rows, 0)), *(parts[name][:, place] for name, place in self.picks)]
        )
        known = np.isfinite(values).all(axis=1)
        if isinstance(self.space, SE3Space):
            return self._poses(values, known, times_ns, where)
        for column, name in enumerate(self.names):
            if name in self.rates:
                values[known, column] = integrate(values[known, column], times_ns[known] / 1e9)
        return values, known

    def _poses(
        self, values: Array, known: NDArray[np.bool_], times_ns: Nanoseconds, where: str
    ) -> tuple[Array, NDArray[np.bool_]]:
        if values.shape[1] == 7:  # where a tracker has lost its pose it often writes zeros
            known = known & (np.linalg.norm(np.where(known[:, None], values[:, 3:], 0.0), axis=1) > 0.5)
            position, rotation = values[known, :3], values[known, 3:]
        else:
            matrices = values[known].reshape(-1, 4, 4)
            position, rotation = matrices[:, :3, 3], matrices[:, :3, :3]
        track = PoseTrack.of(times_ns[known], position, rotation, where, axes=self.axes, mount=self.mount)
        poses = np.full((len(values), 7), np.nan)
        poses[known] = np.concatenate([track.position_m, track.quaternion], axis=1)
        return poses, known


def columns_motion(features: Sequence[Feature], columns: str, rates: str) -> Motion:
    """The motion of columns that a user names: full names, names that are unique, or groups such as a feature."""
    picked = [pick for word in words(columns or rates) for pick in find_columns(features, word)]
    if not picked:
        raise ConfigError(f"columns {columns!r}: expected names such as {some_names(features)}")
    more = [pick for word in words(rates) for pick in find_columns(features, word)]
    picks = tuple(dict.fromkeys([*picked, *more]))
    names = names_of(features, picks)
    integrated = frozenset(name for name, pick in zip(names, picks, strict=True) if pick in more)
    return _of_columns(picks, names, integrated, "")


def default_motion(features: Sequence[Feature], samples: Iterable[pa.Table]) -> Motion:
    """A few columns of the state: those that explain most of it, with a note that says how to choose others."""
    groups = ([one for one in features if re.fullmatch(pattern, one.name)] for pattern in _STATES)
    state = next((group for group in groups if group), [])
    picks = [pick for one in state for pick in one.picks]
    episodes = []
    for table in samples:
        try:
            values = np.column_stack([flat_values(table[one.name], one.name) for one in state])
        except (DataError, KeyError, ValueError):
            continue
        values = values[np.isfinite(values).all(axis=1)][:: max(len(values) // _ROWS, 1)]
        if len(values) and values.shape[1] == len(picks):
            episodes.append(values)
    used = tuple(picks[place] for place in sorted(telling_columns(episodes, MOST_COLUMNS)))
    if not used:
        return Motion(NoMotion(), (), note="no column of a state or of actions varies, so there is no motion")
    names = names_of(features, used)
    note = (
        f"motion from {len(used)} of {len(picks)} columns of {' and '.join(one.name for one in state[:3])}, those that "
        f"explain most of the others ({', '.join(names)}): choose others with --read columns=NAME,NAME, or all with "
        f"--read columns={state[0].name}"
    )
    return _of_columns(used, names, frozenset(), note if len(used) < len(picks) else "")


def telling_columns(episodes: Sequence[Array], most: int) -> list[int]:
    """The columns that vary and from which the others follow best, chosen one after another.

    Columns may have different units, so each is divided by its largest value. A joint that stays where it is counts
    little, and of fingers that move together one is enough.

    Args:
        episodes: (N, C) each.
        most: how many columns.

    Returns:
        The chosen columns; fewer than `most` where the rest do not vary by themselves.

    """
    if not episodes:
        return []
    largest = np.maximum(np.max([np.abs(values).max(axis=0) for values in episodes], axis=0), 1e-300)
    centred = np.concatenate([(values - values.mean(axis=0)) / largest for values in episodes])
    rest = centred.T @ centred / len(centred)  # (C, C) what the chosen columns do not explain yet
    little = max(_LITTLE * np.diag(rest).max(initial=0.0), 1e-12)
    chosen: list[int] = []
    while len(chosen) < most and (np.diag(rest) > little).any():
        own = np.diag(rest)
        explained = np.where(own > little, (rest**2).sum(axis=0) / np.maximum(own, little), 0.0)
        best = int(explained.argmax())
        chosen.append(best)
        rest = rest - np.outer(rest[:, best], rest[best]) / rest[best, best]
    return chosen


def _of_columns(picks: tuple[Pick, ...], names: tuple[str, ...], rates: frozenset[str], note: str) -> Motion:
    integrated = f", {', '.join(sorted(rates))} integrated over time" if rates else ""
    convention = f"motion is the change of the columns {', '.join(names)} of the table{integrated}"
    return Motion(ColumnsSpace(names), names, picks, rates, note=note, convention=convention)


def pose_motion(feature: Feature, axes: str, quaternion: str, mount: str, guessed: bool) -> Motion:
    """The motion of a feature of 7 numbers (position and quaternion) or 16 (a matrix, row by row)."""
    size = len(feature.columns)
    if size not in (7, 16):
        raise ConfigError(f"poses {feature.name!r} has {size} columns: expected 7 (x y z qx qy qz qw) or 16 (a matrix)")
    if quaternion not in QUATERNION_ORDERS:
        raise ConfigError(f"quaternion {quaternion!r}: expected {' or '.join(QUATERNION_ORDERS)}")
    ends = [re.split(r"[._]", column.lower())[-1] for column in feature.columns]
    order = list(range(size)) if size == 16 or quaternion == "xyzw" else [0, 1, 2, 4, 5, 6, 3]
    if set(ends) == set(_QUATERNION_NAMES):
        order = [ends.index(name) for name in _QUATERNION_NAMES]
    chosen = axes or ("opencv" if re.search(r"cam", feature.name, re.IGNORECASE) else "ros")
    form = "matrices" if size == 16 else f"positions and quaternions ({quaternion})"
    note = f"poses from {feature.name}, axes {chosen} by its name: declare others with --read axes=NAME"
    return Motion(
        SE3Space(),
        SE3Space().pose_names,
        tuple((feature.name, place) for place in order),
        axes=chosen,
        mount=parse_transform(mount, "mount") if mount else None,
        note=note if guessed or not axes else "",
        convention=f"T_world_camera from {feature.name}: {form}, metres, axes {chosen}",
    )
