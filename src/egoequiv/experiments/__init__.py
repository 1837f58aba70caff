"""The paper's tables as recipes, with the published numbers beside them."""

from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.norb import NorbOptions, quick_options, reproduce_norb
from egoequiv.experiments.table import Comparison, Row, Table

__all__ = ["Comparison", "NorbOptions", "Row", "Table", "measure_run", "quick_options", "reproduce_norb"]
