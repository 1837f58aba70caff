"""What a folder holds: tables, the runs behind their rows, and the command that made them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from math import isclose, isfinite
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError
from egoequiv.experiments import Row, Table
from egoequiv.experiments.evaluations import kept_evaluation, read_evaluation
from egoequiv.experiments.record import COMMAND
from egoequiv.experiments.run_groups import RunGroup, group_runs
from egoequiv.files import read_json
from egoequiv.report.page.runs_table import Evaluations, table_of_runs
from egoequiv.training.run_folder import RunFolder, is_run, runs_in

TASKS = "tasks"  # the folder in which what was found of runs is kept
RUNS = "runs"  # the name of an exhibit that is no table of its folder
# What decides which frames of its store a run is measured on, in words.
SPLIT_BY = {"split": "split", "split_seed": "split seed", "train_fraction": "training on"}
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

    name: str  # of the table's file, without its ending; or runs, table-STORE and so on of runs
    title: str
    table: Table | None
    subjects: tuple[Subject, ...]
    evaluations: Evaluations | None = None  # of runs that are in no table of the folder: what was measured of them

    @property
    def task(self) -> str | None:
        """The task that a table of `egoequiv reproduce tasks` is of; None for all other tables."""
        task = self.table.about.get("task") if self.table is not None else None
        return str(task) if task is not None and self.title == f"Task {task}" else None

    @property
    def part(self) -> str:
        """What tells the tables of one folder apart: -paper of table-paper, and of the task table retrieval-paper."""
        own = self.task or "table"
        return self.name.removeprefix(own) if self.name.startswith(own) else ""


@dataclass(frozen=True, eq=False)
class Experiment:
    """One folder that was made by one command."""

    path: Path
    command: dict[str, Any] | None  # what was recorded of how it was made
    exhibits: tuple[Exhibit, ...]

    @property
    def title(self) -> str:
        return self.exhibits[0].title.split(":")[0]

    @property
    def task_exhibits(self) -> tuple[Exhibit, ...]:
        """The tables of tasks over all repetitions."""
        return tuple(exhibit for exhibit in self.exhibits if exhibit.task is not None)

    def tabled_tasks(self, exhibit: Exhibit) -> set[str]:
        """The tasks that were measured over all repetitions of the runs of one exhibit."""
        return {own.task for own in self.task_exhibits if own.task is not None and own.part == exhibit.part}


def gather(out: Path) -> list[Experiment]:
    """Every experiment in a folder, in the order they were begun: itself and those in the folders it holds."""
    if not out.is_dir():
        raise DataError(f"{out} is not a folder: give {OUT_KIND}")
    below = [] if is_run(out) else sorted(path for path in out.iterdir() if path.is_dir() and _tables(path))
    own = _experiment(out, elsewhere=below)
    found = [own, *(_experiment(folder) for folder in below)]
    experiments = [experiment for experiment in found if experiment is not None]
    if not experiments:
        raise DataError(f"{out} holds no table and no run: give {OUT_KIND}")
    return sorted(experiments, key=lambda experiment: str((experiment.command or {}).get("started", "")))


def _experiment(folder: Path, elsewhere: Sequence[Path] = ()) -> Experiment | None:
    """The experiment of one folder, without the runs in folders that are experiments of their own."""
    tables = _tables(folder)
    groups = group_runs([run for run in runs_in(folder) if not set(elsewhere) & {run, *run.parents}])
    command = _command(folder / COMMAND) if (folder / COMMAND).exists() else None
    exhibits = tuple(_exhibit(folder, name, table, groups) for name, table in tables.items())
    if groups and not any(exhibit.subjects for exhibit in exhibits):
        exhibits = (*_exhibits_of_runs(folder, groups), *exhibits)
    return Experiment(folder, command, exhibits) if exhibits else None


def _command(path: Path) -> dict[str, Any]:
    """What was recorded of how a folder was made."""
    command = read_json(path, OUT_KIND)
    is_sound = {
        "command": isinstance(command.get("command"), str),
        "versions": isinstance(command.get("versions", {}), dict),
        "earlier": isinstance(command.get("earlier", []), list),
    }
    wrong = [name for name, is_right in is_sound.items() if not is_right]
    if wrong:
        raise DataError(
            f"{path} is damaged (no {wrong[0]}, or one of another kind): remove it, or make the folder anew"
        )
    return command


def _exhibits_of_runs(folder: Path, groups: Sequence[RunGroup]) -> list[Exhibit]:
    """Runs that no table of the folder was made of, those on the same frames side by side."""
    title = f"The run {folder.resolve().name}" if is_run(folder) else f"The runs in {folder.resolve().name}"
    parts: dict[str, list[RunGroup]] = {}
    for group, frames in zip(groups, _frames_in_words(groups), strict=True):
        parts.setdefault(frames, []).append(group)
    exhibits = []
    for frames, part in zip(parts, _distinct([_slug(frames) for frames in parts]), strict=True):
        names = _names_of(parts[frames], folder)
        subjects = tuple(
            Subject(name, group, folder / TASKS / part / slug)
            for name, group, slug in zip(names, parts[frames], _distinct([_slug(name) for name in names]), strict=True)
        )
        own_title = f"{title}: on {frames}" if frames else title
        # Named as the tables of a folder are, so that tables of tasks are told apart in the same way.
        exhibit = Exhibit(f"table-{part}" if part else RUNS, own_title, None, subjects)
        exhibits.append(with_evaluations(exhibit, _kept_evaluations(subjects)))
    return exhibits


def _kept_evaluations(subjects: Sequence[Subject]) -> Evaluations:
    """What was measured before of the weights that the runs have now."""
    found = {run: kept_evaluation(run) for subject in subjects for run in subject.group.runs}
    return {run: kept for run, kept in found.items() if kept is not None}


def with_evaluations(exhibit: Exhibit, evaluations: Evaluations) -> Exhibit:
    """Runs that are in no table of the folder, with a table of what was measured of them."""
    groups = {subject.name: subject.group for subject in exhibit.subjects}
    return replace(exhibit, table=table_of_runs(exhibit.title, groups, evaluations), evaluations=evaluations)


def _frames_in_words(groups: Sequence[RunGroup]) -> list[str]:
    """The store and the split of each group, as far as they are not the same for all."""
    stores = [str(group.settings["data"]) for group in groups]
    ends = {store: Path(store).name for store in stores}
    are_told = len(set(ends.values())) == len(ends)  # two stores of one name are told by their whole paths
    words = [[ends[store] if are_told else store] if len(ends) > 1 else [] for store in stores]
    for key, what in SPLIT_BY.items():
        values = [group.settings[key] for group in groups]
        if len(set(values)) > 1:
            for own, value in zip(words, values, strict=True):
                own.append(f"{what} {value}")
    return [", ".join(own) for own in words]


def _names_of(groups: Sequence[RunGroup], folder: Path) -> list[str]:
    """The method of each group; where it comes again with other settings, what the folders of its runs are called."""
    methods = [group.name for group in groups]
    places = [[run.relative_to(folder).as_posix() for run in group.runs] for group in groups]
    shared = [_beginning(own) if len(own) > 1 else own[0] for own in places]
    folders = [own if own and shared.count(own) == 1 else place[0] for own, place in zip(shared, places, strict=True)]
    return _distinct([own if methods.count(own) == 1 else at for own, at in zip(methods, folders, strict=True)])


def _beginning(names: Sequence[str]) -> str:
    """What names have in common at their beginning: wide, of wide-0 and wide-1."""
    same = takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False))
    return "".join(signs[0] for signs in same).rstrip("-_,=. /")


def _tables(folder: Path) -> dict[str, Table]:
    """The tables of a folder, those with runs of their own first; other JSON files are not tables."""
    if is_run(folder):
        return {}  # its files are read where they are wanted
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
    kept = [one["metrics"] for run in group.runs if (one := read_evaluation(run)) is not None]
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
