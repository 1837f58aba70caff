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


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether a device computes with bfloat16 itself, which is then several times as fast as float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # new in torch 2.9
    return device.type == "cpu" and bool(known.get("avx512_bf16") or known.get("amx_bf16"))
