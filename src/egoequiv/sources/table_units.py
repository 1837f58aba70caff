"""Units of columns: as declared, as the name of a column says, or as the range of its values suggests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose.clock import UNITS_NS, Nanoseconds, unit_of, unit_since_1970
from egoequiv.remarks import Remark
from egoequiv.sources.table_columns import TURNS, Word, find
from egoequiv.sources.table_settings import TableSettings
from egoequiv.sources.tables import Table

Array = NDArray[np.float64]
METRES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "km": 1e3}
METRES_A_SECOND = {"mps": 1.0, "kmh": 1 / 3.6, "mph": 0.44704}
_MOST_RAD = 2 * np.pi + 0.01  # a larger angle is in degrees, unless it is declared
_MOST_RAD_A_SECOND = 20.0
_TIME_NAMES = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


def time_unit_of(table: Table, column: str, like: Nanoseconds | None = None, notes: list[str] | None = None) -> str:
    """The unit of a column of times: that in its name, unless its numbers are times since 1970 in another; or auto.

    Where two units are possible, the one that makes the column last about as long as the stamps `like`.
    """
    if not table.is_numeric(column):
        return "auto"  # dates
    word = Word.of(column)
    values = table.numbers(column).astype(np.float64)
    values = values[np.isfinite(values)]
    said = word.unit or _TIME_NAMES.get(word.plain, "")
    if said in UNITS_NS:
        return said if unit_since_1970(values) in ("", said) else "auto"
    units = [unit for unit in unit_of(values) if unit]
    spans = [float(np.ptp(values)) * UNITS_NS[unit] for unit in units]
    if len(units) < 2 or like is None or len(like) < 2 or not all(spans):
        return "auto"
    frames = max(float(like[-1] - like[0]), 1.0)
    chosen = min(zip(units, spans, strict=True), key=lambda one: abs(np.log(one[1] / frames)))[0]
    if notes is not None:
        note = f"{table.path.name}, column {column}: stamps are in {chosen}, so they last about as long as the frames"
        notes += [Remark(note)] * (note not in notes)
    return chosen


def in_metres(values: Array, word: Word, settings: TableSettings) -> Array:
    """Lengths in metres; without any unit they are metres already."""
    unit = word.unit if settings.length_unit == "auto" else settings.length_unit
    return values * METRES.get(unit, 1.0)


def in_mps(values: Array, word: Word) -> Array:
    """Speeds in metres a second; without any unit they are that already."""
    return values * METRES_A_SECOND.get(word.unit, 1.0)


def turn_of(values: Array, word: Word, settings: TableSettings) -> float:
    """A whole turn in the unit of a column, if its name is that of an angle that jumps by one; else 0."""
    if not len(values) or not find([word], TURNS):
        return 0.0
    largest = float(np.abs(values).max())
    said = word.unit if settings.angle_unit == "auto" else settings.angle_unit
    unit = said if said in ("deg", "rad") else "deg" if largest > _MOST_RAD else "rad"
    period = 360.0 if unit == "deg" else 2 * np.pi
    jumps = (np.abs(np.diff(values)) > period / 2).any() and np.ptp(values) <= period * (1 + 1e-3)
    return period if jumps else 0.0


def in_degrees(
    columns: Sequence[Array], names: Sequence[str], settings: TableSettings, notes: list[str], is_rate: bool = False
) -> list[Array]:
    """Angles, or rates of angles, in degrees; all columns have one unit. What was guessed is noted."""
    what = ", ".join(names)
    largest = max((float(np.abs(one[np.isfinite(one)]).max(initial=0.0)) for one in columns), default=0.0)
    limit = _MOST_RAD_A_SECOND if is_rate else _MOST_RAD
    said = next((unit for unit in (Word.of(name).unit for name in names) if unit in ("deg", "rad")), "")
    unit = said if settings.angle_unit == "auto" else settings.angle_unit
    a_second = " a second" if is_rate else ""
    if not unit:
        unit = "deg" if largest > limit else "rad"
        words, other = ("degrees", "rad") if unit == "deg" else ("radians", "deg")
        notes.append(
            Remark(
                f"{what}: taken as {words}{a_second}, the largest is {largest:.4g} (if not: --read angle_unit={other})"
            )
        )
    elif unit == "rad" and largest > 2 * limit:
        notes.append(f"{what}: {largest:.4g} is much in radians{a_second}: are they degrees (--read angle_unit=deg)?")
    return [np.rad2deg(one) if unit == "rad" else one for one in columns]
