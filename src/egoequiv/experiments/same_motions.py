"""Which rows of a table are of the same motions: rho of others is another quantity, and has columns of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from egoequiv.errors import EgoEquivError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Value
from egoequiv.experiments.run_groups import RunGroup
from egoequiv.experiments.table import MOTIONS_APART
from egoequiv.pairs import MinedPatterns
from egoequiv.pose import space_named
from egoequiv.store import FrameStore
from egoequiv.training.open_run import open_run
from egoequiv.training.run_folder import RunFolder

DECIDING = ("space", "patterns", "clusters", "keep", "max_gap_s")  # settings that say which motions there are
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


def motions_apart(groups: Mapping[str, RunGroup], store: str | None = None) -> MotionsApart:
    """Which groups are measured for the same motions: of one space, declared, or mined with the same centres.

    Args:
        groups: The repetitions of each row, by its name.
        store: The store that they are measured on, where it is not their own.
    """
    settings = {row: tuple(str(group.settings.get(name)) for name in DECIDING) for row, group in groups.items()}
    mined = {row: _mined(group, store) for row, group in groups.items()}
    kept = {row: (str(own.describe()), settings[row][-1]) for row, own in mined.items() if own is not None}
    if len(set(settings.values())) <= 1 and len(set(kept.values())) <= 1:
        return MotionsApart()
    # A run that learns no motion keeps no patterns: it is measured for those that its settings give.
    of_settings: dict[tuple[str, ...], tuple[str, ...]] = {settings[row]: key for row, key in kept.items()}
    kinds: dict[Any, list[str]] = {}
    for row, group in groups.items():
        key = kept.get(row) or _declared(group, store) or of_settings.get(settings[row], settings[row])
        kinds.setdefault(key, []).append(row)
    if len(kinds) <= 1:
        return MotionsApart()
    differing = [k for k in range(len(DECIDING)) if len({own[k] for own in settings.values()}) > 1]
    words = {}
    for rows in kinds.values():
        parts = [f"{DECIDING[k]} {settings[rows[0]][k]}" for k in differing]
        patterns = next((own for row in rows if (own := mined[row]) is not None), None)
        parts += [f"patterns {', '.join(patterns.names)}"] if patterns is not None else []
        words[f"motions of {rows[0]}"] = ", ".join(parts) + (f" (also of {', '.join(rows[1:])})" if rows[1:] else "")
    return MotionsApart({f"motions of {rows[0]}": rows for rows in kinds.values()}, words)


def _mined(group: RunGroup, store: str | None) -> MinedPatterns | None:
    """The patterns that runs have kept; on another store, runs without them mine those of that store."""
    try:
        kept = RunFolder(group.runs[0]).patterns()
        found = open_run(group.runs[0], store=store).patterns if kept is None and store is not None else kept
        return found if isinstance(found, MinedPatterns) else None
    except EgoEquivError:
        return None  # whatever needs the patterns says what is wrong with them


def _declared(group: RunGroup, place: str | None) -> tuple[str, str] | None:
    """What identifies the motions that a grid declares; None where motions are mined, or the store is gone."""
    try:
        store = FrameStore.open(place or str(group.settings["data"]))
        name = group.settings.get("space")
        space = store.space if name is None else store.in_space(space_named(name)).space
    except EgoEquivError:
        return None
    gap = "" if store.times_s is None else str(group.settings.get("max_gap_s"))
    return (str(space.describe()), gap) if space.named_motions() else None
