"""What the tasks of `egoequiv evaluate --task` look at, from the folder of a run."""

from __future__ import annotations

from pathlib import Path

from egoequiv.errors import ConfigError
from egoequiv.evaluation.task import TaskData
from egoequiv.experiments.measure import motions_of
from egoequiv.models import load_model
from egoequiv.models.checkpoint import Which
from egoequiv.training.data import prepare_data
from egoequiv.training.run_folder import RunFolder


def open_task_data(run: Path, store: str | Path | None = None, which: Which = "last") -> TaskData:
    """The network of a run, with its store, or with another one that is split in the same way."""
    folder = RunFolder(run)
    config = folder.config()
    if store is not None:
        config = config.model_copy(update={"data": str(store)})
    # The untrained method has no streams of images and pairs to draw: only the store and its split are wanted.
    without_streams = {"method": "random", "use_labels": False, "weight": {}, "margin": {}}
    data = prepare_data(config.model_copy(update=without_streams))
    patterns = folder.patterns() or motions_of(data.store, data.split, config)
    if patterns is not None and patterns.space != data.store.space:
        raise ConfigError(
            f"{run} learned motions of another motion space than {data.store.path} has: measure it on a store like "
            "its own"
        )
    return TaskData(
        net=load_model(run, which),
        store=data.store,
        split=data.split,
        patterns=patterns,
        max_gap_s=config.max_gap_s,
        neighbour_gap_s=config.neighbour_gap_s,
        label_column=config.label_column,
    )
