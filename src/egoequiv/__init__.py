"""Image features that change predictably when the camera moves."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from egoequiv.auditing import Preprocessing as Preprocessing
    from egoequiv.auditing import audit as audit
    from egoequiv.catalog import open_source as open_source
    from egoequiv.errors import EgoEquivError as EgoEquivError
    from egoequiv.evaluation import Result as Result
    from egoequiv.evaluation import embed as embed
    from egoequiv.evaluation import equivariance_error as equivariance_error
    from egoequiv.evaluation import measure_equivariance as measure_equivariance
    from egoequiv.evaluation.next_view import NextViewSelector as NextViewSelector
    from egoequiv.experiments import Table as Table
    from egoequiv.experiments import measure_run as measure_run
    from egoequiv.exporting import Backbone as Backbone
    from egoequiv.exporting import export_run as export_run
    from egoequiv.exporting import load_backbone as load_backbone
    from egoequiv.exporting import open_model as open_model
    from egoequiv.method_names import list_methods as list_methods
    from egoequiv.methods import Method as Method
    from egoequiv.models import EgoNet as EgoNet
    from egoequiv.models import load_model as load_model
    from egoequiv.pairs import find_motion_pairs as find_motion_pairs
    from egoequiv.pairs import make_split as make_split
    from egoequiv.pairs import mine_patterns as mine_patterns
    from egoequiv.planning import Planner as Planner
    from egoequiv.pose import GridSpace as GridSpace
    from egoequiv.pose import MotionSpace as MotionSpace
    from egoequiv.pose import PlanarSpace as PlanarSpace
    from egoequiv.report.page import write_report as write_report
    from egoequiv.sources import Recording as Recording
    from egoequiv.sources import Source as Source
    from egoequiv.store import FrameStore as FrameStore
    from egoequiv.store import ingest as ingest
    from egoequiv.training import TrainConfig as TrainConfig
    from egoequiv.training import train as train

# Where each public name lives. They are imported when first used, so that `import egoequiv` does not import torch.
_PUBLIC = {
    "Backbone": "exporting",
    "EgoEquivError": "errors",
    "EgoNet": "models",
    "FrameStore": "store",
    "GridSpace": "pose",
    "Method": "methods",
    "MotionSpace": "pose",
    "NextViewSelector": "evaluation.next_view",
    "PlanarSpace": "pose",
    "Planner": "planning",
    "Preprocessing": "auditing",
    "Recording": "sources",
    "Result": "evaluation",
    "Source": "sources",
    "Table": "experiments",
    "TrainConfig": "training",
    "audit": "auditing",
    "embed": "evaluation",
    "equivariance_error": "evaluation",
    "export_run": "exporting",
    "find_motion_pairs": "pairs",
    "ingest": "store",
    "list_methods": "method_names",
    "load_backbone": "exporting",
    "load_model": "models",
    "make_split": "pairs",
    "measure_equivariance": "evaluation",
    "measure_run": "experiments",
    "mine_patterns": "pairs",
    "open_model": "exporting",
    "open_source": "catalog",
    "train": "training",
    "write_report": "report.page",
}

__all__ = ["__version__", *_PUBLIC]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"egoequiv.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'egoequiv' has no attribute {name!r}")
