"""Tiny vision models with random weights, written by transformers itself, and the sizes of their maps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from torch import nn

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


def convolutions() -> nn.Sequential:
    """A network of two convolutions, which a run names as `tiny_backbones:convolutions`; the same weights always."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.Conv2d(4, 6, 3, 2, 1)).eval()


def write_graphs(folder: Path, count: int | None = None) -> tuple[Path, Path]:
    """The same network as net.pt2 and net.onnx, for so many images at a time or any number, of any size."""
    sides = {2: torch.export.Dim.AUTO, 3: torch.export.Dim.AUTO}
    open_sides = sides if count else {0: torch.export.Dim("count", min=1), **sides}
    with warnings.catch_warnings(), redirect_stdout(StringIO()), torch.no_grad():
        warnings.simplefilter("ignore")
        images = torch.zeros(count or 2, 3, 32, 32)
        program = torch.export.export(convolutions(), (images,), dynamic_shapes=(open_sides,))
        torch.export.save(program, folder / "net.pt2")
        made = torch.onnx.export(program, dynamo=True, external_data=False, verbose=False)
        assert made is not None
        made.save(folder / "net.onnx")
    return folder / "net.pt2", folder / "net.onnx"
