"""Measurements of many runs as tables; the paper's tables as recipes, with the published numbers beside them."""

from collections.abc import Callable

from egoequiv.experiments.driving import reproduce_kitti, reproduce_scenes, reproduce_sun
from egoequiv.experiments.measure import RunMeasurer, measure_run
from egoequiv.experiments.norb import reproduce_norb
from egoequiv.experiments.options import ReproduceOptions, Scale
from egoequiv.experiments.table import Comparison, Entry, Row, Table

# The paper's tables by name; each gives its tables by the names of their files, without endings.
TABLES: dict[str, Callable[[ReproduceOptions], dict[str, Table]]] = {
    "norb": reproduce_norb,
    "kitti": reproduce_kitti,
    "kitti-scenes": reproduce_scenes,
    "kitti-sun": reproduce_sun,
}

__all__ = ["TABLES", "Comparison", "Entry", "ReproduceOptions", "Row", "RunMeasurer", "Scale", "Table", "measure_run"]
