"""Clocks of logs: their unit, and stamps that are out of order, repeated or start again."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.remarks import Remark

Nanoseconds = NDArray[np.int64]
Indices = NDArray[np.int64]

UNITS_NS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
# Seconds since 1970 lie between these, from 2001 to 2096; other units are 1e3, 1e6 and 1e9 times as large.
_EPOCH_S = (1e9, 4e9)
# The step between two stamps of a camera or a sensor is rarely longer than this; in other units it looks longer.
_LONGEST_STEP_S = 5.0
# Whole numbers that grow by 1 to 5 may be seconds of a slow sensor or milliseconds of a fast one. They are the latter
# where the former would last longer than this, with a sensor of 1 Hz and with a slower one.
_LONGEST_SLOW_S = {True: 3600.0, False: 300.0}
_SMALL_JUMP = 10  # usual steps; a clock that goes back further has started again
_MOST_NS = 9e18


@dataclass(frozen=True)
class Stamps:
    """The stamps of a stream that can be used."""

    times_ns: Nanoseconds  # (K,) each later than the one before it
    rows: Indices  # (K,) the rows of the stream that they belong to
    notes: tuple[str, ...]  # what was wrong, in words


def nearest_in_time(times: NDArray[np.float64] | Nanoseconds, asked: NDArray[np.float64] | Nanoseconds) -> Indices:
    """For each time that is requested, the number of the nearest of `times`, of two the earlier; (N,), (M,) -> (M,).

    There is at least one of `times`, and each is later than the one before it.
    """
    after = np.searchsorted(times, asked).clip(max=len(times) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(np.abs(asked - times[before]) <= np.abs(times[after] - asked), before, after)


def read_clock(values: NDArray[np.float64] | NDArray[np.int64], where: str, unit: str = "auto") -> Stamps:
    """The times of a stream in nanoseconds, in order; what is odd about its clock is named.

    Args:
        values: (N,) stamps as they are in the log; integers keep all their digits.
        where: the stream, for messages, such as "log.csv, column t".
        unit: s, ms, us, ns, or auto: by the size of the stamps and of their steps.

    Returns:
        The stamps that can be used, in order of time, and the rows that they belong to.

    Example:
        >>> read_clock(np.array([1000, 1033, 1067]), "log.csv").times_ns
        array([1000000000, 1033000000, 1067000000])

    """
    notes: list[str] = []
    finite = np.flatnonzero(np.isfinite(values.astype(np.float64)))
    if len(finite) < len(values):
        notes.append(f"{where}: {len(values) - len(finite)} of {len(values)} stamps are not numbers and are left out")
    found = unit
    if unit == "auto":
        found, other = unit_of(values[finite].astype(np.float64))
        if other:
            notes.append(
                Remark(f"{where}: stamps are taken as {found}, they could be {other} (if so: time_unit={other})")
            )
        elif found != "s":
            notes.append(Remark(f"{where}: stamps are in {found}"))
    times = to_ns(values[finite], found, where)
    kept, more = _in_order(times, where)
    return Stamps(times[kept], finite[kept], (*notes, *more))


def with_own_stamp(
    values: NDArray[np.float64] | NDArray[np.int64], usable: NDArray[np.bool_], where: str
) -> tuple[NDArray[np.bool_], list[str]]:
    """The usable rows (N,) but those with the stamp of the row before them, if that one cannot be used; and a note.

    Which of the two has its own stamp is not known, and `read_clock` sees only usable rows.
    """
    repeated = np.flatnonzero(usable[1:] & ~usable[:-1] & (values[1:] == values[:-1])) + 1
    if not len(repeated):
        return usable, []
    first = f"the first in row {int(repeated[0]) + 1}"
    said = f"{where}: {plural(len(repeated), 'row')} left out, {first}: the row before has no pose and the same stamp"
    kept = usable.copy()
    kept[repeated] = False
    return kept, [said]


def to_ns(values: NDArray[np.float64] | NDArray[np.int64], unit: str, where: str) -> Nanoseconds:
    """Stamps (N,) in the given unit as whole nanoseconds."""
    if unit not in UNITS_NS:
        raise ConfigError(f"{where}: time unit {unit!r}: expected auto, {', '.join(UNITS_NS)}")
    scale = UNITS_NS[unit]
    if len(values) and not np.abs(values.astype(np.float64)).max() < _MOST_NS / scale:
        worst = values[int(np.abs(values.astype(np.float64)).argmax())]
        raise DataError(f"{where}: the stamp {worst} is no time in {unit}: check the column, and declare its unit")
    if np.issubdtype(values.dtype, np.integer):
        return values.astype(np.int64) * int(scale)
    return np.round(values * scale).astype(np.int64)


def unit_since_1970(values: NDArray[np.float64]) -> str:
    """The unit in which stamps are times since 1970; "" where they are none."""
    middle = float(np.median(np.abs(values))) if len(values) else 0.0
    step = _usual_step(values)
    for power, unit in enumerate(UNITS_NS):
        scale = 1000.0**power
        if _EPOCH_S[0] * scale <= middle <= _EPOCH_S[1] * scale and step <= _LONGEST_SLOW_S[True] * scale:
            return unit
    return ""


def _usual_step(values: NDArray[np.float64]) -> float:
    steps = np.diff(values)
    return float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0


def unit_of(values: NDArray[np.float64]) -> tuple[str, str]:
    """The unit of stamps: by the years that they would mean, or else by the usual step; and what else it may be."""
    if unit := unit_since_1970(values):
        return unit, ""
    step = _usual_step(values)
    units = list(UNITS_NS)
    for power, unit in enumerate(units):
        scale = 1000.0**power
        if step <= _LONGEST_STEP_S * scale:
            if step < scale or unit == "ns" or (values != np.floor(values)).any():
                return unit, ""
            long = float(np.ptp(values)) > _LONGEST_SLOW_S[step == scale] * scale
            return (units[power + 1], unit) if long else (unit, units[power + 1])
    return "ns", ""


def _in_order(times: Nanoseconds, where: str) -> tuple[Indices, list[str]]:
    """Rows in order of time, each later than the one before it, and what was wrong with the others."""
    notes: list[str] = []
    rows = np.arange(len(times))
    steps = np.diff(times)
    back = np.flatnonzero(steps < 0)
    if len(back):
        usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
        worst = int(back[np.argmin(steps[back])])
        if -steps[worst] <= _SMALL_JUMP * usual:
            rows = np.argsort(times, kind="stable")
            wrong = plural(len(back), "stamp")
            notes.append(f"{where}: {wrong} out of order, the first in row {int(back[0]) + 2}; sorted")
        else:
            rows, note = _without_jumps(times, steps, worst)
            notes.append(f"{where}: {note}; {len(times) - len(rows)} of {len(times)} rows are left out")
    repeated = np.flatnonzero(np.diff(times[rows]) == 0) + 1
    if len(repeated):
        first = int(rows[repeated[0]]) + 1
        notes.append(
            f"{where}: {plural(len(repeated), 'stamp is', 'stamps are')} repeated, the first in row {first}; the first "
            "of each is kept"
        )
        rows = np.delete(rows, repeated)
    return rows, notes


def _without_jumps(times: Nanoseconds, steps: Nanoseconds, worst: int) -> tuple[Indices, str]:
    """Without single stamps that are far off; or, of a clock that started again, its longest part in one piece.

    The parts are not put together: their times may overlap, and would mix two drives into one.
    """
    from_the_end = len(times) - 1 - longest_increase(-times[::-1])[::-1]
    # Of two series of one length, the shorter in time: if the second stamp is far too early, the first one is right.
    rows = min(longest_increase(times), from_the_end, key=lambda chosen: int(np.ptp(times[chosen])))
    if len(times) - len(rows) <= max(1, len(times) // 100):
        return rows, f"stamps far out of order, the clock goes back by {-steps[worst] / 1e9:.3g} s at row {worst + 2}"
    usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    parts = np.split(np.arange(len(times)), np.flatnonzero(steps < -_SMALL_JUMP * usual) + 1)
    longest = max(parts, key=len)
    ordered: Indices = longest[np.argsort(times[longest], kind="stable")]
    back = f"the clock goes back by {-steps[worst] / 1e9:.3g} s at row {worst + 2}"
    return ordered, f"{back} (it was reset, or another log follows), so the longest of {len(parts)} parts is used"


def longest_increase(times: Nanoseconds) -> Indices:
    """The indices of the longest series of times in which each is later than the one before it.

    So one wrong stamp removes only itself, and not all that follow it.
    """
    latest: list[int] = []  # the earliest time at which a series of 1, 2, ... times can end
    ends: list[int] = []  # its index
    before: list[int] = []  # for each time the index of the one before it in its series
    for k, time in enumerate(times.tolist()):
        length = bisect_left(latest, time)
        before.append(ends[length - 1] if length else -1)
        if length == len(latest):
            latest.append(time)
            ends.append(k)
        elif time < latest[length]:
            latest[length], ends[length] = time, k
    chosen: list[int] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        chosen.append(place)
        place = before[place]
    return np.array(chosen[::-1], np.int64)
