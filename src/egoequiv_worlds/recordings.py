"""What the worlds share: recordings that draw their pictures when these are needed, and checks of settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Recording


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnRecording(Recording):
    """A recording that holds how to draw its pictures, not the pictures."""

    name: str
    poses: NDArray[np.float64]
    times_s: NDArray[np.float64] | None = None
    labels: Sequence[str] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    lens: Lens | None = None


def check_numbers(world: str, settings: Mapping[str, Any], least: dict[str, int], largest: int | None = None) -> None:
    """Refuse settings that are no whole numbers of at least some size, or above what all may be at most."""
    for name, smallest in least.items():
        value = settings[name]
        is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_whole or value < smallest or (largest is not None and value > largest):
            wanted = f"of at least {smallest}" if largest is None else f"from {smallest} to {largest}"
            raise ConfigError(f"{world}: {name} must be a whole number {wanted}, found {value!r}")
