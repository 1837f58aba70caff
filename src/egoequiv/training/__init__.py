"""Training: configs, batches, the loop, and the search for settings."""

from egoequiv.training.config import TrainConfig, make_config
from egoequiv.training.data import OpenedData, open_data
from egoequiv.training.loop import TrainedRun, run_training, train
from egoequiv.training.open_run import OpenRun, open_run
from egoequiv.training.streams import RunData, draw_streams, prepare_data

__all__ = [
    "OpenRun",
    "OpenedData",
    "RunData",
    "TrainConfig",
    "TrainedRun",
    "draw_streams",
    "make_config",
    "open_data",
    "open_run",
    "prepare_data",
    "run_training",
    "train",
]
