"""Motion spaces whose motions add up: the planar pose of the paper, raw sensor columns, and no motion at all."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from egoequiv.errors import ConfigError
from egoequiv.pose.space import Array, MotionAxis, MotionSpace, wrap_columns


class AdditiveSpace(MotionSpace):
    """A space in which the motion is the difference of the columns, and motions add up."""

    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        return np.asarray(pose_j, np.float64) - np.asarray(pose_i, np.float64)

    def compose(self, first: Array, second: Array) -> Array:
        return np.asarray(first, np.float64) + np.asarray(second, np.float64)

    def invert(self, motion: Array) -> Array:
        return -np.asarray(motion, np.float64)

    @abstractmethod
    def describe(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class PlanarSpace(AdditiveSpace):
    """The paper's ego-pose of a car: the distance driven forward, and the heading.

    The vehicle measures both itself, so their differences do not depend on a map.
    """

    @property
    def pose_names(self) -> tuple[str, ...]:
        return ("forward_m", "yaw_deg")

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return (
            MotionAxis("forward", "m", plus="forward", minus="backward"),
            MotionAxis("yaw", "deg", plus="left turn", minus="right turn"),
        )

    def describe(self) -> dict[str, Any]:
        return {"kind": "planar"}


@dataclass(frozen=True)
class ColumnsSpace(AdditiveSpace):
    """Raw sensor columns, such as steering and throttle; the motion is the change of each.

    A column may end in its unit: `steering_deg`. Integrate a rate into a column before you write it to a store. The
    motion of a column with a period is the shorter way round.
    """

    columns: tuple[str, ...]
    periods: tuple[float, ...] = ()  # a whole turn of each column that is an angle and goes round, 0 for others

    def __post_init__(self) -> None:
        if len(self.periods) not in (0, len(self.columns)) or not all(0 <= one < inf for one in self.periods):
            raise ConfigError(f"{len(self.columns)} columns cannot have the periods {self.periods}")
        if not self.columns or not all(self.columns) or len(set(self.columns)) != len(self.columns):
            raise ConfigError(f"a motion space needs columns, each named once, found {', '.join(self.columns)!r}")

    @property
    def pose_names(self) -> tuple[str, ...]:
        return self.columns

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return tuple(_column_axis(name) for name in self.columns)

    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        return wrap_columns(super().difference(pose_i, pose_j), self.periods)

    def compose(self, first: Array, second: Array) -> Array:
        return wrap_columns(super().compose(first, second), self.periods)

    def invert(self, motion: Array) -> Array:
        return wrap_columns(super().invert(motion), self.periods)

    def describe(self) -> dict[str, Any]:
        periods = {"periods": list(self.periods)} if self.periods else {}
        return {"kind": "columns", "columns": list(self.columns), **periods}


OVER_TIME = " over time"  # behind the name of a column that was integrated
_STEERING = "steering"  # integrated, it is positive to the right, as in Donkeycar


def _column_axis(column: str) -> MotionAxis:
    rate = column.removesuffix(OVER_TIME)
    if rate != column:
        words = ("steer right", "steer left") if rate == _STEERING else (rate, f"negative {rate}")
        return MotionAxis(column, "", *words)
    name, _, unit = column.rpartition("_")
    if unit not in ("m", "deg", "rad", "s", "mps") or not name:
        name, unit = column, ""
    return MotionAxis(name, unit, plus=f"more {name}", minus=f"less {name}")


@dataclass(frozen=True)
class NoMotion(AdditiveSpace):
    """Pictures without poses."""

    @property
    def pose_names(self) -> tuple[str, ...]:
        return ()

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return ()

    def within_one_step(self, motion: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.zeros(np.shape(motion)[:-1], bool)  # pictures without poses have no neighbours

    def describe(self) -> dict[str, Any]:
        return {"kind": "none"}
