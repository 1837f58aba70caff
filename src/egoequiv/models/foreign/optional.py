"""Packages that only some models need, imported when they are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from egoequiv.errors import ConfigError


def import_optional(package: str, extra: str, what: object) -> Any:
    """Import a package that may not be installed; the error says what needs it, and how to get it."""
    try:
        return import_module(package)
    except ImportError as problem:
        top = package.partition(".")[0]
        if problem.name not in (None, package, top):
            raise  # it is there, and something it needs is broken
        raise ConfigError(f"{what} needs the package {top}: pip install 'egoequiv[{extra}]'") from problem
