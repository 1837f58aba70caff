"""What one check says about one recording."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

FAULT = 1.0  # a score from which on a finding counts as a fault


@dataclass(frozen=True)
class Moment:
    """A stretch of frames of a recording that is worth a look."""

    first: int  # frames of the recording, both included
    last: int
    text: str = ""  # what is to be seen


@dataclass(frozen=True)
class Finding:
    """What one check says about one recording. Every check returns one, also if nothing is wrong.

    The score says how strong the evidence of a fault is: 0 means none, 1 and above a fault, NaN that the check cannot
    tell. It is comparable between recordings, so that the check can be measured.
    """

    check: str  # such as "clock offset", the same for all recordings
    recording: str
    score: float
    text: str  # one line: what was found, with its number and interval, or why the check cannot tell
    fix: str = ""  # what to type, such as "--read offset_s=0.12"
    moments: tuple[Moment, ...] = ()  # the worst first
    values: tuple[tuple[str, float], ...] = ()  # numbers behind the text, such as ("offset_s", 0.12)

    @property
    def is_fault(self) -> bool:
        return self.score >= FAULT

    @property
    def can_tell(self) -> bool:
        return not math.isnan(self.score)

    def as_json(self) -> dict[str, Any]:
        """Plain values; a score that is not known is null."""
        plain = asdict(self)
        return {
            **plain,
            "score": self.score if self.can_tell else None,
            "fault": self.is_fault,
            "values": {name: value if math.isfinite(value) else None for name, value in self.values},
        }
