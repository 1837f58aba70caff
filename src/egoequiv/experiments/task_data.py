"""What the tasks of `egoequiv evaluate --task` look at, from the folder of a run."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from egoequiv import __version__
from egoequiv.errors import ConfigError
from egoequiv.evaluation.task import TaskData
from egoequiv.experiments.measure import motions_of
from egoequiv.files import read_json
from egoequiv.models import load_model
from egoequiv.models.checkpoint import RUN_KIND, Which
from egoequiv.training.data import prepare_data
from egoequiv.training.run_folder import DATA, RunFolder


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


def made_of(run: Path) -> dict[str, str]:
    """What decides the findings of tasks: the weights of the run, its data, and the code."""
    weights = run / "last.safetensors"
    digest = sha256(weights.read_bytes()).hexdigest() if weights.exists() else ""
    data = read_json(run / DATA, RUN_KIND).get("fingerprint", "") if (run / DATA).exists() else ""
    return {"run": run.name, "weights": digest, "data": data, "version": __version__}
