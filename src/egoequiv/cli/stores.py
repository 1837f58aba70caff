"""Stores on the command line: a folder or a URL, and a bar while one is fetched."""

from __future__ import annotations

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from egoequiv.cli.console import messages, say


def fetch(*places: str | None) -> None:
    """Bring those stores that are elsewhere into the local cache, so that what opens them later need not wait."""
    from egoequiv.store.remote import fetch_store, is_url

    for place in dict.fromkeys(places):
        if place is not None and is_url(place):
            with _FetchProgress(place) as progress:
                fetch_store(place, progress.update)


class _FetchProgress:
    """A bar on a terminal, one line in a log; nothing at all where nothing has to be fetched."""

    def __init__(self, url: str) -> None:
        self._url = url
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._progress = Progress(*columns, TimeRemainingColumn(compact=True), console=messages)
        self._bar = self._progress.add_task("fetching", total=None)
        self._begun = False

    def __enter__(self) -> _FetchProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if messages.is_terminal:
            self._progress.stop()  # elsewhere it would print an empty line

    def update(self, done: int, total: int) -> None:
        if not self._begun:
            self._begun = True
            say(f"fetching {self._url} ({total / 1e6:.1f} MB)")
            if messages.is_terminal:
                self._progress.start()
        self._progress.update(self._bar, completed=done, total=total)
