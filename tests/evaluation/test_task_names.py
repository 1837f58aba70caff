"""Tasks by name."""

from __future__ import annotations

import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.slowness import slowness
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.tasks import DOOR, TASKS, get_tasks


def test_tasks_by_name_in_their_order() -> None:
    assert list(get_tasks(["slowness", "readout"])) == ["slowness", "readout"]
    assert DOOR.names() == list(TASKS)


def test_a_task_of_ones_own() -> None:
    name = "egoequiv.evaluation.slowness:slowness"
    (task,) = get_tasks([name]).values()
    assert (task.name, task.title, task.measure) == (name, "slowness", slowness)
    assert task.options == tuple(vars(TaskOptions()))
    assert task.code  # its measurements are made again when the file changes


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("slownes", "task 'slownes' is not known; choose one of recognition, .*; did you mean 'slowness'"),
        ("egoequiv.evaluation.tasks:TASKS", "expected a Task, or a function of .*, found a dict"),
        ("no_such_module:task", "there is no module 'no_such_module'"),
    ],
)
def test_what_is_no_task_is_one_line(name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        get_tasks([name])
