"""The page and the terminal's lines of `egoequiv doctor`: what is wrong, how it shows, and what to type."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from egoequiv.blocks import Block, Cell, Fold, Grid, Points, Section, Text
from egoequiv.doctor.examine import Diagnosis, Examined
from egoequiv.doctor.finding import Finding
from egoequiv.plurals import plural
from egoequiv.report.figures.doctor import rates_figure, strips_figure, worst_moments
from egoequiv.report.figures.drawing import as_picture
from egoequiv.report.sections import Report

MOST_LINES = 3  # of one check
SHOWN = 8  # recordings with figures, those with faults first
_TYPED = re.compile(r"--read (?:[^\s')]|'[^']*')+")


def doctor_report(diagnosis: Diagnosis, place: str) -> Report:
    """The page about a log."""
    examined = sorted(diagnosis.recordings, key=lambda one: -max((fault.score for fault in one.faults), default=0.0))
    sections = [Section("What is wrong", [_with_code(block) for block in fault_blocks(diagnosis)])]
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
    return [Text(_lead(diagnosis)), *(fault_blocks(diagnosis) if diagnosis.faults else []), table]


def fault_blocks(diagnosis: Diagnosis) -> list[Block]:
    """Each fault with what to do, the strongest first; faults of one kind in many recordings as one."""
    if not diagnosis.faults:
        return [Text("No fault was found.")]
    by_check: dict[str, list[Finding]] = {}
    for fault in sorted(diagnosis.faults, key=lambda one: -one.score):
        by_check.setdefault(fault.check, []).append(fault)
    return [Points([line for faults in by_check.values() for line in _fault_lines(faults)])]


def _with_code(block: Block) -> Block:
    """Points in which what can be typed stands out."""
    return Points([_TYPED.sub(r"`\g<0>`", line) for line in block.items]) if isinstance(block, Points) else block


def _fault_lines(faults: Sequence[Finding]) -> list[str]:
    """A line for each fault; where there are many, or all are the same, the strongest and the names of the others."""
    if len(faults) <= MOST_LINES and len({fault.text for fault in faults}) > 1:
        return [_fault_line(fault, fault.recording) for fault in faults]
    names = [fault.recording for fault in faults]
    where = (
        names[0] if len(names) == 1 else f"{len(names)} recordings ({', '.join(names[:5])}{', ...' * (len(names) > 5)})"
    )
    is_same = len({fault.text for fault in faults}) == 1
    return [_fault_line(faults[0], where if is_same else f"{where}, in {names[0]}")]


def _fault_line(fault: Finding, where: str) -> str:
    return f"{fault.check} in {where}: {fault.text}." + (f" Fix: {fault.fix}" if fault.fix else "")


def _lead(diagnosis: Diagnosis) -> str:
    count = len(diagnosis.recordings)
    wrong = [one.recording.name for one in diagnosis.recordings if one.faults]
    frames = sum(len(one.recording) for one in diagnosis.recordings)
    steps = [one.comparison.steps for one in diagnosis.recordings]
    told = sum(int(one.rotation_known.sum()) for one in steps)
    total = max(sum(map(len, steps)), 1)
    faults = len(diagnosis.faults)
    found = f"{plural(faults, 'fault')} in {len(wrong)} of" if wrong else "No fault in"
    share = f"The pictures tell the rotation of {100 * told / total:.0f} % of {total:,} steps."
    if told < total / 2:
        reasons = np.concatenate([one.reason[~one.rotation_known] for one in steps])
        names, times = np.unique(reasons, return_counts=True)
        share += f" The others cannot be compared: mostly {names[int(times.argmax())]}." if len(names) else ""
    return f"{found} {plural(count, 'recording')} ({plural(frames, 'frame')}). {share}"


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
        if examined.surprise is not None:
            caption += " Surprise: error of the run's features under the logged motion, relative to its median."
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
    return f"{plural(len(steps), 'step')} between key pictures; " + (", ".join(reasons) or "all told in full")


def _line_of(examined: Examined) -> str:
    faults = ", ".join(one.check for one in examined.faults)
    return f"{examined.recording.name}: {faults or 'no fault'}"
