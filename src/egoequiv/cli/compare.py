"""`egoequiv compare`: runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson
from egoequiv.cli.stores import fetch
from egoequiv.errors import ConfigError, DataError
from egoequiv.files import kind_of_folder

MOST_NAMED = 8  # of what is no run


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="The folders of two or more runs, or folders that hold runs; other folders are ignored."),
    ],
    store: Annotated[
        str | None, typer.Option(help="Measure rho over all frames of this store, not on the validation frames.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs: the settings that differ, what was measured, and paired tests.

    Runs that differ in the seed alone are repetitions of one experiment, and are tested seed by seed. Where there are
    fewer than three, the answers to the same validation frames are compared instead.

    Example: egoequiv compare run-equiv run-drlim
    """
    from egoequiv.experiments.comparison import compare_runs
    from egoequiv.report.measurement_blocks import comparison_blocks

    found = _runs_of(runs)
    fetch(store)
    with progress_bar() as progress:
        compared = compare_runs(found, store, progress)
    if as_json:
        print_json(compared.model_dump(mode="json"))
    else:
        show(comparison_blocks(compared))


def _runs_of(paths: Sequence[Path]) -> list[Path]:
    """The runs that are meant: those named, and those in the folders named; what is neither is reported."""
    from egoequiv.training.run_folder import runs_in

    found: list[Path] = []
    left_out: list[str] = []
    for path in dict.fromkeys(paths):
        if not path.exists():
            raise DataError(f"{path} does not exist: give the folder of a run, or one that holds runs")
        runs = runs_in(path) if path.is_dir() else []
        found += runs
        if not runs:
            left_out.append(f"{path} ({(kind_of_folder(path) or 'holds no run') if path.is_dir() else 'a file'})")
    more = len(left_out) - MOST_NAMED
    said = f"left out: {', '.join(left_out[:MOST_NAMED])}{f' and {more} more' if more > 0 else ''}" if left_out else ""
    if len(set(found)) < 2:
        found_else = f"; {said}" if said else ""
        raise ConfigError(f"give two or more different runs to compare, found {len(set(found))}{found_else}")
    if said:
        say(said)
    return found
