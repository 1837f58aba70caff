"""`egoequiv reproduce`: the paper's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from egoequiv.cli.console import print_json, print_table, progress_bar, say

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
    repeats: Annotated[int | None, typer.Option(min=1, help="Repetitions (5).")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Iterations of each run.")] = None,
    methods: Annotated[str | None, typer.Option(help="Which methods, with commas between them.")] = None,
    select: Annotated[
        bool | None,
        typer.Option(
            "--select/--no-select", help="Choose rate and weights by greedy search, or use those chosen before."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="paper (random frames) or by-recording.")] = "paper",
    part: Annotated[str, typer.Option(help="training, testing, both or auto.")] = "auto",
    size: Annotated[int | None, typer.Option(min=8, help="Height and width of the images (96).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small and short, to see it work.")] = False,
    processes: Annotated[int | None, typer.Option(min=1, help="Runs at a time; by default one for each core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `rows`.")] = False,
) -> None:
    """Recognition of 25 toys from 6 labels each, and equivariance with and without labels.

    Repeat the command to go on after a stop: finished runs are kept in OUT.
    """
    from dataclasses import replace

    from egoequiv.experiments import NorbOptions, quick_options, reproduce_norb
    from egoequiv.report.figures import rho_figure, save_figure
    from egoequiv.report.tables import save_table

    with progress_bar() as progress:
        options = NorbOptions(out=out, data=data, part=part, split=split, processes=processes, on_stage=progress)
        if quick:
            options = quick_options(options)
        names = tuple(name.strip() for name in methods.split(",")) if methods else None
        given: dict[str, Any] = {"repeats": repeats, "iterations": iterations, "methods": names}
        given |= {"select": select, "size": size}
        options = replace(options, **{name: value for name, value in given.items() if value is not None})
        table = reproduce_norb(options)
    saved = save_table(table, out)
    save_figure(rho_figure(table), out / "rho.png")
    if as_json:
        print_json(table.describe())
    else:
        print_table(table)
    say(f"saved: {', '.join(str(path) for path in (*saved, out / 'rho.png'))}")
