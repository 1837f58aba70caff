"""`egoequiv evaluate`: the figures of a run."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from egoequiv.cli.console import output, print_json, say
from egoequiv.cli.stores import fetch
from egoequiv.cli.task_choice import Apart, Motions, Neighbours, Seed, Steps, options_in, tasks_in
from egoequiv.cli.task_output import measure_tasks
from egoequiv.errors import ConfigError, DataError

EVALUATION = "evaluation.json"


class Checkpoint(StrEnum):
    """Which weights of a run."""

    last = "last"
    best = "best"


def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    store: Annotated[
        str | None,
        typer.Argument(
            help="Another store, a folder or a URL: rho over all of its frames; tasks split it as the run's."
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="What the features are good for: next-view, composition, retrieval, analogy, readout, prediction, "
            "slowness, or all; your own as package.module:name or path/to/file.py:name; several with commas between "
            "them, or repeated."
        ),
    ] = None,
    motions: Motions = None,
    steps: Steps = None,
    neighbours: Neighbours = None,
    apart: Apart = None,
    seed: Seed = None,
    checkpoint: Annotated[
        Checkpoint, typer.Option(help="The last weights, or the best on validation.")
    ] = Checkpoint.last,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A folder for the results as JSON, and the figures.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Measure recognition, and the equivariance error rho of each motion, on the validation frames of a run.

    With a STORE, rho over all frames of that store. The best checkpoint was chosen on the validation frames, so its
    accuracy there is flattered; the last one was not chosen by anything. With --task, what the features are good for
    is measured instead: training frames teach, validation frames are asked about. A task that cannot be measured is
    told of, and the others are measured.
    """
    from egoequiv.training.run_folder import RunFolder

    which: Literal["last", "best"] = "best" if checkpoint is Checkpoint.best else "last"
    given = options_in(motions, steps, neighbours, apart, seed)
    if not task and given:
        raise ConfigError(f"--{next(iter(given))} concerns tasks: name one with --task, such as --task next-view")
    config = RunFolder(run).config()
    if store is None:
        _check_there(run, config.data)
    fetch(*((store,) if store is not None else (config.data, config.labels)))
    unfinished = RunFolder(run).unfinished()
    if unfinished is not None:
        say(f"{run} is {unfinished}")
    if task:
        measure_tasks(run, store, which, tasks_in(task), given, out, as_json)
    else:
        _measure(run, store, which, out, as_json)


def _check_there(run: Path, data: str) -> None:
    """Refuse a run whose store is no longer where it was."""
    from egoequiv.store.remote import is_url

    if not is_url(data) and not Path(data).exists():
        raise DataError(
            f"{data} does not exist, and {run} was trained on it: bring it back, or pass its new place: "
            f"egoequiv evaluate {shlex.quote(str(run))} STORE"
        )


def _measure(run: Path, store: str | None, which: Literal["last", "best"], out: Path | None, as_json: bool) -> None:
    """Recognition and equivariance."""
    from egoequiv.experiments.measure import measure_run, measure_store
    from egoequiv.files import write_json

    measured = measure_store(run, store, which) if store is not None else measure_run(run, which)
    if not measured["metrics"] and not measured["motions"]:
        raise DataError(
            f"{store or run}: the frames have neither labels that the run knows nor poses: nothing to measure"
        )
    metrics = {name: {"mean": value, "stderr": None, "published": None} for name, value in measured["metrics"].items()}
    row = {"method": measured["method"], "labels": measured["labels"], "metrics": metrics}
    described = {"rows": [row], "motions": measured["motions"], "checkpoint": measured["checkpoint"]}
    if measured.get("notes"):
        described["notes"] = measured["notes"]
    if out is not None:
        write_json(out / EVALUATION, described)
    if as_json:
        print_json(described)
        return
    _show(measured)
    if out is not None:
        say(f"saved: {out / EVALUATION}")


def _show(measured: dict[str, Any]) -> None:
    from egoequiv.evaluation.equivariance import why_undefined
    from egoequiv.report.tables import title_of

    console = output()
    for name, value in measured["metrics"].items():
        if name.startswith("top"):
            console.print(f"{title_of(name).removesuffix(' %')} {value:.2f} %")
    table = Table("motion", "rho", "95 % interval", "constant", "ratio of means", "pairs fitted", "scored", "left out")
    for motion in measured["motions"]:
        table.add_row(*_cells(motion))
    console.print(table)
    for motion in measured["motions"]:
        reason = why_undefined(motion)
        if reason is not None:
            advice = "" if motion["pairs_fitted"] else ": take more or longer recordings"
            console.print(escape(f"{motion['motion']}: not defined, {reason}{advice}"), highlight=False, soft_wrap=True)
    console.print(
        "rho is 0 for perfectly equivariant features and 1 for the copy baseline, a map that changes nothing;"
    )
    console.print("constant is rho of always answering with the mean: only a rho below both says something;")
    console.print("pairs whose two images have the same features are left out of rho, not of the ratio of means.")
    for note in measured.get("notes", []):
        console.print(escape(note), highlight=False, soft_wrap=True)


def _cells(motion: dict[str, Any]) -> list[str]:
    """A row of the table; of a motion that was not measured nothing but its name."""
    if not motion["pairs_fitted"]:
        return [escape(motion["motion"]), *("-" for _ in range(7))]
    low, high = motion["interval"]
    counts = (str(motion[f"pairs_{what}"]) for what in ("fitted", "scored", "excluded"))
    interval = "-" if low is None else f"{_number(low)} to {_number(high)}"  # a single recording has none
    rho, constant, ratio = (_number(motion.get(name)) for name in ("rho", "constant", "ratio_of_means"))
    return [escape(motion["motion"]), rho, interval, constant, ratio, *counts]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
