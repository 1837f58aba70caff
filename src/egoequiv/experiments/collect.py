"""What a folder holds: tables, the runs behind their rows, and the command that made them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError, EgoEquivError
from egoequiv.evaluation.measurement import FOLDER, Measurement, read_measurement
from egoequiv.evaluation.tasks import TASKS, get_tasks
from egoequiv.experiments.measure import BASIC, RunMeasurer, defined
from egoequiv.experiments.record import CommandRecord, read_command
from egoequiv.experiments.run_groups import RunGroup, group_of, group_runs, without_copies
from egoequiv.experiments.runs_table import table_of_runs
from egoequiv.experiments.table import Table
from egoequiv.files import kind_of_folder, wrong_place
from egoequiv.models.checkpoint import MODEL
from egoequiv.training.run_folder import CONFIG, DATA, RunFolder, is_run, runs_in

# What decides which frames of its store a run is measured on, in words.
SPLIT_BY = {"split": "split", "split_seed": "split seed", "train_fraction": "training on", "place_m": "place_m"}
OUT_KIND = "a folder of `egoequiv reproduce`, `demo`, `search` or `train`"
Found = Mapping[tuple[Path, str], Measurement]  # by run and task: measured just now, perhaps not kept


@dataclass(frozen=True, eq=False)
class Subject:
    """A row of a table with the runs behind it, or runs that are in no table."""

    name: str
    group: RunGroup
    found: Found = field(default_factory=dict)

    @property
    def run(self) -> Path:
        """The repetition that represents the others where one is looked at."""
        return self.group.runs[0]

    @cached_property
    def metrics(self) -> list[list[dict[str, float]]]:
        """The lines of metrics of each repetition."""
        return [RunFolder(run).metrics() for run in self.group.runs]

    @cached_property
    def result(self) -> dict[str, Any]:
        """The summary of the first repetition; empty while it is not finished."""
        return RunFolder(self.run).result or {}

    @cached_property
    def _measurers(self) -> dict[Path, RunMeasurer]:
        return {run: RunMeasurer(run) for run in self.group.runs}

    def measurement(self, task: str, run: Path | None = None) -> Measurement | None:
        """What a task measured of the first repetition, or of another one, with the default options."""
        run = run or self.run
        if (run, task) in self.found:
            return self.found[run, task]
        try:
            return self._measurers[run].kept(get_tasks([task])[task])
        except (EgoEquivError, KeyError):
            return None  # without weights nothing can have been measured

    def other_measurements(self) -> list[Measurement]:
        """What other tasks than the built-in ones measured of the first repetition as it is now, by default options.

        Their code need not be there any more: a report shows what was measured, the newest of each task.
        """
        found: dict[str, Measurement] = {}
        paths = [path for path in (self.run / FOLDER).glob("*.json") if path.is_file()]
        for path in sorted(paths, key=lambda one: (one.stat().st_mtime_ns, one.name)):
            try:
                one = Measurement.model_validate_json(path.read_bytes())
                if one.task not in TASKS and self._measurers[self.run].is_own(one):
                    whole = read_measurement(self.run, one.subject)
                    found |= {} if whole is None else {one.task: whole}
            except (ValueError, OSError, EgoEquivError):
                continue  # it can be measured again
        return [found[task] for task in sorted(found)]


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table and the runs behind its rows, or runs that are in no table of the folder."""

    name: str  # of the table's file, without its ending; or runs, table-STORE and so on of runs
    title: str
    table: Table | None
    subjects: tuple[Subject, ...]
    is_of_runs: bool = False
    notes: tuple[str, ...] = ()  # what has to be known of its runs, as sentences

    @property
    def task(self) -> str:
        """The task whose table it is; empty for recognition and equivariance, and for runs."""
        return self.table.task if self.table is not None else ""

    @property
    def part(self) -> str:
        """What distinguishes the tables of one folder: -paper of table-paper, and of the task table retrieval-paper."""
        own = self.task or "table"
        return self.name.removeprefix(own) if self.name.startswith(own) else ""


@dataclass(frozen=True, eq=False)
class Experiment:
    """One folder that was made by one command."""

    path: Path
    command: CommandRecord | None
    exhibits: tuple[Exhibit, ...]
    left_out: tuple[str, ...] = ()  # copies of runs, and folders that look like runs and are none, as sentences

    @property
    def title(self) -> str:
        return self.exhibits[0].title.split(":")[0]

    @property
    def task_exhibits(self) -> tuple[Exhibit, ...]:
        """The tables of tasks over all repetitions."""
        return tuple(one for one in self.exhibits if one.task)

    def tabled_tasks(self, exhibit: Exhibit) -> set[str]:
        """The tasks that were measured over all repetitions of the runs of one exhibit."""
        return {one.task for one in self.task_exhibits if one.part == exhibit.part}


def collect(out: Path, found: Found | None = None) -> list[Experiment]:
    """Every experiment in a folder, in the order they were begun: itself and those in the folders it holds.

    `found` was measured just now: a folder on a read-only disk cannot keep it.
    """
    if not out.is_dir():
        raise DataError(wrong_place(out, OUT_KIND))
    below = [] if is_run(out) else sorted(path for path in out.iterdir() if path.is_dir() and _tables(path))
    each = [_experiment(out, found or {}, elsewhere=below), *(_experiment(folder, found or {}) for folder in below)]
    experiments = [experiment for experiment in each if experiment is not None]
    if not experiments:
        what = "holds no table and no run" if (kind := kind_of_folder(out)) is None else f"is {kind}"
        raise DataError(f"{out} {what}: give {OUT_KIND}")
    return sorted(experiments, key=lambda one: "" if one.command is None else one.command.started)


def _experiment(folder: Path, found: Found, elsewhere: Sequence[Path] = ()) -> Experiment | None:
    """The experiment of one folder, without the runs in folders that are experiments of their own."""
    exhibits = tuple(_exhibit(folder, name, table, found) for name, table in _tables(folder).items())
    left_out = _left_out(folder)
    if not any(exhibit.subjects for exhibit in exhibits):
        groups = group_runs([run for run in runs_in(folder) if not set(elsewhere) & {run, *run.parents}])
        distinct = [without_copies(group) for group in groups]
        left_out += tuple(
            f"Left out: {copy.relative_to(folder)}, which has the settings and the seed of {run.relative_to(folder)}."
            for _, copies in distinct
            for copy, run in copies.items()
        )
        exhibits = (*_exhibits_of_runs(folder, [group for group, _ in distinct], found), *exhibits)
    return Experiment(folder, read_command(folder), exhibits, left_out) if exhibits else None


def _tables(folder: Path) -> dict[str, Table]:
    """The tables of a folder, those with runs first; other JSON files are not tables."""
    if is_run(folder):
        return {}
    tables = {}
    for path in sorted(folder.glob("*.json")):
        try:
            described = json.loads(path.read_bytes())
        except (ValueError, RecursionError, OSError) as problem:
            raise DataError(f"{path} is damaged ({problem}): remove it, or repeat the command that made it") from None
        if isinstance(described, dict) and {"title", "columns", "rows"} <= described.keys():
            tables[path.stem] = Table.load(path)
    return dict(sorted(tables.items(), key=_place))


def _place(item: tuple[str, Table]) -> tuple[Any, ...]:
    """A key by which tables with runs come first, table-6 before table-20, and the paper's split before others."""
    name, table = item
    parts = ((int(p), "") if p.isdecimal() else (-1 if p == "paper" else 0, p) for p in name.split("-"))
    return not any(row.runs for row in table.rows), bool(table.task), tuple(parts)


def _exhibit(folder: Path, name: str, table: Table, found: Found) -> Exhibit:
    rows = {} if table.task else {row.name: row.runs for row in table.rows}
    there = {name: [folder / run for run in runs if is_run(folder / run)] for name, runs in rows.items()}
    subjects = tuple(Subject(name, group_of(runs), found) for name, runs in there.items() if runs)
    return Exhibit(name, table.title, table, subjects)


def _exhibits_of_runs(folder: Path, groups: Sequence[RunGroup], found: Found) -> list[Exhibit]:
    """Runs that no table of the folder was made of, those on the same frames side by side."""
    title = f"The run {folder.resolve().name}" if is_run(folder) else f"The runs in {folder.resolve().name}"
    parts: dict[str, list[RunGroup]] = {}
    for group, frames in zip(groups, _frames_in_words(groups), strict=True):
        parts.setdefault(frames, []).append(group)
    exhibits = []
    for frames, part in zip(parts, _distinct([_slug(frames) for frames in parts]), strict=True):
        names = _names_of(parts[frames], folder)
        subjects = tuple(Subject(name, group, found) for name, group in zip(names, parts[frames], strict=True))
        own_title = f"{title}: on {frames}" if frames else title
        table, notes = _table_of_runs(folder, own_title, subjects)
        name = f"table-{part}" if part else "runs"
        exhibits.append(Exhibit(name, own_title, table, subjects, is_of_runs=True, notes=notes))
    return exhibits


def _table_of_runs(folder: Path, title: str, subjects: Sequence[Subject]) -> tuple[Table | None, tuple[str, ...]]:
    """A table of what was measured of runs, and which of them are not finished or not measured."""
    measured: dict[Path, list[Measurement]] = {}
    unfinished, collapsed = [], []
    for subject in subjects:
        for run in subject.group.runs:
            each = [subject.measurement(task, run) for task in BASIC]
            known = defined([one for one in each if one is not None])
            if known:
                measured[run] = known
            try:
                how_far = RunFolder(run).unfinished()
                collapsed += [f"{run.name} ({gone})"] if (gone := RunFolder(run).collapsed_features) else []
            except EgoEquivError as problem:
                how_far = str(problem)
            if how_far is not None:
                unfinished.append(f"{run.name} ({how_far.removeprefix('not finished: ')})")
    notes = []
    if collapsed:
        notes.append(f"Collapsed in training, so that features hardly differ between images: {', '.join(collapsed)}.")
    if unfinished:
        notes.append(
            f"Not finished: {', '.join(unfinished)}. Such runs count in the means of their rows, but in no paired "
            "test; to finish one: `egoequiv train ... --resume` with its settings."
        )
    missing = [run.name for subject in subjects for run in subject.group.runs if run not in measured]
    if missing and measured:
        notes.append(f"Not measured, and so in no row: {', '.join(missing)}.")
    groups = {subject.name: subject.group for subject in subjects}
    return table_of_runs(title, groups, measured, folder), tuple(notes)


def _left_out(folder: Path) -> tuple[str, ...]:
    """The folders that look like runs and are none, a sentence for each."""
    if is_run(folder):
        return ()
    paths = sorted(path.parent for pattern in (f"*/{CONFIG}", f"*/*/{CONFIG}") for path in folder.glob(pattern))
    return tuple(
        f"Left out: {path.relative_to(folder)}, which has a {CONFIG}, but neither the {DATA} nor the {MODEL} of a run."
        for path in paths
        if not is_run(path)
    )


def _frames_in_words(groups: Sequence[RunGroup]) -> list[str]:
    """The store and the split of each group, as far as they are not the same for all."""
    stores = [str(group.settings["data"]) for group in groups]
    ends = {store: Path(store).name for store in stores}
    are_distinct = len(set(ends.values())) == len(ends)  # two stores of one name are shown with their whole paths
    words = [[ends[store] if are_distinct else store] if len(ends) > 1 else [] for store in stores]
    for key, what in SPLIT_BY.items():
        values = [group.settings[key] for group in groups]
        if len(set(values)) > 1:
            for own, value in zip(words, values, strict=True):
                own.append(f"{what} {value}")
    return [", ".join(own) for own in words]


def _names_of(groups: Sequence[RunGroup], folder: Path) -> list[str]:
    """The method of each group; where it occurs again with other settings, the common name of its folders."""
    methods = [group.name for group in groups]
    places = [[run.relative_to(folder).as_posix() for run in group.runs] for group in groups]
    shared = [_beginning(own) if len(own) > 1 else own[0] for own in places]
    folders = [own if own and shared.count(own) == 1 else place[0] for own, place in zip(shared, places, strict=True)]
    return _distinct([own if methods.count(own) == 1 else at for own, at in zip(methods, folders, strict=True)])


def _beginning(names: Sequence[str]) -> str:
    """What names have in common at their beginning: wide, of wide-0 and wide-1."""
    same = takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False))
    return "".join(signs[0] for signs in same).rstrip("-_,=. /")


def _distinct(names: list[str]) -> list[str]:
    """Names that differ, by a number behind those that occur again."""
    counts = [names[: k + 1].count(name) for k, name in enumerate(names)]
    return [name if count == 1 else f"{name} {count}" for name, count in zip(names, counts, strict=True)]


def _slug(name: str) -> str:
    """A name for a file: letters, digits, + and -."""
    return "-".join("".join(sign if sign.isalnum() or sign == "+" else " " for sign in name).split())
