"""Counts in words."""

from __future__ import annotations


def plural(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun, which has an s unless there is one; `nouns` is a plural that is made otherwise.

    Example:
        >>> plural(1, "frame"), plural(1_200, "frame"), plural(2, "class", "classes")
        ('1 frame', '1,200 frames', '2 classes')

    """
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"
