"""The figures of every task by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from egoequiv.report.chain_figure import composition_figures
from egoequiv.report.figures import save_figure
from egoequiv.report.next_view_figures import next_view_figures
from egoequiv.report.pictures import save_picture
from egoequiv.report.retrieval_figures import retrieval_figures

Drawings = Mapping[str, Figure | Image.Image]  # by the name of their file, without its ending

# A function of (result, TaskData) that draws what the task of this name found.
TASK_FIGURES: dict[str, Callable[..., Drawings]] = {
    "next-view": next_view_figures,
    "composition": composition_figures,
    "retrieval": retrieval_figures,
}


def save_drawings(drawings: Drawings, folder: Path) -> list[Path]:
    """Write each drawing as a PNG."""
    paths = []
    for name, drawing in drawings.items():
        path = folder / f"{name}.png"
        if isinstance(drawing, Figure):
            save_figure(drawing, path)
        else:
            save_picture(drawing, path)
        paths.append(path)
    return paths
