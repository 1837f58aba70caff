"""Measurements of many runs as tables; the paper's tables as recipes, with the published numbers beside them."""

from egoequiv.experiments.measure import RunMeasurer, measure_run
from egoequiv.experiments.options import ReproduceOptions
from egoequiv.experiments.recipe import Scale
from egoequiv.experiments.reproduce import TABLES
from egoequiv.experiments.table import Comparison, Entry, Row, Table

__all__ = [
    "TABLES",
    "Comparison",
    "Entry",
    "ReproduceOptions",
    "Row",
    "RunMeasurer",
    "Scale",
    "Table",
    "measure_run",
]
