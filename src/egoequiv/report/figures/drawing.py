"""What all figures share: how they begin, their legend, and how they are saved and embedded."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from egoequiv.blocks import Picture
from egoequiv.files import replacing

WIDTH = 10.0  # inches; a page shows them as wide as its text
CAPTION = 10  # points of letters beside photographs: about as large as the small text of a page
HEADROOM = 1.06  # of an axis beyond the highest value, so that no line or dot is cut
DPI = 130
CSS_PER_INCH = 96
MANY = 500  # points of a scatter, from which on they are drawn as pixels
WIDEST, QUALITY = 1_200, 75  # of photographs, in pixels: a page has many
LONG_NAME, LETTERS_PER_INCH = 20, 15


def panels_of(
    rows: int, columns: int, width: float, height: float, *, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure of panels, row by row; what belongs to it does not overlap."""
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
    for axes in panels.flat:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, list(panels.flat)


def add_legend(figure: Figure, panels: Iterable[Axes]) -> None:
    """One legend below all panels, each name once."""
    handles = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    longest = max(map(len, handles), default=0)
    across = max(1, int(figure.get_figwidth() * LETTERS_PER_INCH // (longest + 8)))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles) or 1, across, 5),
        fontsize=9 if longest <= LONG_NAME else 8,
        frameon=False,
        handlelength=3,
    )


def add_title(figure: Figure, title: str) -> None:
    """A title above all panels, broken where it is too long for them."""
    if title:
        figure.suptitle(fill(title, int(figure.get_figwidth() * LETTERS_PER_INCH)), fontsize=10)


def show_image(axes: Axes, image: NDArray[np.uint8], **options: Any) -> None:
    """One image (H, W, C) of a store."""
    shown = image[..., 0] if image.shape[-1] == 1 else image
    axes.imshow(shown, cmap="gray", vmin=0, vmax=255, **options)


def frame_image(axes: Axes, image: NDArray[np.uint8], color: str) -> None:
    """One image (H, W, C) in a frame of this colour."""
    show_image(axes, image)
    axes.set_axis_on()
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=color, linewidth=2)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, whole or not at all."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=DPI)
    return path


def save_figures(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write figures as PNG, each under its name."""
    return [save_figure(figure, folder / f"{name}.png") for name, figure in figures.items()]


def as_picture(figure: Figure, alt: str, caption: str) -> Picture:
    """A figure as a block that needs nothing but itself; the same figure gives the same bytes."""
    is_chart = not any(axes.images for axes in figure.axes)  # photographs may not be turned dark
    content = _svg(figure) if is_chart else _webp(figure)
    kind = "image/svg+xml" if is_chart else "image/webp"
    width = round(CSS_PER_INCH * min(figure.get_figwidth(), WIDTH))
    return Picture(f"data:{kind};base64,{b64encode(content).decode('ascii')}", alt, caption, width, is_chart)


def _svg(figure: Figure) -> bytes:
    for axes in figure.axes:
        for points in axes.collections:
            if np.size(points.get_offsets()) > 2 * MANY:
                points.set_rasterized(True)
    out = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "egoequiv"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None}, dpi=DPI)
    return out.getvalue()


def _webp(figure: Figure) -> bytes:
    drawn, out = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, pil_kwargs={"compress_level": 0})  # it is only passed on
    picture = Image.open(drawn).convert("RGB")
    if picture.width > WIDEST:
        size = (WIDEST, round(picture.height * WIDEST / picture.width))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    picture.save(out, format="WEBP", quality=QUALITY)
    return out.getvalue()
