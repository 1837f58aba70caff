"""What a task found of one run, as the report keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoequiv.evaluation.task import TaskTable
from egoequiv.files import is_number


@dataclass(frozen=True, eq=False)
class Found:
    """What a task found of one run; or the problem, where it could not be done."""

    task: str
    result: dict[str, Any]
    headline: dict[str, float | None]
    tables: tuple[TaskTable, ...]
    figures: tuple[Path, ...]
    problem: str | None


def is_whole(found: Found) -> bool:
    """Whether everything that a page shows of it is there, and of the right kind; a file may be damaged."""
    if found.problem is not None:
        return isinstance(found.problem, str)
    return (
        isinstance(found.result, dict)
        and isinstance(found.headline, dict)
        and all(value is None or is_number(value) for value in found.headline.values())
        and all(_is_whole_table(table) for table in found.tables)
        and (found.task not in RESULTS or RESULTS[found.task](found.result))
    )


def _is_whole_table(table: TaskTable) -> bool:
    return isinstance(table.title, str) and all(map(_are_words, (table.columns, table.notes, *table.rows)))


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _has_motions(result: Mapping[str, Any]) -> bool:
    pairs, mined = result["pairs"], result["mined"]
    are_counted = isinstance(pairs, dict) and all(map(is_number, pairs.values()))
    is_mined = mined is None or all(is_number(mined[key]) for key in ("motions", "kept"))
    return are_counted and is_mined and _are_words(result["learned"])


def _has_chains(result: Mapping[str, Any]) -> bool:
    steps = [step for own in result["chains"].values() for step in own]
    return all(is_number(s["steps"]) and _is_rho(s["composed"]["rho"]) for s in steps)


def _is_rho(value: Any) -> bool:
    return value is None or is_number(value)


# Of the tasks whose result is drawn or told by the page itself: whether it holds what is wanted; KeyError where not.
RESULTS: dict[str, Callable[[Mapping[str, Any]], bool]] = {"motions": _has_motions, "composition": _has_chains}
