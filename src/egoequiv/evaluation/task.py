"""What a task of `egoequiv evaluate --task` is: from a network and a store to a result that can be shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.features import embed
from egoequiv.models import EgoNet
from egoequiv.pairs import MotionPatterns, Split
from egoequiv.store import FrameStore

OnProgress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class TaskData:
    """What all tasks look at: a network, the frames of a store, and which of them it was trained on."""

    net: EgoNet
    store: FrameStore
    split: Split
    patterns: MotionPatterns | None  # the motions of the run; None where poses are unknown
    max_gap_s: float = 1.0  # motion pairs are at most this far apart
    neighbour_gap_s: float = 2.0  # neighbours are at most this far apart
    label_column: str = "label"

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Features of every frame of the store, (N, D), in its order; computed once for all tasks."""
        return embed(self.net, self.store)

    def classes(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """The class of every frame, -1 for none, and the names; an error where the store has no labels."""
        return self.store.classes(self.label_column)


@dataclass(frozen=True)
class TaskOptions:
    """What a user may set; each task takes what concerns it."""

    motions: tuple[str, ...] | None = None  # by name; None: the task's own choice
    steps: int | None = None  # further views of next-view (1 unless set), steps of a chain of composition (5)
    neighbours: int = 25  # k of nearest neighbours
    apart: str = "recording"  # what is fitted on and asked about has none in common: or label, or an attribute
    seed: int = 0


@dataclass(frozen=True)
class TaskTable:
    """A table to print: the heads of its columns, and rows of text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)  # one line each, printed below it


class TaskResult(Protocol):
    """What a task found; a frozen dataclass."""

    def describe(self) -> dict[str, Any]:
        """A JSON object, without NaN."""
        ...

    def headline(self) -> dict[str, float]:
        """The few numbers that stand for it, by name; the first says which of two runs does better."""
        ...

    def tables(self) -> list[TaskTable]:
        """The same for people."""
        ...


Task = Callable[[TaskData, TaskOptions, OnProgress], TaskResult]
