"""Figures as files of the page's own kind, and files as data URIs, so that the page needs nothing but itself."""

from __future__ import annotations

import io
from base64 import b64encode
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from egoequiv.files import replacing

CHART, PHOTO = ".svg", ".webp"
TYPES = {CHART: "image/svg+xml", PHOTO: "image/webp"}
MANY = 500  # points of a scatter, from which on they are drawn as pixels
DPI = 130
WIDEST = 1_200  # pixels of a photograph: a page has many
QUALITY = 75


def is_chart(drawing: Figure | Image.Image) -> bool:
    """Lines and letters, that may be turned dark; anything with a picture in it may not."""
    return isinstance(drawing, Figure) and not any(axes.images for axes in drawing.axes)


def chart_bytes(figure: Figure) -> bytes:
    """A chart as SVG on no background; the same figure gives the same bytes."""
    for axes in figure.axes:
        for points in axes.collections:
            if np.size(points.get_offsets()) > 2 * MANY:
                points.set_rasterized(True)
    out = io.BytesIO()
    with plt.rc_context({"svg.hashsalt": "egoequiv"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None}, dpi=DPI)
    plt.close(figure)
    return out.getvalue()


def photo_bytes(drawing: Figure | Image.Image) -> bytes:
    """A figure of photographs as WebP."""
    if isinstance(drawing, Figure):
        plain = io.BytesIO()
        drawing.savefig(plain, format="png", dpi=DPI)
        plt.close(drawing)
        drawing = Image.open(plain)
    out = io.BytesIO()
    picture = drawing.convert("RGB")
    if picture.width > WIDEST:
        size = (WIDEST, round(picture.height * WIDEST / picture.width))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    picture.save(out, format="WEBP", quality=QUALITY)
    return out.getvalue()


def save_drawing(drawing: Figure | Image.Image, folder: Path, name: str) -> Path:
    """Write a drawing in the form in which a page shows it, whole or not at all."""
    chart = is_chart(drawing)
    path = folder / f"{name}{CHART if chart else PHOTO}"
    content = chart_bytes(drawing) if chart and isinstance(drawing, Figure) else photo_bytes(drawing)
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return path


def data_uri(content: bytes, suffix: str) -> str:
    """The content of a file as a URI."""
    return f"data:{TYPES[suffix]};base64,{b64encode(content).decode('ascii')}"
