"""`egoequiv doctor`: whether the pictures of a log follow its motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, ReadSettings, SourceName, Workers
from egoequiv.cli.settings import parse_settings
from egoequiv.cli.stores import LogFormat

if TYPE_CHECKING:
    from egoequiv.doctor.examine import Diagnosis
    from egoequiv.sources import Source
    from egoequiv.training.open_run import OpenRun


def doctor(
    log: Annotated[str, typer.Argument(help="A log that `egoequiv inspect` understands, or a store.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path("doctor.html"),
    fov: Annotated[
        float | None,
        typer.Option(show_default="from the log, or guessed", help="Horizontal field of view, in degrees."),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="A trained run for a second opinion: do its features agree with the motion?")
    ] = None,
    source: SourceName = None,
    read: ReadSettings = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Compare the pictures of a log with its motion: clock, axes, signs, order, frozen and missing frames.

    Exit code 1 means that something is wrong, so that a script can stop there.

    Example: egoequiv doctor drive.bag -o doctor.html
    """
    from egoequiv.doctor.examine import examine
    from egoequiv.engines import LocalEngine
    from egoequiv.files import check_writable, write_text
    from egoequiv.report.doctor_page import doctor_report, terminal_blocks
    from egoequiv.report.page import to_html

    check_writable(out)
    asked = None if run is None else _opened_run(run)
    opened = _opened(log, source, read)
    with progress_bar() as progress:
        diagnosis = examine(
            opened,
            lens=fov,
            engine=LocalEngine(workers),
            on_progress=lambda done, total: progress("frames", done, total),
        )
    if asked is not None:
        diagnosis = _with_surprise(diagnosis, asked, log, LogFormat(source, read))
    write_text(out, to_html(doctor_report(diagnosis, Path(log).name)))
    if as_json:
        print_json({"log": log, "page": str(out), **diagnosis.as_json()})
    else:
        show(terminal_blocks(diagnosis))
        say(f"open {out} in a browser")
    if diagnosis.faults:
        raise typer.Exit(1)


def _opened(log: str, source: str | None, read: list[str] | None) -> Source:
    """A log, or the frames of a store."""
    from egoequiv.catalog import open_log
    from egoequiv.cli.stores import fetch
    from egoequiv.doctor.stored import store_as_source
    from egoequiv.errors import ConfigError
    from egoequiv.store import FrameStore
    from egoequiv.store.logs import is_store

    if not is_store(log):
        return open_log(log, source, **parse_settings(read or []))[0]
    if source or read:
        raise ConfigError(f"--source and --read say how a log is read, and {log} is a store already: leave them out")
    fetch(log)
    return store_as_source(FrameStore.open(log))


def _opened_run(run: Path) -> OpenRun:
    """A run whose network and frames are there: it is refused before the long work, not after it."""
    from egoequiv.cli.stores import fetch
    from egoequiv.training.open_run import open_run

    opened = open_run(run)
    fetch(opened.config.data)
    _ = opened.net, opened.store
    return opened


def _with_surprise(diagnosis: Diagnosis, run: OpenRun, log: str, log_format: LogFormat) -> Diagnosis:
    """The diagnosis with what the features of a run say about each recording."""
    from dataclasses import replace

    from egoequiv.cli.stores import local_store
    from egoequiv.evaluation.surprise import surprises
    from egoequiv.store import FrameStore
    from egoequiv.store.motion import MotionOptions

    store = FrameStore.open(local_store(log, log=log_format, like=run.folder.path, motion=MotionOptions("log")))
    with progress_bar() as progress:
        found = surprises(run, store, [one.recording for one in diagnosis.recordings], progress)
    both = zip(diagnosis.recordings, found, strict=True)
    return replace(diagnosis, recordings=tuple(one.with_finding(its.finding, its.curve) for one, its in both))
