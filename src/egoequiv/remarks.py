"""What is said about a log besides what was left out of it."""

from __future__ import annotations


class Remark(str):
    """A choice or a fact, such as "camera cam0 of 2": nothing was left out and nothing is wrong.

    Readers put remarks and notes into one list, in the order of the log. `Source` takes them apart.

    Example:
        >>> [note for note in [Remark("stamps are in ns"), "3 rows left out"] if not isinstance(note, Remark)]
        ['3 rows left out']

    """

    __slots__ = ()
