"""What all commands share: progress on stderr, tables and JSON on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from egoequiv.cli.log_lines import lines_for_log

if TYPE_CHECKING:
    from egoequiv.experiments import Table

PIPE_WIDTH = 140  # a pipe has no width; wide enough for a table
MOST_COLUMNS = 8  # side by side on a screen
WORTH_SAYING_S = 10

messages = Console(stderr=True)


def say(text: str) -> None:
    """One line for the user on stderr, never folded, so that paths and commands can be copied."""
    messages.print(text, soft_wrap=True, highlight=False, markup=False)


def output() -> Console:
    """The console for results; made when needed, so that it sees the stdout of the moment."""
    return Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A function `(what, done, total)` that shows how far each `what` is, on stderr; long work says what it took.

    A terminal gets one bar for each; a log file gets lines, few and far between.
    """
    start = time.monotonic()
    with _bars() if messages.is_terminal else lines_for_log(say) as update:
        yield update
    took_s = time.monotonic() - start
    if took_s > WORTH_SAYING_S:
        say(f"took {took_s:.0f} s" if took_s < 120 else f"took {took_s / 60:.1f} min")


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages) as progress:
        bars: dict[str, Any] = {}

        def update(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what, total=total)
            progress.update(bars[what], completed=done, total=total)

        yield update


def print_table(table: Table) -> None:
    """The table in two halves that fit a screen, then the paired tests of the accuracies."""
    from egoequiv.report.tables import cell, digits_of, p_text, title_of

    console = output()
    single = [c for c in table.columns if c.startswith("rho_") and c not in ("rho_atomic", "rho_composite")]
    summary = [c for c in table.columns if c not in single]
    beside = f"  (in brackets: the paper, on {table.published_on})" if table.published_on else ""
    console.print(f"[bold]{escape(table.title)}[/bold]{escape(beside)}")
    wide = [summary[start : start + MOST_COLUMNS] for start in range(0, len(summary), MOST_COLUMNS)]
    for columns in (*wide, single):
        if not columns:
            continue
        shown = RichTable("method", *(escape(title_of(c)) for c in columns))
        for row in table.rows:
            if any(column in row.metrics for column in columns) or row.diverged:
                lost = f" [red]{row.diverged} diverged[/red]" if row.diverged else ""
                shown.add_row(f"{escape(row.name)}{lost}", *(cell(row, column) for column in columns))
        console.print(shown)
    tested = "top1" if "top1" in table.columns else table.columns[0]
    tests = [c for c in table.comparisons if c.metric == tested]
    if tests:
        shown, digits = RichTable(f"paired test of {escape(title_of(tested))}", "difference", "p"), digits_of(tested)
        for c in tests:
            difference = f"{c.difference:+.{digits}f} ± {c.stderr:.{digits}f}"
            shown.add_row(escape(f"{c.a} - {c.b}"), difference, p_text(c.p_value))
        console.print(shown)
    about = table.about
    if "leaked_validation_frames" in about:
        console.print(
            f"split {about['split']}: {about['leaked_validation_frames']} of {about['validation_frames']} validation "
            "frames have a training frame of the same recording within one step or second"
        )
