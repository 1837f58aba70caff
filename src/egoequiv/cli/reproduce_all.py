"""`egoequiv reproduce all`: every table, and the report of them."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.engines import Address, EngineName, Processes


def all_tables(
    norb: Annotated[Path | None, typer.Option(help="The small NORB files; without, the embedded turntable.")] = None,
    kitti: Annotated[Path | None, typer.Option(help="KITTI raw; without, the embedded drive.")] = None,
    scenes: Annotated[Path | None, typer.Option(help="Class folders of scenes; without, the embedded places.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where everything goes.")] = Path("tables"),
    repeats: Annotated[int | None, typer.Option(min=1, help="Repetitions (5).")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Iterations of each run.")] = None,
    methods: Annotated[str | None, typer.Option(help="Which methods, with commas between them.")] = None,
    select: Annotated[bool | None, typer.Option("--select/--no-select", help="As of each table.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Which tasks the report measures; by default all.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small and short, to see it work.")] = False,
    engine: EngineName = "local",
    address: Address = None,
    processes: Processes = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `tables` and `report`.")] = False,
) -> None:
    """All tables, norb, kitti and kitti-scenes, each in a folder of its own, and a report of them on one page.

    Repeat the command to go on after a stop: what is finished is kept in OUT.
    """
    from egoequiv.cli import reproduce
    from egoequiv.errors import ConfigError, DataError
    from egoequiv.evaluation.tasks import TASKS, get_tasks
    from egoequiv.report.page import write_report
    from egoequiv.report.page.gather import gather

    names = tuple(name.strip() for name in tasks.split(",")) if tasks else tuple(TASKS)
    get_tasks(names)  # before the long work begins: a typing error is told at once
    if kitti is not None and scenes is None:
        raise ConfigError("KITTI's video needs pictures to be tried on: give their folder with --scenes")
    for option, path in (("--norb", norb), ("--kitti", kitti), ("--scenes", scenes)):
        if path is not None and not path.exists():  # told now, not after hours of the tables before it
            raise DataError(f"{option} {path} does not exist")
    shared: dict[str, Any] = {"repeats": repeats, "iterations": iterations, "methods": methods, "select": select}
    shared |= {"quick": quick, "engine": engine, "address": address, "processes": processes}
    # With --json the one object is all of stdout; the tables for people go where progress goes.
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        reproduce.norb(data=norb, out=out / "norb", **shared)
        reproduce.kitti(data=kitti, out=out / "kitti", **shared)
        reproduce.kitti_scenes(data=kitti, scenes=scenes, out=out / "scenes", **shared)
    with progress_bar() as progress:
        written = write_report(out, tasks=names, on_progress=progress)
    if as_json:
        tables = {
            f"{experiment.path.name}/{exhibit.name}": exhibit.table.describe()
            for experiment in gather(out)
            for exhibit in experiment.exhibits
            if exhibit.table is not None
        }
        print_json({"tables": tables, "report": str(written)})
    say(f"everything on one page: {written}")
