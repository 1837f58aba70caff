"""`egoequiv reproduce next-view`: the paper's last column, from the runs of another table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, print_table, progress_bar, say

NAME = "next-view"  # of the table's files
PAPER = "temporal,drlim,equiv,equiv+drlim"


def next_view(
    out: Annotated[Path, typer.Argument(help="The folder that `egoequiv reproduce norb` made.")] = Path("norb-table"),
    methods: Annotated[str, typer.Option(help="Which methods with labels, with commas between them.")] = PAPER,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object with `rows`.")] = False,
) -> None:
    """Accuracy from one view and from two, over all repetitions, beside a random and the best possible move."""
    from egoequiv.errors import ConfigError
    from egoequiv.experiments.next_view import next_view_table
    from egoequiv.experiments.run_groups import group_runs
    from egoequiv.report.page.gather import gather, runs_in
    from egoequiv.report.tables import save_table

    wanted = [name.strip() for name in methods.split(",")]
    tables = [exhibit for experiment in gather(out) for exhibit in experiment.exhibits if exhibit.name != NAME]
    behind = [subject.group for subject in tables[0].subjects] if tables else []
    groups = [group for group in behind or group_runs(runs_in(out)) if group.labels]
    runs = {(group.method, True): list(group.runs) for group in groups}
    if len(runs) < len(groups):
        raise ConfigError(f"{out} holds runs of one method with different settings: give the folder of one table")
    for name in wanted:
        if (name, True) not in runs:
            have = ", ".join(method for method, _ in runs) or "none"
            raise ConfigError(f"{out} holds no runs of {name!r} with labels; it has: {have}")
    with progress_bar() as progress:
        table = next_view_table({(name, True): runs[name, True] for name in wanted}, on_stage=progress)
    saved = save_table(table, out, NAME)
    if as_json:
        print_json(table.describe())
    else:
        print_table(table)
    say(f"saved: {', '.join(str(path) for path in saved)}")
