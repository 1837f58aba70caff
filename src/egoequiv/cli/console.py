"""What all commands share: progress on stderr, tables and JSON on stdout."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from egoequiv.cli.log_lines import lines_for_log

if TYPE_CHECKING:
    from egoequiv.blocks import Block

WORTH_SAYING_S = 10

messages = Console(stderr=True)


def say(text: str) -> None:
    """One line for the user on stderr, never folded, so that paths and commands can be copied."""
    messages.print(text, soft_wrap=True, highlight=False, markup=False)


def output() -> Console:
    """The console for results, as wide as the terminal, or 80 columns; made when needed, because stdout may change."""
    return Console()


def show(blocks: Sequence[Block]) -> None:
    """Results on stdout."""
    from egoequiv.report.terminal import print_blocks

    print_blocks(blocks, output())


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


class Rate(ProgressColumn):
    """How much is done in a second."""

    def render(self, task: Task) -> Text:
        return Text("" if not task.speed else f"{task.speed:,.3g}/s")


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A function `(what, done, total)` that shows how far each `what` is, on stderr; long work says what it took.

    A terminal gets one bar for each; a log file gets lines, few and far between.
    """
    start = time.monotonic()
    columns = (MofNCompleteColumn(), Rate(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with bars(*columns) if messages.is_terminal else lines_for_log(say) as update:
        yield update
    took_s = time.monotonic() - start
    if took_s > WORTH_SAYING_S:
        say(f"took {took_s:.0f} s" if took_s < 120 else f"took {took_s / 60:.1f} min")


@contextmanager
def bars(*columns: ProgressColumn) -> Iterator[Callable[[str, int, int], None]]:
    """A function `(what, done, total)` that draws a bar for each `what` on the terminal, these columns behind it."""
    shown = (TextColumn("{task.description}", markup=False), BarColumn(), *columns)
    with Progress(*shown, console=messages) as progress:
        known: dict[str, Any] = {}

        def update(what: str, done: int, total: int) -> None:
            if what not in known:
                known[what] = progress.add_task(what, total=total)
            progress.update(known[what], completed=done, total=total)

        yield update
