"""What a folder holds: tables, the runs behind their rows, and the command that made them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose, isfinite, nan
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.comparison import check_same_frames
from egoequiv.experiments.record import COMMAND
from egoequiv.experiments.run_groups import RunGroup, group_runs
from egoequiv.experiments.table import compare_rows
from egoequiv.files import read_json
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.training.run_folder import CONFIG, RunFolder

TASKS = "tasks"  # the folder in which what was found of runs is kept
EVALUATION = "evaluation-last.json"
OUT_KIND = "a folder of `egoequiv reproduce`, `egoequiv demo` or `egoequiv train`"


@dataclass(frozen=True, eq=False)
class Subject:
    """A row of a table with the runs behind it, or runs that are in no table."""

    name: str
    group: RunGroup
    tasks: Path  # where what is found of its first run is kept

    @property
    def run(self) -> Path:
        """The repetition that stands for the others where one is looked at."""
        return self.group.runs[0]

    @cached_property
    def metrics(self) -> list[list[dict[str, float]]]:
        """The lines of metrics of each repetition."""
        return [RunFolder(run).metrics() for run in self.group.runs]

    @cached_property
    def result(self) -> dict[str, Any]:
        """The summary of the first repetition; empty while it is not finished."""
        return RunFolder(self.run).result or {}


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table and the runs behind its rows, or runs without a table."""

    name: str  # of the table's file, without its ending; or of the folder
    title: str
    table: Table | None
    subjects: tuple[Subject, ...]


@dataclass(frozen=True, eq=False)
class Experiment:
    """One folder that was made by one command."""

    path: Path
    command: dict[str, Any] | None  # what was recorded of how it was made
    exhibits: tuple[Exhibit, ...]

    @property
    def title(self) -> str:
        return self.exhibits[0].title.split(":")[0]


def gather(out: Path) -> list[Experiment]:
    """Every experiment in a folder, in the order they were begun: itself and those in the folders it holds."""
    if not out.is_dir():
        raise DataError(f"{out} is not a folder: give {OUT_KIND}")
    own = _experiment(out)
    below = [] if (out / CONFIG).exists() else sorted(path for path in out.iterdir() if path.is_dir())
    found = [own, *(_experiment(folder) for folder in below if _tables(folder))]
    experiments = [experiment for experiment in found if experiment is not None]
    if not experiments:
        raise DataError(f"{out} holds no table and no run: give {OUT_KIND}")
    return sorted(experiments, key=lambda experiment: str((experiment.command or {}).get("started", "")))


def _experiment(folder: Path) -> Experiment | None:
    tables = _tables(folder)
    groups = group_runs(runs_in(folder))
    command = read_json(folder / COMMAND, OUT_KIND) if (folder / COMMAND).exists() else None
    exhibits = tuple(_exhibit(folder, name, table, groups) for name, table in tables.items())
    if groups and not any(exhibit.subjects for exhibit in exhibits):
        exhibits = (_exhibit_of_runs(folder, groups), *exhibits)
    return Experiment(folder, command, exhibits) if exhibits else None


def _exhibit_of_runs(folder: Path, groups: Sequence[RunGroup]) -> Exhibit:
    """Runs that no table of the folder was made of."""
    alone = (folder / CONFIG).exists()
    names = _distinct([group.name for group in groups])
    subjects = tuple(
        Subject(name, group, folder / TASKS / _slug(name)) for name, group in zip(names, groups, strict=True)
    )
    title = f"The run {folder.resolve().name}" if alone else f"The runs in {folder.resolve().name}"
    table = table_of_runs(title, subjects)
    return Exhibit(folder.resolve().name, title, table, subjects)


def table_of_runs(title: str, subjects: Sequence[Subject]) -> Table | None:
    """A table of what was measured of runs that are in none; nothing where nothing was."""
    rows = []
    for subject in subjects:
        kept = [run / EVALUATION for run in subject.group.runs]
        measured = [read_json(path, RUN_KIND)["metrics"] if path.exists() else {} for path in kept]
        names = dict.fromkeys(name for metrics in measured for name in metrics)
        values = {name: tuple(_or_nan(metrics.get(name)) for metrics in measured) for name in names}
        rows.append(Row(subject.name, True, {name: Result(each) for name, each in values.items()}))
    columns = tuple(dict.fromkeys(name for row in rows for name in row.metrics if name.startswith(("top", "rho_"))))
    if not columns:
        return None
    tests = [test for metric in columns for test in compare_rows(rows, metric)] if _are_paired(subjects) else []
    return Table(title, columns, rows, tests, _about_runs(subjects[0]))


def _are_paired(subjects: Sequence[Subject]) -> bool:
    """Whether the repetitions of all groups are of the same seeds and were measured on the same frames."""
    groups = [subject.group for subject in subjects]
    if any(group.repetitions != groups[0].repetitions for group in groups):
        return False
    try:
        check_same_frames(groups)
    except EgoEquivError:
        return False
    return True


def _about_runs(subject: Subject) -> dict[str, Any]:
    counted = ("train_frames", "validation_frames", "leaked_validation_frames")
    about = {"store": subject.group.settings["data"], "split": subject.group.settings["split"]}
    return about | {key: subject.result[key] for key in counted if key in subject.result}


def _tables(folder: Path) -> dict[str, Table]:
    """The tables of a folder, those with runs of their own first; other JSON files are not tables."""
    tables = {}
    for path in sorted(folder.glob("*.json")):
        try:
            described = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as problem:
            raise DataError(f"{path} is damaged ({problem}): make it anew") from problem
        if isinstance(described, dict) and {"title", "columns", "rows"} <= described.keys():
            tables[path.stem] = Table.from_description(described, str(path))
    return dict(sorted(tables.items(), key=lambda item: (not _has_settings(item[1]), *_natural(item[0]))))


def _has_settings(table: Table) -> bool:
    return any(row.settings for row in table.rows)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key by which table-6 comes before table-20, and the paper's split before others."""
    return tuple(
        (int(part), "") if part.isdigit() else (-1 if part == "paper" else 0, part) for part in name.split("-")
    )


def runs_in(folder: Path) -> list[Path]:
    """The runs in a folder and in the folders it holds; those of a search, which hold frames back, are not wanted."""
    if (folder / CONFIG).exists():
        return [folder]
    paths = sorted(path.parent for pattern in (f"*/{CONFIG}", f"*/*/{CONFIG}") for path in folder.glob(pattern))
    return [run for run in paths if not read_json(run / CONFIG, RUN_KIND).get("holdout_fraction")]


def _exhibit(folder: Path, name: str, table: Table, groups: Sequence[RunGroup]) -> Exhibit:
    subjects = []
    for row in table.rows:
        group = runs_of_row(row, table.about, groups)
        if group is not None:
            subjects.append(Subject(row.name, group, folder / TASKS / name / _slug(row.name)))
    return Exhibit(name, table.title, table, tuple(subjects))


def runs_of_row(row: Row, about: dict[str, Any], groups: Sequence[RunGroup]) -> RunGroup | None:
    """The runs that a row was measured of: with its settings, and with its values where they were kept."""
    wanted = _flat(dict(row.settings))
    best: tuple[int, int] = (-1, -1)
    chosen = None
    for group in groups:
        if (group.method, group.labels) != (row.method, row.labels):
            continue
        if any(group.settings.get(key) != value for key, value in wanted.items()):
            continue
        agreeing, compared = _agreement(row, group)
        if not agreeing and (compared or not wanted):
            continue  # the same settings on other frames; or a row of something else, such as a summary
        told = sum(group.settings.get(key) == value for key, value in about.items() if key not in wanted)
        if (agreeing, told) > best:
            best, chosen = (agreeing, told), group
    return chosen


def _agreement(row: Row, group: RunGroup) -> tuple[int, int]:
    """How many values of a row are those that were measured of the runs, and of how many both are known."""
    kept = [read_json(run / EVALUATION, RUN_KIND)["metrics"] for run in group.runs if (run / EVALUATION).exists()]
    agreeing = compared = 0
    for name, result in row.metrics.items():
        for value, metrics in zip(result.values, kept, strict=False):
            if metrics.get(name) is not None and isfinite(value):
                compared += 1
                agreeing += isclose(value, metrics[name], rel_tol=1e-9)
    return agreeing, compared


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= {f"{name}.{term}": one for term, one in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _or_nan(value: float | None) -> float:
    return nan if value is None else float(value)


def _distinct(names: list[str]) -> list[str]:
    """Names that differ, by a number behind those that come again."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return distinct


def _slug(name: str) -> str:
    """A name for a folder: letters, digits, + and -."""
    return "-".join("".join(sign if sign.isalnum() or sign == "+" else " " for sign in name).split())
