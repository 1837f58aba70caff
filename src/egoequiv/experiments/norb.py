"""The NORB columns of the paper: recognition of 25 toys, and equivariance with labels and without."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from egoequiv import __version__
from egoequiv.catalog import open_source
from egoequiv.engines import Engine, LocalEngine
from egoequiv.errors import ConfigError
from egoequiv.experiments.published import NORB, NORB_NAME, Key
from egoequiv.experiments.recipe import Effort, OnStage, Recipe, chosen_keys, cook, silent
from egoequiv.experiments.selection import Settings
from egoequiv.experiments.stores import experiment_store, pixel_row
from egoequiv.experiments.table import Table, compare_rows
from egoequiv.pairs import atomic_names, composite_names, count_leaked, make_split
from egoequiv.sources import Source
from egoequiv.store import FrameStore

RowKind = Literal["all", "labelled", "unlabelled"]
PER_CLASS = 6
LABELLED = ("random", "clsnet", "temporal", "drlim", "equiv", "equiv+drlim", "equiv-narrow", "equiv+views")
UNLABELLED = ("temporal", "drlim", "equiv", "equiv+drlim", "equiv+apart")

# What --select chose on small NORB, all but when to stop; used with --no-select.
CHOSEN: dict[Key, Settings] = {
    ("random", True): {},
    ("clsnet", True): {"learning_rate": 0.01},
    ("temporal", True): {"learning_rate": 0.01, "weight": {"slowness": 0.316}},
    ("drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 3.16}},
    ("equiv", True): {"learning_rate": 0.01, "weight": {"equivariance": 0.316}},
    ("equiv+drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 3.16, "equivariance": 0.01}},
    ("equiv-narrow", True): {"learning_rate": 0.01, "weight": {"equivariance": 1.0}},
    ("equiv+views", True): {"learning_rate": 0.01, "weight": {"equivariance": 1.0}},
    ("temporal", False): {"learning_rate": 0.001},
    ("drlim", False): {"learning_rate": 0.1},
    ("equiv", False): {"learning_rate": 0.01},
    ("equiv+drlim", False): {"learning_rate": 0.1},
    ("equiv+apart", False): {"learning_rate": 0.1},
}


@dataclass(frozen=True)
class NorbOptions:
    """What to reproduce, from what, and how thoroughly."""

    out: Path
    data: Path | None = None  # the folder of the small NORB files; None: the embedded turntable
    part: str = "auto"
    methods: tuple[str, ...] | None = None  # None: all of the table
    rows: RowKind = "all"
    repeats: int = 5
    iterations: int = 25_000
    search_iterations: int = 6_000
    size: int = 96
    lightings: int = 6  # of the embedded turntable
    select: bool = True
    split: str = "paper"
    engine: Engine = field(default_factory=LocalEngine)
    on_stage: OnStage = silent

    def keys(self) -> list[Key]:
        """The rows of the table that come from runs."""
        labelled, unlabelled = ((method, True) for method in LABELLED), ((method, False) for method in UNLABELLED)
        keys = chosen_keys([*labelled, *unlabelled], self.methods)
        kept = [key for key in keys if self.rows == "all" or key[1] == (self.rows == "labelled")]
        if not kept:
            raise ConfigError(f"none of the methods {', '.join(self.methods or ())} has {self.rows} runs in this table")
        return kept

    def effort(self) -> Effort:
        """How thoroughly the table is made."""
        return Effort(
            out=self.out,
            repeats=self.repeats,
            iterations=self.iterations,
            search_iterations=self.search_iterations,
            select=self.select,
            engine=self.engine,
            on_stage=self.on_stage,
        )


def quick_options(options: NorbOptions) -> NorbOptions:
    """The same on small images, few iterations, two repetitions and with settings chosen before."""
    return replace(options, repeats=2, iterations=3_000, size=32, lightings=2, select=False)


def reproduce_norb(options: NorbOptions) -> Table:
    """Measure every row of the NORB columns and set it beside the published one."""
    effort, keys = options.effort(), options.keys()
    store = _store(options, effort)
    recipe = Recipe(
        name=f"{options.size}-{options.split}",
        base={"data": str(store.path), "encoder": "norb", "per_class": PER_CLASS, "split": options.split},
        keys=keys,
        chosen=CHOSEN,
        published=NORB,
        extra=_extra_settings,
    )
    pixels = pixel_row(store, make_split(store, options.split), PER_CLASS, options.repeats)
    rows = [pixels, *cook(recipe, effort)]
    return Table(
        title="Small NORB: recognition and equivariance" if options.data else "Turntable: recognition and equivariance",
        columns=("top1", "rho_atomic", "rho_composite", *(f"rho_{name}" for name in _motions(store))),
        rows=rows,
        comparisons=[
            *compare_rows([row for row in rows if row.labels], "top1"),
            *compare_rows([row for row in rows if row.labels], "rho_atomic"),
            *compare_rows([row for row in rows if not row.labels], "rho_atomic"),
        ],
        about=_about(options, store),
        published_on=NORB_NAME,
    )


def _about(options: NorbOptions, store: FrameStore) -> dict[str, Any]:
    split = make_split(store, options.split)
    return {
        "data": options.data.name if options.data else "embedded turntable",
        "frames": len(store),
        "image_shape": list(store.image_shape),
        "labelled_images_a_class": PER_CLASS,
        "split": options.split,
        "validation_frames": len(split.validation),
        "leaked_validation_frames": count_leaked(store, split),
        "iterations": options.iterations,
        "repeats": options.repeats,
        "settings_selected": options.select,
        "version": __version__,
    }


def _motions(store: FrameStore) -> tuple[str, ...]:
    return atomic_names(store.space) + composite_names(store.space)


def _store(options: NorbOptions, effort: Effort) -> FrameStore:
    """The store of the experiment, made once; another size or world has another one."""
    kind = "norb" if options.data else f"turntable-{options.lightings}"
    made_from = {"data": str(options.data.resolve()) if options.data else None, "part": options.part}

    def open_it() -> Source:
        if options.data:
            return open_source("norb", options.data, part=options.part)
        return open_source("turntable", lightings=options.lightings)

    return experiment_store(effort, f"{kind}-{options.size}", made_from, open_it, options.size)


def _extra_settings(key: Key, iterations: int) -> Settings:
    """`equiv+apart` without labels asks how far optimisation goes: large batches and a rate that falls to zero."""
    if key == ("equiv+apart", False):
        short = max(1, iterations // 4)
        return {"batch_size": 128, "decay": "cosine", "iterations": short, "validate_every": -(-short // 100) * 100}
    return {}
