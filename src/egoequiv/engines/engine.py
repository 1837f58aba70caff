"""What an engine is: it does many tasks in parallel and returns their results in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from egoequiv.errors import EgoEquivError

Task = TypeVar("Task")
Result = TypeVar("Result")
Tick = Callable[[int], None]  # this many more frames or iterations are done


class WorkerLostError(EgoEquivError):
    """A worker process ended before its task was finished."""


def silent(done: int) -> None:
    """Report nothing."""


class Engine(ABC):
    """Does many tasks in parallel.

    Tasks and results are pickled. A task may start again when its worker dies, so it must write files under a temporary
    name and rename them, or write the same bytes to the same place.
    """

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks are done at the same time, at most."""

    @abstractmethod
    def run(
        self,
        work: Callable[[Task, Tick], Result],
        tasks: Sequence[Task],
        on_tick: Tick = silent,
        *,
        short: bool = False,
    ) -> list[Result]:
        """Do `work(task, tick)` for every task, and return the results in the order of the tasks.

        `work` is sent to each worker once, so a `functools.partial` may hold what all tasks share. The progress that
        tasks report by `tick(n)` is added up, and `on_tick` gets the sum from time to time and at the end. The first
        error of a task ends all tasks and is raised unchanged. Tasks of a second or less are `short`: this process may
        then do some of them itself.
        """

    def close(self) -> None:  # noqa: B027
        """Release what the engine keeps after a call of `run`, if anything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def shares(self, tasks: Sequence[Task]) -> list[Sequence[Task]]:
        """Tasks for each worker, in their order, about as many for each: for tasks that share what they open."""
        count = max(min(self.workers, len(tasks)), 1)
        return [tasks[len(tasks) * k // count : len(tasks) * (k + 1) // count] for k in range(count)]
