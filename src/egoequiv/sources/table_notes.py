"""What a user should know of the columns that the motion is read from, and of those that it is not."""

from __future__ import annotations

from egoequiv.remarks import Remark
from egoequiv.sources import table_columns as usual
from egoequiv.sources.table_columns import find, words_of
from egoequiv.sources.table_motion import Choice
from egoequiv.sources.table_settings import TableSettings
from egoequiv.sources.tables import Table


def notes_on_columns(table: Table, choice: Choice, settings: TableSettings, taken: set[str]) -> list[str]:
    """Columns that are spoiled or missing, and conventions that were assumed.

    Args:
        table: the table.
        choice: the columns of the motion.
        settings: what was declared.
        taken: columns that name frames.

    """
    name = table.path.name
    spoiled = [table.spoiled(one) for one in table.columns if one not in taken]
    notes = [f"a column of numbers is not used: {problem}" for problem in spoiled if problem]
    if not choice.names:
        rest = [one for one in table.columns if one not in taken and table.is_numeric(one)]
        hint = f"; its columns of numbers: {', '.join(rest[:10])} (--read columns={rest[0]})" if rest else ""
        notes.append(f"{name}: no column looks like motion{hint}")
    if choice.kind == "columns" and choice.position:
        what = "the motion is the change of the position in the world"
        notes.append(Remark(f"{name}: no columns look like a rotation, so {what}"))
    if choice.kind == "pose" and not choice.position:
        notes.append(f"{name}: no columns look like a position, so the camera turns and never moves")
    if choice.kind == "pose" and not settings.axes and not settings.mount:
        notes.append(
            Remark("poses are taken as those of a camera that looks along x (axes ros): choose with --read axes=opencv")
        )
    if not choice.rotation and not settings.columns and not settings.rates:
        notes += _unordered(table)
    return notes


def _unordered(table: Table) -> list[str]:
    """Four columns such as q1 to q4, which say nothing of the order."""
    found = [word.name for word in words_of(table) if find([word], usual.UNORDERED_QUATERNION)]
    if len(found) != 4 or not all(table.is_numeric(one) for one in found):
        return []
    read = f"--read rotation={','.join(found)} --read quaternion=xyzw (or wxyz)"
    return [
        f"{table.path.name}: {', '.join(found)} look like a quaternion, but not which is w, so it is not used: {read}"
    ]
