"""Checks of the settings of worlds."""

from __future__ import annotations

from typing import Any

import numpy as np

from egoequiv.errors import ConfigError


def check_number(world: str, name: str, value: Any, smallest: int, largest: int | None = None) -> None:
    """Refuse a setting that is no whole number within its range."""
    wanted = f"of at least {smallest}" if largest is None else f"from {smallest} to {largest}"
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < smallest or (largest is not None and value > largest):
        raise ConfigError(f"{world}: {name} must be a whole number {wanted}, found {value!r}")
