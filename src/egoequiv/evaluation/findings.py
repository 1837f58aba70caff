"""What the findings of all tasks are made of: values with their intervals and notes, cells, and small pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Cell
from egoequiv.evaluation.metric import NO_INTERVAL, Metric, Value
from egoequiv.evaluation.statistics import GroupEstimate, why_no_interval
from egoequiv.store import FrameStore
from egoequiv.store.shrinking import shrink

THUMBNAIL = 160  # pixels of the longer side of a picture in a figure, at most
MOST_NAMED = 5  # of a list in words
LEAKED_PAIRS = (
    "pairs are divided at random: in video, nearly the same pairs are in both halves, so that errors are lower "
    "than on recordings that no map was fitted on"
)


def measured(
    metric: Metric,
    value: float,
    interval: tuple[float, float] = NO_INTERVAL,
    *,
    groups: int,
    kind: str = "recording",
    baselines: Mapping[str, float] | None = None,
    note: str = "",
) -> Value:
    """A value over so many recordings (or other groups); from fewer than five it has no interval, and says so."""
    note = note or why_no_interval(groups, kind) or ""
    return Value(metric=metric, value=value, interval=interval, baselines=dict(baselines or {}), note=note)


def estimated(
    metric: Metric,
    found: GroupEstimate,
    groups: NDArray[np.int64],
    *,
    kind: str = "recording",
    baselines: Mapping[str, float] | None = None,
    note: str = "",
) -> Value:
    """A figure over groups (N,), in per cent where the metric is; its interval is cut to what the metric can be."""
    times = 100 if metric.is_percent else 1
    low, high = found.interval()
    ends = metric.cut((times * low, times * high))
    count = len(np.unique(groups))
    return measured(metric, times * found.value, ends, groups=count, kind=kind, baselines=baselines, note=note)


def notes_of(values: Sequence[Value]) -> list[str]:
    """What the notes of values say, each once; with the motions that one is about, where it is not about all."""
    said: dict[str, dict[str | None, None]] = {}
    for value in values:
        if value.note and isfinite(value.value):
            said.setdefault(value.note, {})[value.metric.motion] = None
    return [note if None in about else f"pairs of {', '.join(map(str, about))}: {note}" for note, about in said.items()]


def cell(value: Value) -> Cell:
    """A value with its mark, and below it its interval."""
    ends = value.metric.interval(value.interval)
    return Cell(value.text(), (ends,) if ends else (), is_measured=isfinite(value.value))


def baseline_texts(value: Value, names: Sequence[str]) -> list[str]:
    """The baselines of these names beside a value, as texts; a dash where there is none."""
    known = value.all_baselines()
    return [value.metric.text(known[name]) if name in known else "-" for name in names]


def some_of(words: Sequence[str]) -> str:
    """The first few of them, and how many more there are."""
    more = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def thumbnails(store: FrameStore, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The pictures of store rows of any shape, (..., H, W, C), not larger than a figure shows; black for -1."""
    flat = rows.ravel()
    factor = -(-max(store.image_shape[:2]) // THUMBNAIL)
    height, width = (-(-side // factor) for side in store.image_shape[:2])
    small = shrink(np.asarray(store.images[np.maximum(flat, 0)]), height, width)
    small = np.where((flat >= 0)[:, None, None, None], small, np.uint8(0))
    shown: NDArray[Any] = small.reshape(*rows.shape, *small.shape[1:])
    return shown
