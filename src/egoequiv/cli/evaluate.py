"""`egoequiv evaluate`: what was learned, in numbers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, CheckpointOption, grouped
from egoequiv.cli.stores import fetch, local_store
from egoequiv.cli.task_options import TaskNames, TaskSettings, check_hold_out, tasks_in
from egoequiv.errors import ConfigError, DataError

LOG = "log"  # the task that says what features are good for on a log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from egoequiv.evaluation.measurement import Measurement
    from egoequiv.evaluation.task import Task, TaskOptions
    from egoequiv.experiments import RunMeasurer


@grouped
def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    store: Annotated[
        str | None,
        typer.Argument(
            help="Another store, a URL or a log: rho, with maps fitted on half of its pairs; tasks split it as the "
            "run's store."
        ),
    ] = None,
    *,
    task: TaskNames = None,
    settings: TaskSettings,
    labels: Annotated[
        str | None,
        typer.Option(help="A table of labels, as labels.csv or labels.csv:COLUMN, which a probe predicts."),
    ] = None,
    checkpoint: CheckpointOption = "last",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A folder for the results as JSON, and the figures.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure recognition, and the equivariance error rho of each motion, on the validation frames of a run.

    With a STORE, rho over all frames of that store. With --task, what the features are good for is measured instead.
    A task that cannot be measured is reported, and the others are measured. What was measured before of the same
    weights, frames and options is read from the folder of the run.

    Example: egoequiv evaluate my-run --task next-view,retrieval -o my-results
    """
    from egoequiv.evaluation.task import TaskOptions
    from egoequiv.evaluation.tasks import get_tasks
    from egoequiv.experiments import RunMeasurer
    from egoequiv.report.verdict import verdict

    given = settings.given()
    if not task and given:
        option = next(iter(given)).removesuffix("_s").replace("_", "-")
        raise ConfigError(f"--{option} is for tasks: name one with --task, such as --task next-view")
    tasks = get_tasks(tasks_in(task, _default_tasks(store is not None, labels is not None)))
    store = _bring_frames(run, store)
    measurer = RunMeasurer(run, store, checkpoint, labels=labels, everything=store is not None and not (task or labels))
    if settings.hold_out is not None:
        check_hold_out(settings.hold_out, [measurer.data.store])
    given |= {name: _traverse(run, measurer, given[name]) for name in ("reference", "query") if name in given}
    found = _measure(measurer, tasks, TaskOptions(**given), is_basic=not (task or labels), quiet=as_json)
    files = []
    if out is not None:
        files = [path for one in found if one.problem is None for path in _save(one, tasks[one.task], out)]
    if as_json:
        shown = [one.model_dump(mode="json") for one in found]
        print_json({"run": str(run), "measurements": shown, "verdict": verdict(found), "files": files})
    elif files:
        say(f"saved: {', '.join(files)}")


def measure_basics(run: Path, *, quiet: bool = False) -> dict[str, Any]:
    """Measure a finished run as `egoequiv evaluate` does; what cannot be measured is said, and is not an error.

    Returns:
        The measurements and the verdict, as --json prints them.
    """
    from egoequiv.evaluation.task import TaskOptions
    from egoequiv.evaluation.tasks import get_tasks
    from egoequiv.experiments import RunMeasurer
    from egoequiv.experiments.measure import BASIC
    from egoequiv.report.verdict import verdict

    measurer = RunMeasurer(run)
    tasks = get_tasks([*(BASIC if measurer.opened.recognition is not None else ["equivariance"]), LOG])
    try:
        found = _measure(measurer, tasks, TaskOptions(), is_basic=True, quiet=quiet)
    except DataError as problem:
        say(f"rho is not measured: {problem}")
        return {"measurements": [], "verdict": ""}
    line = verdict([one for one in found if one.problem is None])
    return {"measurements": [one.model_dump(mode="json") for one in found], "verdict": line}


def _default_tasks(has_store: bool, has_labels: bool) -> list[str]:
    """What is measured if no task is named: labels that are given, on another store them alone."""
    from egoequiv.experiments.measure import BASIC

    if has_store:
        return ["readout" if has_labels else "equivariance"]
    return [*BASIC, "readout"] if has_labels else [*BASIC, LOG]


def _bring_frames(run: Path, store: str | None) -> str | None:
    """The place of another store, fetched or ingested; without one, refuse a run whose own is no longer there."""
    from egoequiv.store.remote import is_url
    from egoequiv.training.run_folder import RunFolder

    folder = RunFolder(run)
    config, unfinished = folder.config(), folder.unfinished()
    if store is not None:
        store = local_store(store, like=run)
    elif is_url(config.data) or Path(config.data).exists():
        fetch(config.data, config.labels)
    else:
        raise DataError(
            f"{config.data} does not exist, and {run} was trained on it: restore it, or give its new path: "
            f"egoequiv evaluate {shlex.quote(str(run))} STORE"
        )
    if unfinished is not None:
        say(f"{run} is {unfinished}")
    return store


def _traverse(run: Path, measurer: RunMeasurer, name: str) -> str:
    """A recording of the store by its name; else another store, which is fetched, or a log, which is ingested."""
    from egoequiv.evaluation.traverses import traverses_of
    from egoequiv.store.motion import MotionOptions

    if name in traverses_of(measurer.data.store):
        return name
    return local_store(name, like=run, motion=MotionOptions("log"))


def _measure(
    measurer: RunMeasurer, tasks: Mapping[str, Task], options: TaskOptions, *, is_basic: bool, quiet: bool
) -> list[Measurement]:
    """Measure one task after the other, and show each as soon as it is done."""
    from egoequiv.report.measurement_blocks import measurement_blocks
    from egoequiv.report.verdict import verdict

    found: list[Measurement] = []
    for name, task in tasks.items():
        with progress_bar() as progress:
            one = measurer.measure(task, options, progress)
        found.append(one)
        if one.problem is not None:
            if len(tasks) > 1 and not is_basic:
                say(f"not measured: {name}: {one.problem}")
        elif not quiet:
            show(measurement_blocks(one, task))
    if is_basic and not quiet and (line := verdict([one for one in found if one.problem is None])):
        say(line)
    if all(one.problem is not None for one in found):
        if len(found) == 1:
            raise DataError(str(found[0].problem))
        reasons = "; ".join(dict.fromkeys(f"{one.task}: {one.problem}" for one in found))
        raise DataError(f"{measurer.run}: nothing could be measured ({reasons})")
    return found


def _save(measurement: Measurement, task: Task, out: Path) -> list[str]:
    from egoequiv.files import write_text
    from egoequiv.report.figures.drawing import save_figures
    from egoequiv.report.figures.tasks import draw

    path = out / f"{measurement.task.rsplit(':', 1)[-1]}.json"
    write_text(path, measurement.model_dump_json(indent=2) + "\n")
    return [str(path), *map(str, save_figures(draw(measurement, task), out))]
