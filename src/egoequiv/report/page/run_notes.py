"""What is to be known of runs beside their figures: those not finished, not measured, or left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from egoequiv.errors import EgoEquivError
from egoequiv.files import read_json
from egoequiv.models.checkpoint import MODEL, RUN_KIND
from egoequiv.report.page.blocks import Text
from egoequiv.report.page.gather import Exhibit
from egoequiv.store.remote import is_url
from egoequiv.training.run_folder import CONFIG, DATA, RunFolder, is_run


def run_notes(exhibit: Exhibit, again: str) -> list[Text]:
    """Of runs that are in no table of the folder: which of them are not finished, and which not measured."""
    if exhibit.evaluations is None:
        return []
    runs = [run for subject in exhibit.subjects for run in subject.group.runs]
    unfinished = [f"{run.name} ({words})" for run in runs if (words := _unfinished(run)) is not None]
    notes = []
    if unfinished:
        words = (
            f"Not finished: {', '.join(unfinished)}. Such runs count in the means of their rows, but in no paired test"
        )
        notes.append(Text(f"{words}; to finish one: `egoequiv train ... --resume` with its settings.", "missing"))
    unmeasured = [run.name for run in runs if run not in exhibit.evaluations]
    if unmeasured and exhibit.table is not None:
        notes.append(Text(f"Not measured, and so in no row: {', '.join(unmeasured)}; to do so: {again}", "missing"))
    return notes


def _unfinished(run: Path) -> str | None:
    try:
        words = RunFolder(run).unfinished()
    except EgoEquivError as problem:
        return str(problem)
    return None if words is None else words.removeprefix("not finished: ")


def left_out(folder: Path) -> list[str]:
    """The folders that look like runs and are none, a sentence for each."""
    if is_run(folder):
        return []
    paths = sorted(path.parent for pattern in (f"*/{CONFIG}", f"*/*/{CONFIG}") for path in folder.glob(pattern))
    return [
        f"Left out: {path.relative_to(folder)}, which has a {CONFIG}, but neither the {DATA} nor the {MODEL} of a run."
        for path in paths
        if not is_run(path)
    ]


def in_sentences(what: str, reasons: Mapping[str, str]) -> list[str]:
    """One sentence for each reason, with the names it holds for."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [f"{what}: {', '.join(own)}: {reason}" for reason, own in names.items()]


def why_not_opened(run: Path, problem: EgoEquivError) -> str:
    """Why a run could not be looked at, and what to do where its store is gone."""
    if not (run / CONFIG).exists():
        return str(problem)
    config = read_json(run / CONFIG, RUN_KIND)
    places = [str(place) for place in (config.get("data"), config.get("labels")) if place is not None]
    gone = [place for place in places if not is_url(place) and not Path(place).exists()]
    if not gone:
        return str(problem)
    return (
        f"the store {gone[0]} is no longer where it was in training: bring it back, or, if it was moved, link it there "
        "(ln -s NEW OLD), and write the report again"
    )
