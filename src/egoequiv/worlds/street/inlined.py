"""A second interface to numba, for the helpers of a compiled loop."""

from __future__ import annotations

import importlib

from egoequiv.worlds.compiled import Function


def inlined(function: Function) -> Function:
    """Inline a function into the compiled functions that call it; for what runs in each pixel, this gains a third.

    It has no machine code of its own on disk. As with `compiled`, it may be called from its own file only.
    """
    numba = importlib.import_module("numba")  # by name, because numba has no types
    melted: Function = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return melted
