"""Where torch computes."""

from __future__ import annotations

import torch

from egoequiv.errors import ConfigError


def choose_device(name: str) -> torch.device:
    """The device of that name; `auto` is the GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise ConfigError(f"device {name!r} cannot be used here: {str(problem).splitlines()[0]}") from problem
    return device
