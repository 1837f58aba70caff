"""Tables from the measurements of runs: a row for each group of repetitions.

Rho of other motions is another quantity, so it has columns of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Value
from egoequiv.experiments.run_groups import RunGroup, have_same_frames
from egoequiv.experiments.table import MOTIONS_APART, MeasuredRow, Table, compare_rows, merge_rows, row_of
from egoequiv.training.run_folder import RunFolder

# What `about` says of frames.
COUNTS = ("train_frames", "validation_frames", "leaked_validation_frames", "near_copy_validation_frames")
# Settings that say which motions there are: how patterns are mined, and from which training frames; the gap is last.
MINING = ("space", "patterns", "clusters", "keep")
TRAINED_ON = ("split", "split_seed", "place_m", "train_fraction", "holdout_split", "holdout_fraction")
DECIDING = (*MINING, *TRAINED_ON, "max_gap_s")
Measured = Mapping[Path, Sequence[Measurement]]  # by run
WITHOUT_MOTIONS = ("recognition", "slowness")  # tasks whose numbers are the same whatever the motions are


def _row_of_group(name: str, group: RunGroup, measured: Measured, folder: Path, apart: MotionsApart) -> MeasuredRow:
    """The row of the repetitions of a group that were measured."""
    members = [(run, seeds) for seeds, run in zip(group.repetitions, group.runs, strict=True) if run in measured]
    unfinished = tuple(seeds for run, seeds in members if RunFolder(run).result is None)
    found = [[apart.named(name, one) for one in measured[run]] for run, _ in members]
    return row_of(name, (group.method, group.uses_labels), members, found, folder, unfinished=unfinished)


def table_of_runs(
    title: str, groups: Mapping[str, RunGroup], measured: Measured, folder: Path, task: str = ""
) -> Table | None:
    """A table of what was measured of groups of runs; None where nothing was.

    Two groups are tested on the finished repetitions that both have, so that a run still in training decides nothing,
    and only if they are measured on the same frames. What is measured of other motions has columns of its own.
    """
    known = {name: group for name, group in groups.items() if any(run in measured for run in group.runs)}
    apart = motions_apart(known, measured)
    each = [_row_of_group(name, group, measured, folder, apart) for name, group in known.items()]
    metrics, rows = merge_rows(each)
    columns = tuple(metric.name for metric in metrics if not metric.is_detail)
    if not columns:
        return None
    pairs = [two for two in combinations(rows, 2) if have_same_frames([known[row.name] for row in two])]
    return Table(
        title=title,
        metrics=metrics,
        columns=columns,
        rows=rows,
        comparisons=[test for name in columns for two in pairs for test in compare_rows(two, name)],
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
    return about | {key: summary[key] for key in COUNTS if summary.get(key) is not None}


@dataclass(frozen=True)
class MotionsApart:
    """The rows by their motions; with a single kind nothing has to be told apart."""

    kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the rows, by what their motions are called
    words: Mapping[str, str] = field(default_factory=dict)  # what these motions are

    def kind_of(self, row: str) -> str:
        """What the motions of a row are called; empty where all rows are of the same."""
        return next((kind for kind, rows in self.kinds.items() if row in rows), "")

    def about(self, task: str = "") -> dict[str, dict[str, str]]:
        """What a table says of the motions of its rows: nothing where they are the same, or its task has none."""
        return {MOTIONS_APART: dict(self.words)} if self.words and task not in WITHOUT_MOTIONS else {}

    def named(self, row: str, measurement: Measurement) -> Measurement:
        """A measurement whose metrics say of which motions they are, where that has to be said."""
        kind = self.kind_of(row)
        if not kind or measurement.task in WITHOUT_MOTIONS:
            return measurement
        is_first = kind == next(iter(self.kinds))
        values = [_of_kind(value, kind, is_first) for value in measurement.values]
        return measurement.model_copy(update={"values": values})


def _of_kind(value: Value, kind: str, is_first: bool) -> Value:
    """A value whose column is that of its motions; the names of the first kind stay, and counts are of their row."""
    metric = value.metric
    if metric.better == "neither":
        return value
    renamed = {
        "name": metric.name if is_first else f"{metric.name} ({kind})",
        "title": f"{metric.title} ({kind})",
        "motion": None if metric.motion is None else f"{metric.motion} ({kind})",
    }
    return value.model_copy(update={"metric": metric.model_copy(update=renamed)})


def motions_apart(groups: Mapping[str, RunGroup], measured: Measured) -> MotionsApart:
    """Which rows are measured for the same motions: of one space, declared, or mined with the same centres.

    Args:
        groups: The repetitions of each row, by its name.
        measured: What was measured of each run.
    """
    found: dict[str, dict[str, Any]] = {}
    for row, group in groups.items():
        each = (one.motions for run in group.runs for one in measured.get(run, ()) if one.motions)
        if (motions := next(each, None)) is not None:
            found[row] = motions
    kinds: dict[str, list[str]] = {}
    for row, motions in found.items():
        kinds.setdefault(repr(sorted(motions.items())), []).append(row)
    if len(kinds) <= 1:
        return MotionsApart()
    has_gap = any("gap_s" in motions for motions in found.values())
    settings = {row: [str(groups[row].settings.get(name)) for name in DECIDING] for row in found}
    differing = [k for k in range(len(DECIDING) - (not has_gap)) if len({own[k] for own in settings.values()}) > 1]
    words = {}
    for first, *others in kinds.values():
        parts = [f"{DECIDING[k]} {settings[first][k]}" for k in differing]
        parts += [f"patterns {', '.join(found[first]['mined'])}"] if found[first]["mined"] else []
        words[f"motions of {first}"] = ", ".join(parts) + (f" (also of {', '.join(others)})" if others else "")
    return MotionsApart({f"motions of {rows[0]}": rows for rows in kinds.values()}, words)
