"""`egoequiv reproduce tasks`: what the features are good for, over the repetitions of a table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoequiv.cli.console import print_json, print_table, progress_bar, say
from egoequiv.cli.task_choice import (
    ALL,
    Apart,
    Motions,
    Neighbours,
    Seed,
    Steps,
    check_apart,
    check_motions,
    names_in,
    options_in,
    tasks_in,
)
from egoequiv.errors import ConfigError, DataError, EgoEquivError

if TYPE_CHECKING:
    from egoequiv.evaluation.task import TaskOptions
    from egoequiv.experiments import Table
    from egoequiv.experiments.task_tables import Repetitions
    from egoequiv.report.page.gather import Exhibit
    from egoequiv.store import FrameStore


@dataclass(frozen=True)
class _Asked:
    """An exhibit, the methods of it that are wanted, and where tables of them go."""

    exhibit: Exhibit
    methods: list[Repetitions]
    place: Path  # the folder of the experiment, as seen from the one that was named
    ending: str  # of the names of files: what tells these tables from others in the folder

    def path(self, task: str) -> Path:
        """Such as retrieval, kitti/retrieval-paper or retrieval-apart-toy."""
        return self.place / f"{task}{self.ending}"


def tasks(
    folder: Annotated[Path, typer.Argument(help="A folder of `egoequiv reproduce`, or a folder with runs.")],
    task: Annotated[
        list[str] | None,
        typer.Option(help="Which tasks, with commas between them, or repeated; by default all."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Which methods, with commas between them, or repeated; by default all. A table of some methods only "
            "has them in the name of its file, as in slowness-equiv.md."
        ),
    ] = None,
    motions: Motions = None,
    steps: Steps = None,
    neighbours: Neighbours = None,
    apart: Apart = None,
    seed: Seed = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Where the tables go; by default the folder itself.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `tables`.")] = False,
) -> None:
    """Measure the tasks of `egoequiv evaluate --task` on every run of a folder: mean and standard error by method.

    One table for each task, saved in the folder, and shown by `egoequiv report`. What is not as by default is in the
    names of the files (retrieval-apart-toy.md), so that no table replaces one that was asked for in another way.
    Repeat the command to go on after a stop: what was measured of a run is kept in its folder.
    """
    from egoequiv.evaluation.task import TaskOptions

    names = tasks_in(task or [ALL])
    options = TaskOptions(**options_in(motions, steps, neighbours, apart, seed))
    for name in names if task and ALL not in names_in(task) else ():
        check_motions(name, options.motions)
    asked = list(_asked(folder, names_in(methods) if methods else None, options))
    check_apart(options.apart, _stores(asked))
    tables, problems = _measure(asked, names, options)
    for problem in problems:
        say(f"not measured: {problem}")
    if not tables:
        raise DataError(f"{folder}: none of these tasks could be measured of any method; the reasons are above")
    _tell(tables, problems, folder, out or folder, as_json)


def _asked(folder: Path, wanted: Sequence[str] | None, options: TaskOptions) -> Iterator[_Asked]:
    """All exhibits of a folder that have runs of the methods that are wanted."""
    from egoequiv.report.page.gather import gather

    found = [(e, exhibit) for e in gather(folder) for exhibit in e.exhibits if exhibit.subjects]
    known = {name: None for _, x in found for s in x.subjects for name in (s.name, s.group.method)}
    for name in wanted or ():
        if name not in known:
            raise ConfigError(f"{folder} has no method {name!r} with runs; choose from {', '.join(known)}")
    for experiment, exhibit in found:
        methods = _repetitions(exhibit, wanted)
        if methods:
            some = [name for name in wanted or () if len(methods) < len(exhibit.subjects)]
            place = experiment.path.relative_to(folder)
            yield _Asked(exhibit, methods, place, exhibit.part + _ending(some, options))


def _repetitions(exhibit: Exhibit, wanted: Sequence[str] | None) -> list[Repetitions]:
    """The runs behind the rows of a table, of the methods that are wanted, in the order of the table."""
    from egoequiv.experiments.published import NORB, NORB_NAME
    from egoequiv.experiments.task_tables import Repetitions

    published = NORB if exhibit.table is not None and exhibit.table.published_on == NORB_NAME else {}
    keys = [(subject.group.method, subject.group.labels) for subject in exhibit.subjects]
    own_names = keys if len(set(keys)) == len(keys) else [(subject.name, True) for subject in exhibit.subjects]
    return [
        Repetitions(*key, subject.group.runs, subject.group.repetitions, published.get(key, {}))
        for key, subject in zip(own_names, exhibit.subjects, strict=True)
        if wanted is None or subject.name in wanted or subject.group.method in wanted
    ]


def _ending(methods: Sequence[str], options: TaskOptions) -> str:
    """What is not as by default, for the name of a file: such as -equiv or -apart-toy."""
    from egoequiv.evaluation.task import TaskOptions

    words = [*methods]
    for name in ("motions", "steps", "neighbours", "apart", "seed"):
        value = getattr(options, name)
        if value != getattr(TaskOptions(), name):
            words += [name, *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    return "".join(f"-{word}" for word in " ".join(words).replace("/", " ").replace("(", "").replace(")", "").split())


def _stores(asked: Sequence[_Asked]) -> Iterator[FrameStore]:
    """The stores that can be opened; of others the tasks will say what is wrong."""
    from egoequiv.store import FrameStore

    for data in dict.fromkeys(str(subject.group.settings["data"]) for a in asked for subject in a.exhibit.subjects):
        try:
            store = FrameStore.open(data)
        except EgoEquivError:
            continue
        yield store


def _measure(
    asked: Sequence[_Asked], names: Sequence[str], options: TaskOptions
) -> tuple[dict[Path, Table], list[str]]:
    """The tables by their files, without endings, and what could not be measured."""
    from egoequiv.experiments.comparison import have_same_frames
    from egoequiv.experiments.task_tables import task_tables

    tables: dict[Path, Table] = {}
    problems: list[str] = []
    about = {"motions": ", ".join(options.motions or ()), "steps": options.steps}
    about = {name: value for name, value in about.items() if value}
    with progress_bar() as progress:
        for one in asked:
            table = one.exhibit.table

            def report(what: str, done: int, total: int, name: str = one.exhibit.title) -> None:
                progress(f"{what}, {name}", done, total)

            found = task_tables(
                one.methods,
                names,
                options=options,
                published_on=table.published_on if table is not None else "",
                same_frames=have_same_frames([subject.group for subject in one.exhibit.subjects]),
                on_progress=report,
            )
            tables |= {one.path(t): replace(own, about=own.about | about) for t, own in found.tables.items()}
            problems += found.problems
    return tables, problems


def _tell(tables: dict[Path, Table], problems: list[str], folder: Path, out: Path, as_json: bool) -> None:
    from egoequiv.report.tables import save_table

    saved = [file for path, table in tables.items() for file in save_table(table, out / path.parent, path.name)]
    if as_json:
        described = {path.as_posix(): table.describe() for path, table in tables.items()}
        print_json({"tables": described, "problems": problems})
    else:
        is_clear = len({table.title for table in tables.values()}) == len(tables)
        for path, table in tables.items():
            print_table(table if is_clear else replace(table, title=f"{table.title} ({path.as_posix()})"))
    say(f"saved: {', '.join(str(path) for path in saved if path.suffix == '.md')} (and .csv, .tex, .json)")
    if out == folder:
        say(f"everything on one page: egoequiv report {shlex.quote(str(folder))}")
