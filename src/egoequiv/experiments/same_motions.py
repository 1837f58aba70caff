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

# Settings that say which motions there are: how patterns are mined, and from which training frames; the gap is last.
MINING = ("space", "patterns", "clusters", "keep")
TRAINED_ON = ("split", "split_seed", "place_m", "train_fraction", "holdout_split", "holdout_fraction")
DECIDING = (*MINING, *TRAINED_ON, "max_gap_s")
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
    places = {row: store or str(group.settings["data"]) for row, group in groups.items()}
    timed = {place: _has_times(place) for place in set(places.values())}
    settings = {row: _deciding(group, timed[places[row]]) for row, group in groups.items()}
    mined = {row: _mined(group, store) for row, group in groups.items()}
    kept = {row: (str(own.describe()), settings[row][-1]) for row, own in mined.items() if own is not None}
    if len(set(settings.values())) <= 1 and len(set(kept.values())) <= 1:
        return MotionsApart()
    # A run that learns no motion keeps no patterns: it is measured for those that its settings give.
    of_settings: dict[tuple[str, ...], tuple[str, ...]] = {settings[row]: key for row, key in kept.items()}
    kinds: dict[Any, list[str]] = {}
    for row, group in groups.items():
        key = kept.get(row) or _declared(group, places[row], settings[row][-1])
        kinds.setdefault(key or of_settings.get(settings[row], settings[row]), []).append(row)
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


def _has_times(place: str) -> bool:
    try:
        return FrameStore.open(place).times_s is not None
    except EgoEquivError:
        return True  # the store is gone: settings that differ may have mattered


def _deciding(group: RunGroup, is_timed: bool) -> tuple[str, ...]:
    """What a group has of the deciding settings; no gap where frames have no times, because none is measured there."""
    found = [str(group.settings.get(name)) for name in DECIDING]
    return (*found[:-1], found[-1] if is_timed else "")


def _declared(group: RunGroup, place: str, gap: str) -> tuple[str, str] | None:
    """What identifies motions without mining, those of a grid or none at all; None where they are mined, or unknown."""
    try:
        store = FrameStore.open(place)
        name = group.settings.get("space")
        space = store.space if name is None else store.in_space(space_named(name)).space
    except EgoEquivError:
        return None
    if space.axes and not space.named_motions():
        return None
    return str(space.describe()), gap if space.axes else ""
