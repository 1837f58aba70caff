"""Poses on a grid, such as the elevation and azimuth of a turntable."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose.space import Array, MotionAxis, MotionSpace, wrap_columns

LARGEST = 1e12  # step or period of an axis, in its unit: the squares of such numbers are numbers


@dataclass(frozen=True)
class Axis:
    """One degree of freedom sampled in equal steps, cyclic if it has a period."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}  # where it is read from JSON

    name: str
    unit: str
    step: float
    plus: str
    minus: str
    period: float | None = None


@dataclass(frozen=True)
class GridSpace(MotionSpace):
    """Poses on a grid of independent axes, such as (elevation, azimuth) of a turntable.

    Example:
        >>> elevation = Axis("elevation", "deg", 5.0, plus="up", minus="down")
        >>> azimuth = Axis("azimuth", "deg", 20.0, plus="right", minus="left", period=360.0)
        >>> space = GridSpace((elevation, azimuth))
    """

    grid_axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        names = [name for axis in self.grid_axes for name in (axis.plus, axis.minus)]
        if not names or len(set(names)) != len(names):
            raise ConfigError(f"a grid needs axes whose motions have different names, found {names}")
        for axis in self.grid_axes:
            if not 0 < axis.step <= LARGEST:
                raise ConfigError(f"axis {axis.name!r}: the step must be positive, found {axis.step}")
            if axis.period is not None and not axis.step < axis.period <= LARGEST:
                raise ConfigError(
                    f"axis {axis.name!r}: period {axis.period} is not longer than one step of {axis.step}"
                )

    @property
    def pose_names(self) -> tuple[str, ...]:
        return tuple(f"{axis.name}_{axis.unit}" for axis in self.grid_axes)

    @property
    def axes(self) -> tuple[MotionAxis, ...]:
        return tuple(MotionAxis(axis.name, axis.unit, axis.plus, axis.minus) for axis in self.grid_axes)

    def difference(self, pose_i: Array, pose_j: Array) -> Array:
        return self._wrap(np.asarray(pose_j, np.float64) - np.asarray(pose_i, np.float64))

    def compose(self, first: Array, second: Array) -> Array:
        return self._wrap(np.asarray(first, np.float64) + np.asarray(second, np.float64))

    def invert(self, motion: Array) -> Array:
        return self._wrap(-np.asarray(motion, np.float64))

    def tolerance(self) -> Array:
        return np.array([axis.step / 4 for axis in self.grid_axes])

    def named_motions(self) -> dict[str, Array]:
        named = {}
        for k, axis in enumerate(self.grid_axes):
            one_step = np.zeros(len(self.grid_axes))
            one_step[k] = axis.step
            named[axis.plus] = one_step
            named[axis.minus] = -one_step
        return named

    def within_one_step(self, motion: Array) -> NDArray[np.bool_]:
        steps = np.array([axis.step for axis in self.grid_axes])
        near: NDArray[np.bool_] = np.all(np.abs(motion) <= steps + self.tolerance(), axis=-1)
        return near

    def describe(self) -> dict[str, Any]:
        return {"kind": "grid", "axes": [asdict(axis) for axis in self.grid_axes]}

    def _wrap(self, motion: Array) -> Array:
        return wrap_columns(motion, [axis.period for axis in self.grid_axes])
