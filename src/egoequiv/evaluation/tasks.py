"""Every task by name: what features are good for, measured."""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.evaluation.analogy import analogy
from egoequiv.evaluation.composition import composition
from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.prediction import prediction
from egoequiv.evaluation.readout import readout
from egoequiv.evaluation.retrieval import retrieval
from egoequiv.evaluation.slowness import slowness
from egoequiv.evaluation.task import Task
from egoequiv.names import Door

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


DOOR: Door[Task] = Door("task", TASKS, "egoequiv.tasks", "a function that measures a task")


def list_tasks() -> list[str]:
    """The names of all tasks, built in and registered by packages."""
    return DOOR.names()


def get_tasks(names: Sequence[str]) -> dict[str, Task]:
    """The tasks of these names, in their order.

    Args:
        names: of built-in or registered tasks, `package.module:name` or `path/to/file.py:name`.

    Returns:
        The tasks by these names.

    """
    return {name: DOOR.find(name) for name in names}
