"""The statistics that a LeRobot data set keeps of each feature: of a new one, added to the files of a copy."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.files import write_json, write_text

Array = NDArray[np.float64]


@dataclass
class FeatureStats:
    """Least, greatest, mean and standard deviation of a feature (N, D), of each episode and of all rows together."""

    episodes: dict[int, dict[str, list[float]]] = field(default_factory=dict)
    _sums: tuple[int, Array, Array, Array, Array] | None = None  # of all rows so far

    def add(self, episode: int, values: NDArray[np.float32]) -> None:
        """Count the rows of an episode; those that are not finite have no picture and do not count."""
        known = values[np.isfinite(values).all(axis=1)].astype(np.float64)
        if not len(known):
            return
        own = (len(known), known.sum(axis=0), (known**2).sum(axis=0), known.min(axis=0), known.max(axis=0))
        self.episodes[episode] = _stats(*own)
        if self._sums is not None:
            count, total, square, least, most = self._sums
            low, high = np.minimum(least, own[3]), np.maximum(most, own[4])
            own = (count + own[0], total + own[1], square + own[2], low, high)
        self._sums = own

    def whole(self) -> dict[str, list[float]] | None:
        """Those of all rows; None where there are none."""
        return None if self._sums is None else _stats(*self._sums)


def _stats(count: int, total: Array, square: Array, least: Array, most: Array) -> dict[str, list[float]]:
    mean = total / count
    std = np.sqrt(np.maximum(square / count - mean**2, 0.0))
    found = {"min": least, "max": most, "mean": mean, "std": std}
    return {**{name: values.tolist() for name, values in found.items()}, "count": [count]}


def add_stats(root: Path, column: str, stats: FeatureStats) -> None:
    """Add a feature to those files of statistics that the data set has: stats.json, episodes_stats.jsonl."""
    whole = root / "meta" / "stats.json"
    found = _object(whole.read_text("utf-8", "replace")) if whole.is_file() else None
    if found is not None and stats.whole() is not None:
        write_json(whole, {**found, column: stats.whole()})
    lines = root / "meta" / "episodes_stats.jsonl"
    if lines.is_file():
        text = lines.read_text("utf-8", "replace").splitlines()
        write_text(lines, "".join(_with_episode(line, column, stats) + "\n" for line in text))


def _with_episode(line: str, column: str, stats: FeatureStats) -> str:
    """A line of the statistics of an episode, with those of the new feature; another line as it is."""
    found = _object(line)
    if found is None or found.get("episode_index") not in stats.episodes or not isinstance(found.get("stats"), dict):
        return line
    return json.dumps({**found, "stats": {**found["stats"], column: stats.episodes[found["episode_index"]]}})


def _object(text: str) -> dict[str, Any] | None:
    """A JSON object; None for what is none, or holds numbers that JSON has not."""
    try:
        found = json.loads(text)
        json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
