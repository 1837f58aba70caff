"""Pictures of frames: contact sheets and grids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from egoequiv.files import replacing
from egoequiv.store import FrameStore

GAP = 2
TEXT_HEIGHT = 12
BACKGROUND = 255


def contact_sheet(store: FrameStore, columns: int = 12, rows: int = 12, thumbnail: int = 72) -> Image.Image:
    """Evenly chosen frames: a row for each class, or for each recording where there are no labels."""
    groups = _groups(store)
    chosen = [groups[k] for k in _spread(len(groups), rows)]
    scale = thumbnail / max(store.image_shape[:2])
    height, width = (max(1, round(side * scale)) for side in store.image_shape[:2])
    sheet = Image.new("RGB", (columns * (width + GAP) + GAP, len(chosen) * (height + GAP + TEXT_HEIGHT) + GAP), "white")
    draw = ImageDraw.Draw(sheet)
    for r, (name, frames) in enumerate(chosen):
        top = GAP + r * (height + GAP + TEXT_HEIGHT)
        draw.text((GAP, top), f"{name} ({len(frames)} frames)", fill="black")
        for c, k in enumerate(_spread(len(frames), columns)):
            picture = to_picture(store.images[frames[k]]).resize((width, height))
            sheet.paste(picture, (GAP + c * (width + GAP), top + TEXT_HEIGHT))
    return sheet


def to_picture(image: NDArray[np.uint8]) -> Image.Image:
    """One image (H, W, C) of a store."""
    return Image.fromarray(np.asarray(image[..., 0] if image.shape[-1] == 1 else image))


def picture_grid(images: Sequence[Sequence[NDArray[np.uint8]]], titles: Sequence[str], scale: int = 1) -> Image.Image:
    """Rows of equally large images (H, W, C), each row under its title."""
    height, width = (side * scale for side in images[0][0].shape[:2])
    columns = max(len(row) for row in images)
    size = (columns * (width + GAP) + GAP, len(images) * (height + GAP + TEXT_HEIGHT) + GAP)
    grid = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(grid)
    for r, (row, title) in enumerate(zip(images, titles, strict=True)):
        top = GAP + r * (height + GAP + TEXT_HEIGHT)
        draw.text((GAP, top), title, fill="black")
        for c, image in enumerate(row):
            picture = to_picture(image).resize((width, height), Image.Resampling.NEAREST)
            grid.paste(picture, (GAP + c * (width + GAP), top + TEXT_HEIGHT))
    return grid


def save_picture(picture: Image.Image, path: Path) -> None:
    """Write a PNG, whole or not at all."""
    with replacing(path) as temporary:
        picture.save(temporary, format="PNG", optimize=True)


def _groups(store: FrameStore) -> list[tuple[str, NDArray[np.int64]]]:
    codes, names = (store.labels, store.class_names) if store.class_names else (store.recording, store.recording_names)
    groups = [(name, np.flatnonzero(codes == number)) for number, name in enumerate(names)]
    return [(name, frames) for name, frames in groups if len(frames)]


def _spread(count: int, wanted: int) -> NDArray[np.int64]:
    """At most `wanted` of 0..count-1, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).round().astype(np.int64))
