"""A typed interface to numba, so that compiled functions keep their signatures for mypy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a function on its first call, and keep the machine code on disk if that is possible.

    numba does not notice when something a cached function uses changes in *another* file. Compiled functions
    therefore call only those of their own file; after reordering the fields of a named tuple they take, delete the
    `__pycache__` beside their file.
    """
    numba = importlib.import_module("numba")  # by name, because numba has no types
    options = {"nogil": True, "error_model": "numpy"}  # no check for a zero before each division
    try:
        cached: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder it may write to, so this process compiles again
        uncached: Function = numba.njit(**options)(function)
        return uncached
    return cached
