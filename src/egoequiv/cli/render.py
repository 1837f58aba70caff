"""`egoequiv render`: an embedded world as files, in the layout that others write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import progress_bar, say
from egoequiv.cli.settings import parse_settings
from egoequiv.plurals import plural


def render(
    world: Annotated[str, typer.Argument(help="drive (as KITTI raw) or places (as class folders).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the world, such as seconds=10 or seed=3.")
    ] = None,
) -> None:
    """Write an embedded world to files: try the readers of files without a download, or look at the pictures.

    Example: egoequiv render drive -o kitti_raw --set seconds=10
    """
    from egoequiv.catalog import find_writer, open_source

    source_name, write = find_writer(world)
    source = open_source(world, **parse_settings(settings or []))
    with progress_bar() as progress:
        write(source, out, lambda done, total: progress("frames", done, total))
    say(f"{plural(source.frame_count, 'frame')} of {plural(len(source.recordings), 'recording')} in {out}")
    say(f"next: egoequiv ingest {source_name} {out} -o STORE")
