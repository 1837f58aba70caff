"""How long the command line takes to answer, and a training run to do its first iteration."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.measuring import Measured, command_seconds, compare, egoequiv
from benchmarks.workbench import Workbench

HELP_LIMIT_S = 0.3
TYPER_APP = "import typer; app = typer.Typer(); app.command()(lambda: None); app(['--help'])"
FIRST_ITERATION = (
    "import os, sys, egoequiv; egoequiv.train(sys.argv[1], sys.argv[2], log_every=1, on_metrics=lambda _: os._exit(0))"
)


def help_vs_limit(bench: Workbench) -> Measured:
    """`egoequiv --help` against the 0.3 s it may take."""
    return compare(_help, lambda: HELP_LIMIT_S, bench.scale.rounds)


def help_vs_typer(bench: Workbench) -> Measured:
    """`egoequiv --help` against the help of a typer application that does nothing."""
    empty = partial(command_seconds, [sys.executable, "-c", TYPER_APP])
    return compare(_help, empty, bench.scale.rounds)


def first_iteration_vs_torch(bench: Workbench) -> Measured:
    """From the start of Python to the end of the first iteration of training, against the import of torch alone."""
    store = bench.toys.path

    def ours() -> float:
        return command_seconds([sys.executable, "-c", FIRST_ITERATION, str(store), str(bench.new_folder() / "run")])

    return compare(ours, partial(command_seconds, [sys.executable, "-c", "import torch"]), bench.scale.few_rounds)


def _help() -> float:
    return command_seconds(egoequiv("--help"))
