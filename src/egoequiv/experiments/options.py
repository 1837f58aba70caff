"""What `egoequiv reproduce` takes: one typed object for all tables, and how much work each table is by default."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from egoequiv.engines import Engine, LocalEngine
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.experiments.recipe import Effort
from egoequiv.experiments.selection import Grid
from egoequiv.models.network import Precision

RowKind = Literal["all", "labelled", "unlabelled"]


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


@dataclass(frozen=True)
class ReproduceOptions:
    """What to reproduce, from what, and how thoroughly; None means as the table has it.

    Args:
        out: Where runs, stores and tables go.
        data: The files of the data set; None for the embedded world.
        scenes: Class folders or SUN397; None for the embedded places.
        methods: Only the rows of these methods.
        rows: Runs with labels, without, or all (NORB).
        splits: How frames are divided: paper, by-recording, or both.
        per_class: Labelled images a class, one table for each number (scenes).
        quick: Small and short, to see it work.
        scale: A scale to use in place of the table's.
    """

    out: Path
    data: Path | None = None
    scenes: Path | None = None
    methods: tuple[str, ...] | None = None
    rows: RowKind = "all"
    splits: tuple[str, ...] | None = None
    part: str = "auto"  # of small NORB
    partition: int | None = None  # of SUN397
    per_class: tuple[int, ...] = (6, 20)
    precision: Precision = "float32"
    quick: bool = False
    repeats: int | None = None
    iterations: int | None = None
    size: int | None = None
    select: bool | None = None
    scale: Scale | None = None
    engine: Engine = field(default_factory=LocalEngine)
    on_progress: OnProgress = silent

    def scaled(self, whole: Scale, quick: Scale) -> Scale:
        """The scale of a table, with what was given in place of its defaults."""
        chosen = self.scale or (quick if self.quick else whole)
        names = {one.name for one in fields(Scale)} & {one.name for one in fields(self)}
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(chosen, **given)

    def effort(self, scale: Scale, *, select_stop: bool = True, grid: Grid | None = None) -> Effort:
        """How thoroughly the rows of a table are made."""
        return Effort(
            out=self.out,
            repeats=scale.repeats,
            iterations=scale.iterations,
            search_iterations=scale.search_iterations,
            select=scale.select,
            select_stop=select_stop,
            grid=grid or Grid(),
            engine=self.engine,
            on_progress=self.on_progress,
        )
