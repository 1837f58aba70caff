"""What `egoequiv reproduce` takes, one typed object for all tables; and how thoroughly a table is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from egoequiv.catalog import open_log, open_source
from egoequiv.engines import Engine, LocalEngine
from egoequiv.errors import ConfigError
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.models.network import Precision
from egoequiv.sources import Source
from egoequiv.training.search import LEARNING_RATES, WEIGHTS

RowKind = Literal["all", "labelled", "unlabelled"]
Settings = dict[str, Any]  # of training


def sources_of(data: Sequence[Path], **drive: Any) -> dict[str, Source]:
    """Logs by their names, no name twice; without any, the embedded drive with these settings."""
    if not data:
        return {"drive": open_source("drive", drives_per_area=2, **drive)}
    names = [Path(path).resolve().name for path in data]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"--data: two logs have the name {twice}: rename one of them")
    return {name: open_log(path)[0] for name, path in zip(names, data, strict=True)}


@dataclass(frozen=True)
class Grid:
    """What a search tries: rates and weights, over how many draws of labels and initial weights."""

    learning_rates: Sequence[float] = LEARNING_RATES
    weights: Sequence[float] = WEIGHTS
    rate_seeds: int = 5
    seeds: int = 2


@dataclass(frozen=True)
class Scale:
    """How much work a table is; each table has one for the whole and one for `--quick`."""

    repeats: int = 5
    iterations: int = 25_000
    search_iterations: int = 6_000
    batch_size: int = 16
    size: int = 96
    select: bool = True  # choose settings by search, or take those chosen before
    lightings: int = 6  # of the embedded turntable
    drives_per_area: int = 6  # of the embedded drive
    seconds: float = 30.0
    images_per_class: int = 120  # of the embedded places


@dataclass(frozen=True, kw_only=True)
class Effort(Scale):
    """How thoroughly a table is made, where, and where progress is reported."""

    out: Path
    select_stop: bool = True  # choose by search when each method stops, or let all run to the end
    grid: Grid = field(default_factory=Grid)
    engine: Engine = field(default_factory=LocalEngine)
    on_progress: OnProgress = silent

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise ConfigError(f"repeats must be at least 1, found {self.repeats}")


@dataclass(frozen=True)
class ReproduceOptions:
    """What to reproduce, from what, and how thoroughly; None means as the table has it."""

    out: Path  # where runs, stores and tables go
    data: Path | None = None  # the files of the data set; None for the embedded world
    scenes: Path | None = None  # class folders or SUN397; None for the embedded places
    methods: tuple[str, ...] | None = None  # only the rows of these
    rows: RowKind = "all"  # runs with labels, without, or all (NORB)
    splits: tuple[str, ...] | None = None  # how frames are divided: paper, by-recording, or both
    part: str = "auto"  # of small NORB
    partition: int | None = None  # of SUN397
    per_class: tuple[int, ...] = (6, 20)  # labelled images a class, one table for each number (scenes)
    precision: Precision = "float32"
    quick: bool = False  # small and short, to see it work
    repeats: int | None = None
    iterations: int | None = None
    size: int | None = None
    select: bool | None = None
    scale: Scale | None = None  # to use in place of the table's
    engine: Engine = field(default_factory=LocalEngine)
    on_progress: OnProgress = silent

    def effort(self, whole: Scale, quick: Scale, **own: Any) -> Effort:
        """How thoroughly a table is made: by its scale, what was given in place of it, and what is of its own."""
        chosen = self.scale or (quick if self.quick else whole)
        names = {one.name for one in fields(Scale)} & {one.name for one in fields(self)}
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        given |= {"out": self.out, "engine": self.engine, "on_progress": self.on_progress}
        return Effort(**{**vars(chosen), **given, **own})
