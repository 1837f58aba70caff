"""Which rows of a table are of the same motions: rho of others is another quantity, and has columns of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Value
from egoequiv.experiments.run_groups import RunGroup
from egoequiv.experiments.table import MOTIONS_APART

# Settings that say which motions there are: how patterns are mined, and from which training frames; the gap is last.
MINING = ("space", "patterns", "clusters", "keep")
TRAINED_ON = ("split", "split_seed", "place_m", "train_fraction", "holdout_split", "holdout_fraction")
DECIDING = (*MINING, *TRAINED_ON, "max_gap_s")
Measured = Mapping[Path, Sequence[Measurement]]  # by run
WITHOUT_MOTIONS = ("recognition", "slowness")  # tasks whose numbers are the same whatever the motions are


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
