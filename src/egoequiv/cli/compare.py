"""`egoequiv compare`: runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from egoequiv.cli.console import output, print_json, progress_bar, say
from egoequiv.cli.stores import fetch
from egoequiv.errors import ConfigError, DataError

if TYPE_CHECKING:
    from egoequiv.experiments.comparison import RunComparison

MOST_NAMED = 8  # of what is no run


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="The folders of two or more runs, or folders that hold runs; what is no run is left out."),
    ],
    store: Annotated[
        str | None, typer.Option(help="Measure rho over all frames of this store, not on the validation frames.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Set runs side by side: the settings that differ, their figures, and paired tests.

    Runs that differ in the seed alone are repetitions of one experiment, and are tested seed by seed. Where there are
    fewer than three, the answers to the same validation frames are compared instead.
    """
    from egoequiv.experiments.comparison import compare_runs

    found = _runs_of(runs)
    fetch(store)
    with progress_bar() as progress:
        compared = compare_runs(found, store, progress)
    if as_json:
        print_json(compared.describe())
        return
    _show(compared)


def _runs_of(paths: Sequence[Path]) -> list[Path]:
    """The runs that are meant: those named, and those in the folders named; what is neither is told of."""
    from egoequiv.training.run_folder import runs_in

    found: list[Path] = []
    left_out: list[str] = []
    for path in dict.fromkeys(paths):
        if not path.exists():
            raise DataError(f"{path} does not exist: give the folder of a run, or one that holds runs")
        runs = runs_in(path) if path.is_dir() else []
        found += runs
        if not runs:
            left_out.append(f"{path} ({'holds no run' if path.is_dir() else 'a file'})")
    if left_out:
        more = len(left_out) - MOST_NAMED
        say(f"left out: {', '.join(left_out[:MOST_NAMED])}{f' and {more} more' if more > 0 else ''}")
    if len(set(found)) < 2:
        raise ConfigError(f"give two or more different runs to compare, found {len(set(found))}")
    return found


def _show(compared: RunComparison) -> None:
    letters = [_letter(number) for number in range(len(compared.groups))]
    console = output()
    for letter, group in zip(letters, compared.groups, strict=True):
        seeds = ", ".join(map(str, group.seeds))
        where = str(group.runs[0]) if len(group.runs) == 1 else f"{group.runs[0]} and {len(group.runs) - 1} more"
        console.print(escape(f"{letter}  {group.name}, seed {seeds}: {where}"), highlight=False, soft_wrap=True)
    if compared.settings:
        shown = Table("setting", *letters)
        for name, values in compared.settings.items():
            shown.add_row(escape(name), *("-" if value is None else escape(str(value)) for value in values))
        console.print(shown)
    elif len(compared.groups) == 1:
        console.print("all runs have the same settings; they differ in the seed alone")
    _show_metrics(compared, letters)
    _show_tests(compared, letters)


def _show_metrics(compared: RunComparison, letters: list[str]) -> None:
    from egoequiv.report.tables import show, title_of

    table = Table("metric", *letters)
    for name in dict.fromkeys(name for metrics in compared.metrics for name in metrics):
        table.add_row(escape(title_of(name)), *(show(metrics.get(name), name) for metrics in compared.metrics))
    console = output()
    console.print(table)
    for line in _undefined(compared, letters):
        console.print(escape(line), highlight=False, soft_wrap=True)


def _undefined(compared: RunComparison, letters: list[str]) -> list[str]:
    """Why figures in the table are not defined, a line for each motion and reason."""
    whose: dict[tuple[str, str], list[str]] = {}
    for letter, undefined in zip(letters, compared.undefined, strict=True):
        for motion, reason in undefined.items():
            whose.setdefault((motion, reason), []).append(letter)
    return [f"rho of {motion} is not defined for {', '.join(own)}: {reason}" for (motion, reason), own in whose.items()]


def _show_tests(compared: RunComparison, letters: list[str]) -> None:
    from egoequiv.report.tables import digits_of, p_text, title_of

    console = output()
    if compared.tests:
        seeds = sorted({one.seeds for one in compared.tests})
        console.print(f"paired t-test over {' or '.join(map(str, seeds))} seeds that both have, two-sided:")
        table = Table("metric", "between", "difference", "p")
        for one in compared.tests:
            test, digits = one.test, digits_of(one.metric)
            between = f"{letters[one.a]} - {letters[one.b]}"
            difference = f"{test.difference:+.{digits}f} ± {test.stderr:.{digits}f}"
            table.add_row(escape(title_of(one.metric)), between, difference, p_text(test.p_value))
        console.print(table)
    for test_name in dict.fromkeys(answered.compared.test for answered in compared.answers):
        own = [answered for answered in compared.answers if answered.compared.test == test_name]
        recordings, frames = own[0].compared.recordings, own[0].compared.frames
        console.print(f"top-1 on the same {frames:,} validation frames of {recordings:,} recordings, {test_name}:")
        table = Table("between", "difference %", "95 % interval", "p", "right by the first alone", "by the second")
        for answered in own:
            found = answered.compared
            low, high = (100 * end for end in found.interval)
            table.add_row(
                f"{letters[answered.a]} - {letters[answered.b]}",
                f"{100 * found.difference:+.2f}",
                f"{low:+.2f} to {high:+.2f}" if low == low else "-",
                p_text(found.p_value),
                f"{found.only_a:g}",
                f"{found.only_b:g}",
            )
        console.print(table)
    for line in _untested(compared, letters):
        console.print(line, highlight=False, soft_wrap=True)


def _untested(compared: RunComparison, letters: list[str]) -> list[str]:
    """Why there is no test, a line for each reason."""
    if len(compared.groups) == 1:
        return ["no test: these runs are repetitions of one experiment, and there is no other to set against it"]
    between: dict[tuple[str, str], list[str]] = {}
    for one in compared.untested:
        what = "" if one.figures == "all" else f"{one.figures} between "
        between.setdefault((what, one.reason), []).append(f"{letters[one.a]} - {letters[one.b]}")
    return [f"no test of {what}{', '.join(own)}: {reason}" for (what, reason), own in between.items()]


def _letter(number: int) -> str:
    """A, B, ..., Z, A1, B1 and so on."""
    turn, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(turn) if turn else "")
