"""How long runs take to train, noted in their folders."""

from __future__ import annotations

from time import monotonic

from egoequiv.engines import Tick
from egoequiv.errors import EgoEquivError
from egoequiv.files import read_json, write_json
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.training.jobs import Job

PACE = "pace.json"


class Pace:
    """Passes iterations on, and measures how long one of them takes; what was done before a stop has no part in it."""

    def __init__(self, tick: Tick) -> None:
        self._tick = tick
        self._begun_s = self._last_s = monotonic()
        self._first_s: float | None = None  # when the first iterations were reported: opening the data is over
        self._first = self._after = 0

    def __call__(self, iterations: int) -> None:
        if iterations:
            self._last_s = monotonic()
            if self._first_s is None:
                self._first_s, self._first = self._last_s, iterations
            else:
                self._after += iterations
        self._tick(iterations)

    def seconds(self, iterations: int) -> float:
        """How long so many iterations of one run take."""
        if self._first_s is not None and self._after:
            return (self._last_s - self._first_s) / self._after * iterations
        return (self._last_s - self._begun_s) / max(self._first, 1) * iterations


def note_seconds(job: Job, seconds: float) -> None:
    """Write down how long the training of a run takes."""
    write_json(job.out / PACE, {"seconds": round(seconds, 3)})


def noted_seconds(job: Job) -> float | None:
    """How long the training of a run takes; None where that is not known."""
    try:
        found = read_json(job.out / PACE, RUN_KIND).get("seconds")
    except EgoEquivError:
        return None
    return float(found) if isinstance(found, int | float) else None
