"""Recordings cut into pieces of about the same length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from egoequiv.sources.part import RecordingPart
from egoequiv.sources.recording import Recording

SHORTEST = 0.25  # of the wanted length; what is shorter is left out
STEP_S = 0.1  # of a recording without times


@dataclass(frozen=True, eq=False)
class Piece:
    """Some frames in a row of one recording."""

    number: int  # of the recording in its source
    part: RecordingPart

    @property
    def recording(self) -> str:
        """The name of the recording that it is cut from."""
        return self.part.whole.name


def cut_recordings(recordings: Sequence[Recording], seconds: float | None) -> list[Piece]:
    """Cut each recording into equal pieces of about `seconds`; None keeps it whole.

    Recordings shorter than a quarter of that are left out, and so are those of fewer than four frames.
    """
    pieces = []
    for number, recording in enumerate(recordings):
        lasts = _lasts(recording)
        if len(recording) < 4 or (seconds is not None and lasts < SHORTEST * seconds):
            continue
        count = 1 if seconds is None else max(round(lasts / seconds), 1)
        ends = _ends(recording, count)
        for k, (first, after) in enumerate(pairwise(ends)):
            name = recording.name if count == 1 else f"{recording.name} {k + 1}/{count}"
            poses = np.asarray(recording.poses)[first:after]
            part = RecordingPart(recording, range(first, after), name, poses, recording.lens)
            pieces.append(Piece(number, part))
    return pieces


def _lasts(recording: Recording) -> float:
    if len(recording) < 2:
        return 0.0
    if recording.times_s is None:
        return (len(recording) - 1) * STEP_S
    return float(recording.times_s[-1] - recording.times_s[0])


def _ends(recording: Recording, count: int) -> list[int]:
    """Where pieces of equal time begin, and the number of frames."""
    if recording.times_s is None:
        return [round(len(recording) * k / count) for k in range(count + 1)]
    times_s = np.asarray(recording.times_s)
    inner = np.linspace(times_s[0], times_s[-1], count + 1)[1:-1]
    return [0, *np.searchsorted(times_s, inner).tolist(), len(recording)]
