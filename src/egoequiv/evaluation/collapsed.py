"""Numbers of features that have collapsed in training: they are marked, whatever they say."""

from __future__ import annotations

from dataclasses import replace

from egoequiv.blocks import Grid
from egoequiv.evaluation.metric import MARK
from egoequiv.evaluation.task import Finding
from egoequiv.models.network import ALL


def of_collapsed(found: Finding, part: str) -> Finding:
    """What was found of a part of the features that has collapsed: each number with its mark, and why."""
    which = "the features" if part == ALL else f"the {part} part of the features"
    note = f"{which} collapsed in training and hardly differ between frames, so each number has the mark {MARK}"
    values = [value.model_copy(update={"is_collapsed": True}) for value in found.values]
    return replace(found, values=values, tables=[_marked(table) for table in found.tables], notes=[note, *found.notes])


def _marked(table: Grid) -> Grid:
    """A table whose measured numbers all bear the mark."""
    rows = [
        [replace(one, text=one.text.removesuffix(MARK) + MARK) if one.is_measured else one for one in row]
        for row in table.rows
    ]
    return replace(table, rows=rows)
