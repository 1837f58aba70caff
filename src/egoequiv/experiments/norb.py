"""The NORB columns of the paper: recognition of 25 toys, and equivariance with labels and without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egoequiv import __version__
from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import Result, nearest_pixel_accuracy
from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.published import NORB
from egoequiv.experiments.table import Row, Table, compare_rows
from egoequiv.files import read_json, write_json
from egoequiv.methods import METHODS, get_method
from egoequiv.pairs import atomic_names, composite_names, count_leaked, draw_labelled, make_split
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config
from egoequiv.training.many import Job, Outcome, run_many
from egoequiv.training.search import GreedySearch

PAPER_METHODS = ("random", "clsnet", "temporal", "drlim", "equiv", "equiv+drlim")
PIXELS = "nearest pixels"

# What `select` found on small NORB (`egoequiv search` prints it), used with --no-select.
CHOSEN: dict[str, dict[str, Any]] = {
    "random": {},
    "clsnet": {"learning_rate": 0.01},
    "temporal": {"learning_rate": 0.01, "weight": {"slowness": 0.316}},
    "drlim": {"learning_rate": 0.01, "weight": {"slowness": 3.16}},
    "equiv": {"learning_rate": 0.01, "weight": {"equivariance": 0.316}},
    "equiv+drlim": {"learning_rate": 0.01, "weight": {"slowness": 3.16, "equivariance": 1.0}},
    "equiv+apart": {"learning_rate": 0.01, "weight": {"equivariance": 1.0, "separation": 1.0}},
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
    methods: tuple[str, ...] = (*PAPER_METHODS, "equiv+apart")
    repeats: int = 5
    iterations: int = 15_000
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


def quick_options(options: NorbOptions) -> NorbOptions:
    """The same on small images, few iterations, two repetitions and with settings chosen before."""
    return replace(options, repeats=2, iterations=3_000, size=32, lightings=2, select=False)


def reproduce_norb(options: NorbOptions) -> Table:
    """Measure every row of the NORB columns and set it beside the published one."""
    for method in options.methods:
        get_method(method)
    if options.repeats < 1:
        raise ConfigError(f"repeats must be at least 1, found {options.repeats}")
    store = _store(options)
    settings = _select(options, store) if options.select else CHOSEN
    jobs = _jobs(options, store, settings)
    outcomes = run_many(
        [job for _, job in jobs],
        processes=options.processes,
        on_progress=lambda done, total: options.on_stage("training", done, total),
    )
    rows = [_pixel_row(options, store), *_rows(options, jobs, outcomes, settings)]
    compared = [row for row in rows if row.labels]
    split = make_split(store, options.split)
    return Table(
        title="NORB: recognition and equivariance" if options.data else "Turntable: recognition and equivariance",
        columns=("top1", "rho_atomic", "rho_composite", *(f"rho_{name}" for name in _motions(store))),
        rows=rows,
        comparisons=compare_rows(compared, "top1") + compare_rows(compared, "rho_atomic"),
        about={
            "data": str(options.data or "embedded turntable"),
            "frames": len(store),
            "image_shape": list(store.image_shape),
            "split": options.split,
            "validation_frames": len(split.validation),
            "leaked_validation_frames": count_leaked(store, split),
            "iterations": options.iterations,
            "repeats": options.repeats,
            "settings_selected": options.select,
            "version": __version__,
        },
    )


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
    size = (options.size, options.size)
    write_json(stamp, made_from)
    return ingest(source, path, size=size, on_progress=lambda done, total: options.on_stage("frames", done, total))


def _base(options: NorbOptions, store: FrameStore) -> dict[str, Any]:
    """Settings that all runs share. Validation only at the end: nothing is chosen by it."""
    every = max(100, -(-options.iterations // 100) * 100)
    return {
        "data": str(store.path),
        "iterations": options.iterations,
        "split": options.split,
        "threads": 1,
        "validate_every": every,
        "checkpoint_every": 1_000,
    }


def _select(options: NorbOptions, store: FrameStore) -> dict[str, dict[str, Any]]:
    """Greedy selection on frames cut from the training part."""
    stage = "search"

    def name_stage(name: str) -> None:
        nonlocal stage
        stage = f"search, {name}"

    search = GreedySearch(
        base=_base(options, store),
        out=options.out / f"search-{options.iterations}",
        processes=options.processes,
        on_stage=name_stage,
        on_progress=lambda done, total: options.on_stage(stage, done, total),
    )
    selection = search.run([m for m in options.methods if get_method(m).without_labels().terms])
    return {method: selection.settings(method) for method in METHODS}


def _jobs(
    options: NorbOptions, store: FrameStore, settings: dict[str, dict[str, Any]]
) -> list[tuple[tuple[str, bool], Job]]:
    """One job for each method, with labels and without, and repetition."""
    keys = [(method, True) for method in options.methods]
    keys += [(method, False) for method in options.methods if get_method(method).without_labels().terms]
    folder = options.out / f"runs-{options.size}-{options.iterations}-{options.split}"
    jobs = []
    for method, labels in keys:
        for repetition in range(options.repeats):
            config = make_config(
                {
                    **_base(options, store),
                    **settings[method],
                    "method": method,
                    "use_labels": labels,
                    "seed": repetition,
                    "pair_seed": repetition,
                }
            )
            name = f"{method}-{'labels' if labels else 'no-labels'}-{repetition}"
            jobs.append(((method, labels), Job(config, folder / name)))
    return jobs


def _rows(
    options: NorbOptions,
    jobs: list[tuple[tuple[str, bool], Job]],
    outcomes: list[Outcome],
    settings: dict[str, dict[str, Any]],
) -> list[Row]:
    measured: dict[tuple[str, bool], list[dict[str, Any] | None]] = {}
    for number, ((key, job), outcome) in enumerate(zip(jobs, outcomes, strict=True)):
        options.on_stage("measuring", number, len(jobs))
        measured.setdefault(key, []).append(measure_run(job.out)["metrics"] if outcome.result else None)
    options.on_stage("measuring", len(jobs), len(jobs))
    return [
        Row(
            method=method,
            labels=labels,
            metrics=_results([m for m in measures if m is not None]),
            published=NORB.get((method, labels), {}),
            diverged=sum(m is None for m in measures),
            settings=settings[method],
        )
        for (method, labels), measures in measured.items()
    ]


def _results(measures: list[dict[str, Any]]) -> dict[str, Result]:
    """Each metric over the repetitions that have it."""
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
        labelled = draw_labelled(classes, split.train, 6, names, repetition)
        accuracies.append(100 * nearest_pixel_accuracy(store, labelled, split.validation, classes))
    return Row(PIXELS, True, {"top1": Result(tuple(accuracies))})
