"""What tasks are asked for on the command line: their names, the motions, and what is kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from egoequiv.errors import ConfigError

if TYPE_CHECKING:
    from egoequiv.store import FrameStore

ALL = "all"


def names_in(given: Sequence[str]) -> list[str]:
    """The names of an option that may be repeated and may hold commas, each once."""
    return list(dict.fromkeys(name.strip() for text in given for name in text.split(",")))


def tasks_in(given: Sequence[str]) -> list[str]:
    """The tasks of these names; `all` stands for every one."""
    from egoequiv.evaluation.tasks import TASKS, get_tasks

    names = names_in(given)
    return list(get_tasks(list(TASKS) if ALL in names else names))


def motions_in(given: str | None) -> tuple[str, ...] | None:
    """The motions of an option, None where it was not given."""
    return None if given is None else tuple(name.strip() for name in given.split(","))


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
