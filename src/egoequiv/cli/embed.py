"""`egoequiv embed`: features of pictures, videos, logs and stores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import AsJson, Checkpoint, CheckpointOption, Device, PartOption, grouped
from egoequiv.cli.settings import parse_settings
from egoequiv.cli.stores import LogFormat, fetch
from egoequiv.errors import ConfigError
from egoequiv.plurals import plural

if TYPE_CHECKING:
    from egoequiv.evaluation.feature_files import Written
    from egoequiv.models.motion_model import MotionModel
    from egoequiv.store.inputs import OpenedInputs

NOTES_SHOWN = 8


@grouped
def embed(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a run, or of an export.")],
    images: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IMAGES...",
            help="Pictures, globs, folders, videos, stores, URLs of stores, or any log that `egoequiv inspect` "
            "understands.",
            show_default=False,
        ),
    ] = None,
    *,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="The file to write, NAME.parquet or NAME.npy; with --append-to, a folder."),
    ] = Path("features.parquet"),
    append_to: Annotated[
        Path | None,
        typer.Option(help="A LeRobot data set: write a copy of it to -o, with the features of each row as a column."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(show_default="observation.features", help="With --append-to: the name of the column.")
    ] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out pictures that cannot be read, and say how many they are.")
    ] = False,
    log: LogFormat,
    part: PartOption = None,
    checkpoint: CheckpointOption = "last",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Write the features of pictures, videos, logs or stores, with file name, frame and time of each.

    A Parquet file has a row for each frame: recording, frame, and as far as they are known log_frame, file, time_s,
    label and attributes (attr_NAME), then features, a list of numbers. With several inputs, the column input says
    which. A .npy file has the features alone, in the same order, and NAME.frames.parquet beside it the other columns.
    Images are brought to the size and colour that the network was trained on. Pictures are read in the natural order
    of their names. A picture that cannot be read stops the command before anything is written, or see --skip-broken.

    With --append-to, features go into a copy of a LeRobot data set; its videos are linked where that is possible.

    Example: egoequiv embed run photos/*.jpg drive.mp4 -o features.parquet
    """
    from egoequiv.models.network import ALL

    job = Job(model, part or ALL, checkpoint, log.source, parse_settings(log.read or []), skip_broken)
    if append_to is not None:
        if images or log.source:
            raise ConfigError("--append-to reads the pictures of the data set itself: leave out IMAGES and --source")
        written, notes = job.append(job.open(device), append_to, out, column), list[str]()
    elif not images:
        raise ConfigError("nothing to embed: name pictures, folders, videos, logs or stores after the model")
    elif column is not None:
        raise ConfigError("--column is for --append-to: leave it out")
    else:
        written, notes = job.embed(device, images, out)
    _tell(written, notes, checkpoint, as_json)


def _tell(written: Written, notes: list[str], checkpoint: Checkpoint, as_json: bool) -> None:
    """Say what was written, and what could not be read."""
    files, broken = [str(path) for path in written.files], list(written.broken)
    if broken:
        say(f"{plural(len(broken), 'frame has', 'frames have')} no features: {broken[0]}{'; ...' * (len(broken) > 1)}")
    if as_json:
        told = {"files": files, "frames": written.frames, "features": written.features, "notes": notes}
        print_json({**told, "checkpoint": checkpoint, "broken": len(broken), "reasons": broken[:NOTES_SHOWN]})
        return
    say(f"{written.frames:,} x {written.features} features in {' and '.join(files)}")


@dataclass(frozen=True)
class Job:
    """What is computed, of which pictures."""

    model: Path
    part: str
    checkpoint: Checkpoint
    source: str | None
    read: dict[str, Any]
    skip_broken: bool

    def open(self, device: str) -> MotionModel:
        """The model; its motions are not needed, so a run of an early version does without its store too."""
        from egoequiv.evaluation.run_model import RunModel
        from egoequiv.exporting import open_model
        from egoequiv.models import load_model
        from egoequiv.models.checkpoint import MODEL

        if (self.model / MODEL).exists():
            return RunModel(load_model(self.model, self.checkpoint, device), None, {})
        return open_model(self.model, device=device, which=self.checkpoint)

    def embed(self, device: str, images: list[str], out: Path) -> tuple[Written, list[str]]:
        """Write the features of some inputs; notes on them are said."""
        from egoequiv.evaluation.feature_files import feature_files, write_features
        from egoequiv.store.inputs import open_inputs

        feature_files(out)  # a wrong ending is refused before the work
        model = self.open(device)
        own = model.part(self.part)
        fetch(*images)
        inputs = open_inputs(images, self.source, self.read)
        notes = _notes(model, inputs)
        if own.stop - own.start < model.feature_dim:
            notes.append(f"the part {self.part}, {own.stop - own.start} of {model.feature_dim} features")
        for note in notes[:NOTES_SHOWN]:
            say(f"note: {note}")
        if len(notes) > NOTES_SHOWN:
            say(f"{len(notes) - NOTES_SHOWN} more notes, see --json")
        about = {"model": str(self.model), "checkpoint": self.checkpoint}
        with progress_bar() as progress:
            told = partial(progress, "frames")
            settings: dict[str, Any] = {"part": self.part, "skip_broken": self.skip_broken, "about": about}
            return write_features(model, inputs, out, told, **settings), notes

    def append(self, model: MotionModel, dataset: Path, out: Path, column: str | None) -> Written:
        """Write a copy of a LeRobot data set with the features."""
        from egoequiv.evaluation.lerobot_copy import COLUMN, append_features

        if unknown := [name for name in self.read if name not in ("camera", "match")]:
            raise ConfigError(f"--read {unknown[0]}: with --append-to, camera and match can be set")
        settings = {"column": column or COLUMN, "part": self.part, "skip_broken": self.skip_broken, **self.read}
        with progress_bar() as progress:
            return append_features(model, dataset, out, partial(progress, "rows"), **settings)


def _notes(model: MotionModel, inputs: OpenedInputs) -> list[str]:
    """What readers of logs left out, and of which size stores are."""
    from egoequiv.store.inputs import StoreFrames

    notes, wanted = list(inputs.notes), " x ".join(map(str, model.image_shape))
    for one in inputs.frames:
        if isinstance(one, StoreFrames) and one.store.image_shape != model.image_shape:
            found = " x ".join(map(str, one.store.image_shape))
            notes.append(f"images of {found} are brought to the {wanted} that the network was trained on")
    return list(dict.fromkeys(notes))
