"""Every table of the paper by name."""

from __future__ import annotations

from collections.abc import Callable

from egoequiv.experiments.driving import reproduce_kitti, reproduce_scenes, reproduce_sun
from egoequiv.experiments.norb import reproduce_norb
from egoequiv.experiments.options import ReproduceOptions
from egoequiv.experiments.table import Table

# Each gives its tables by the names of their files, without endings.
TABLES: dict[str, Callable[[ReproduceOptions], dict[str, Table]]] = {
    "norb": reproduce_norb,
    "kitti": reproduce_kitti,
    "kitti-scenes": reproduce_scenes,
    "kitti-sun": reproduce_sun,
}
