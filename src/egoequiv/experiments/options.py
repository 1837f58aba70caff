"""What `egoequiv reproduce` takes: one typed object for all tables."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from egoequiv.engines import Engine, LocalEngine
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.experiments.recipe import Effort, Scale
from egoequiv.models.network import Precision

RowKind = Literal["all", "labelled", "unlabelled"]


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

    def effort(self, whole: Scale, quick: Scale, **own: Any) -> Effort:
        """How thoroughly a table is made: by its scale, what was given in place of it, and what is of its own."""
        chosen = self.scale or (quick if self.quick else whole)
        names = {one.name for one in fields(Scale)} & {one.name for one in fields(self)}
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        given |= {"out": self.out, "engine": self.engine, "on_progress": self.on_progress}
        return Effort(**{**vars(chosen), **given, **own})
