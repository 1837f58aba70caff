"""Some frames in a row of any recording, with other poses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose.camera import Lens
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.logged import start_of
from egoequiv.sources.recording import Decoded, Image, Recording, single


def _later(start: str, since_s: float) -> dict[str, str]:
    """The attribute `start` of frames that begin `since_s` after the start of the whole; none for an odd one."""
    try:
        return start_of(np.array([round(Decimal(start or 0) * 10**9) + round(since_s * 1e9)]))
    except (ArithmeticError, ValueError, OverflowError):
        pass
    try:
        return {"start": (datetime.fromisoformat(start) + timedelta(seconds=since_s)).isoformat()}
    except (ValueError, OverflowError):
        return {}


@dataclass(frozen=True, eq=False)
class RecordingPart(Recording):
    """Frames of another recording, from the first of `frames` to the last, with poses of their own."""

    whole: Recording
    frames: range
    name: str
    poses: NDArray[np.float64]  # (N, P)
    lens: Lens | None = None

    @property
    def times_s(self) -> NDArray[np.float64] | None:  # type: ignore[override]
        """Seconds since the first of its frames."""
        times_s = self.whole.times_s
        return None if times_s is None else times_s[self._rows] - times_s[self.frames.start]

    @property
    def labels(self) -> Sequence[str] | None:  # type: ignore[override]
        return None if self.whole.labels is None else self.whole.labels[self._rows]

    @property
    def attributes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Those of the whole, with the time of its own first frame, and a map of its own."""
        own = dict(self.whole.attributes) | {"world": self.name}
        if len(self.frames) == len(self.whole):
            return own
        if self.whole.times_s is not None:
            own |= _later(own.pop("start", ""), float(self.whole.times_s[self.frames.start]))
        return own | {"part_of": self.whole.name}

    @property
    def _rows(self) -> slice:
        return slice(self.frames.start, self.frames.stop)

    def image(self, frame: int) -> Image:
        return single(self.images(range(frame, frame + 1)))

    def images(self, frames: range) -> Iterator[Decoded]:
        first = self.frames.start
        return decoded_frames(self.whole, range(first + frames.start, first + frames.stop))

    def starts(self) -> Sequence[int]:
        inside = [start - self.frames.start for start in self.whole.starts() if start in self.frames[1:]]
        return [0, *inside]

    def file_name(self, frame: int) -> str | None:
        return self.whole.file_name(self.frames.start + frame)

    def files_read(self) -> Collection[Path] | None:
        return self.whole.files_read()

    def log_frames(self) -> NDArray[np.int64] | None:
        numbers = self.whole.log_frames()
        return np.asarray(self.frames) if numbers is None else numbers[self._rows]
