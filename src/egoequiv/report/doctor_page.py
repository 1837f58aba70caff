"""The page and the terminal's lines of `egoequiv doctor`: what is wrong, how it shows, and what to type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoequiv.blocks import Block, Cell, Fold, Grid, Points, Section, Text
from egoequiv.doctor.examine import Diagnosis, Examined
from egoequiv.doctor.finding import Finding
from egoequiv.report.figures.doctor import rates_figure, strips_figure, worst_moments
from egoequiv.report.figures.drawing import as_picture
from egoequiv.report.sections import Report

SHOWN = 8  # recordings with figures, those with faults first


def doctor_report(diagnosis: Diagnosis, place: str) -> Report:
    """The page about a log."""
    examined = sorted(diagnosis.recordings, key=lambda one: -max((fault.score for fault in one.faults), default=0.0))
    sections = [Section("What is wrong", fault_blocks(diagnosis))]
    sections += [_recording_section(one) for one in examined[:SHOWN]]
    if len(examined) > SHOWN:
        rest = [_line_of(one) for one in examined[SHOWN:]]
        sections.append(Section("Other recordings", [Points(rest)]))
    if diagnosis.source.notes:
        sections.append(Section("What the reader of the log says", [Points(list(diagnosis.source.notes))]))
    return Report(f"Do the pictures follow the motion? {place}", _lead(diagnosis), _facts(diagnosis), sections)


def terminal_blocks(diagnosis: Diagnosis) -> list[Block]:
    """The same for a terminal: a line for each fault, and a table of checks."""
    checks = list(dict.fromkeys(one.check for each in diagnosis.recordings for one in each.findings))
    rows = []
    for check in checks:
        found = [one for each in diagnosis.recordings for one in each.findings if one.check == check]
        faults, unknown = (sum(map(test, found)) for test in (lambda one: one.is_fault, lambda one: not one.can_tell))
        rows.append((check, faults, len(found) - faults - unknown, unknown))
    table = Grid.of("Recordings by check", ("check", "fault", "fine", "cannot tell"), rows)
    return [Text(_lead(diagnosis)), *fault_blocks(diagnosis), table]


def fault_blocks(diagnosis: Diagnosis) -> list[Block]:
    """Each fault with what to do; those that are the same in several recordings once."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for fault in diagnosis.faults:
        text = fault.text if fault.check in ("axes and signs",) else f"{fault.recording}: {fault.text}"
        alike.setdefault((fault.check, text), []).append(fault)
    if not alike:
        return [Text("No fault was found.")]
    items = []
    for (check, text), faults in alike.items():
        where = f" ({', '.join(dict.fromkeys(one.recording for one in faults))})" if text == faults[0].text else ""
        fix = f" Fix: {faults[0].fix}" if faults[0].fix else ""
        items.append(f"{check}: {text}{where}.{fix}")
    return [Points(items)]


def _lead(diagnosis: Diagnosis) -> str:
    count = len(diagnosis.recordings)
    wrong = [one.recording.name for one in diagnosis.recordings if one.faults]
    frames = sum(len(one.recording) for one in diagnosis.recordings)
    steps = [one.comparison.steps for one in diagnosis.recordings]
    told = sum(int(one.rotation_known.sum()) for one in steps)
    total = max(sum(map(len, steps)), 1)
    found = f"{len(diagnosis.faults)} faults in {len(wrong)} of {count}" if wrong else f"no fault in {count}"
    return (
        f"{found} recordings ({frames:,} frames). The pictures tell the rotation of {100 * told / total:.0f} % of "
        f"{total:,} steps."
    )


def _facts(diagnosis: Diagnosis) -> dict[str, str]:
    lenses = dict.fromkeys(
        f"field of view {one.lens.view_deg:.0f}° ({one.lens.origin})" for one in diagnosis.recordings
    )
    facts = {"source": diagnosis.source.name, "lens": "; ".join(list(lenses)[:3])}
    if diagnosis.source.convention:
        facts["poses"] = diagnosis.source.convention
    return facts


def _recording_section(examined: Examined) -> Section:
    blocks: list[Block] = [Points([f"{one.check}: {one.text}" for one in examined.faults])] if examined.faults else []
    rates = rates_figure(examined)
    if rates is None:
        blocks.append(Text("The log has no rotation that could be compared with the pictures.", "missing"))
    else:
        caption = "Rotation from one key picture to the next. Where the two agree, dots lie on the line."
        blocks.append(as_picture(rates, f"rotation of {examined.recording.name} in log and pictures", caption))
    moments = worst_moments(examined)
    strips = strips_figure(examined, moments) if moments else None
    if strips is not None:
        blocks.append(as_picture(strips, "the worst moments", "The worst moments: frames and their times."))
    blocks.append(Fold("All checks", [_checks_grid(examined.findings), Text(_steps_words(examined), "note")]))
    return Section(f"Recording {examined.recording.name}", blocks)


def _checks_grid(findings: Sequence[Finding]) -> Grid:
    rows = []
    for one in findings:
        verdict, tone = (
            ("cannot tell", "") if not one.can_tell else ("fault", "bad") if one.is_fault else ("fine", "good")
        )
        rows.append((one.check, Cell(verdict, tone=tone), one.text, one.fix))
    return Grid.of("", ("check", "verdict", "what was found", "what to do"), rows, is_words=True)


def _steps_words(examined: Examined) -> str:
    steps = examined.comparison.steps
    reasons = [f"{int((steps.reason == reason).sum())} {reason}" for reason in np.unique(steps.reason) if reason]
    return f"{len(steps):,} steps between key pictures; " + (", ".join(reasons) or "all told in full")


def _line_of(examined: Examined) -> str:
    faults = ", ".join(one.check for one in examined.faults)
    return f"{examined.recording.name}: {faults or 'no fault'}"
