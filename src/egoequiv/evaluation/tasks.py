"""Every task by name: what features are good for, measured."""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.errors import ConfigError
from egoequiv.evaluation.analogy import analogy
from egoequiv.evaluation.composition import composition
from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.prediction import prediction
from egoequiv.evaluation.readout import readout
from egoequiv.evaluation.retrieval import retrieval
from egoequiv.evaluation.slowness import slowness
from egoequiv.evaluation.task import Task

# A task is a function of (TaskData, TaskOptions, OnProgress) that returns a TaskResult; its figures, if it has any, are
# in report/task_figures.py under the same name.
TASKS: dict[str, Task] = {
    "next-view": next_view,
    "composition": composition,
    "retrieval": retrieval,
    "analogy": analogy,
    "readout": readout,
    "prediction": prediction,
    "slowness": slowness,
}


def get_tasks(names: Sequence[str]) -> dict[str, Task]:
    """The tasks of these names, in their order."""
    for name in names:
        if name not in TASKS:
            raise ConfigError(f"task {name!r} is not known; choose from {', '.join(TASKS)}")
    return {name: TASKS[name] for name in names}
