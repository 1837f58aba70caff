"""What the doctor and the plain checks say about every piece of a log with one fault in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from egoequiv.doctor.changed import Changed
from egoequiv.doctor.diagnosis import check_motion
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import FAULT, Finding
from egoequiv.doctor.logged import LoggedMotion, logged_motion
from egoequiv.doctor.pictures import check_recording
from egoequiv.doctor.watched import usual_step_s
from egoequiv.evaluation.statistics import Number
from egoequiv.experiments.faults.pieces import Piece
from egoequiv.experiments.faults.rivals import rival_scores
from egoequiv.experiments.faults.seen import Seen
from egoequiv.experiments.faults.trials import UNTOUCHED, Trial, put_in
from egoequiv.sources.recording import Recording


class Verdict(BaseModel):
    """The scores of all checks for one piece."""

    model_config = ConfigDict(frozen=True)

    piece: str
    recording: str  # that it is cut from
    scores: dict[str, Number]  # by check; NaN: cannot tell
    rivals: dict[str, Number]
    offset_s: Number  # as the doctor estimates it
    step_s: Number  # usual time between two frames
    turned_deg: Number  # how far the log says that the camera turns, see `_turned_deg`

    @property
    def score(self) -> float:
        """The largest of all checks; one that cannot tell counts as 0."""
        return self.largest(tuple(self.scores))

    def largest(self, checks: Sequence[str]) -> float:
        """The largest score of some checks."""
        return max((float(np.nan_to_num(self.scores.get(check, 0.0))) for check in checks), default=0.0)

    def faults(self) -> list[str]:
        """The checks that report a fault."""
        return [check for check, score in self.scores.items() if score >= FAULT]


class TrialVerdicts(BaseModel):
    """All pieces of a log with one fault."""

    model_config = ConfigDict(frozen=True)

    trial: str
    verdicts: list[Verdict]
    left_out: list[str] = []  # why pieces cannot have the fault


@dataclass(frozen=True, eq=False)
class Log:
    """The pieces of one log, with what is known of their columns and lenses."""

    pieces: Sequence[Piece]
    pose_columns: tuple[str, ...]
    lens_known: Sequence[bool]  # of each recording of the source
    seed: int = 0


def judge(trial: Trial, log: Log, seen: Sequence[Mapping[str, Seen]]) -> TrialVerdicts:
    """Put a fault into every piece of a log and examine them together.

    Args:
        trial: the fault.
        log: its pieces.
        seen: what the pictures of each piece show: as they are under `UNTOUCHED`, and under the names of trials that
            arrange pictures otherwise.

    """
    parts: list[Recording] = [piece.part for piece in log.pieces]
    made = put_in(trial, parts, log.pose_columns, log.seed)
    left_out = list(dict.fromkeys(one for one in made if isinstance(one, str)))
    number = {id(part): k for k, part in enumerate(parts)}
    kept: list[tuple[int, Recording, Seen]] = []
    for k, one in enumerate(made):
        if isinstance(one, str) or len(one) < 2:
            continue
        if trial.arranges or not isinstance(one, Changed):
            kept.append((k, one, seen[k][trial.name if trial.arranges else UNTOUCHED]))
        else:  # the pictures are as they were, perhaps those of another piece
            kept.append((k, one, seen[number[id(one.pictures)]][UNTOUCHED].at(one.rows)))
    comparisons = [
        Comparison(one.name, shown.steps, logged_motion(one, log.pose_columns), log.lens_known[log.pieces[k].number])
        for k, one, shown in kept
    ]
    verdicts = [
        _verdict(log.pieces[k], one, shown, comparison, comparisons, log.pose_columns)
        for (k, one, shown), comparison in zip(kept, comparisons, strict=True)
    ]
    return TrialVerdicts(trial=trial.name, verdicts=verdicts, left_out=left_out)


def _verdict(
    piece: Piece,
    recording: Recording,
    seen: Seen,
    comparison: Comparison,
    comparisons: Sequence[Comparison],
    pose_columns: tuple[str, ...],
) -> Verdict:
    times_s = None if recording.times_s is None else np.asarray(recording.times_s)
    findings: list[Finding] = [
        *check_motion(comparison, comparisons).findings,
        *check_recording(recording, pose_columns, seen.glances, comparison),
    ]
    offset = next(one for one in findings if one.check == "clock offset")
    return Verdict(
        piece=piece.part.name,
        recording=piece.recording,
        scores={one.check: one.score for one in findings},
        rivals=rival_scores(seen, comparison.motion),
        offset_s=dict(offset.values).get("offset_s", np.nan),
        step_s=usual_step_s(times_s),
        turned_deg=_turned_deg(comparison.motion),
    )


def _turned_deg(motion: LoggedMotion) -> float:
    """How far the camera turns between any two moments, about that of its axes which turns most; NaN: no angles."""
    if not (motion.is_scaled and motion.has_rotation):
        return np.nan
    return float(np.nanmax(np.ptp(motion.turned_deg, axis=0)))
