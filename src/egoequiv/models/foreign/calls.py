"""Code of others that is run: what it does wrong is said in one line, what it prints is no result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from egoequiv.user_code import FAULTS, one_line

__all__ = ["FAULTS", "fault_of", "one_line", "prints_aside", "words_of"]


@contextmanager
def prints_aside() -> Iterator[None]:
    """What is printed meanwhile goes to stderr: stdout is for what was measured, such as one JSON object."""
    with redirect_stdout(sys.stderr):
        yield


def fault_of(problem: BaseException) -> str:
    """What the code did: "raised ValueError", or "called sys.exit(3)"."""
    if isinstance(problem, SystemExit):
        code = "" if problem.code is None else one_line(repr(problem.code))
        return f"called sys.exit({code}), which a model must not"
    return f"raised {type(problem).__name__}"


def words_of(problem: BaseException) -> str:
    """What it says of it, on one line; nothing where the code has just ended."""
    return "" if isinstance(problem, SystemExit) else one_line(str(problem))


def described(problem: BaseException) -> str:
    """Both of them."""
    words = words_of(problem)
    return f"it {fault_of(problem)}{': ' if words else ''}{words}"
