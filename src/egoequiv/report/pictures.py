"""Pictures of frames: contact sheets and grids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from egoequiv.files import replacing
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

GAP = 2
TEXT_HEIGHT = 12


def contact_sheet(store: FrameStore, columns: int = 12, rows: int = 12, thumbnail: int = 72) -> Image.Image:
    """Evenly chosen frames: a row for each class, or for each recording where there are no labels."""
    codes, names = (store.labels, store.class_names) if store.class_names else (store.recording, store.recording_names)
    groups = [(name, frames) for number, name in enumerate(names) if len(frames := np.flatnonzero(codes == number))]
    chosen = [groups[k] for k in _spread(len(groups), rows)]
    images = [[store.images[frames[k]] for k in _spread(len(frames), columns)] for _, frames in chosen]
    scale = thumbnail / max(store.image_shape[:2])
    return _sheet(images, [f"{name} ({plural(len(frames), 'frame')})" for name, frames in chosen], scale, columns)


def picture_grid(images: Sequence[Sequence[NDArray[np.uint8]]], titles: Sequence[str], scale: int = 1) -> Image.Image:
    """Rows of equally large images (H, W, C), each row under its title."""
    return _sheet(images, titles, scale, max(len(row) for row in images))


def _sheet(
    images: Sequence[Sequence[NDArray[np.uint8]]], titles: Sequence[str], scale: float, columns: int
) -> Image.Image:
    height, width = (max(1, round(side * scale)) for side in images[0][0].shape[:2])
    row_height = height + GAP + TEXT_HEIGHT
    sheet = Image.new("RGB", (columns * (width + GAP) + GAP, len(images) * row_height + GAP), "white")
    draw = ImageDraw.Draw(sheet)
    way = Image.Resampling.NEAREST if scale == int(scale) else Image.Resampling.BICUBIC
    for r, (row, title) in enumerate(zip(images, titles, strict=True)):
        draw.text((GAP, GAP + r * row_height), title, fill="black")
        for c, image in enumerate(row):
            place = (GAP + c * (width + GAP), GAP + r * row_height + TEXT_HEIGHT)
            sheet.paste(to_picture(image).resize((width, height), way), place)
    return sheet


def to_picture(image: NDArray[np.uint8]) -> Image.Image:
    """One image (H, W, C) of a store."""
    return Image.fromarray(np.asarray(image[..., 0] if image.shape[-1] == 1 else image))


def save_picture(picture: Image.Image, path: Path) -> None:
    """Write a PNG, whole or not at all."""
    with replacing(path) as temporary:
        picture.save(temporary, format="PNG", optimize=True)


def _spread(count: int, wanted: int) -> NDArray[np.int64]:
    """At most `wanted` of 0..count-1, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).round().astype(np.int64))
