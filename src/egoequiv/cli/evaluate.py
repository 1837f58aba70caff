"""`egoequiv evaluate`: the figures of a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from egoequiv.cli.console import output, print_json


class Checkpoint(StrEnum):
    """Which weights of a run."""

    last = "last"
    best = "best"


def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    store: Annotated[Path | None, typer.Argument(help="Another store: rho over all of its frames.")] = None,
    checkpoint: Annotated[
        Checkpoint, typer.Option(help="The last weights, or the best on validation.")
    ] = Checkpoint.last,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Measure recognition, and the equivariance error rho of each motion, on the validation frames of a run.

    With a STORE, rho over all frames of that store. The best checkpoint was chosen on the validation frames, so its
    accuracy there is flattered; the last one was not chosen by anything.
    """
    from egoequiv.experiments.measure import measure_run, measure_store
    from egoequiv.report.tables import title_of

    which: Literal["last", "best"] = "best" if checkpoint is Checkpoint.best else "last"
    measured = measure_store(run, store, which) if store else measure_run(run, which)
    if as_json:
        method = measured["method"]
        metrics = {
            name: {"mean": value, "stderr": None, "published": None} for name, value in measured["metrics"].items()
        }
        print_json(
            {"rows": [{"method": method, "labels": measured["labels"], "metrics": metrics}], **_details(measured)}
        )
        return
    console = output()
    for name, value in measured["metrics"].items():
        if name.startswith("top"):
            console.print(f"{title_of(name).removesuffix(' %')} {value:.2f} %")
    table = Table("motion", "rho", "95 % interval", "ratio of means", "pairs fitted", "scored", "left out")
    for motion in measured["motions"]:
        low, high = motion["interval"]
        table.add_row(
            escape(motion["motion"]),
            _number(motion["rho"]),
            f"{_number(low)} to {_number(high)}",
            _number(motion["ratio_of_means"]),
            str(motion["pairs_fitted"]),
            str(motion["pairs_scored"]),
            str(motion["pairs_excluded"]),
        )
    console.print(table)
    for motion in measured["motions"]:
        if motion["rho"] is None:
            few = motion["pairs_fitted"] == 0
            reason = (
                f"{motion['pairs_scored']} pairs are too few to fit and measure a map: take more or longer recordings"
                if few
                else "all pairs have the same features: the network collapsed"
            )
            console.print(f"{escape(motion['motion'])}: not defined, {reason}")
    console.print(
        "rho is 0 for perfectly equivariant features and 1 for the copy baseline (a map that changes nothing);"
    )
    console.print("pairs whose two images have the same features are left out of rho, not of the ratio of means.")


def _details(measured: dict[str, Any]) -> dict[str, Any]:
    return {name: measured[name] for name in ("motions", "checkpoint")}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
