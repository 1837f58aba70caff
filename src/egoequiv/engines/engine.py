"""What an engine is: one verb that does many tasks side by side and gives their results in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from egoequiv.errors import EgoEquivError

Task = TypeVar("Task")
Result = TypeVar("Result")
Tick = Callable[[int], None]  # this many frames or iterations more are done


class WorkerLostError(EgoEquivError):
    """A process that worked on a task ended before the task did."""


def silent(done: int) -> None:
    """Report nothing."""


class Engine(ABC):
    """Does many tasks side by side.

    Tasks and results are pickled, and a task may be begun again when its worker dies: what it writes, it writes under a
    temporary name and renames, or it writes the same bytes to the same place.
    """

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks are done at a time, if there are as many."""

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

        `work` is sent to each worker once, so a `functools.partial` may hold what all tasks share. What tasks tell by
        `tick(n)` is added up, and `on_tick` hears the sum now and then and at the end. The first error of a task ends
        them all and is raised as it was. Tasks of a second or less are `short`: this process may then do some itself.
        """

    def close(self) -> None:  # noqa: B027
        """Let go of what the engine holds beyond one run, if anything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
