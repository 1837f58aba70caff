"""How far long work has come, on stderr: a bar on a terminal, a line at every tenth elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]  # how much is done, and of how much


def silent(done: int, total: int) -> None:
    """Report nothing."""


@contextmanager
def shown(what: str, wanted: bool = True) -> Iterator[Progress]:
    """A function `(done, total)` that shows on stderr how far `what` has come.

    Args:
        what: the name of the work, such as `frames`.
        wanted: whether anything is shown at all.

    Example:
        >>> with shown("frames", wanted=False) as update:
        ...     update(10, 100)
    """
    if not wanted:
        yield silent
    elif sys.stderr.isatty():
        with _bar(what) as update:
            yield update
    else:
        yield _lines(what)


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console  # here, because a script that only imports the library need not wait for it
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def _lines(what: str) -> Progress:
    said = 0

    def update(done: int, total: int) -> None:
        nonlocal said
        tenth = 10 * done // total if total else 0
        if tenth > said:
            print(f"{what}: {done:,}/{total:,}", file=sys.stderr, flush=True)
        said = tenth  # work that begins again is shown again

    return update
