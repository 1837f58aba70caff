"""`egoequiv embed`: features of all frames of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import AsJson, Checkpoint, CheckpointOption, Device, PartOption, grouped
from egoequiv.cli.stores import LogFormat, local_store


@grouped
def embed(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    store: Annotated[str, typer.Argument(help="A store, a URL, or any log that `egoequiv inspect` understands.")],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write, NAME.parquet or NAME.npy.")] = Path(
        "features.parquet"
    ),
    log: LogFormat,
    part: PartOption = None,
    checkpoint: CheckpointOption = Checkpoint.last,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Write the features of every frame of a store or a log, with recording, frame and file name of each.

    A Parquet file has the columns recording, frame, file, time_s and label, as far as the store has them, and
    features, a list of numbers. A .npy file has the features alone, in the order of the store, and
    NAME.frames.parquet beside it the other columns. Images of another size or colour are brought to those that the
    network was trained on.

    Example: egoequiv embed run toys -o features.parquet
    """
    from egoequiv.evaluation.feature_files import feature_files, write_features
    from egoequiv.models import load_model
    from egoequiv.models.network import ALL
    from egoequiv.store import FrameStore
    from egoequiv.store.motion import MotionOptions
    from egoequiv.training.network import choose_device

    feature_files(out)  # a wrong ending is refused before the work
    net = load_model(run, checkpoint.value, str(choose_device(device)))
    part = part or ALL
    own = net.part(part)
    without = MotionOptions("log")  # features need no poses
    opened = FrameStore.open(local_store(store, log=log, like=run, motion=without))
    notes = []
    if opened.has_images and opened.image_shape != net.spec.image_shape:
        found, wanted = (" x ".join(map(str, shape)) for shape in (opened.image_shape, net.spec.image_shape))
        notes.append(f"images of {found} are brought to the {wanted} that the network was trained on")
    if part != ALL:
        notes.append(f"the part {part}, {own.stop - own.start} of {net.encoder.feature_dim} features")
    for note in notes:
        say(f"note: {note}")
    with progress_bar() as progress:
        files = [str(path) for path in write_features(net, opened, out, progress, part=part)]
    count, dim = len(opened), own.stop - own.start
    if as_json:
        print_json({"files": files, "frames": count, "features": dim, "checkpoint": checkpoint.value, "notes": notes})
        return
    say(f"{count:,} x {dim} features in {' and '.join(files)}")
