"""Why cells of a table are not defined, as far as the evaluations of the runs tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from egoequiv.evaluation.equivariance import why_undefined
from egoequiv.experiments import Table
from egoequiv.experiments.evaluations import read_evaluation
from egoequiv.report.page.blocks import Text
from egoequiv.report.page.gather import Exhibit, Subject
from egoequiv.report.page.runs_table import Evaluations
from egoequiv.report.tables import title_of

Reasons = Mapping[tuple[str, str], str]  # by the names of the row and the metric


def reasons_of(exhibit: Exhibit) -> dict[tuple[str, str], str]:
    """The reasons of all rows that have runs."""
    return {
        (subject.name, metric): why
        for subject in exhibit.subjects
        for metric, why in _reasons_of_runs(subject, exhibit.evaluations).items()
    }


def _reasons_of_runs(subject: Subject, evaluations: Evaluations | None) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for run in subject.group.runs:
        kept = read_evaluation(run) if evaluations is None else evaluations.get(run)
        for motion in kept["motions"] if kept is not None else ():
            why = why_undefined(motion)
            if why is not None:
                found.setdefault(motion["motion"], []).append(why)
    count = len(subject.group.runs)
    reasons: dict[str, str] = {}
    for motion, whys in found.items():
        why = whys[0] if len(whys) == count else f"{whys[0]} (in {len(whys)} of {count} repetitions)"
        reasons[f"rho_{motion}"] = why
        average = "rho_composite" if "+" in motion else "rho_atomic"
        reasons.setdefault(average, f"rho {motion}, of which it is a mean, is not: {why}")
    return reasons


def undefined_notes(table: Table, columns: Sequence[str], reasons: Reasons) -> list[Text]:
    """One note for each metric and reason, with the rows it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        for row in table.rows:
            result, why = row.metrics.get(column), reasons.get((row.name, column))
            if result is not None and isnan(result.mean) and why is not None:
                found.setdefault((column, why), []).append(row.name)
    return [
        Text(f"{title_of(column)} is not defined for {', '.join(names)}: {why}.", "note")
        for (column, why), names in found.items()
    ]
