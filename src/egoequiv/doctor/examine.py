"""A whole log examined: every frame looked at once, every check of every recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.diagnosis import check_motion
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.glance import Glances, glance
from egoequiv.doctor.logged import logged_motion
from egoequiv.doctor.pictures import check_recording
from egoequiv.engines import Engine
from egoequiv.errors import DataError
from egoequiv.odometry.watch import Watched, watch
from egoequiv.pose.camera import Lens
from egoequiv.progress import Progress
from egoequiv.sources.recording import Recording, Source

GUESSED = "guessed"  # how the origin of a lens begins that no file gives


@dataclass(frozen=True, eq=False)
class Examined:
    """One recording: what every check says, and what the page shows of it."""

    recording: Recording
    findings: tuple[Finding, ...]
    comparison: Comparison  # as the log was read
    corrected: Comparison  # as it should be read
    offset_s: float
    lens: Lens
    glances: Glances
    surprise: NDArray[np.float64] | None = None  # (N,) of each frame by the features of a run, if one was asked

    def with_finding(self, finding: Finding, surprise: NDArray[np.float64] | None = None) -> Examined:
        """The same with one more finding, such as that of a run, and the surprise of its features at each frame."""
        return replace(self, findings=(*self.findings, finding), surprise=surprise)

    @property
    def faults(self) -> list[Finding]:
        """The strongest first."""
        return sorted((one for one in self.findings if one.is_fault), key=lambda one: -one.score)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        steps = self.comparison.steps
        told = steps.rotation_known
        reasons = {str(reason): int((steps.reason[~told] == reason).sum()) for reason in np.unique(steps.reason[~told])}
        return {
            "recording": self.recording.name,
            "frames": len(self.recording),
            "steps": len(steps),
            "steps_told": int(told.sum()),
            "not_told": reasons,
            "field_of_view_deg": self.lens.view_deg,
            "lens": self.lens.origin,
            "faults": [one.check for one in self.faults],
            "findings": [one.as_json() for one in self.findings],
        }


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What was found in a log."""

    source: Source
    recordings: tuple[Examined, ...]

    @property
    def faults(self) -> list[Finding]:
        return [fault for one in self.recordings for fault in one.faults]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "source": self.source.name,
            "faults": len(self.faults),
            "notes": list(self.source.notes),
            "recordings": [one.as_json() for one in self.recordings],
        }


def examine(
    source: Source,
    *,
    lens: Lens | float | None = None,
    engine: Engine | None = None,
    on_progress: Progress | None = None,
) -> Diagnosis:
    """Say whether the pictures of a log follow its motion.

    Args:
        source: with pictures in order, such as `open_log(path)[0]` or `store_as_source(store)`.
        lens: of the camera, or its horizontal field of view in degrees; by default that of the log, or a guess.
        engine: where pictures are looked at.
        on_progress: gets frames done and frames in all.

    Returns:
        The findings of every check for every recording.

    Example:
        >>> examine(open_log("drive.bag")[0]).faults  # doctest: +SKIP

    """
    if not source.has_images or not source.frame_count:
        raise DataError(f"{source.name}: the log has no pictures, so there is nothing to compare its motion with")
    watched = watch(source, lens=lens, engine=engine, on_progress=on_progress, look=glance)
    comparisons = [_compared(one, source) for one in watched]
    return Diagnosis(
        source, tuple(_examined(*both, comparisons, source) for both in zip(watched, comparisons, strict=True))
    )


def _compared(watched: Watched, source: Source) -> Comparison:
    motion = logged_motion(watched.recording, source.pose_columns, source.settings)
    is_known = not watched.lens.origin.startswith(GUESSED)
    return Comparison(watched.recording.name, watched.steps, motion, is_known)


def _examined(watched: Watched, comparison: Comparison, comparisons: Sequence[Comparison], source: Source) -> Examined:
    recording = watched.recording
    glances = Glances.of(watched.looks)
    checked = check_motion(comparison, comparisons)
    findings = (*checked.findings, *check_recording(recording, source.pose_columns, glances, comparison))
    return Examined(recording, findings, comparison, checked.corrected, checked.offset_s, watched.lens, glances)
