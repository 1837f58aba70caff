"""`egoequiv view`: one page that shows whether a log is sane."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, say
from egoequiv.cli.options import AsJson, PosesFrom, grouped
from egoequiv.cli.stores import LogFormat, local_store
from egoequiv.plurals import plural


@grouped
def view(
    store: Annotated[str, typer.Argument(help="A store, a URL, or any log that `egoequiv inspect` understands.")],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path("view.html"),
    max_gap: Annotated[
        float, typer.Option(min=0.0, help="Show motions between frames that are at most this many seconds apart.")
    ] = 1.0,
    log: LogFormat,
    poses: PosesFrom,
    as_json: AsJson = False,
) -> None:
    """Write one page that shows whether a log is sane: the path, motion against time, gaps, motions, frames.

    Example: egoequiv view drives -o view.html
    """
    from egoequiv.files import check_writable
    from egoequiv.report.store_view import write_store_view
    from egoequiv.store import FrameStore

    check_writable(out)
    opened = FrameStore.open(local_store(store, log=log, motion=poses.motion()))
    write_store_view(opened, out, max_gap)
    if as_json:
        print_json({"page": str(out), "frames": len(opened), "recordings": len(opened.recording_names)})
        return
    recordings = plural(len(opened.recording_names), "recording")
    say(f"{plural(len(opened), 'frame')} of {recordings}: open {out} in a browser")
