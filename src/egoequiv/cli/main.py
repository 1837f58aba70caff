"""The command line: one file a command; each parses, calls the library and prints."""

from __future__ import annotations

import os
import sys

import typer

from egoequiv import __version__
from egoequiv.cli import demo, embed, evaluate, info, ingest, methods, patterns, render, reproduce, search, train
from egoequiv.errors import EgoEquivError

STOPPED = 130  # the exit code after Ctrl-C

app = typer.Typer(
    name="egoequiv",
    help="Image features that answer to camera motion in a predictable way.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("ingest")(ingest.ingest)
app.command("render")(render.render)
app.command("info")(info.info)
app.command("patterns")(patterns.patterns)
app.command("methods")(methods.methods)
app.command("train")(train.train)
app.command("search")(search.search)
app.command("evaluate")(evaluate.evaluate)
app.command("embed")(embed.embed)
app.add_typer(reproduce.app, name="reproduce")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"egoequiv {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run a command; a user's mistake prints one line and exits 2, a bug prints a traceback."""
    try:
        app()
    except EgoEquivError as problem:
        _fail(str(problem))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone; nothing to say
        sys.exit(1)
    except OSError as problem:
        _fail(f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem))
    except SystemExit as stop:
        if stop.code == STOPPED:
            print("stopped; what was finished is kept", file=sys.stderr)
        raise


def _fail(reason: str) -> None:
    print(f"egoequiv: error: {' '.join(reason.split())}", file=sys.stderr)
    sys.exit(2)
