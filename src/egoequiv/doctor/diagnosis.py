"""All checks of the motion of a recording, in the order in which they depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from egoequiv.doctor.elsewhere import agreement, other_recording, other_time
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.frames_of_reference import frame_of_reference
from egoequiv.doctor.offset import clock_drift, clock_offset, own_fit
from egoequiv.doctor.step_lengths import step_lengths

MOTION_CHECKS = (
    "right recording",
    "order of parts",
    "axes and signs",
    "step lengths",
    "clock offset",
    "clock drift",
    "agreement",
)


@dataclass(frozen=True)
class MotionChecks:
    """What the comparison of pictures and motion says about one recording."""

    findings: tuple[Finding, ...]  # one for each of `MOTION_CHECKS`
    corrected: Comparison  # the log as it should be read
    offset_s: float  # and how much later, if its clock is wrong


def check_motion(comparison: Comparison, all_recordings: Sequence[Comparison] = ()) -> MotionChecks:
    """Compare pictures and log.

    One fault would show in every check that follows it. So each check is made on the log as the ones before corrected
    it. Of a wrong recording, parts in the wrong order, wrong axes and a drift, the one that explains most is reported.

    Args:
        comparison: pictures and motion of one recording.
        all_recordings: of the log, among which the motion that belongs to the pictures is looked for.

    Returns:
        The findings, and the motion as it should be read.

    """
    name = comparison.recording
    if not len(comparison.steps):
        none = tuple(Finding(check, name, np.nan, "fewer than two pictures") for check in MOTION_CHECKS)
        return MotionChecks(none, comparison, 0.0)
    other, order = other_recording(comparison, all_recordings), other_time(comparison)
    axes, motion = frame_of_reference(comparison)
    other, order, axes, drift = _only_the_best((other, order, axes, clock_drift(comparison)))
    corrected = comparison.with_motion(motion) if axes.is_fault else comparison
    misplaced = next((finding for finding in (other, order) if finding.is_fault), None)
    if misplaced is not None:
        told = f"not told before this is corrected: {misplaced.check}"
        rest = tuple(Finding(check, name, np.nan, told) for check in MOTION_CHECKS[3:])
        return MotionChecks((other, order, axes, *rest), corrected, 0.0)
    lengths = step_lengths(corrected)
    if axes.is_fault:
        drift = clock_drift(corrected)
    if drift.is_fault:
        told = f"not told before this is corrected: {drift.check}"
        offset, agrees = (Finding(check, name, np.nan, told) for check in ("clock offset", "agreement"))
        return MotionChecks((other, order, axes, lengths, offset, drift, agrees), corrected, 0.0)
    offset = clock_offset(corrected)
    told_s = dict(offset.values).get("offset_s")
    # An offset that cannot be told corrects nothing, or almost any log would agree somewhere. Commands act with a
    # delay, so for them the best offset is used.
    best_s = (0.0 if corrected.motion.is_scaled else own_fit(corrected)[2]) if told_s is None else told_s
    findings = (other, order, axes, lengths, offset, drift, agreement(corrected, best_s))
    return MotionChecks(findings, corrected, best_s if offset.is_fault else 0.0)


def _only_the_best(findings: Sequence[Finding]) -> list[Finding]:
    """Of several faults, the one that explains most; the others are not faults of their own."""
    faults = [finding for finding in findings if finding.is_fault]
    if len(faults) < 2:
        return list(findings)
    best = max(faults, key=lambda finding: dict(finding.values).get("explained", 0.0))
    return [_explained_by(best, one) if one.is_fault and one is not best else one for one in findings]


def _explained_by(cause: Finding, finding: Finding) -> Finding:
    return replace(finding, score=0.0, text=f"explained by {cause.check}", fix="", moments=())
