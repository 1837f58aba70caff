"""`egoequiv reproduce`: the paper's tables."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from egoequiv.cli.console import print_json, print_table, progress_bar, say
from egoequiv.cli.engines import Address, EngineName, Processes
from egoequiv.cli.reproduce_all import all_tables
from egoequiv.cli.reproduce_tasks import tasks

if TYPE_CHECKING:
    from egoequiv.experiments import DrivingOptions, NorbOptions, Table

Options = TypeVar("Options", "NorbOptions", "DrivingOptions")

Repeats = Annotated[int | None, typer.Option(min=1, help="Repetitions (5).")]
Iterations = Annotated[int | None, typer.Option(min=1, help="Iterations of each run.")]
Methods = Annotated[str | None, typer.Option(help="Which methods, with commas between them.")]
Select = Annotated[
    bool | None,
    typer.Option("--select/--no-select", help="Choose rate and weights by greedy search, or use those chosen before."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Small and short, to see it work.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON object with `tables`.")]
PrecisionOption = Annotated[
    Literal["float32", "bfloat16"], typer.Option(help="In which the network computes; bfloat16 is faster.")
]
Kitti = Annotated[
    Path | None, typer.Option("--data", help="KITTI raw, a folder or zip; without it, the embedded drive.")
]

app = typer.Typer(help="Reproduce the paper's tables, beside the published numbers.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command("norb")
def norb(
    data: Annotated[
        Path | None, typer.Option(help="The folder of the small NORB files; without it, the embedded turntable.")
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where runs and tables go.")] = Path("norb-table"),
    repeats: Repeats = None,
    iterations: Iterations = None,
    methods: Methods = None,
    select: Select = None,
    split: Annotated[str, typer.Option(help="paper (random frames) or by-recording.")] = "paper",
    part: Annotated[str, typer.Option(help="training, testing, both or auto.")] = "auto",
    size: Annotated[int | None, typer.Option(min=8, help="Height and width of the images (96).")] = None,
    rows: Annotated[
        Literal["all", "labelled", "unlabelled"], typer.Option(help="Runs with labels, without, or all.")
    ] = "all",
    quick: Quick = False,
    engine: EngineName = "local",
    address: Address = None,
    processes: Processes = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `rows`.")] = False,
) -> None:
    """Recognition of 25 toys from 6 labels each, and equivariance with and without labels.

    Repeat the command to go on after a stop: finished runs are kept in OUT.
    """
    from egoequiv.engines import engine_named
    from egoequiv.experiments import NorbOptions, quick_options, reproduce_norb
    from egoequiv.report.figures import rho_figure, save_figure
    from egoequiv.report.tables import save_table

    with engine_named(engine, processes, address) as workers, progress_bar() as progress:
        options = NorbOptions(out=out, data=data, part=part, split=split, rows=rows, engine=workers, on_stage=progress)
        if quick:
            options = quick_options(options)
        options = _adjusted(options, repeats, iterations, methods, select, size=size)
        _record(out)
        table = reproduce_norb(options)
    saved = save_table(table, out)
    save_figure(rho_figure(table), out / "rho.png")
    if as_json:
        print_json(table.describe())
    else:
        print_table(table)
    say(f"saved: {', '.join(str(path) for path in (*saved, out / 'rho.png'))}")
    _hint(out)


@app.command("kitti")
def kitti(
    data: Kitti = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where runs and tables go.")] = Path("kitti-table"),
    split: Annotated[str, typer.Option(help="paper, by-recording, or both.")] = "both",
    repeats: Repeats = None,
    iterations: Iterations = None,
    methods: Methods = None,
    select: Select = None,
    precision: PrecisionOption = "float32",
    quick: Quick = False,
    engine: EngineName = "local",
    address: Address = None,
    processes: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Recognition of places from 4 labelled frames a class, with a random split of frames and one of whole drives.

    Repeat the command to go on after a stop: finished runs are kept in OUT.
    """
    from egoequiv.engines import engine_named
    from egoequiv.errors import ConfigError
    from egoequiv.experiments.driving import SPLITS, DrivingOptions, quick_driving, reproduce_kitti

    if split not in (*SPLITS, "both"):
        raise ConfigError(f"--split must be paper, by-recording or both, found {split!r}")
    with engine_named(engine, processes, address) as workers, progress_bar() as progress:
        options = DrivingOptions(
            out=out,
            data=data,
            splits=SPLITS if split == "both" else (split,),
            precision=precision,
            engine=workers,
            on_stage=progress,
        )
        if quick:
            options = quick_driving(options)
        options = _adjusted(options, repeats, iterations, methods, select)
        _record(out)
        tables = reproduce_kitti(options)
    names = [f"table-{kind}" for kind in options.splits] + ["splits"]
    _finish(dict(zip(names, tables, strict=False)), out, as_json)


@app.command("kitti-scenes")
def kitti_scenes(
    data: Kitti = None,
    scenes: Annotated[
        Path | None, typer.Option(help="Class folders: CLASS/*.jpg or train|test/CLASS/*.jpg; without, `places`.")
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where runs and tables go.")] = Path("scenes-table"),
    per_class: Annotated[str, typer.Option(help="Labelled images a class, one table for each.")] = "6,20",
    repeats: Repeats = None,
    iterations: Iterations = None,
    methods: Methods = None,
    select: Select = None,
    precision: PrecisionOption = "float32",
    quick: Quick = False,
    engine: EngineName = "local",
    address: Address = None,
    processes: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Recognition of scenes from a few labels a class, with what is learned from driving video."""
    given = {"data": data, "scenes": scenes, "per_class": per_class, "precision": precision}
    _scenes(given, out, False, quick, (engine, processes, address), (repeats, iterations, methods, select), as_json)


@app.command("kitti-sun")
def kitti_sun(
    data: Kitti = None,
    sun: Annotated[Path | None, typer.Option("--sun", help="SUN397 as distributed; without it, `places`.")] = None,
    partition: Annotated[
        int | None, typer.Option(min=1, max=10, help="Of SUN397's partition files; without, a random split.")
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where runs and tables go.")] = Path("sun-table"),
    per_class: Annotated[str, typer.Option(help="Labelled images a class, one table for each.")] = "6,20",
    repeats: Repeats = None,
    iterations: Iterations = None,
    methods: Methods = None,
    select: Select = None,
    precision: PrecisionOption = "float32",
    quick: Quick = False,
    engine: EngineName = "local",
    address: Address = None,
    processes: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Recognition of the 397 classes of SUN from a few labels a class, with what is learned from KITTI."""
    given = {"data": data, "scenes": sun, "partition": partition, "per_class": per_class, "precision": precision}
    _scenes(given, out, True, quick, (engine, processes, address), (repeats, iterations, methods, select), as_json)


def _scenes(
    given: dict[str, Any],
    out: Path,
    is_sun: bool,
    quick: bool,
    workers: tuple[str, int | None, str | None],
    adjust: tuple[Any, ...],
    as_json: bool,
) -> None:
    from egoequiv.engines import engine_named
    from egoequiv.errors import ConfigError
    from egoequiv.experiments.driving import DrivingOptions, quick_driving, reproduce_scenes, scene_options

    try:
        numbers = tuple(int(part) for part in given.pop("per_class").split(","))
    except ValueError:
        raise ConfigError("--per-class must be whole numbers with commas between them, such as 6,20") from None
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ConfigError("--per-class must be different numbers of at least 1, such as 6,20")
    with engine_named(*workers) as engine, progress_bar() as progress:
        options = scene_options(DrivingOptions(out=out, per_class=numbers, engine=engine, on_stage=progress, **given))
        if quick:
            options = quick_driving(options)
        options = _adjusted(options, *adjust)
        _record(out)
        tables = reproduce_scenes(options, is_sun)
    _finish({f"table-{n}": table for n, table in zip(options.per_class, tables, strict=True)}, out, as_json)


def _adjusted(
    options: Options,
    repeats: int | None,
    iterations: int | None,
    methods: str | None,
    select: bool | None,
    **more: int | None,
) -> Options:
    """The options with what was given on the command line in place of the defaults."""
    from dataclasses import replace

    names = tuple(name.strip() for name in methods.split(",")) if methods else None
    given: dict[str, Any] = {"repeats": repeats, "iterations": iterations, "methods": names, "select": select, **more}
    return replace(options, **{name: value for name, value in given.items() if value is not None})


def _finish(tables: dict[str, Table], out: Path, as_json: bool) -> None:
    from egoequiv.report.tables import save_table

    saved = [path for name, table in tables.items() for path in save_table(table, out, name)]
    for note in dict.fromkeys(note for table in tables.values() for note in table.about.get("left_out", [])):
        say(f"note: {note}")
    if as_json:
        print_json({"tables": {name: table.describe() for name, table in tables.items()}})
    else:
        for table in tables.values():
            print_table(table)
    say(f"saved: {', '.join(str(path) for path in saved if path.suffix == '.md')} (and .csv, .tex, .json)")
    _hint(out)


def _record(out: Path) -> None:
    """Keep the command in the folder it makes, for the report."""
    from egoequiv.experiments.record import record_command

    record_command(out, sys.argv[1:])


def _hint(out: Path) -> None:
    say(f"everything on one page: egoequiv report {shlex.quote(str(out))}")


app.command("tasks")(tasks)
app.command("all")(all_tables)
