"""`egoequiv train`: one run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from egoequiv.cli.console import messages, print_json, say
from egoequiv.cli.settings import parse_settings
from egoequiv.cli.stopping import StoppedError
from egoequiv.cli.stores import fetch
from egoequiv.errors import ConfigError

if TYPE_CHECKING:
    from egoequiv.training import TrainedRun


def train(
    store: Annotated[
        str | None, typer.Argument(help="The store to learn from, a folder or a URL; not needed with --resume.")
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the run.")] = Path("run"),
    method: Annotated[
        str | None,
        typer.Option(help="What to train (equiv); `egoequiv methods` lists them, or your own as file.py:name."),
    ] = None,
    labels: Annotated[str | None, typer.Option(help="Another store for the labelled images.")] = None,
    per_class: Annotated[int | None, typer.Option(help="Labelled images a class (6).")] = None,
    no_labels: Annotated[bool, typer.Option("--no-labels", help="Train the unsupervised loss alone.")] = False,
    iterations: Annotated[int | None, typer.Option(help="How long to train (15,000).")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws initial weights and labelled images (0).")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting, such as learning_rate=0.01 or weight.equivariance=0.3."),
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto (the default), cpu, cuda, cuda:1, ...")] = None,
    precision: Annotated[
        str | None, typer.Option(help="In which the encoder computes: float32 (the default) or bfloat16.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in OUT, or begin it if there is none.")] = False,
    tensorboard: Annotated[bool, typer.Option(help="Also write TensorBoard files (needs tensorboard).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Train a method on a store; stop it at any time and go on with --resume."""
    from egoequiv.training import make_config, run_training
    from egoequiv.training.distributed import rank_here
    from egoequiv.training.run_folder import CONFIG, RunFolder

    folder = RunFolder(out)
    values: dict[str, Any] = {**parse_settings(settings or [])}
    if no_labels:
        values["use_labels"] = False
    given = {"data": store, "method": method, "labels": labels, "per_class": per_class, "iterations": iterations}
    given |= {"seed": seed, "device": device, "precision": precision}
    values |= {name: value for name, value in given.items() if value is not None}
    if resume and (out / CONFIG).exists():
        values = {**folder.config().model_dump(), **values}
    elif store is None:
        if resume:
            raise ConfigError(f"{out} holds no run to resume; give the store to learn from to begin one")
        raise ConfigError("give the store to learn from (or, with --resume, the folder of a run with -o)")
    config = make_config(values)
    fetch(config.data, config.labels if config.use_labels else None)
    try:
        with _LiveProgress(config.iterations, out if tensorboard else None) as live:
            is_first = rank_here() == 0  # of the processes that torchrun started, one speaks
            run = run_training(config, out, resume=resume, in_team=True, on_metrics=live.update if is_first else None)
    except KeyboardInterrupt:
        raise StoppedError(_how_to_go_on(out)) from None
    if is_first:
        _tell(run, as_json)


def _how_to_go_on(out: Path) -> str:
    """What to do with a run that was stopped."""
    from egoequiv.training.run_folder import CONFIG

    if not (out / CONFIG).exists():
        return "nothing was trained yet, begin again with the same command"
    is_saved = (out / "last.safetensors").exists()
    where = "from the last checkpoint" if is_saved else "from the beginning, for none is saved yet,"
    return f"go on {where} with: egoequiv train -o {shlex.quote(str(out))} --resume"


def _tell(run: TrainedRun, as_json: bool) -> None:
    """Draw the curves of a finished run and say how it went."""
    from egoequiv.report.figures import curves_figure, save_figure
    from egoequiv.training.run_folder import RunFolder

    out, config, metrics = run.path, run.config, RunFolder(run.path).metrics()
    if metrics:
        save_figure(
            curves_figure(metrics, f"{config.method_name}, {config.iterations:,} iterations"), out / "curves.png"
        )
    if as_json:
        print_json({"run": str(out), **run.result})
        return
    top1 = run.result["metrics"].get("validation_top1")
    accuracy = f", validation top-1 {100 * top1:.2f} %" if top1 is not None else ""
    curves = f"; curves in {out / 'curves.png'}" if metrics else ""
    say(f"{config.method_name}: {config.iterations:,} iterations done{accuracy}{curves}")
    leaked, frames = run.result["leaked_validation_frames"], run.result["validation_frames"]
    say(f"{leaked} of {frames} validation frames have a training frame of their recording within one step or second")
    say(f"next: egoequiv evaluate {out}")


class _LiveProgress:
    """A bar with each loss term, iterations a second and the time left; perhaps TensorBoard too."""

    def __init__(self, iterations: int, tensorboard: Path | None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(10), TimeRemainingColumn(compact=True))
        self._progress = Progress(*columns, TextColumn("{task.fields[losses]}"), console=messages)
        self._bar = self._progress.add_task(f"0/{iterations}", total=iterations, losses="")
        self._iterations = iterations
        self._tenth = 0
        self._tensorboard = tensorboard
        self._writer: Any = None

    def __enter__(self) -> _LiveProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if messages.is_terminal:
            self._progress.stop()  # elsewhere it would print an empty line
        if self._writer is not None:
            self._writer.close()

    def update(self, metrics: dict[str, float]) -> None:
        if messages.is_terminal:
            self._progress.start()  # only now: an error before the first iteration is then the only line
        done = int(metrics["iteration"])
        shown = [
            f"{name.removeprefix('validation_')[:5]} {value:.3f}"  # short names: all of it has to fit 80 columns
            for name, value in metrics.items()
            if name == "validation_top1" or not name.startswith(("iteration", "validation", "loss"))
        ]
        speed = metrics["iterations_per_s"]
        shown.insert(0, f"left, {speed:.0f} it/s")
        self._progress.update(
            self._bar, completed=done, description=f"{done:,}/{self._iterations:,}", losses="  ".join(shown)
        )
        tenth = done * 10 // self._iterations
        if not messages.is_terminal and tenth > self._tenth:
            left = _clock((self._iterations - done) / speed) if speed > 0 else "-:--"
            say(f"{done:,}/{self._iterations:,}  {left} {'  '.join(shown)}")  # a log file gets a line at every tenth
        self._tenth = tenth
        if self._tensorboard is not None:
            self._writer = self._writer or _tensorboard_writer(self._tensorboard)
            for name, value in metrics.items():
                if name != "iteration":
                    self._writer.add_scalar(name, value, done)


def _clock(seconds: float) -> str:
    """Such as 4:07, or 1:04:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _tensorboard_writer(out: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as problem:
        raise ConfigError("--tensorboard needs the package tensorboard: pip install tensorboard") from problem
    return SummaryWriter(str(out / "tensorboard"))
