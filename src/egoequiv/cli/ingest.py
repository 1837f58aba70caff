"""`egoequiv ingest`: frames into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, PosesFrom, Where, grouped
from egoequiv.cli.settings import parse_settings, parse_size
from egoequiv.cli.stopping import stopped_as
from egoequiv.errors import ConfigError
from egoequiv.plurals import plural

if TYPE_CHECKING:
    from egoequiv.sources import Source
    from egoequiv.store import FrameStore
    from egoequiv.store.logs import LogOptions
    from egoequiv.store.motion import MotionOptions

NOTES_SHOWN = 20


@grouped
def ingest(
    source: Annotated[
        str,
        typer.Argument(
            help="A source by name (`egoequiv ingest --list` lists them), your own as package.module:name or "
            "path/to/file.py:name; or just the PATH of a log; then its format is guessed."
        ),
    ] = "",
    path: Annotated[Path | None, typer.Argument(help="Where the files are, for sources that read files.")] = None,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The store to write.")] = Path("store"),
    size: Annotated[str | None, typer.Option(help="Resize to N x N, or to HEIGHTxWIDTH.")] = None,
    color: Annotated[bool, typer.Option("--color/--gray", help="Keep colour, or turn to gray.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "--read", help="A setting of the source, such as part=testing or camera=/cam1."),
    ] = None,
    poses: PosesFrom,
    list_sources: Annotated[bool, typer.Option("--list", help="List the sources and what each looks for.")] = False,
    where: Where,
    overwrite: Annotated[bool, typer.Option(help="Replace the store if it exists.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at anything that would be left out, such as a broken picture.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Decode and resize frames once, into a store that everything else reads.

    With --engine ray, all machines of the cluster must see the files that are read and the folder of the store.

    The name of the source may be left out: the format of PATH is then guessed, as `egoequiv inspect` does.

    Example: egoequiv ingest kitti kitti_raw -o drives --size 64
    """
    from egoequiv.sources.inspection import colour_remark
    from egoequiv.store.logs import LogOptions, made_from

    if list_sources:
        _list_sources()
        return
    read, motion = parse_settings(settings or []), poses.motion()
    opened = _open(source, path, read)
    inputs = _inputs(opened, LogOptions(opened.name, read, parse_size(size), color, motion=motion))
    if inputs is not None and not overwrite and made_from(out) == inputs:
        say(f"{out} is there already, made from the same files with the same settings; --overwrite makes it again")
        return
    if inputs is not None and not color and (remark := colour_remark(opened)):
        say(f"remark: {remark}")
    how = {"size": parse_size(size), "color": color, "overwrite": overwrite, "strict": strict, "inputs": inputs}
    _say_done(_write(opened, motion, out, where, how), out, as_json)


def _write(source: Source, motion: MotionOptions, out: Path, where: Where, how: dict[str, Any]) -> FrameStore:
    """Ingest, with a bar; what is decoded of a log is kept if it is stopped."""
    from egoequiv.store import ingest
    from egoequiv.store.motion import with_motion

    with (
        stopped_as("finished work is kept; to continue, repeat the command" if how["inputs"] else None),
        where.open() as engine,
        progress_bar() as progress,
    ):
        seen = with_motion(source, motion, engine, lambda done, total: progress("motion in pictures", done, total))
        return ingest(seen, out, engine=engine, on_progress=lambda done, total: progress("frames", done, total), **how)


def _say_done(store: FrameStore, out: Path, as_json: bool) -> None:
    """What the store holds, and what was left out of it."""
    notes, remarks = (list(store.meta.get(key, [])) for key in ("notes", "remarks"))
    for kind, texts in (("remark", remarks), ("note", notes)):
        for text in texts[:NOTES_SHOWN]:
            say(f"{kind}: {text}")
        if len(texts) > NOTES_SHOWN:
            say(f"{kind}: {len(texts) - NOTES_SHOWN} more {kind}s are in {out / 'store.json'}")
    if as_json:
        counts = {"frames": len(store), "recordings": len(store.recording_names)}
        print_json({"store": str(out), **counts, "notes": notes, "remarks": remarks})
    else:
        shape = " x ".join(map(str, store.image_shape)) if store.has_images else "poses alone"
        say(f"{plural(len(store), 'frame')} of {plural(len(store.recording_names), 'recording')}, {shape}, in {out}")
        say(f"next: egoequiv info {out}")


def _open(source: str, path: Path | None, settings: dict[str, Any]) -> Source:
    """The source of this name; or, if it is a path, a log whose format is guessed."""
    from egoequiv.catalog import DOOR, open_log, open_source

    if not source:
        raise ConfigError("give a source, such as turntable, or the path of a log; --list lists the sources")
    if path is None and not DOOR.has(source) and Path(source).exists():
        opened, title = open_log(source, **settings)
        say(f"{source} is {title}: egoequiv ingest {opened.name} {source}")
        return opened
    return open_source(source, path, **settings)


def _inputs(source: Source, options: LogOptions) -> str | None:
    """What identifies the files that a built-in source reads; None for worlds and for code of users."""
    from egoequiv.catalog import SOURCES
    from egoequiv.store.logs import inputs_digest

    path = source.settings.get("path")
    if path is None or source.name not in SOURCES:
        return None
    return inputs_digest(source, Path(path), options)


def _list_sources() -> None:
    """Every source: what its files look like, or that it is rendered."""
    from egoequiv.blocks import Grid
    from egoequiv.catalog import DOOR
    from egoequiv.sources.formats import FORMATS

    known = {one.source: (one.title, one.looks_for) for one in reversed(FORMATS)}  # of two, the more specific
    known["scenes"] = ("labelled pictures", "a folder for each class, perhaps below train and test")
    rows = [(name, *known.get(name, ("", "rendered here, or named by you"))) for name in DOOR.names()]
    show([Grid.of("Sources", ("source", "format", "looks for"), rows, is_words=True)])
