"""What the tasks of `egoequiv evaluate --task` look at, from the folder of a run."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from egoequiv import __version__
from egoequiv.evaluation.task import TaskData
from egoequiv.files import read_json
from egoequiv.models.checkpoint import RUN_KIND, Which
from egoequiv.training.open_run import open_run
from egoequiv.training.run_folder import DATA


def open_task_data(run: Path, store: str | Path | None = None, which: Which = "last") -> TaskData:
    """The network of a run, with its store, or with another one that is split in the same way."""
    opened = open_run(run, which, store)
    return TaskData(
        net=opened.net,
        store=opened.store,
        split=opened.split,
        patterns=opened.patterns,
        max_gap_s=opened.config.max_gap_s,
        neighbour_gap_s=opened.config.neighbour_gap_s,
        label_column=opened.config.label_column,
    )


def made_of(run: Path) -> dict[str, str]:
    """What decides the findings of tasks: the weights of the run, its data, and the code."""
    weights = run / "last.safetensors"
    digest = sha256(weights.read_bytes()).hexdigest() if weights.exists() else ""
    data = read_json(run / DATA, RUN_KIND).get("fingerprint", "") if (run / DATA).exists() else ""
    return {"run": run.name, "weights": digest, "data": data, "version": __version__}
