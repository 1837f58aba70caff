"""When recordings began."""

from __future__ import annotations

from datetime import UTC, datetime
from math import nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.store.frame_store import FrameStore

START = "start"  # the attribute: a date and time, or seconds


def starts_s(store: FrameStore) -> NDArray[np.float64]:
    """When the recording of each frame began, in seconds since 1970 (or on its own clock), (N,); NaN where unknown."""
    if START not in store.attributes:
        return np.full(len(store), nan)
    texts, which = np.unique(store.attributes[START], return_inverse=True)
    return np.array([start_s(str(text)) for text in texts], np.float64)[which]


def start_s(text: str) -> float:
    """The seconds of an attribute `start`: a number, or a date and time, in UTC if it names no zone."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return nan
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
