"""`egoequiv ingest`: frames into a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import Address, AsJson, EngineName, Workers
from egoequiv.cli.settings import parse_settings, parse_size

NOTES_SHOWN = 20


def ingest(
    source: Annotated[
        str,
        typer.Argument(
            help="norb, kitti, kitti-odometry, scenes (files); turntable, drive, places (rendered here); or your own "
            "as package.module:name or path/to/file.py:name."
        ),
    ],
    path: Annotated[Path | None, typer.Argument(help="Where the files are, for sources that read files.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="The store to write.")] = Path("store"),
    size: Annotated[str | None, typer.Option(help="Resize to N x N, or to HEIGHTxWIDTH.")] = None,
    color: Annotated[bool, typer.Option("--color/--gray", help="Keep colour, or turn to gray.")] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the source, such as part=testing or seed=3.")
    ] = None,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the store if it exists.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at anything that would be left out, such as a broken picture.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Decode and resize frames once, into a store that everything else reads.

    With --engine ray, all machines of the cluster must see the files that are read and the folder of the store.

    Example: egoequiv ingest kitti kitti_raw -o drives --size 64
    """
    from egoequiv.catalog import open_source
    from egoequiv.engines import engine_named
    from egoequiv.store import ingest as write_store

    opened = open_source(source, path, **parse_settings(settings or []))
    with engine_named(engine, workers, address) as chosen, progress_bar() as progress:
        store = write_store(
            opened,
            out,
            size=parse_size(size),
            color=color,
            overwrite=overwrite,
            strict=strict,
            engine=chosen,
            on_progress=lambda done, total: progress("frames", done, total),
        )
    notes = list(store.meta.get("notes", []))
    for note in notes[:NOTES_SHOWN]:
        say(f"note: {note}")
    if len(notes) > NOTES_SHOWN:
        say(f"note: {len(notes) - NOTES_SHOWN} more notes are in {out / 'store.json'}")
    if as_json:
        counts = {"frames": len(store), "recordings": len(store.recording_names)}
        print_json({"store": str(out), **counts, "notes": notes})
    else:
        shape = " x ".join(map(str, store.image_shape)) if store.has_images else "poses alone"
        say(f"{len(store):,} frames of {len(store.recording_names)} recordings, {shape}, in {out}")
        say(f"next: egoequiv info {out}")
