"""`egoequiv reproduce`: the paper's tables."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import AsJson, MethodNames, Out, Where, grouped, names_in, numbers_in
from egoequiv.cli.report import report_folder, report_tasks
from egoequiv.cli.reproduce_beyond import beyond
from egoequiv.cli.reproduce_logs import reproduce_doctor, reproduce_visual
from egoequiv.cli.tables import described, save_tables, show_tables
from egoequiv.cli.task_options import ALL, TaskNames, TaskSettings, check_hold_out, tasks_in
from egoequiv.errors import ConfigError, DataError, EgoEquivError

if TYPE_CHECKING:
    from egoequiv.experiments import Table

Split = Annotated[str, typer.Option(help="paper (random frames), by-recording, or both.")]
PerClass = Annotated[str, typer.Option(help="Labelled images a class, one table for each.")]

app = typer.Typer(help="Reproduce the paper's tables, beside the published numbers.", no_args_is_help=True)
app.command("doctor")(reproduce_doctor)
app.command("visual")(reproduce_visual)
app.command("beyond")(beyond)


@dataclass(frozen=True)
class Work:
    """How much work a table is, as `ReproduceOptions` takes it."""

    repeats: Annotated[int | None, typer.Option(min=1, show_default="5", help="Repetitions.")] = None
    iterations: Annotated[
        int | None, typer.Option(min=1, show_default="the table's", help="Iterations of each run.")
    ] = None
    methods: MethodNames = None
    select: Annotated[
        bool | None,
        typer.Option(
            "--select/--no-select",
            show_default="select",
            help="Choose rate and weights by greedy search, or use those chosen before.",
        ),
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Small and short, to see it work.")] = False


@dataclass(frozen=True)
class Video:
    """What is learned from driving, as `ReproduceOptions` takes it."""

    data: Annotated[Path | None, typer.Option(help="KITTI raw, a folder or zip; without it, the embedded drive.")] = (
        None
    )
    precision: Annotated[Literal["float32", "bfloat16"], typer.Option(help="The precision of the network.")] = "float32"


@app.command("norb")
@grouped
def norb(
    *,
    data: Annotated[
        Path | None, typer.Option(help="The folder of the small NORB files; without it, the embedded turntable.")
    ] = None,
    out: Out = Path("norb-table"),
    split: Split = "paper",
    part: Annotated[str, typer.Option(help="training, testing, both or auto.")] = "auto",
    size: Annotated[int | None, typer.Option(min=8, show_default="96", help="Height and width of the images.")] = None,
    rows: Annotated[
        Literal["all", "labelled", "unlabelled"], typer.Option(help="Runs with labels, without, or all.")
    ] = "all",
    work: Work,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Recognition of 25 toys from 6 labels each, and equivariance with and without labels.

    Repeat the command to go on after a stop: finished runs are kept in OUT.

    Example: egoequiv reproduce norb --data smallnorb -o norb-table
    """
    given = {"data": data, "part": part, "splits": _splits(split), "rows": rows, "size": size}
    _reproduce("norb", out, given, work, where, as_json)


@app.command("kitti")
@grouped
def kitti(
    *,
    video: Video,
    out: Out = Path("kitti-table"),
    split: Split = "both",
    work: Work,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Recognition of places from 4 labelled frames a class, with a random split of frames and one of whole drives.

    Repeat the command to go on after a stop: finished runs are kept in OUT.

    Example: egoequiv reproduce kitti --data kitti_raw -o kitti-table
    """
    _reproduce("kitti", out, asdict(video) | {"splits": _splits(split)}, work, where, as_json)


@app.command("kitti-scenes")
@grouped
def kitti_scenes(
    *,
    video: Video,
    scenes: Annotated[
        Path | None, typer.Option(help="Class folders: CLASS/*.jpg or train|test/CLASS/*.jpg; without, `places`.")
    ] = None,
    out: Out = Path("scenes-table"),
    per_class: PerClass = "6,20",
    work: Work,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Recognition of scenes from a few labels a class, with what is learned from driving video.

    Example: egoequiv reproduce kitti-scenes --data kitti_raw --scenes scene15 -o scenes-table
    """
    given = asdict(video) | {"scenes": scenes, "per_class": _per_class(per_class)}
    _reproduce("kitti-scenes", out, given, work, where, as_json)


@app.command("kitti-sun")
@grouped
def kitti_sun(
    *,
    video: Video,
    sun: Annotated[Path | None, typer.Option(help="SUN397 as distributed; without it, `places`.")] = None,
    partition: Annotated[
        int | None, typer.Option(min=1, max=10, help="Of SUN397's partition files; without, a random split.")
    ] = None,
    out: Out = Path("sun-table"),
    per_class: PerClass = "6,20",
    work: Work,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Recognition of the 397 classes of SUN from a few labels a class, with what is learned from KITTI.

    Example: egoequiv reproduce kitti-sun --data kitti_raw --sun SUN397 --partition 1 -o sun-table
    """
    given = asdict(video) | {"scenes": sun, "partition": partition, "per_class": _per_class(per_class)}
    _reproduce("kitti-sun", out, given, work, where, as_json)


@app.command("all")
@grouped
def all_tables(
    *,
    norb: Annotated[Path | None, typer.Option(help="The small NORB files; without, the embedded turntable.")] = None,
    kitti: Annotated[Path | None, typer.Option(help="KITTI raw; without, the embedded drive.")] = None,
    scenes: Annotated[Path | None, typer.Option(help="Class folders of scenes; without, the embedded places.")] = None,
    out: Out = Path("tables"),
    task: TaskNames = None,
    work: Work,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """All tables, norb, kitti and kitti-scenes, each in a folder of its own, and a report of them on one page.

    Repeat the command to go on after a stop: what is finished is kept in OUT.

    Example: egoequiv reproduce all --quick -o tables
    """
    names = report_tasks(task)  # a wrong name is reported at once
    if kitti is not None and scenes is None:
        raise ConfigError("KITTI to scenes needs labelled pictures: give their folder with --scenes")
    for option, path in (("--norb", norb), ("--kitti", kitti), ("--scenes", scenes)):
        if path is not None and not path.exists():  # now, not after hours of the tables before it
            raise DataError(f"{option} {path} does not exist")
    each: dict[str, tuple[str, dict[str, Any]]] = {
        "norb": ("norb", {"data": norb}),
        "kitti": ("kitti", {"data": kitti}),
        "scenes": ("kitti-scenes", {"data": kitti, "scenes": scenes}),
    }
    tables: dict[str, Table] = {}
    for folder, (name, given) in each.items():
        made = _make(name, out / folder, given, work, where)
        save_tables(made, out / folder, quiet=as_json)
        tables |= {f"{folder}/{key}": table for key, table in made.items()}
    written, _ = report_folder(out, names, where)
    if as_json:
        print_json({"tables": described(tables), "report": str(written)})
    say(f"everything on one page: {written}")


@app.command("tasks")
@grouped
def tasks(
    folder: Annotated[Path, typer.Argument(help="A folder of `egoequiv reproduce`, or a folder with runs.")],
    *,
    task: TaskNames = None,
    methods: MethodNames = None,
    settings: TaskSettings,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default="the folder itself", help="Where the tables go."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the tasks of `egoequiv evaluate --task` on every run of a folder: mean and standard error by method.

    One table for each task, saved in the folder, and shown by `egoequiv report`. Options other than the defaults are in
    the names of the files (retrieval-hold_out-toy.md). Repeat the command to go on after a stop: what was measured of a
    run is kept in its folder.

    Example: egoequiv reproduce tasks norb-table --task retrieval,prediction
    """
    from egoequiv.evaluation.task import TaskOptions
    from egoequiv.experiments.task_tables import task_tables

    names = tasks_in(task, (ALL,))
    options = TaskOptions(**settings.given())
    if settings.hold_out is not None:
        _check_hold_out(settings.hold_out, folder)
    with progress_bar() as progress:
        found = task_tables(folder, names, methods=names_in(methods) or None, options=options, on_progress=progress)
    for problem in found.problems:
        say(f"not measured: {problem}")
    if not found.tables:
        raise DataError(f"{folder}: none of these tasks could be measured for any method; the reasons are above")
    tables = {path.as_posix(): table for path, table in found.tables.items()}
    show_tables(tables, out or folder, as_json, problems=found.problems)
    if out is None or out == folder:
        _say_report(folder)


def _check_hold_out(hold_out: str, folder: Path) -> None:
    """Refuse an attribute that none of the stores behind a folder has."""
    from egoequiv.experiments.collect import collect
    from egoequiv.store import FrameStore

    places = {str(s.group.settings["data"]) for e in collect(folder) for x in e.exhibits for s in x.subjects}
    stores = []
    for place in sorted(places):
        try:
            stores.append(FrameStore.open(place))
        except EgoEquivError:
            continue  # the tasks say what is wrong
    check_hold_out(hold_out, stores)


def _splits(split: str) -> tuple[str, ...]:
    return ("paper", "by-recording") if split == "both" else (split,)


def _per_class(text: str) -> tuple[int, ...]:
    numbers = numbers_in(text, "--per-class", int)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ConfigError("--per-class must be different numbers of at least 1, such as 6,20")
    return numbers


def _make(name: str, out: Path, given: dict[str, Any], work: Work, where: Where) -> dict[str, Table]:
    """Make the tables of one name in a folder, which keeps the command."""
    from egoequiv.experiments import TABLES, ReproduceOptions
    from egoequiv.experiments.record import record_command

    given |= asdict(work) | {"methods": tuple(names_in(work.methods)) or None}
    with where.open() as engine, progress_bar() as progress:
        options = ReproduceOptions(out=out, engine=engine, on_progress=progress, **given)
        record_command(out, sys.argv[1:])
        return TABLES[name](options)


def _reproduce(name: str, out: Path, given: dict[str, Any], work: Work, where: Where, as_json: bool) -> None:
    show_tables(_make(name, out, given, work, where), out, as_json)
    _say_report(out)


def _say_report(folder: Path) -> None:
    say(f"everything on one page: egoequiv report {shlex.quote(str(folder))}")
