"""`egoequiv demo`: the whole line on a small embedded world."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import progress_bar, say
from egoequiv.cli.options import AsJson, Out
from egoequiv.cli.tables import show_tables

METHODS = ("random", "clsnet", "drlim", "equiv", "recording+motion")


def demo(
    out: Out = Path("demo"),
    iterations: Annotated[int, typer.Option(min=1, help="Iterations of each run.")] = 3_000,
    as_json: AsJson = False,
) -> None:
    """Render toys on a turntable, train four methods on them, and compare their features.

    Example: egoequiv demo -o demo
    """
    from egoequiv.experiments import ReproduceOptions
    from egoequiv.experiments.norb import reproduce_norb
    from egoequiv.experiments.record import record_command
    from egoequiv.report.pictures import contact_sheet, save_picture
    from egoequiv.store import FrameStore

    with progress_bar() as progress:
        record_command(out, sys.argv[1:])
        tables = reproduce_norb(
            ReproduceOptions(out, methods=METHODS, quick=True, iterations=iterations, on_progress=progress)
        )
    saved = show_tables(tables, out, as_json)
    store = FrameStore.open(out / "stores" / "turntable-2-32")
    save_picture(contact_sheet(store, rows=25), out / "toys.png")
    say(f"look at {out / 'toys.png'} (the toys) and {out / 'rho.png'} (rho for each motion); {saved[0]}")
    say("what to try next:")
    say(f"  egoequiv report {shlex.quote(str(out))}   (one page with all of it, and what the features are good for)")
    rows = [row for table in tables.values() for row in table.rows if row.method == METHODS[-1] and row.runs]
    if rows:
        run = min(rows, key=lambda row: row.uses_labels).runs[0]
        place = shlex.quote(str(store.path))
        say(f"  egoequiv serve {shlex.quote(str(out / run))} --store {place}   (explore it in a browser)")
    say(f"  egoequiv info {store.path}")
    say(f"  egoequiv train {store.path} --no-labels -o my-run && egoequiv evaluate my-run")
    say("  egoequiv reproduce norb --data FOLDER_OF_SMALL_NORB -o norb-table   (the paper's table)")
