"""The map of a recording: where each frame was taken, as a grid of poses, a way from above, or a line of time."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.pairs.candidates import Indices
from egoequiv.report.figures.trajectory import seen_from_above
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.limits import Refusal

MOST_POINTS = 1_000
THUMBNAIL = 64  # pixels of the longer side, on a sheet
COLUMNS = 20  # of a sheet


def map_of(gallery: Gallery, recording: int) -> dict[str, Any]:
    """The frames of a recording with their places: points with a row, x and y, and what the axes are."""
    rows = drawn_rows(gallery, recording)
    kind, titles, places = _places(gallery, rows)
    height, width = thumbnail_size(gallery)
    return {
        "recording": recording,
        "name": gallery.store.recording_names[recording],
        "kind": kind,
        "axes": titles,
        "points": [{"row": int(row), "x": float(x), "y": float(y)} for row, (x, y) in zip(rows, places, strict=True)],
        "sheet": {"columns": min(COLUMNS, len(rows)), "width": width, "height": height},
    }


def drawn_rows(gallery: Gallery, recording: int) -> Indices:
    """The frames of a recording in order, at most as many as a map shows, evenly spread."""
    if not 0 <= recording < len(gallery.rows_of):
        raise Refusal(404, f"recording {recording}: the store has the recordings 0 to {len(gallery.rows_of) - 1}")
    rows = gallery.rows_of[recording]
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_POINTS)).astype(np.int64))]


def sheet_png(gallery: Gallery, recording: int) -> bytes:
    """Thumbnails of the frames of a map in one picture, in the order of its points."""
    rows = drawn_rows(gallery, recording)
    height, width = thumbnail_size(gallery)
    columns = min(COLUMNS, len(rows))
    gray = gallery.store.image_shape[2] == 1
    sheet = PillowImage.new("L" if gray else "RGB", (columns * width, -(-len(rows) // columns) * height))
    for number, row in enumerate(rows):
        image = gallery.store.images[row]
        thumbnail = PillowImage.fromarray(image[..., 0] if gray else image).resize((width, height))
        sheet.paste(thumbnail, (number % columns * width, number // columns * height))
    file = BytesIO()
    sheet.save(file, "PNG")
    return file.getvalue()


def thumbnail_size(gallery: Gallery) -> tuple[int, int]:
    """Height and width of the pictures on a sheet."""
    height, width = gallery.store.image_shape[:2]
    scale = min(1.0, THUMBNAIL / max(height, width))
    return max(1, round(height * scale)), max(1, round(width * scale))


def _places(gallery: Gallery, rows: Indices) -> tuple[str, list[str], NDArray[np.float64]]:
    store = gallery.store
    if store.space.named_motions() and len(store.space.axes) == 2:
        first, second = (f"{axis.name} ({axis.unit})" for axis in store.space.axes)
        return "grid", [second, first], store.poses[rows][:, ::-1]
    if {"x_m", "y_m"} <= set(store.pose_columns):
        unit = store.space.length_unit
        return "way", [f"x ({unit})", f"y ({unit})"], seen_from_above(store, rows)
    number = np.arange(len(rows), dtype=np.float64)
    times = number if store.times_s is None else store.times_s[rows] - store.times_s[rows[0]]
    return "line", ["frame" if store.times_s is None else "time (s)"], np.stack([times, np.zeros(len(rows))], axis=1)
