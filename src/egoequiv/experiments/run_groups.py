"""Runs that differ in nothing but their seeds: the repetitions of one experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoequiv.training.config import TrainConfig
from egoequiv.training.run_folder import FREE_TO_CHANGE, RunFolder

SEEDS = ("seed", "pair_seed")
NOT_COMPARED = FREE_TO_CHANGE | {"threads"}  # they say where a run is computed, not what


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
    def labels(self) -> bool:
        return bool(self.settings["use_labels"])

    @property
    def name(self) -> str:
        return self.method if self.labels else f"{self.method} (no labels)"


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


def differing_settings(groups: Sequence[RunGroup]) -> dict[str, list[Any]]:
    """The settings that are not the same in all groups, with the value of each; None where one has no such setting."""
    names = dict.fromkeys(name for group in groups for name in group.settings)
    values = {name: [group.settings.get(name) for group in groups] for name in names}
    return {name: each for name, each in values.items() if any(value != each[0] for value in each)}
