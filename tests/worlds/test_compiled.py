"""Compiled functions work whether or not numba finds a folder for its cache."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from egoequiv.worlds.compiled import compiled


def doubled(x: float) -> float:
    return 2.0 * x


def test_a_compiled_function_computes_the_same() -> None:
    assert compiled(doubled)(1.5) == doubled(1.5) == 3.0


def test_without_a_folder_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def njit(**options: Any) -> Callable[[Any], Any]:
        tried.append(options.get("cache", False))
        if tried[-1]:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=njit))
    assert compiled(doubled)(1.5) == 3.0
    assert tried == [True, False]
