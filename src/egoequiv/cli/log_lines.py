"""Progress where there is no terminal to draw a bar on: a line now and then, for a log file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

QUIET_S = 3.0  # what is done sooner is not worth a line
EVERY_S = 30.0  # the least time between two lines about the same
SLOWING = 20  # nor sooner than after this share of the time that it has taken: a day must not fill the log
LOOK_S = 1.0  # how often the clock is looked at while nothing is reported


@dataclass
class _Stage:
    """One kind of work, how far it is, and when that was last said."""

    what: str
    began_s: float
    done: int = 0
    total: int = 0
    said: int | None = None  # how much was done when it was last said
    said_s: float = 0.0
    first: int = 0  # what was done when it began

    def pace(self, now_s: float) -> str:
        """How much is done in a second, and how long the rest takes; nothing where that is not known."""
        took_s, done = now_s - self.began_s, self.done - self.first
        if took_s <= 0 or done <= 0 or self.done >= self.total:
            return ""
        left_s = (self.total - self.done) * took_s / done
        return f", {done / took_s:,.3g}/s, {int(left_s) // 60}:{int(left_s) % 60:02d} left"


class LogLines:
    """Decides when a line is due: when a stage has gone on for a while, then now and then, and when it is done."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._stages: dict[str, _Stage] = {}
        self._current: _Stage | None = None
        self._last_s = clock()  # of any line, or of the beginning
        self._lock = threading.Lock()

    def update(self, what: str, done: int, total: int) -> None:
        """Work has gone on; a stage that is behind where it was has begun again."""
        with self._lock:
            stage = self._stages.get(what)
            if stage is None or done < stage.done:
                stage = self._stages[what] = _Stage(what, self._clock(), first=done)
            stage.done, stage.total = done, total
            self._current = stage
        self.look()

    def look(self) -> None:
        """Say a line about the present stage if one is due."""
        with self._lock:
            stage, now_s = self._current, self._clock()
            if stage is None or stage.said == stage.done or not self._is_due(stage, now_s):
                return
            stage.said, stage.said_s, self._last_s = stage.done, now_s, now_s
            self._say(f"{stage.what}: {stage.done:,}/{stage.total:,}{stage.pace(now_s)}")

    def _is_due(self, stage: _Stage, now_s: float) -> bool:
        if stage.said is None:
            # Of many short stages one is named now and then, to show that something is going on.
            is_long = now_s - stage.began_s >= QUIET_S and stage.done < stage.total
            return is_long or now_s - self._last_s >= EVERY_S
        if stage.done >= stage.total:
            return True
        return now_s - stage.said_s >= max(EVERY_S, (now_s - stage.began_s) / SLOWING)


@contextmanager
def lines_for_log(say: Callable[[str], None]) -> Iterator[Callable[[str, int, int], None]]:
    """A function `(what, done, total)` that says lines; the clock runs beside the work, which may be slow to report."""
    lines = LogLines(say)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(LOOK_S):
            lines.look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lines.update
    finally:
        ended.set()
        watcher.join()
