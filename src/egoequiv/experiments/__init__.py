"""The paper's tables as recipes, with the published numbers beside them."""

from egoequiv.experiments.driving import (
    DrivingOptions,
    quick_driving,
    reproduce_kitti,
    reproduce_scenes,
    scene_options,
)
from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.norb import NorbOptions, quick_options, reproduce_norb
from egoequiv.experiments.table import Comparison, Row, Table

__all__ = [
    "Comparison",
    "DrivingOptions",
    "NorbOptions",
    "Row",
    "Table",
    "measure_run",
    "quick_driving",
    "quick_options",
    "reproduce_kitti",
    "reproduce_norb",
    "reproduce_scenes",
    "scene_options",
]
