"""Tables from the measurements of runs: a row for each group of repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from egoequiv.experiments.run_groups import RunGroup, have_same_frames
from egoequiv.experiments.same_motions import Measured, MotionsApart, motions_apart
from egoequiv.experiments.table import MeasuredRow, Table, compare_rows, merge_metrics, row_of
from egoequiv.training.run_folder import RunFolder

COUNTS = ("train_frames", "validation_frames", "leaked_validation_frames")  # what `about` says of frames


def _row_of_group(name: str, group: RunGroup, measured: Measured, folder: Path, apart: MotionsApart) -> MeasuredRow:
    """The row of the repetitions of a group that were measured."""
    members = [(run, seeds) for seeds, run in zip(group.repetitions, group.runs, strict=True) if run in measured]
    unfinished = tuple(seeds for run, seeds in members if RunFolder(run).result is None)
    found = [[apart.named(name, one) for one in measured[run]] for run, _ in members]
    return row_of(name, (group.method, group.uses_labels), members, found, folder, unfinished=unfinished)


def table_of_runs(
    title: str,
    groups: Mapping[str, RunGroup],
    measured: Measured,
    folder: Path,
    task: str = "",
) -> Table | None:
    """A table of what was measured of groups of runs; None where nothing was.

    Two groups are tested on the finished repetitions that both have, so that a run still in training decides nothing,
    and only if they are measured on the same frames. What is measured of other motions has columns of its own.
    """
    known = {name: group for name, group in groups.items() if any(run in measured for run in group.runs)}
    apart = motions_apart(known, measured)
    each = [_row_of_group(name, group, measured, folder, apart) for name, group in known.items()]
    metrics = merge_metrics([own for own, _ in each])
    columns = tuple(metric.name for metric in metrics if not metric.is_detail)
    if not columns:
        return None
    rows = {name: row for name, (_, row) in zip(known, each, strict=True)}
    pairs = [(a, b) for a, b in combinations(known, 2) if have_same_frames([known[a], known[b]])]
    comparisons = [test for name in columns for a, b in pairs for test in compare_rows([rows[a], rows[b]], name)]
    return Table(
        title=title,
        metrics=metrics,
        columns=columns,
        rows=list(rows.values()),
        comparisons=comparisons,
        about=_about_groups(list(known.values())) | apart.about(task),
        task=task,
    )


def _about_groups(groups: Sequence[RunGroup]) -> dict[str, Any]:
    """The store, the split and the numbers of frames of groups."""
    about: dict[str, Any] = {
        what: ", ".join(dict.fromkeys(str(group.settings[key]) for group in groups))
        for what, key in (("store", "data"), ("split", "split"))
    }
    results = [RunFolder(run).result or {} for run in groups[0].runs]
    summary = next((result for result in results if result), {})
    return about | {key: summary[key] for key in COUNTS if key in summary}
