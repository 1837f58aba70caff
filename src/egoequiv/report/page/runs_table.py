"""A table of runs that are in none, from what was measured of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.comparison import have_same_frames
from egoequiv.experiments.run_groups import RunGroup
from egoequiv.experiments.table import COUNTS, compare_rows
from egoequiv.files import or_nan
from egoequiv.training.run_folder import RunFolder

Evaluations = Mapping[Path, Mapping[str, Any]]  # by run


@dataclass(frozen=True, eq=False)
class Measured:
    """The repetitions of a group that were measured, by their seeds."""

    name: str
    group: RunGroup
    metrics: dict[tuple[int, int], Mapping[str, float | None]]
    finished: tuple[tuple[int, int], ...]

    def row(self, repetitions: list[tuple[int, int]]) -> Row:
        """The values of some repetitions."""
        each = [self.metrics[one] for one in repetitions]
        names = dict.fromkeys(name for metrics in each for name in metrics)
        values = {name: Result(tuple(or_nan(metrics.get(name)) for metrics in each)) for name in names}
        return Row(self.name, True, values, unfinished=sum(one not in self.finished for one in repetitions))


def table_of_runs(title: str, groups: Mapping[str, RunGroup], evaluations: Evaluations) -> Table | None:
    """A table of what was measured of runs; nothing where nothing was. Runs that were not measured have no place in it.

    Two groups are tested on the finished repetitions that both have, so that a run still in training decides nothing.
    """
    measured = [_measured(name, group, evaluations) for name, group in groups.items()]
    measured = [one for one in measured if one.metrics]
    rows = [one.row(list(one.metrics)) for one in measured]
    columns = tuple(dict.fromkeys(name for row in rows for name in row.metrics if name.startswith(("top", "rho_"))))
    if not columns:
        return None
    pairs = [_pair(a, b) for a, b in combinations(measured, 2) if have_same_frames([a.group, b.group])]
    tests = [test for metric in columns for pair in pairs for test in compare_rows(pair, metric)]
    return Table(title, columns, rows, tests, _about(measured[0].group))


def _measured(name: str, group: RunGroup, evaluations: Evaluations) -> Measured:
    members = [(seeds, run) for seeds, run in zip(group.repetitions, group.runs, strict=True) if run in evaluations]
    finished = tuple(seeds for seeds, run in members if RunFolder(run).result is not None)
    return Measured(name, group, {seeds: evaluations[run]["metrics"] for seeds, run in members}, finished)


def _pair(a: Measured, b: Measured) -> list[Row]:
    common = [one for one in a.finished if one in b.finished]
    return [a.row(common), b.row(common)]


def _about(group: RunGroup) -> dict[str, Any]:
    results = [RunFolder(run).result or {} for run in group.runs]
    told = next((result for result in results if result), {})
    about = {"store": group.settings["data"], "split": group.settings["split"]}
    return about | {key: told[key] for key in COUNTS if key in told}
