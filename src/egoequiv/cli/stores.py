"""Stores on the command line: a folder or a URL, and a bar while one is fetched."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from rich.progress import DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

from egoequiv.cli.console import bars, messages, say


def fetch(*places: str | None) -> None:
    """Bring those stores that are elsewhere into the local cache, so that what opens them later need not wait."""
    from egoequiv.store.remote import fetch_store, is_url

    for place in dict.fromkeys(places):
        if place is not None and is_url(place):
            with ExitStack() as stack:
                fetch_store(place, _shown(place, stack))


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
