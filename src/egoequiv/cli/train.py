"""`egoequiv train`: one run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import messages, print_json, progress_bar, say
from egoequiv.cli.options import AsJson, PosesFrom, grouped
from egoequiv.cli.settings import EncoderName, parse_settings
from egoequiv.cli.stopping import StoppedError, stopped_as
from egoequiv.cli.stores import LogImages, fetch, local_store
from egoequiv.errors import ConfigError
from egoequiv.plurals import plural

if TYPE_CHECKING:
    from egoequiv.store.logs import Logs
    from egoequiv.training import TrainConfig, TrainedRun

LEAKS = ": results on them are too good"


@dataclass(frozen=True)
class Learning:
    """What is trained and how, as settings of a run."""

    method: Annotated[
        str | None,
        typer.Option(
            show_default="recording+motion",
            help="What to train; `egoequiv methods` lists them, or your own as file.py:name.",
        ),
    ] = None
    encoder: EncoderName = None
    backbone: Annotated[
        str | None,
        typer.Option(
            show_default="for a log: efficientnet-lite0 if it is installed",
            help="The pretrained network to start from: efficientnet-lite0, a folder of Hugging Face transformers, a "
            "file .onnx or .pt2, or code as module:name; none: random weights.",
        ),
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(
            help="A table of labels, as labels.csv or labels.csv:COLUMN; or another store for labelled images."
        ),
    ] = None
    per_class: Annotated[int | None, typer.Option(show_default="6", help="Labelled images a class.")] = None
    no_labels: Annotated[bool, typer.Option("--no-labels", help="Train with the unsupervised losses only.")] = False
    iterations: Annotated[int | None, typer.Option(show_default="by the method", help="How long to train.")] = None
    seed: Annotated[int | None, typer.Option(show_default="0", help="Draws initial weights and labelled images.")] = (
        None
    )
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting, such as learning_rate=0.01 or weight.equivariance=0.3."),
    ] = None
    device: Annotated[
        str | None,
        typer.Option("--device", show_default="auto", help="Where torch computes: auto, cpu, cuda, cuda:1, mps."),
    ] = None
    precision: Annotated[
        str | None, typer.Option(show_default="float32", help="The precision of the encoder: float32 or bfloat16.")
    ] = None

    def values(self) -> dict[str, Any]:
        """Those that were given, as `make_config` takes them; an option goes before the same setting of --set."""
        given = {name: value for name, value in asdict(self).items() if value is not None and name != "backbone"}
        others, no_labels = given.pop("settings", []), given.pop("no_labels")
        return {**parse_settings(others), **({"use_labels": False} if no_labels else {}), **given}


@dataclass(frozen=True)
class MoreLogs:
    """Logs that are measured on, and what is known of all logs."""

    test: Annotated[
        list[str] | None,
        typer.Option(help="A log that is only measured on: another day, place or robot. May be given several times."),
    ] = None
    same_map: Annotated[
        bool, typer.Option("--same-map", help="The poses of all logs are in one map, so that places can be compared.")
    ] = False

    def place(self, stores: list[str] | None) -> str | Logs | None:
        """What is learned from and measured on: a store, a log, or several logs."""
        from egoequiv.store.logs import Logs

        if not stores:
            if self.test:
                raise ConfigError("--test names a log to measure on: give the log to learn from too")
            return None
        if len(stores) == 1 and not self.test:
            if self.same_map:
                raise ConfigError("--same-map is for several logs: give more than one, or leave it out")
            return stores[0]
        return Logs(tuple(stores), tuple(self.test or ()), self.same_map)


@grouped
def train(
    stores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STORE|LOG...]",
            help="What to learn from: a store, a folder or a URL; or any logs that `egoequiv inspect` understands, "
            "which are ingested into OUT-frames first. Not needed with --resume.",
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the run.")] = Path("run"),
    learning: Learning,
    more: MoreLogs,
    log: LogImages,
    poses: PosesFrom,
    resume: Annotated[bool, typer.Option(help="Continue the run in OUT, or start it if there is none.")] = False,
    tensorboard: Annotated[bool, typer.Option(help="Also write TensorBoard files (needs tensorboard).")] = False,
    as_json: AsJson = False,
) -> None:
    """Train a method on a store or a log; stop it at any time and go on with --resume.

    A log (any path that `egoequiv inspect` understands) is ingested once into OUT-frames and learned from without
    labels, and what was learned is measured at once. Where a backbone is installed, a head is trained on it.
    `egoequiv settings` lists every setting for --set. What is not given follows the data: the encoder suits the images,
    and the split has no leakage where the recordings allow it.

    Example: egoequiv train monday.bag tuesday.bag --test friday.bag -o my-run
    """
    from egoequiv.models.head import NAME as BACKBONE
    from egoequiv.store.logs import is_store
    from egoequiv.training.defaults import with_backbone

    store = more.place(stores)
    motion, is_log = poses.motion(), store is not None and not (isinstance(store, str) and is_store(store))
    values, why = with_backbone(learning.values(), learning.backbone, is_log)
    is_begun = _check(store, values, out, resume)
    if store is not None:
        images = log.for_backbone() if values.get("encoder") == BACKBONE else None
        with stopped_as("finished work is kept; to continue, repeat the command"):
            values["data"] = local_store(
                store, frames_of(out), log, motion=motion, may_replace=not is_begun, options=images
            )
        if why and not is_begun:
            say(why)
    run = _train(_settings(values, out, resume, is_log), out, resume, tensorboard)
    if run is None:  # another of the processes that torchrun started speaks
        return
    _report(run, as_json, is_log)


def _check(store: str | Logs | None, values: dict[str, Any], out: Path, resume: bool) -> bool:
    """Whether a run is there already; what is wrong with the settings or the folder is said before a log is read."""
    from egoequiv.training import make_config
    from egoequiv.training.distributed import rank_here
    from egoequiv.training.run_folder import CONFIG, RunFolder, is_run

    if rank_here() == 0:  # of the processes that torchrun started, one speaks
        RunFolder(out).check_free(resume)
    if isinstance(store, str) and is_run(Path(store)):
        place = shlex.quote(store)
        raise ConfigError(f"{store} is a run, not a store; go on with it by: egoequiv train -o {place} --resume")
    is_begun = (out / CONFIG).exists()
    if not is_begun:
        make_config({"data": ".", **values})
    return is_begun


def frames_of(out: Path) -> Path:
    """Where the frames of a log are kept that a run learns from: beside the run."""
    return out.absolute().with_name(f"{out.absolute().name}-frames")


def _settings(values: dict[str, Any], out: Path, resume: bool, is_log: bool) -> TrainConfig:
    """The config of a run: as it began, or as given; what is not given follows the data where it is a log."""
    from egoequiv.training import make_config
    from egoequiv.training.config import import_code
    from egoequiv.training.defaults import settings_for
    from egoequiv.training.run_folder import CONFIG, RunFolder

    if resume and (out / CONFIG).exists():
        import_code(values.get("method"), values.get("encoder"), values.get("encoder_settings"))
        return make_config({**RunFolder(out).config().model_dump(), **values})
    if "data" not in values:
        if resume:
            raise ConfigError(f"{out} has no run to resume; to start a run, give a store")
        raise ConfigError("give the store or log to learn from (or, with --resume, the folder of a run with -o)")
    if "method" not in values:
        fetch(values["data"])  # what is not given follows the frames
    chosen = settings_for(values, is_log)
    for name, (_, why) in chosen.items():
        if name not in values and why:
            say(why)
    return make_config({**{name: value for name, (value, _) in chosen.items()}, **values})


def _train(config: TrainConfig, out: Path, resume: bool, tensorboard: bool) -> TrainedRun | None:
    """Train, with a bar; None in a process that shares the run of another one."""
    from egoequiv.training import run_training
    from egoequiv.training.distributed import rank_here
    from egoequiv.training.network import store_cells
    from egoequiv.training.progress import LiveProgress

    fetch(config.data, config.labels if config.use_labels else None)
    is_first = rank_here() == 0  # of the processes that torchrun started, one speaks
    if is_first:
        with (
            stopped_as("what the backbone has given is kept; to continue, repeat the command"),
            progress_bar() as shown,
        ):
            store_cells(config, shown)
    try:
        with LiveProgress(config.iterations, messages) as live, _tensorboard(out if tensorboard else None) as add:

            def update(metrics: dict[str, float]) -> None:
                live.update(metrics)
                add(metrics)

            calls: dict[str, Any] = {"on_metrics": update, "on_note": live.say} if is_first else {}
            run = run_training(config, out, resume=resume, in_team=True, **calls)
    except KeyboardInterrupt:
        raise StoppedError(_how_to_go_on(out)) from None
    return run if is_first else None


def _how_to_go_on(out: Path) -> str:
    """What to do with a run that was stopped."""
    from egoequiv.training.run_folder import CONFIG

    if not (out / CONFIG).exists():
        return "nothing was trained yet; to start again, repeat the command"
    is_saved = (out / "last.safetensors").exists()
    where = "from the last checkpoint" if is_saved else "from the beginning, because no checkpoint is saved yet,"
    return f"go on {where} with: egoequiv train -o {shlex.quote(str(out))} --resume"


def _report(run: TrainedRun, as_json: bool, is_log: bool) -> None:
    """Draw the curves of a finished run and say how it went; of a log, measure what was learned at once."""
    from egoequiv.cli.evaluate import measure_basics
    from egoequiv.method_names import parts_of
    from egoequiv.models.encoders import code_of
    from egoequiv.names import trust_prefix
    from egoequiv.pairs import closeness, near_copies_in_words
    from egoequiv.pairs.splits import GIVEN
    from egoequiv.report.figures.curves import curves_figure
    from egoequiv.report.figures.drawing import save_figure
    from egoequiv.training.run_folder import RunFolder

    out, config, metrics = run.path, run.config, RunFolder(run.path).metrics()
    if metrics:
        title = f"{config.method_name}, {plural(config.iterations, 'iteration')}"
        save_figure(curves_figure({config.method_name: metrics}, title), out / "curves.png")
    if as_json:
        more = measure_basics(out, quiet=True) if is_log else {}
        print_json({"run": str(out), **run.result, **more})
        return
    top1 = run.result["metrics"].get("validation_top1")
    accuracy = f", validation top-1 {100 * top1:.2f} %" if top1 is not None else ""
    gone = RunFolder(run.path).collapsed_features
    collapsed = f", {gone} collapsed" if gone else ""
    curves = f"; curves in {out / 'curves.png'}" if metrics else ""
    say(f"{config.method_name}: {plural(config.iterations, 'iteration')}{collapsed}{accuracy}{curves}")
    leaked, frames = run.result["leaked_validation_frames"], run.result["validation_frames"]
    near = closeness(config.split, f"{config.max_gap_s:g} s")
    say(f"split {config.split}: {leaked} of {frames} validation frames have {near}{LEAKS if leaked else ''}")
    if (copies := run.result.get("near_copy_validation_frames")) is not None:
        say(f"{near_copies_in_words(copies, frames)}{LEAKS if copies else ''}")
    code = trust_prefix([*parts_of(config.method), *code_of(config.encoder, config.encoder_settings)])
    if is_log:
        place = shlex.quote(str(out))
        with stopped_as(f"the run is trained, measure it with: {code}egoequiv evaluate {place}"):
            measure_basics(out)
        if config.split != GIVEN:
            say(
                "these numbers are of the same log: its light and its places are known; --test LOG measures another day"
            )
        say(f"next: {code}egoequiv embed {place} {shlex.quote(config.data)} -o features.parquet")
        say(f"      {code}egoequiv report {place} -o report.html")
        return
    say(f"next: {code}egoequiv evaluate {shlex.quote(str(out))}")


@contextmanager
def _tensorboard(out: Path | None) -> Iterator[Callable[[dict[str, float]], None]]:
    """A function that adds metrics to TensorBoard files below `out`, or does nothing without a folder."""
    if out is None:
        yield lambda _: None
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as problem:
        raise ConfigError("--tensorboard needs the package tensorboard: pip install tensorboard") from problem
    writer: Any = None  # made with the first metrics: what fails before leaves no file behind

    def add(metrics: dict[str, float]) -> None:
        nonlocal writer
        writer = writer or SummaryWriter(str(out / "tensorboard"))
        for name, value in metrics.items():
            if name != "iteration":
                writer.add_scalar(name, value, int(metrics["iteration"]))

    try:
        yield add
    finally:
        if writer is not None:
            writer.close()
