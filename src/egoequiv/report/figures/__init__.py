"""Every figure once: functions that return a matplotlib Figure, which is saved as PNG or set on the page."""

from egoequiv.report.figures.curves import curves_figure
from egoequiv.report.figures.drawing import save_figure

__all__ = ["curves_figure", "save_figure"]
