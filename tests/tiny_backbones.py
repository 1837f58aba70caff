"""Tiny vision models with random weights, written by transformers itself, and the sizes of their maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

WIDTH = 8
VIT = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def _dinov2() -> Any:
    import transformers

    return transformers.Dinov2Model(transformers.Dinov2Config(**VIT, patch_size=14, image_size=42))


def _dinov2_with_registers() -> Any:
    import transformers

    config = transformers.Dinov2WithRegistersConfig(**VIT, patch_size=14, image_size=42, num_register_tokens=4)
    return transformers.Dinov2WithRegistersModel(config)


def _dinov3() -> Any:
    import transformers

    config = transformers.DINOv3ViTConfig(**VIT, patch_size=16, image_size=32, num_register_tokens=4)
    return transformers.DINOv3ViTModel(config)


def _vit() -> Any:
    import transformers

    return transformers.ViTModel(transformers.ViTConfig(**VIT, patch_size=16, image_size=32), add_pooling_layer=False)


def _convnext() -> Any:
    import transformers

    return transformers.ConvNextModel(transformers.ConvNextConfig(hidden_sizes=[4, 4, 8, WIDTH], depths=[1, 1, 1, 1]))


# Each with the pixels between its cells, and with how many tokens come before those of the patches.
TINY: dict[str, tuple[Callable[[], Any], int, int]] = {
    "dinov2": (_dinov2, 14, 1),
    "dinov2-with-registers": (_dinov2_with_registers, 14, 5),
    "dinov3": (_dinov3, 16, 5),
    "vit": (_vit, 16, 1),
    "convnext": (_convnext, 32, 0),
}


def write_tiny(name: str, folder: Path) -> Path:
    """One of them as a folder of transformers, with the same weights every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        TINY[name][0]().save_pretrained(folder / name)
    return folder / name
