"""`egoequiv demo`: the whole line on a small embedded world."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, print_table, progress_bar, say


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Where everything goes.")] = Path("demo"),
    iterations: Annotated[int, typer.Option(min=1, help="Iterations of each run.")] = 3_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `rows`.")] = False,
) -> None:
    """Render toys on a turntable, train clsnet, drlim and equiv, and show what the features are worth."""
    from egoequiv.experiments import NorbOptions, reproduce_norb
    from egoequiv.experiments.record import record_command
    from egoequiv.report.figures import rho_figure, save_figure
    from egoequiv.report.pictures import contact_sheet, save_picture
    from egoequiv.report.tables import save_table
    from egoequiv.store import FrameStore

    methods = ("random", "clsnet", "drlim", "equiv")
    with progress_bar() as progress:
        options = NorbOptions(
            out,
            methods=methods,
            repeats=2,
            iterations=iterations,
            size=32,
            lightings=2,
            select=False,
            on_stage=progress,
        )
        record_command(out, sys.argv[1:])
        table = reproduce_norb(options)
    saved = save_table(table, out)
    save_figure(rho_figure(table), out / "rho.png")
    store = FrameStore.open(out / "stores" / "turntable-2-32")
    save_picture(contact_sheet(store, rows=25), out / "toys.png")
    if as_json:
        print_json(table.describe())
    else:
        print_table(table)
    say(f"look at {out / 'toys.png'} (the toys) and {out / 'rho.png'} (rho for each motion); {saved[0]}")
    say("what to try next:")
    say(f"  egoequiv report {shlex.quote(str(out))}   (one page with all of it, and what the features are good for)")
    say(f"  egoequiv info {store.path}")
    say(f"  egoequiv train {store.path} --method equiv --no-labels -o my-run && egoequiv evaluate my-run")
    say("  egoequiv reproduce norb --data FOLDER_OF_SMALL_NORB -o norb-table   (the paper's table)")
