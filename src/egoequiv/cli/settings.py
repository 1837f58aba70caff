"""Settings as they come from a command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from egoequiv.errors import ConfigError

# What is written GROUP.KEY=VALUE and kept under another name, because GROUP=VALUE is a setting too.
GROUPS = {"encoder": "encoder_settings"}


def parse_settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Turn `key=value` and `group.key=value` strings into nested values."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key:
            raise ConfigError(f"setting {assignment!r}: expected key=value")
        group, dot, name = key.partition(".")
        group = GROUPS.get(group, group) if dot else group
        place = values.setdefault(group, {}) if dot else values
        if not isinstance(place, dict) or isinstance(place.get(name if dot else key), dict):
            raise ConfigError(f"setting {group!r} is given both as {group}=VALUE and as {group}.NAME=VALUE")
        place[name if dot else key] = value
    return values


def parse_size(text: str | None) -> tuple[int, int] | None:
    """`96` or `94x310` (height x width)."""
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdecimal() and 0 < int(part) <= 65_536 for part in parts):
        raise ConfigError(f"size {text!r}: expected a number such as 96, or HEIGHTxWIDTH such as 94x310")
    return int(parts[0]), int(parts[-1])
