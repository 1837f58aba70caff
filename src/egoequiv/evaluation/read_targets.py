"""What probes read from features: poses and motions as columns of numbers, cyclic ones as sine and cosine."""

from __future__ import annotations

from dataclasses import dataclass
from types import UnionType

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import GridSpace, MotionSpace, PlanarSpace, SE2Space, SE3Space

Array = NDArray[np.float64]
FULL_TURN_DEG = 360.0


@dataclass(frozen=True, eq=False)
class Targets:
    """Quantities to be read, each with a name that ends in its unit."""

    names: tuple[str, ...]
    values: Array  # (N, T)


def pose_targets(space: MotionSpace, poses: Array) -> Targets:
    """The pose of frames, (N, P): a coordinate that comes round, such as an azimuth or a heading, as sine and cosine.

    A quaternion and its negative are the same rotation, so the one with a positive real part is taken.
    """
    values = np.array(poses, np.float64)
    if isinstance(space, SE3Space):
        values[:, 3:] *= np.where(values[:, 6:] < 0, -1.0, 1.0)
    return _unrolled(space.pose_names, values, _periods(space, PlanarSpace | SE2Space, len(space.pose_names)))


def motion_targets(space: MotionSpace, motions: Array) -> Targets:
    """Motions, (N, M), in the units of the space; those of a cyclic axis too, if none of them is a quarter turn."""
    names = tuple(f"{axis.name}_{axis.unit}" if axis.unit else axis.name for axis in space.axes)
    periods = _periods(space, SE2Space, len(names))  # a heading of the plane is counted on
    largest = np.abs(motions).max(axis=0, initial=0.0)
    # A small turn is a plain number of degrees; only large ones are cyclic.
    cyclic = tuple(p if p is not None and size > p / 4 else None for p, size in zip(periods, largest, strict=True))
    return _unrolled(names, np.asarray(motions, np.float64), cyclic)


def _unrolled(names: tuple[str, ...], values: Array, periods: tuple[float | None, ...]) -> Targets:
    columns: dict[str, Array] = {}
    for name, column, period in zip(names, values.T, periods, strict=True):
        if period is None:
            columns[name] = column
        else:
            angle = 2 * np.pi * column / period
            columns |= {f"sin {name}": np.sin(angle), f"cos {name}": np.cos(angle)}
    return Targets(tuple(columns), np.stack(list(columns.values()), axis=1) if columns else np.empty((len(values), 0)))


def _periods(space: MotionSpace, turning: type[MotionSpace] | UnionType, count: int) -> tuple[float | None, ...]:
    """After how much each column comes round; None for never. In spaces that are `turning`, the last is a heading."""
    if isinstance(space, GridSpace):
        return tuple(axis.period for axis in space.grid_axes)
    return (*(None,) * (count - 1), FULL_TURN_DEG) if isinstance(space, turning) else (None,) * count
