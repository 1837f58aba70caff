"""Cells of a backbone, computed once for all frames of a store, in files beside its pictures.

A file holds float16 numbers, (N, D), and is complete or absent: it is written under a temporary name, and a stop
leaves what is done, from which the next command goes on. Its name is a digest of the weights, the layer, the size and
grid of the picture, and the pictures of the store, so that several runs, searches and evaluations share it.

What training reads again and again is smaller: the principal components of the cells, as the head of a run whitens
them. They are computed once for a run, into files without a name that end with the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from egoequiv.cache import cache_folder
from egoequiv.errors import DataError
from egoequiv.files import cannot_write, locked
from egoequiv.models.devices import has_fast_bfloat16
from egoequiv.models.head import BackboneHead
from egoequiv.store import FrameStore

FOLDER = "cells"  # in the folder of a store
BATCH = 32
ROWS = 1_024  # cells that are whitened at once
LARGEST = 6e4  # a float16 holds no more
Cells = NDArray[np.float16]
OnProgress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is
_OPENED: dict[Path, Cells] = {}
Components = NDArray[np.float32]
# By the place of a store and the variant: of which whitening, and what it gives.
_COMPONENTS: WeakKeyDictionary[BackboneHead, dict[tuple[Path, int], tuple[tuple[int, ...], Components]]] = (
    WeakKeyDictionary()
)


def has_cells(net: object, store: FrameStore) -> bool:
    """Whether a network learns from stored cells of these frames, and not from pictures."""
    encoder = getattr(net, "encoder", None)
    is_file = store.has_images and (store.path / "store.json").is_file()
    return isinstance(encoder, BackboneHead) and not encoder.fine_tune and is_file


def inputs_of(net: object, store: FrameStore, variant: int = 0) -> NDArray[Any]:
    """What a network takes of each frame of a store: components where cells are stored, otherwise its picture."""
    if not has_cells(net, store):
        return store.images
    return _components(net.encoder, store, variant)  # type: ignore[attr-defined]


@torch.no_grad()
def _components(encoder: BackboneHead, store: FrameStore, variant: int) -> Components:
    """The principal components of the cells of all frames, (N, K), by the whitening that the encoder has now."""
    whitening = tuple(number for part in (encoder.mean, encoder.whitening) for number in (id(part), part._version))
    known = _COMPONENTS.setdefault(encoder, {})
    made, components = known.get((store.path, variant), ((), np.empty((0, 0), np.float32)))
    if made != whitening:
        cells, shape = stored_cells(encoder, store, variant), (len(store), encoder.whitening.shape[1])
        with TemporaryFile(dir=_folder(store)) as file:
            for start in range(0, len(cells), ROWS):
                some = torch.tensor(cells[start : start + ROWS], device=encoder.mean.device)
                file.write(encoder.whitened(some).cpu().numpy().tobytes())
            file.flush()
            components = np.memmap(file, np.float32, "r", shape=shape).view(np.ndarray)
        known[store.path, variant] = whitening, components
    return components


def stored_cells(
    encoder: BackboneHead, store: FrameStore, variant: int = 0, on_progress: OnProgress | None = None
) -> Cells:
    """The cells of all frames of a store, (N, D); computed where they are not yet.

    Args:
        encoder: Its backbone is run.
        store: The frames.
        variant: 0: the pictures as they are; from 1 on, under a light that is drawn for each frame.
        on_progress: called with ("backbone", frames done, frames in all).
    """
    key = sha256(repr((encoder.backbone.identity, _pictures(store), store.image_shape, variant)).encode()).hexdigest()
    path = _folder(store) / f"{key[:24]}.f16"
    shape = (len(store), encoder.backbone.feature_dim)
    if path not in _OPENED or not path.exists():
        if not path.exists():
            _write(path, encoder, store, variant, on_progress)
        if path.stat().st_size != 2 * shape[0] * shape[1]:
            raise DataError(f"{path} is damaged (it has {path.stat().st_size:,} bytes): remove it")
        _OPENED[path] = np.memmap(path, np.float16, "r", shape=shape).view(np.ndarray)
    return _OPENED[path]


def _pictures(store: FrameStore) -> str:
    """What identifies the pictures of a store."""
    return str(store.meta.get("images_blake2b") or store.fingerprint())


def _folder(store: FrameStore) -> Path:
    """Beside the pictures; in the cache, where nothing may be written there."""
    beside = store.path / FOLDER
    if os.access(beside if beside.exists() else store.path, os.W_OK):
        return beside
    return cache_folder() / FOLDER


def _write(path: Path, encoder: BackboneHead, store: FrameStore, variant: int, on_progress: OnProgress | None) -> None:
    """Run the backbone over all frames; what a stopped command has done is kept and not done again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent, "the cells"):
            if not path.exists():
                _run(path, encoder, store, variant, on_progress)
    except OSError as problem:
        raise cannot_write(path, problem) from problem


@torch.no_grad()
def _run(path: Path, encoder: BackboneHead, store: FrameStore, variant: int, on_progress: OnProgress | None) -> None:
    partial = path.with_suffix(".partial")
    row = 2 * encoder.backbone.feature_dim
    with suppress(FileNotFoundError):  # whole batches: what was being written when a command was killed is left out
        os.truncate(partial, partial.stat().st_size // (row * BATCH) * row * BATCH)
    device = encoder.mean.device
    with partial.open("ab") as file:
        for start in range(file.tell() // row, len(store), BATCH):
            rows = np.arange(start, min(start + BATCH, len(store)))
            pixels = torch.from_numpy(store.images[rows]).to(device).float() / 255
            if variant:
                pixels = changed_light(pixels, rows, variant)
            # What augments training may be computed less precisely, where that is several times faster.
            with torch.autocast(device.type, torch.bfloat16, enabled=variant > 0 and has_fast_bfloat16(device)):
                cells = encoder.backbone(pixels.permute(0, 3, 1, 2)).float().clamp(-LARGEST, LARGEST)
            if not bool(cells.isfinite().all()):
                raise DataError(f"{store.place}: the backbone gives numbers that are not finite for frames {start} on")
            file.write(cells.half().cpu().numpy().tobytes())
            if on_progress is not None:
                on_progress("backbone" if not variant else f"backbone, light {variant}", int(rows[-1]) + 1, len(store))
    partial.replace(path)


def changed_light(pixels: Tensor, rows: NDArray[np.int64], variant: int) -> Tensor:
    """Images (B, H, W, C), values of 0 to 1, under other light: a function of the row and the variant alone.

    Exposure, gamma, contrast, colour of the light, saturation, and a smooth field of light and shadow, as another day
    might have them.
    """
    draws = np.stack([np.random.default_rng([variant, int(row)]).standard_normal(24) for row in rows])
    drawn = torch.from_numpy(draws.astype(np.float32)).to(pixels.device).clamp(-2, 2)

    def number(k: int, size: float, count: int = 1) -> Tensor:
        return torch.exp(size * drawn[:, k : k + count]).view(-1, 1, 1, count)

    changed = pixels.clamp(1e-4, 1) ** number(0, 0.3)
    colour = number(1, 0.12, 3) if pixels.shape[3] == 3 else 1.0
    changed = changed * number(4, 0.25) * colour
    mean = changed.mean((1, 2), keepdim=True)
    changed = (changed - mean) * number(5, 0.25) + mean
    gray = changed.mean(3, keepdim=True)
    changed = gray + (changed - gray) * number(6, 0.4)
    knots = (0.25 * drawn[:, 6:24]).view(-1, 1, 3, 6)
    field = nn.functional.interpolate(knots, pixels.shape[1:3], mode="bicubic", align_corners=True)[:, 0, :, :, None]
    return (changed * field.exp()).clamp(0, 1)
