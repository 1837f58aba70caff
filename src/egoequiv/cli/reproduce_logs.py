"""`egoequiv reproduce doctor` and `visual`: what is measured on logs, not on the data sets of the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, Out, Where, grouped, names_in

Logs = Annotated[
    list[Path] | None, typer.Option("--data", help="A log; repeat it for several. Without it, the embedded drive.")
]
FaultNames = Annotated[list[str] | None, typer.Option("--faults", help="Only faults whose names contain one of these.")]


@grouped
def reproduce_doctor(
    *,
    data: Logs = None,
    out: Out = Path("doctor-table"),
    faults: FaultNames = None,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Put faults into sound logs, and measure which of them `egoequiv doctor` finds, beside two plain checks.

    Recordings are cut into pieces of about 15 s. Repeat the command to go on after a stop: what is finished is kept in
    OUT.

    Example: egoequiv reproduce doctor --data kitti --data tum_fr1_xyz -o doctor-table
    """
    from egoequiv.experiments.faults.experiment import FaultOptions
    from egoequiv.experiments.faults.experiment import reproduce_doctor as measure
    from egoequiv.experiments.record import record_command
    from egoequiv.report.fault_tables import fault_blocks, save_fault_tables

    with where.open() as engine, progress_bar() as progress:
        options = FaultOptions(
            out=out, data=tuple(data or ()), faults=names_in(faults), engine=engine, on_progress=progress
        )
        record_command(out, sys.argv[1:])
        results = measure(options)
    saved = save_fault_tables(results, out)
    if as_json:
        print_json(results.model_dump(mode="json"))
    else:
        show(fault_blocks(results))
    say(f"saved: {', '.join(map(str, saved))}")


@grouped
def reproduce_visual(
    *,
    data: Logs = None,
    out: Out = Path("visual-table"),
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 3,
    iterations: Annotated[int, typer.Option(min=1, help="Iterations of each run.")] = 2_000,
    features: Annotated[
        bool,
        typer.Option("--features/--no-features", help="Train features on either kind of poses, or only compare poses."),
    ] = True,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Compare poses from pictures with the poses of logs, and features that are trained on either.

    Repeat the command to go on after a stop: finished stores, runs and measurements are kept in OUT.

    Example: egoequiv reproduce visual --data kitti --data tum_fr1_xyz -o visual-table
    """
    from egoequiv.cli.tables import show_tables
    from egoequiv.experiments.record import record_command
    from egoequiv.experiments.visual.features import VisualOptions
    from egoequiv.experiments.visual.features import reproduce_visual as measure

    with where.open() as engine, progress_bar() as progress:
        options = VisualOptions(
            out=out,
            data=tuple(data or ()),
            repeats=repeats,
            iterations=iterations,
            features=features,
            engine=engine,
            on_progress=progress,
        )
        record_command(out, sys.argv[1:])
        tables = measure(options)
    show_tables(tables, out, as_json)
