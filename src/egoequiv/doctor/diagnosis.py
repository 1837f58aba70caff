"""All checks of a recording in the order in which they depend on each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from egoequiv.doctor.elsewhere import agreement, other_time
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.frames_of_reference import frame_of_reference
from egoequiv.doctor.offset import clock_drift, clock_offset


@dataclass(frozen=True)
class MotionChecks:
    """What the comparison of pictures and motion says about one recording."""

    findings: tuple[Finding, ...]
    corrected: Comparison  # the log as it should be read
    offset_s: float  # how much later it should be read


def check_motion(comparison: Comparison) -> MotionChecks:
    """Compare pictures and log: parts in the wrong order, axes and signs, clock, agreement.

    One fault would show in every check that follows it. So each is done on the log as the one before corrected it, and
    of two faults that explain the same, the one that explains it better is reported.
    """
    order = other_time(comparison)
    axes, motion = frame_of_reference(comparison)
    if axes.is_fault and order.is_fault:
        if _explained(order) > _explained(axes):
            axes, motion = replace(axes, score=0.0, text="explained by the order of parts", fix=""), comparison.motion
        else:
            order = replace(order, score=0.0, text="explained by axes and signs", fix="", moments=())
    corrected = comparison.with_motion(motion)
    if order.is_fault:  # time and agreement mean nothing where parts are exchanged
        told = "not told, because parts are in the wrong order"
        rest = tuple(
            Finding(name, comparison.recording, np.nan, told) for name in ("clock offset", "clock drift", "agreement")
        )
        return MotionChecks((order, axes, *rest), corrected, 0.0)
    offset = clock_offset(corrected)
    shift_s = dict(offset.values).get("offset_s", 0.0)
    drift = clock_drift(corrected)
    if drift.is_fault and offset.is_fault:
        offset = replace(offset, score=0.0, text=f"explained by the drift: {offset.text}", fix="")
    return MotionChecks((order, axes, offset, drift, agreement(corrected, shift_s)), corrected, shift_s)


def _explained(finding: Finding) -> float:
    return dict(finding.values).get("explained", 0.0)
