"""The NORB columns of the paper: recognition of 25 toys, and equivariance with labels and without."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egoequiv import __version__
from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import Result, nearest_pixel_accuracy
from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.published import NORB, Key
from egoequiv.experiments.selection import Settings, select_iterations, select_labelled, select_unlabelled
from egoequiv.experiments.table import Row, Table, compare_rows
from egoequiv.files import read_json, write_json
from egoequiv.methods import get_method
from egoequiv.pairs import atomic_names, composite_names, count_leaked, draw_labelled, make_split
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config
from egoequiv.training.many import Job, Outcome, run_many

PIXELS = "nearest pixels"
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

OnStage = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is


def _silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class NorbOptions:
    """What to reproduce, from what, and how thoroughly."""

    out: Path
    data: Path | None = None  # the folder of the small NORB files; None: the embedded turntable
    part: str = "auto"
    methods: tuple[str, ...] | None = None  # None: all of the table
    repeats: int = 5
    iterations: int = 25_000
    search_iterations: int = 6_000
    size: int = 96
    lightings: int = 6  # of the embedded turntable
    select: bool = True
    split: str = "paper"
    processes: int | None = None
    on_stage: OnStage = _silent

    @property
    def store_path(self) -> Path:
        """Where the frames are kept; another size or world has another store."""
        kind = "norb" if self.data else f"turntable-{self.lightings}"
        return self.out / "stores" / f"{kind}-{self.size}"

    def keys(self) -> list[Key]:
        """The rows of the table that come from runs."""
        keys = [(method, True) for method in LABELLED] + [(method, False) for method in UNLABELLED]
        if self.methods is None:
            return keys
        for method in self.methods:
            get_method(method)
        return [key for key in keys if key[0] in self.methods]


def quick_options(options: NorbOptions) -> NorbOptions:
    """The same on small images, few iterations, two repetitions and with settings chosen before."""
    return replace(options, repeats=2, iterations=3_000, size=32, lightings=2, select=False)


def reproduce_norb(options: NorbOptions) -> Table:
    """Measure every row of the NORB columns and set it beside the published one."""
    if options.repeats < 1:
        raise ConfigError(f"repeats must be at least 1, found {options.repeats}")
    keys = options.keys()
    store = _store(options)
    settings = _select(options, store, keys) if options.select else CHOSEN
    jobs = [(key, job) for key in keys for job in _jobs(options, store, key, settings[key])]
    outcomes = run_many(
        [job for _, job in jobs],
        processes=options.processes,
        on_progress=lambda done, total: options.on_stage("training", done, total),
    )
    rows = [_pixel_row(options, store), *_rows(options, jobs, outcomes, settings)]
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


def _store(options: NorbOptions) -> FrameStore:
    """The store of the experiment, made once."""
    path = options.store_path
    made_from = {"data": str(options.data.resolve()) if options.data else None, "part": options.part}
    stamp = path.with_suffix(".json")
    if path.exists():
        if read_json(stamp, "an experiment's store") != made_from:
            raise DataError(f"{options.out} was made from other data: choose another -o")
        return FrameStore.open(path)
    source = (
        open_source("norb", options.data, part=options.part)
        if options.data
        else open_source("turntable", lightings=options.lightings)
    )
    write_json(stamp, made_from)
    size = (options.size, options.size)
    return ingest(
        source,
        path,
        size=size,
        workers=options.processes or os.cpu_count() or 1,
        on_progress=lambda done, total: options.on_stage("frames", done, total),
    )


def base_settings(options: NorbOptions, store: FrameStore, iterations: int) -> Settings:
    """Settings that all runs share. They validate at the end only, for nothing is chosen by it."""
    return {
        "data": str(store.path),
        "iterations": iterations,
        "per_class": PER_CLASS,
        "split": options.split,
        "threads": 1,
        "validate_every": max(100, -(-iterations // 100) * 100),
        "checkpoint_every": 1_000,
    }


def _extra_settings(key: Key, iterations: int) -> Settings:
    """`equiv+apart` without labels asks how far optimisation goes: large batches and a rate that falls to zero."""
    if key == ("equiv+apart", False):
        short = max(1, iterations // 4)
        return {"batch_size": 128, "decay": "cosine", "iterations": short, "validate_every": -(-short // 100) * 100}
    return {}


def _select(options: NorbOptions, store: FrameStore, keys: list[Key]) -> Mapping[Key, Settings]:
    """Choose settings on frames cut from the training part.

    With labels rate, weights and when to stop, by accuracy; without, the rate, by rho.
    """
    iterations = min(options.iterations, options.search_iterations)
    base = base_settings(options, store, iterations)
    folder = options.out / f"search-{options.size}-{iterations}-{options.split}"
    labelled = [method for method, labels in keys if labels]
    chosen: dict[Key, Settings] = {
        (method, True): settings
        for method, settings in select_labelled(base, folder, labelled, options.processes, options.on_stage).items()
    }
    trained = {m: chosen[m, True] for m in labelled if get_method(m).terms}
    whole = base_settings(options, store, options.iterations)
    stops = select_iterations(whole, folder, trained, options.processes, options.on_stage)
    for method, stop in stops.items():
        chosen[method, True] |= {"iterations": stop}
    for key in keys:
        if not key[1]:
            extra = base | _extra_settings(key, iterations)
            chosen[key] = select_unlabelled(extra, folder, key[0], options.processes, options.on_stage)
    return chosen


def _jobs(options: NorbOptions, store: FrameStore, key: Key, settings: Settings) -> list[Job]:
    """One job for each repetition of a row."""
    method, labels = key
    kind = "runs" if options.select else "runs-preset"
    folder = options.out / f"{kind}-{options.size}-{options.iterations}-{options.split}"
    base = base_settings(options, store, options.iterations) | _extra_settings(key, options.iterations)
    own = {**base, **settings, "method": method, "use_labels": labels}
    name = f"{method}-{'labels' if labels else 'no-labels'}"
    if settings.get("iterations", options.iterations) != options.iterations:
        name += f"-{settings['iterations']}-iterations"
    return [
        Job(make_config({**own, "seed": repetition, "pair_seed": repetition}), folder / f"{name}-{repetition}")
        for repetition in range(options.repeats)
    ]


def _rows(
    options: NorbOptions, jobs: list[tuple[Key, Job]], outcomes: list[Outcome], settings: Mapping[Key, Settings]
) -> list[Row]:
    measured: dict[Key, list[dict[str, Any] | None]] = {}
    for number, ((key, job), outcome) in enumerate(zip(jobs, outcomes, strict=True)):
        options.on_stage("measuring", number, len(jobs))
        measured.setdefault(key, []).append(measure_run(job.out)["metrics"] if outcome.result else None)
    options.on_stage("measuring", len(jobs), len(jobs))
    return [
        Row(
            method=key[0],
            labels=key[1],
            metrics=_results([m for m in measures if m is not None]),
            published=NORB.get(key, {}),
            diverged=sum(m is None for m in measures),
            settings=settings[key] | _extra_settings(key, options.iterations),
        )
        for key, measures in measured.items()
    ]


def _results(measures: list[dict[str, Any]]) -> dict[str, Result]:
    """Each metric over the repetitions; a repetition whose figure is not defined counts as not a number."""
    names = dict.fromkeys(name for measure in measures for name in measure)
    return {
        name: Result(tuple(m[name] if m.get(name) is not None else float("nan") for m in measures)) for name in names
    }


def _pixel_row(options: NorbOptions, store: FrameStore) -> Row:
    """The nearest labelled image in pixels, with the labelled images that the networks get."""
    classes, names = store.classes()
    split = make_split(store, options.split)
    accuracies = []
    for repetition in range(options.repeats):
        labelled = draw_labelled(classes, split.train, PER_CLASS, names, repetition)
        accuracies.append(100 * nearest_pixel_accuracy(store, labelled, split.validation, classes))
    return Row(PIXELS, True, {"top1": Result(tuple(accuracies))})
