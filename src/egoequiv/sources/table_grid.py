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
_DIGITS, _EXACT = 6, 1e-6


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
    """The even step between the angles that occur; None where they are uneven, or fewer than three.

    Steps of a fraction may be rounded to the digits of the table, such as 0, 22, 45, 68 and 90.
    """
    distinct = np.unique(angles)
    gaps = np.diff(distinct)
    large = gaps[gaps > gaps.max(initial=0.0) / 2]  # the others are the noise of one angle that was measured again
    if len(large) + 1 < FEWEST:
        return None
    step = float(np.ptp(distinct)) / len(large)
    rounding = _rounding(distinct) + _EXACT
    noise = gaps[gaps <= gaps.max() / 2].max(initial=0.0)
    off = np.abs(distinct - distinct[0] - step * np.round((distinct - distinct[0]) / step)).max()
    if max(np.abs(large - step).max(), noise, off / 2) > max(_UNEVEN * step, rounding) or off > step / 2 - _EXACT:
        return None
    even = _FULL_TURN / max(round(_FULL_TURN / step), 1)  # the step of a turntable, as the digits cannot say it
    is_rounded = off > _EXACT and abs(even - step) <= rounding / len(large)
    return even if is_rounded else round(step, _DIGITS)


def _rounding(values: Array) -> float:
    """The unit of the last digit that values have, 1 for whole numbers."""
    return next(
        (10.0**-k for k in range(_DIGITS) if np.allclose(values, np.round(values, k), rtol=0, atol=_EXACT)), 0.0
    )


def _axis(name: str, angles: Array, step: float) -> Axis:
    word = Word.of(name)
    plus, minus = ("right", "left") if find([word], AZIMUTH) else ("up", "down")
    around = np.ptp(angles) + step
    closes = abs(around - _FULL_TURN) <= step / 2 or abs(around - step - _FULL_TURN) <= step * _UNEVEN
    return Axis(word.plain, "deg", step, plus, minus, _FULL_TURN if closes else None)
