"""`egoequiv reproduce beyond`: methods of today beside those of the paper, three tables for each setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from egoequiv.engines import Engine, LocalEngine
from egoequiv.errors import ConfigError
from egoequiv.evaluation.metric import Metric
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.experiments.beyond.candidates import FEW_LABELS, NO_MAPS, WINNER, Candidate, choose_candidates
from egoequiv.experiments.beyond.columns import MEASURED, TABLES, table_of
from egoequiv.experiments.beyond.runs import Measured, Stores, measure_rows, train_candidates
from egoequiv.experiments.beyond.worlds import World, choose_worlds
from egoequiv.experiments.options import Effort, Scale
from egoequiv.experiments.recipe import RowRuns
from egoequiv.experiments.stores import about_frames
from egoequiv.experiments.table import Comparison, Row, Table, compare_rows, merge_rows
from egoequiv.pairs import make_split

SIZE = 32
WHOLE = Scale(size=SIZE)
QUICK = Scale(size=SIZE, repeats=2, lightings=3, drives_per_area=3, seconds=6.0)
QUICK_ITERATIONS = 150


@dataclass(frozen=True)
class BeyondOptions:
    """What `egoequiv reproduce beyond` takes; None means as the table has it."""

    out: Path  # stores, runs and tables
    paths: Mapping[str, Path | None] = field(default_factory=dict)  # of data sets, by the names of their options
    settings: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    repeats: int | None = None
    iterations: int | None = None  # of every run; None: as many as each method has by default
    tasks: Sequence[str] | None = None  # what is measured; None: all of `MEASURED`
    quick: bool = False
    scale: Scale | None = None  # of the embedded worlds, in place of the table's
    engine: Engine = field(default_factory=LocalEngine)
    on_progress: OnProgress = silent

    def effort(self) -> Effort:
        """How thoroughly the tables are made."""
        scale = self.scale or (QUICK if self.quick else WHOLE)
        repeats = scale.repeats if self.repeats is None else self.repeats
        given = {**vars(scale), "repeats": repeats, "select": False}
        return Effort(**given, out=self.out, engine=self.engine, on_progress=self.on_progress)


@dataclass(frozen=True)
class Plan:
    """What is made, decided before the long work begins; `notes` say what is left out and why."""

    options: BeyondOptions
    worlds: Sequence[World]
    rows: Sequence[Candidate]
    notes: Sequence[str]

    def tables(self) -> Iterator[dict[str, Table]]:
        """The tables of each setting as soon as they are made, by the names of their files."""
        options, whole = self.options, self.options.effort()
        short = QUICK_ITERATIONS if options.quick else None
        iterations = short if options.iterations is None else options.iterations
        for world in self.worlds:
            effort = whole if world.size is None else replace(whole, size=world.size)
            video = world.video(effort, options.paths)
            stores = Stores(video, None if world.labelled is None else world.labelled(effort, options.paths))
            rows, notes = train_candidates(world, stores, self.rows, effort, iterations)
            measured = measure_rows(world, rows, effort, options.tasks or MEASURED)
            yield _tables(world, stores, rows, measured, effort, notes)


def plan_beyond(options: BeyondOptions) -> Plan:
    """Check names and paths, and decide what is made."""
    if unknown := [name for name in options.tasks or () if name not in MEASURED]:
        raise ConfigError(f"task {unknown[0]!r} is not one of these tables; choose from {', '.join(MEASURED)}")
    worlds, lacking = choose_worlds(options.settings, options.paths, quick=options.quick)
    rows, absent = choose_candidates(options.methods, quick=options.quick)
    options.effort()  # refuses wrong numbers
    return Plan(options, worlds, rows, [*lacking, *absent])


def _tables(
    world: World,
    stores: Stores,
    rows: Sequence[RowRuns],
    measured: Sequence[Sequence[Measured]],
    effort: Effort,
    notes: Sequence[str],
) -> dict[str, Table]:
    records = [[[record] for record, _ in found] for found in measured]
    each = [row.measured(found, effort.out) for row, found in zip(rows, records, strict=True)]
    metrics, lines = merge_rows(each)
    known = [one for one in metrics if any(isfinite(row.mean(one.name)) for row in lines)]
    about, left_out = _about(world, stores, effort), [*notes, *_problems(rows, measured)]
    tables: dict[str, Table] = {}
    for name, title in TABLES.items():
        own = [one for one in known if table_of(one) == name]
        if all(one.better == "neither" for one in own):  # seconds and weights alone are no table
            continue
        names = {one.name for one in own}
        kept = [
            row.model_copy(update={"entries": {k: e for k, e in row.entries.items() if k in names}}) for row in lines
        ]
        shown = [row for row in kept if row.entries]
        tables[f"{world.name}-{name}"] = Table(
            title=f"{world.title}: {title}",
            metrics=own,
            columns=tuple(one.name for one in own if not one.is_detail),
            rows=shown,
            comparisons=_tests(shown, [one for one in own if not one.is_detail and one.better != "neither"]),
            about=about if tables else about | {"left_out": left_out},  # said once
        )
    return tables


def _tests(rows: Sequence[Row], metrics: Sequence[Metric]) -> list[Comparison]:
    """The method with maps against all others, that without maps too, and the best row of each metric."""
    tests: dict[tuple[str, ...], Comparison] = {}
    for metric in metrics:
        first = [row for row in rows if row.name in (WINNER, NO_MAPS)]
        first += [row for labels in (True, False) for row in _best(rows, metric, labels)]
        for row in first:
            for other in rows:
                pair = (metric.name, *sorted((row.name, other.name)))
                if other.name != row.name and pair not in tests:
                    tests.update((pair, test) for test in compare_rows([other, row], metric.name))
    return list(tests.values())


def _best(rows: Sequence[Row], metric: Metric, uses_labels: bool) -> list[Row]:
    own = [row for row in rows if row.uses_labels is uses_labels and isfinite(row.mean(metric.name))]
    if not own:
        return []
    choose = max if metric.better == "higher" else min
    return [choose(own, key=lambda row: row.mean(metric.name))]


def _problems(rows: Sequence[RowRuns], measured: Sequence[Sequence[Measured]]) -> list[str]:
    """What could not be measured, one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for row, found in zip(rows, measured, strict=True):
        for problem in dict.fromkeys(problem for _, problems in found for problem in problems):
            reasons.setdefault(problem, []).append(row.name)
    return [f"not measured of {', '.join(names)}: {problem}" for problem, names in reasons.items()]


def _about(world: World, stores: Stores, effort: Effort) -> dict[str, Any]:
    """What the tables say of their frames."""
    kind = world.split(stores.video, 0)
    split = make_split(stores.video, kind)
    several = {world.split(stores.video, repetition) for repetition in range(effort.repeats)}
    about = {"setting": world.name, "store": stores.video.path.name, "frames": len(stores.video)}
    if stores.labelled is not None:
        about |= {"labelled_store": stores.labelled.path.name, "labelled_frames": len(stores.labelled)}
    about |= about_frames(effort, stores.video, split, kind, FEW_LABELS)
    if len(several) > 1:
        about["splits"] = sorted(several)
    dropped = ["iterations", "settings_selected", "labelled_images_a_class"]  # each row has its own
    if world.has_cuts:
        about["split_seeds"] = list(range(effort.repeats))
        dropped += ["validation_frames", "leaked_validation_frames"]  # each repetition has its own
    return {key: value for key, value in about.items() if key not in dropped}
