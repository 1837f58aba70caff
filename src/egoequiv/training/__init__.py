"""Training: configs, batches, the loop, and the search for settings."""

from egoequiv.training.config import TrainConfig, make_config
from egoequiv.training.data import RunData, prepare_data
from egoequiv.training.loop import TrainedRun, run_training, train

__all__ = [
    "RunData",
    "TrainConfig",
    "TrainedRun",
    "make_config",
    "prepare_data",
    "run_training",
    "train",
]
