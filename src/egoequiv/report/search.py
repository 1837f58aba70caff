"""What a search tried and chose, for the terminal and for a report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from math import isnan
from pathlib import Path

from egoequiv.blocks import Block, Cell, Code, Grid, Section, Text
from egoequiv.plurals import plural
from egoequiv.report.sections import FOUND, Report
from egoequiv.training.search import SAME, SELECTION, Selection, Trial

OF_SEARCH = ("data", "validate_every", "holdout_fraction", "threads")  # shared settings that `_command` does not repeat


def is_search(folder: Path | str) -> bool:
    """Whether a folder is that of a search."""
    return (Path(folder) / SELECTION).is_file()


def search_report(folder: Path | str) -> Report:
    """The report of the folder of a search."""
    selection = Selection.load(Path(folder) / SELECTION)
    count = len({(one.method, repr(one.settings)) for one in selection.trials})
    lead = (
        f"{plural(count, 'setting was', 'settings were')} tried, on held-out training frames. To see "
        "what the chosen ones are worth, train with them on all training frames, and report those runs."
    )
    blocks = search_blocks(selection, list(selection.weight))
    return Report(f"The search in {Path(folder).resolve().name}", lead, {}, [Section(FOUND, blocks)])


def search_blocks(selection: Selection, names: Sequence[str]) -> list[Block]:
    """Every trial, the chosen one of each choice first, and the choice as options of `egoequiv train`."""
    stages = selection.stages()
    rows = [_row(selection, trial, is_chosen=trial is stage[0]) for stage in stages for trial in stage]
    columns = ("method", "learning rate", "weights", "score on held-out training frames", "chosen")
    ties = [line for stage in stages if (line := _tie(selection, stage))]
    grid = Grid.of("Settings that were tried, the best of each choice first", columns, rows, ties)
    return [grid, Text("Train with what was chosen:"), *(Code(_command(selection, name)) for name in names)]


def _command(selection: Selection, method: str) -> str:
    """The command that trains with what was chosen, on all training frames."""
    chosen = selection.settings(method)
    settings = {name: value for name, value in selection.base.items() if name not in OF_SEARCH}
    settings |= {"learning_rate": f"{chosen['learning_rate']:g}"}
    settings |= {f"weight.{term}": f"{weight:g}" for term, weight in chosen["weight"].items()}
    words = ["egoequiv", "train", selection.base.get("data", "STORE"), "--method", method]
    words += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return shlex.join([*words, "-o", "RUN"])


def _row(selection: Selection, trial: Trial, is_chosen: bool) -> list[Cell | str]:
    lost = Cell(f"diverged at {trial.diverged_at}", tone="bad")
    score = lost if isnan(trial.score) else f"{trial.score:.4f}"
    method = selection.name(trial.method)
    return [method, f"{trial.settings['learning_rate']:g}", _weights(trial), score, "yes" if is_chosen else ""]


def _weights(trial: Trial) -> str:
    return ", ".join(f"{term} {weight:g}" for term, weight in trial.weights.items())


def _tie(selection: Selection, stage: Sequence[Trial]) -> str:
    """What is said where several settings have the best score; empty where one has."""
    best = stage[0]
    equal = [trial for trial in stage if trial.score >= best.score - SAME]
    if len(equal) < 2:
        return ""
    chosen = _weights(best) or f"learning rate {best.settings['learning_rate']:g}"
    return (
        f"tie: {len(equal)} settings of {selection.name(best.method)} have the score {best.score:.4f}; the first that "
        f"was tried is chosen: {chosen}"
    )
