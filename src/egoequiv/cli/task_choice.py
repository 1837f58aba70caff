"""What tasks are asked for on the command line: their names, the motions, and what is kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.errors import ConfigError

if TYPE_CHECKING:
    from egoequiv.store import FrameStore

ALL = "all"

Motions = Annotated[
    str | None, typer.Option(help="Of tasks: these motions, such as up,down,up+right; by default the task's own.")
]
Steps = Annotated[
    int | None,
    typer.Option(min=1, max=50, help="Of next-view: further views (1); of composition: the longest chain (5)."),
]
Neighbours = Annotated[int | None, typer.Option(min=1, help="Of next-view: how many nearest training pairs vote (25).")]
Apart = Annotated[
    str | None,
    typer.Option(
        help="Of retrieval, analogy, readout and prediction: what is kept apart (recording), label, or an attribute."
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Of tasks: where chance begins (0).")]


def names_in(given: Sequence[str]) -> list[str]:
    """The names of an option that may be repeated and may hold commas, each once."""
    return list(dict.fromkeys(name.strip() for text in given for name in text.split(",")))


def tasks_in(given: Sequence[str]) -> list[str]:
    """The tasks of these names; `all` stands for every one."""
    from egoequiv.evaluation.tasks import get_tasks, list_tasks

    names = names_in(given)
    return list(get_tasks(list_tasks() if ALL in names else names))


def options_in(
    motions: str | None, steps: int | None, neighbours: int | None, apart: str | None, seed: int | None
) -> dict[str, Any]:
    """Those of the options of tasks that were given, as `TaskOptions` takes them."""
    names = None if motions is None else tuple(name.strip() for name in motions.split(","))
    given = {"steps": steps, "neighbours": neighbours, "apart": apart, "seed": seed, "motions": names}
    return {name: value for name, value in given.items() if value is not None}


def check_motions(task: str, motions: Sequence[str] | None) -> None:
    """Refuse motions that a task can do nothing with."""
    if task == "next-view" and motions is not None and len(set(motions)) < 2:
        raise ConfigError(f"--motions {','.join(motions)}: next-view chooses between motions, name at least two")


def check_apart(apart: str, stores: Iterable[FrameStore]) -> None:
    """Refuse an attribute that none of the stores has, for tasks too that keep nothing apart."""
    if apart in ("recording", "label"):
        return
    problem = None
    for store in stores:
        try:
            store.attribute(apart)
            return
        except ConfigError as lacking:
            problem = lacking
    if problem is not None:
        raise ConfigError(f"--apart {apart}: {problem}; or give recording or label") from problem
