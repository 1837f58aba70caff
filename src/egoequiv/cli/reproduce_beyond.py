"""`egoequiv reproduce beyond`: methods of today beside those of the paper."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import AsJson, MethodNames, Out, Where, grouped, names_in
from egoequiv.cli.task_options import TaskNames

if TYPE_CHECKING:
    from egoequiv.evaluation.task import OnProgress
    from egoequiv.experiments.beyond.worlds import World
    from egoequiv.experiments.table import Table

Data = Path | None
SettingNames = Annotated[
    list[str] | None,
    typer.Option("--settings", help="Only these settings, separated by commas; without it, all whose data is given."),
]


@dataclass(frozen=True)
class DataSets:
    """Where the data of the settings is."""

    norb: Annotated[Data, typer.Option(help="The small NORB files: norb-light, norb-toys, norb-paper.")] = None
    kitti: Annotated[Data, typer.Option(help="KITTI raw, for kitti-scenes and kitti-pictures.")] = None
    scenes: Annotated[Data, typer.Option(help="Class folders of scenes, for the same two.")] = None
    tub: Annotated[Data, typer.Option(help="A Donkeycar tub.")] = None
    seven_scenes: Annotated[Data, typer.Option("--seven-scenes", help="A sequence or scene of 7-Scenes.")] = None

    def paths(self) -> dict[str, Data]:
        """By the names of the options."""
        return {name.replace("_", "-"): path for name, path in vars(self).items()}


@grouped
def beyond(
    *,
    data: DataSets,
    settings: SettingNames = None,
    methods: MethodNames = None,
    task: TaskNames = None,
    out: Out = Path("beyond-tables"),
    repeats: Annotated[
        int | None,
        typer.Option("--repetitions", "--repeats", min=1, show_default="5", help="Repetitions."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, show_default="each method's", help="Iterations of each run.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small and short, to see it work.")] = False,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Methods of today beside those of the paper: recognition, equivariance and use, on splits without leakage.

    The embedded worlds need no data. Other settings are made if their data is given. Repeat the command to go on after
    a stop: finished runs and measurements are kept in OUT.

    Example: egoequiv reproduce beyond --norb smallnorb --settings norb-light,turntable -o beyond-tables
    """
    from egoequiv.cli.tables import described
    from egoequiv.experiments.beyond.experiment import BeyondOptions, plan_beyond
    from egoequiv.experiments.record import record_command

    made: dict[str, Any] = {}
    bar: list[OnProgress] = []  # that of the setting which is being made
    with where.open() as engine:
        options = BeyondOptions(
            out=out,
            paths=data.paths(),
            settings=names_in(settings) or None,
            methods=names_in(methods) or None,
            tasks=names_in(task) or None,
            repeats=repeats,
            iterations=iterations,
            quick=quick,
            engine=engine,
            on_progress=lambda what, done, total: bar[-1](what, done, total),
        )
        plan = plan_beyond(options)
        for note in plan.notes:
            say(f"note: {note}")
        record_command(out, sys.argv[1:])
        each = plan.tables()
        for world in plan.worlds:
            with progress_bar() as progress:
                bar.append(progress)
                tables = next(each)
            _show(world, tables, out, as_json)
            made |= tables
    if as_json:
        print_json({"tables": described(made), "left_out": list(plan.notes)})


def _show(world: World, tables: dict[str, Table], out: Path, as_json: bool) -> None:
    """Show and save the tables of a setting, and the figure of recognition against rho."""
    from egoequiv.cli.tables import save_tables
    from egoequiv.report.figures.drawing import save_figure
    from egoequiv.report.figures.trade_off import trade_off

    save_tables(tables, out, quiet=as_json)
    figure = trade_off(world.title, list(tables.values()))
    if figure is not None:
        say(f"saved: {save_figure(figure, out / f'{world.name}.png')}")
