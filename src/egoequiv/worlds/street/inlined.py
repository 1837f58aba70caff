"""A second door to numba, for the helpers of a compiled loop."""

from __future__ import annotations

import importlib

from egoequiv.worlds.compiled import Function


def inlined(function: Function) -> Function:
    """Melt a function into the compiled functions that call it; what is asked for in each pixel gains a third.

    It has no machine code of its own to keep on disk. As with `compiled`, it may be called from its own file only.
    """
    numba = importlib.import_module("numba")  # by name, for numba ships no types
    melted: Function = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return melted
