"""Turntables: angles in even steps, each shown once in a recording, as a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import Axis, GridSpace
from egoequiv.sources.table_columns import AZIMUTH, Word, find

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
FEWEST = 3  # steps of an axis
_UNEVEN = 0.05  # of a step
_FULL_TURN = 360.0


def grid_of(values: Array, names: Sequence[str], groups: Indices) -> GridSpace | None:
    """The grid that angles lie on; None where they lie on none.

    Args:
        values: (N, A) angles in degrees.
        names: of the A columns, the elevation before the azimuth.
        groups: (N,) the recording of each row.

    """
    known = np.isfinite(values).all(axis=1)
    steps = [step_of(column[known]) for column in values.T]
    if not known.any() or None in steps:
        return None
    cells = np.round((values[known] - values[known].min(axis=0)) / np.array(steps, np.float64))
    seen = np.column_stack([groups[known], cells])
    if len(np.unique(seen, axis=0)) < len(seen):
        return None  # an angle comes back in one recording: a steering wheel, or a turntable that runs on
    return GridSpace(tuple(_axis(n, c[known], float(s or 0)) for n, c, s in zip(names, values.T, steps, strict=True)))


def step_of(angles: Array) -> float | None:
    """The even step between the angles that occur; None where they are uneven, or fewer than three."""
    distinct = np.sort(angles)
    spread = float(np.ptp(distinct)) if len(distinct) else 0.0
    if spread <= 0:
        return None
    gaps = np.diff(distinct)
    large = gaps[gaps > gaps.max() / 2]  # the others are the noise of one angle that was measured again
    step = round(float(np.median(large)), 6)
    if len(large) + 1 < FEWEST or gaps[gaps <= gaps.max() / 2].max(initial=0.0) > _UNEVEN * step:
        return None
    off = np.abs((distinct - distinct[0]) / step - np.round((distinct - distinct[0]) / step))
    return step if np.abs(large - step).max() <= _UNEVEN * step and off.max() <= 2 * _UNEVEN else None


def _axis(name: str, angles: Array, step: float) -> Axis:
    word = Word.of(name)
    plus, minus = ("right", "left") if find([word], AZIMUTH) else ("up", "down")
    around = np.ptp(angles) + step
    closes = abs(around - _FULL_TURN) <= step / 2 or abs(around - step - _FULL_TURN) <= step * _UNEVEN
    return Axis(word.plain, "deg", step, plus, minus, _FULL_TURN if closes else None)
