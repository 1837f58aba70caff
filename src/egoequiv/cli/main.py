"""The command line: one file a command; each parses, calls the library and prints."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from egoequiv import __version__
from egoequiv.cli.stopping import STOPPED, StoppedError, how_to_go_on, say_stopped, stoppable
from egoequiv.errors import ConfigError, DivergedError, EgoEquivError, LostProcessError

# Every command and the first line of its help. A command of that name lives in the module of that name.
COMMANDS = {
    "demo": "Render toys on a turntable, train four methods on them, and compare their features.",
    "inspect": "Say what a log holds: format, cameras, rates, ranges, gaps, poses, and what to type next.",
    "ingest": "Decode and resize frames once, into a store that everything else reads.",
    "render": "Write an embedded world to files: try the readers of files without a download, or look at the pictures.",
    "info": "Show recordings, frames, poses and labels of a store, and write a contact sheet.",
    "view": "Write one page that shows whether a log is sane: the path, motion against time, gaps, motions, frames.",
    "doctor": "Compare the pictures of a log with its motion: clock, axes, signs, order, frozen and missing frames.",
    "patterns": "Cluster the motions between frames, keep the largest, and name them in plain words.",
    "methods": "List the methods and the losses each is made of, and the settings of those that are named.",
    "train": "Train a method on a store or a log; stop it at any time and go on with --resume.",
    "settings": "List every setting of a run, for --set KEY=VALUE, with its default and what it means.",
    "search": "Choose the learning rate and the loss weights, on a part cut from the training frames.",
    "evaluate": "Measure recognition, and the equivariance error rho of each motion, "
    "on the validation frames of a run.",
    "audit": "Measure how equivariant the features of any vision models are, side by side on one store with poses.",
    "embed": "Write the features of pictures, videos, logs or stores, with file name, frame and time of each.",
    "export": "Write a run for other programs: ONNX, torch.export and safetensors, with a model card and checksums.",
    "compare": "Compare runs: the settings that differ, what was measured, and paired tests.",
    "reproduce": "Reproduce the paper's tables, beside the published numbers.",
    "serve": "Serve a model over HTTP: features, predictions, plans, nearest frames; and a page to explore.",
    "report": "Write one page with the tables, the tests and the figures of an experiment or a run.",
}

_NO_MEMORY = "can't allocate memory"  # how torch says it, in a RuntimeError


class LazyCommands(TyperGroup):
    """Commands whose modules are imported when they are called: to list them, their names and lines are enough."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        if name != "train" and int(os.environ.get("WORLD_SIZE", "1")) > 1 and "TORCHELASTIC_RUN_ID" in os.environ:
            raise ConfigError("only `train` can run on several processes: leave torchrun out")
        return name, None if name is None else load_command(name), rest


app = typer.Typer(
    name="egoequiv",
    cls=LazyCommands,
    help="Image features that change predictably when the camera moves.",
    no_args_is_help=True,
    rich_markup_mode=None,  # boxes around the list of commands would take as long again to import and draw
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def load_command(name: str) -> Any:
    """Import a command, or a group of them, as typer makes it."""
    module = import_module(f"egoequiv.cli.{name}")
    loaded = typer.Typer()
    if hasattr(module, "app"):
        loaded.add_typer(module.app, name=name)
    else:
        loaded.command(name)(getattr(module, name))
    return typer.main.get_group(loaded).commands[name]


def _listed() -> None:
    """A placeholder for a command in the list of commands."""


for _name, _line in COMMANDS.items():
    app.command(_name, short_help=_line)(_listed)


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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names that are not UTF-8 are shown with their bytes escaped
            stream.reconfigure(errors="backslashreplace")
    with stoppable() as stop:
        try:
            app()
        except StoppedError as how:
            _stop(str(how), stop.exit_code)
        except BaseException as problem:
            if stop.signal is not None or (isinstance(problem, SystemExit) and problem.code == STOPPED):
                _stop(how_to_go_on(sys.argv[1:]), stop.exit_code)
            _explain(problem)
            raise


def _explain(problem: BaseException) -> None:
    """End with one line if it was the user's input or the machine; anything else is a bug and returns."""
    if isinstance(problem, EgoEquivError):
        # What is wrong with the command is wrong in all processes that torchrun started; the first one says so.
        if _is_other() and isinstance(problem, ConfigError | DivergedError):
            sys.exit(2)
        if isinstance(problem, LostProcessError):
            _say(str(problem))
            os._exit(2)
        _fail(str(problem))
    if isinstance(problem, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone; nothing to say
        sys.exit(1)
    if isinstance(problem, OSError):
        _fail(f"{_text(problem.filename)}: {problem.strerror}" if problem.filename else str(problem))
    if isinstance(problem, MemoryError) or (isinstance(problem, RuntimeError) and _NO_MEMORY in str(problem)):
        reason = (str(problem).strip().splitlines() or ["nothing more is free"])[-1]
        _fail(f"out of memory ({reason}): choose smaller images or batches, fewer frames or processes")
    if isinstance(problem, RuntimeError) and str(problem).startswith("Symlink loop from"):
        _fail(f"{str(problem).partition(' from ')[2]}: a link that leads back to itself")
    if isinstance(problem, UnicodeEncodeError) and problem.reason == "surrogates not allowed":
        _fail(f"{problem.object[:200]!a}: a name that is not UTF-8 cannot be used here; rename the file or folder")


def _text(filename: object) -> str:
    return os.fsdecode(filename) if isinstance(filename, bytes) else str(filename)


def _is_other() -> bool:
    """Whether this is one of the processes that torchrun started, and not the first."""
    return "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("RANK", "0") != "0"


def _stop(how: str, code: int) -> NoReturn:
    if not _is_other():
        say_stopped(how)
    sys.exit(code)


def _fail(reason: str) -> NoReturn:
    _say(reason)
    sys.exit(2)


def _say(reason: str) -> None:
    print(f"egoequiv: error: {' '.join(reason.split())}", file=sys.stderr, flush=True)
