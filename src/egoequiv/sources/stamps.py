"""Time stamps of a stream of numbered files, and the matching of two streams by time."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose.clock import Nanoseconds, nearest_in_time

MISSING = np.iinfo(np.int64).min  # the time of a row that is blank
_STAMP = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?", re.ASCII)


def parse_stamps(text: str, where: str) -> Nanoseconds:
    """One time for each row such as `2011-09-26 13:02:25.964389445`, in ns since 1970; `MISSING` for a blank row."""
    times = []
    for row, line in enumerate(text.rstrip().splitlines(), 1):
        stamp = line.strip()
        if not stamp:
            times.append(MISSING)
            continue
        match = _STAMP.fullmatch(stamp)
        try:
            if match is None:
                raise ValueError
            seconds = int(datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp())
            time = seconds * 10**9 + int((match[2] or "0").ljust(9, "0"))
            if not MISSING < time < -MISSING:
                raise ValueError
        except ValueError:
            raise DataError(
                f"{where}, row {row}: expected a time such as 2011-09-26 13:02:25.964389445, found {stamp[:40]!r}"
            ) from None
        times.append(time)
    return np.array(times, np.int64)


def match_by_time(times: Nanoseconds, others: Nanoseconds, tolerance_ns: int) -> NDArray[np.int64]:
    """For each time the index of the nearest of `others` (sorted); -1 if it is too far or matches a nearer time."""
    if not len(others) or not len(times):
        return np.full(len(times), -1, np.int64)
    nearest = nearest_in_time(others, times)
    off = np.abs(others[nearest] - times)
    place = np.where(off <= tolerance_ns, nearest, -1)
    best = np.full(len(others), -1, np.int64)
    for k in np.argsort(off, kind="stable")[::-1]:  # the nearest is written last, so it stays
        if place[k] >= 0:
            best[place[k]] = k
    taken = (place >= 0) & (best[place] == np.arange(len(times)))
    return np.where(taken, place, -1)
