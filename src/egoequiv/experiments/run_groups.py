"""Runs that differ in nothing but their seeds: the repetitions of one experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.method_names import declared_name
from egoequiv.store import FrameStore
from egoequiv.store.label_tables import LabelPlace
from egoequiv.training.config import TrainConfig
from egoequiv.training.run_folder import FREE_TO_CHANGE, RunFolder

SEEDS = ("seed", "pair_seed")
NOT_COMPARED = FREE_TO_CHANGE | {"threads"}  # they say where a run is computed, not what
# What decides which frames of a store a run is measured on.
SPLITTING = (
    "split",
    "label_split",
    "split_seed",
    "place_m",
    "train_fraction",
    "holdout_split",
    "holdout_fraction",
    "label_column",
)
NO_LABELS = " (no labels)"  # behind the names of methods that were trained without


@dataclass(frozen=True)
class RunGroup:
    """Runs with the same settings, in the order of their seeds."""

    settings: dict[str, Any]  # flat, without the seeds
    runs: tuple[Path, ...]
    repetitions: tuple[tuple[int, int], ...]  # the seed and the pair seed of each run

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(seed for seed, _ in self.repetitions)

    @property
    def method(self) -> str:
        return str(self.settings["method"])

    @property
    def uses_labels(self) -> bool:
        return bool(self.settings["use_labels"])

    @property
    def name(self) -> str:
        return row_name(self.method, self.uses_labels)


def row_name(method: str, uses_labels: bool) -> str:
    """How a method is called in tables; of `file.py:name` and `module:name` the name that it declares."""
    return declared_name(method) + ("" if uses_labels else NO_LABELS)


def flat_settings(config: TrainConfig) -> dict[str, Any]:
    """The settings of a run without its seeds, the weights and margins of loss terms one by one."""
    flat: dict[str, Any] = {}
    for name, value in config.model_dump().items():
        if isinstance(value, dict):
            flat |= {f"{name}.{term}": one for term, one in value.items()}
        elif name not in SEEDS and name not in NOT_COMPARED:
            flat[name] = value
    return flat


def group_runs(runs: Sequence[Path]) -> list[RunGroup]:
    """Groups in the order in which their first run is given."""
    groups: dict[str, list[tuple[tuple[int, int], Path]]] = {}
    settings: dict[str, dict[str, Any]] = {}
    for run in runs:
        config = RunFolder(run).config()
        flat = flat_settings(config)
        key = repr(sorted(flat.items()))
        settings[key] = flat
        groups.setdefault(key, []).append(((config.seed, config.pair_seed), run))
    found = []
    for key, members in groups.items():
        ordered = sorted(members, key=lambda member: member[0])
        found.append(RunGroup(settings[key], tuple(r for _, r in ordered), tuple(s for s, _ in ordered)))
    return found


def without_copies(group: RunGroup) -> tuple[RunGroup, dict[Path, Path]]:
    """A group with one run of each seed, the first that is finished, and the others with the run they are copies of."""
    kept: dict[tuple[int, int], Path] = {}
    members = list(zip(group.repetitions, group.runs, strict=True))
    for seeds, run in sorted(members, key=lambda member: not _is_finished(member[1])):
        kept.setdefault(seeds, run)
    copies = {run: kept[seeds] for seeds, run in members if kept[seeds] != run}
    repetitions = tuple(dict.fromkeys(group.repetitions))
    return replace(group, runs=tuple(kept[seeds] for seeds in repetitions), repetitions=repetitions), copies


def _is_finished(run: Path) -> bool:
    try:
        return RunFolder(run).unfinished() is None
    except EgoEquivError:
        return False


def group_of(runs: Sequence[Path]) -> RunGroup:
    """Runs that are known to be repetitions of one experiment, in the given order."""
    configs = [RunFolder(run).config() for run in runs]
    repetitions = tuple((config.seed, config.pair_seed) for config in configs)
    return RunGroup(flat_settings(configs[0]), tuple(runs), repetitions)


def differing_settings(groups: Sequence[RunGroup]) -> dict[str, list[Any]]:
    """The settings that are not the same in all groups, with the value of each; None where one has no such setting."""
    names = dict.fromkeys(name for group in groups for name in group.settings)
    values = {name: [group.settings.get(name) for group in groups] for name in names}
    return {name: each for name, each in values.items() if any(value != each[0] for value in each)}


def have_same_frames(groups: Sequence[RunGroup]) -> bool:
    """Whether all runs are measured on the same frames."""
    try:
        check_same_frames(groups)
    except EgoEquivError:
        return False
    return True


def check_same_frames(groups: Sequence[RunGroup]) -> None:
    """Refuse runs that are measured on different frames: the difference would be one of frames, not of features."""
    for first, other in combinations(groups, 2):  # all with all: where the first has no labels, others still have
        for key, what in (("data", "store"), ("labels", "store of labelled images")):
            places = [group.settings[key] for group in (first, other)]
            if key == "labels" and not (first.uses_labels and other.uses_labels):
                continue
            if places[0] != places[1] and _fingerprint(places[0]) != _fingerprint(places[1]):
                raise ConfigError(
                    f"{first.runs[0]} and {other.runs[0]} were trained on different stores ({what} {places[0]} and "
                    f"{places[1]}): compare runs on the same one, or measure both on a third with --store"
                )
        for key in SPLITTING:
            ours, theirs = first.settings.get(key), other.settings.get(key)
            idle = key == "holdout_split" and not first.settings["holdout_fraction"]
            if ours != theirs and not idle:
                raise ConfigError(
                    f"{first.runs[0]} and {other.runs[0]} validate on different frames ({key}={ours} and {theirs}): "
                    "compare runs with the same split, or measure both on a store with --store"
                )


def _fingerprint(place: str | None) -> str | None:
    if LabelPlace.parse(place):
        return place  # a table of labels: another one gives other labels
    return None if place is None else FrameStore.open(place).fingerprint()
