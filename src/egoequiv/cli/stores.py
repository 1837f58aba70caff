"""Stores on the command line: a folder, a URL or a log, and a bar while one is fetched or ingested."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

from egoequiv.cli.console import bars, messages, progress_bar, say
from egoequiv.cli.options import ReadSettings, SourceName
from egoequiv.cli.settings import parse_settings, parse_size

if TYPE_CHECKING:
    from egoequiv.store.logs import LogOptions, Logs
    from egoequiv.store.motion import MotionOptions


def fetch(*places: str | None) -> None:
    """Bring those stores that are elsewhere into the local cache, so that what opens them later need not wait."""
    from egoequiv.store.remote import fetch_store, is_url

    for place in dict.fromkeys(places):
        if place is not None and is_url(place):
            with ExitStack() as stack:
                fetch_store(place, _shown(place, stack))


@dataclass(frozen=True)
class LogFormat:
    """How a log is read."""

    source: SourceName = None
    read: ReadSettings = None

    def options(self) -> LogOptions:
        """The same for `store_at`."""
        from egoequiv.store.logs import LogOptions

        return LogOptions(self.source, parse_settings(self.read or []))


@dataclass(frozen=True)
class LogImages(LogFormat):
    """How a log is read, and which images are made of it."""

    size: Annotated[
        str | None,
        typer.Option("--size", show_default="by the images", help="Of the images of a log: N x N, or HEIGHTxWIDTH."),
    ] = None
    color: Annotated[
        bool | None,
        typer.Option(
            "--color/--gray",
            show_default="gray; for a backbone, color",
            help="Keep the colour of a log's images, or turn them to gray.",
        ),
    ] = None

    def options(self) -> LogOptions:
        """The same for `store_at`."""
        return replace(super().options(), size=parse_size(self.size), color=bool(self.color))

    def for_backbone(self) -> LogOptions:
        """The same for a network that was trained elsewhere: larger images, in colour where not said otherwise."""
        from egoequiv.models.foreign.cells import AREA

        return replace(self.options(), area=AREA, color=self.color is not False)


def local_store(
    place: str | Logs,
    folder: Path | None = None,
    log: LogFormat = LogFormat(),  # noqa: B008
    *,
    like: Path | None = None,
    motion: MotionOptions | None = None,
    may_replace: bool = True,
    options: LogOptions | None = None,
) -> str:
    """The place of a store that can be opened at once: a URL is fetched, and a log is ingested, with a bar.

    With `like`, the folder of a run, images get the size and colour that its network takes; `options` are in place of
    those of `log`.
    """
    from egoequiv.engines import LocalEngine
    from egoequiv.errors import ConfigError
    from egoequiv.models.checkpoint import load_spec
    from egoequiv.store.logs import Logs, is_store, store_at
    from egoequiv.store.motion import SEEN, MotionOptions

    motion = motion or MotionOptions()
    if not isinstance(place, Logs):
        fetch(place)
    if not isinstance(place, Logs) and is_store(place):
        given = {**vars(log), "fov": motion.view_deg, "scale": motion.scale, "poses": motion.poses in SEEN}
        if unused := [name for name, value in given.items() if value]:
            raise ConfigError(f"--{unused[0]} says how a log is read, and {place} is a store already: leave it out")
        return place
    options = replace(options or log.options(), motion=motion)
    if like is not None:
        height, width, channels = load_spec(like).image_shape
        options = replace(options, size=(height, width), color=channels == 3, is_for_network=True)
    with progress_bar() as progress:
        return store_at(
            place,
            folder,
            options,
            may_replace=may_replace,
            engine=LocalEngine(),
            say=say,
            on_progress=lambda done, total: progress("frames", done, total),
            on_motion=lambda done, total: progress("motion in pictures", done, total),
        )


def _shown(url: str, stack: ExitStack) -> Callable[[int, int], None]:
    """A bar on a terminal, one line in a log; nothing at all where nothing has to be fetched."""
    begun: list[Callable[[str, int, int], None]] = []

    def update(done: int, total: int) -> None:
        if not begun:
            say(f"fetching {url} ({total / 1e6:.1f} MB)")
            columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(compact=True))
            begun.append(stack.enter_context(bars(*columns)) if messages.is_terminal else lambda *_: None)
        begun[0]("fetching", done, total)

    return update
