"""The driving columns of the paper: places on KITTI, and scenes elsewhere with what was learned on KITTI."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from egoequiv import __version__
from egoequiv.catalog import open_source
from egoequiv.engines import Engine, LocalEngine
from egoequiv.errors import ConfigError
from egoequiv.evaluation import Result
from egoequiv.experiments.published import KITTI, SUN, Key, Metrics
from egoequiv.experiments.recipe import Effort, OnStage, Recipe, chosen_keys, cook, silent
from egoequiv.experiments.selection import Grid, Settings
from egoequiv.experiments.stores import PIXELS, experiment_store, pixel_row
from egoequiv.experiments.table import Row, Table, compare_rows
from egoequiv.models.network import Precision
from egoequiv.pairs import Split, count_leaked, draw_labelled, make_split
from egoequiv.pairs.splits import GIVEN
from egoequiv.sources import Source
from egoequiv.store import FrameStore

METHODS = ("random", "clsnet", "temporal", "drlim", "equiv", "equiv+drlim")
SPLITS = ("paper", "by-recording")
KITTI_PER_CLASS = 4
SCENE_PER_CLASS = (6, 20)
SUN_CLASSES = 397  # published numbers stand beside a task of as many classes only
ASPECT = "1242x375"  # KITTI's, to which scenes are cropped
GRID = Grid(learning_rates=(0.1, 0.01, 0.001), weights=(0.1, 0.316, 1.0, 3.16, 10.0), rate_seeds=2, seeds=2)

# What --select chose on real KITTI frames, split paper; used with --no-select.
CHOSEN: dict[Key, Settings] = {
    ("random", True): {},
    ("clsnet", True): {"learning_rate": 0.01},
    ("temporal", True): {"learning_rate": 0.01, "weight": {"slowness": 1.0}},
    ("drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 0.316}},
    ("equiv", True): {"learning_rate": 0.01, "weight": {"equivariance": 3.16}},
    ("equiv+drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 0.316, "equivariance": 3.16}},
}


@dataclass(frozen=True)
class DrivingOptions:
    """What to reproduce, from what, and how thoroughly."""

    out: Path
    data: Path | None = None  # KITTI raw; None: the embedded drive
    scenes: Path | None = None  # class folders or SUN397; None: the embedded places
    partition: int | None = None  # of SUN397
    methods: tuple[str, ...] | None = None  # None: all of the table
    splits: tuple[str, ...] = SPLITS
    per_class: tuple[int, ...] = SCENE_PER_CLASS
    repeats: int = 5
    iterations: int = 2_000
    search_iterations: int = 600
    batch_size: int = 16
    size: int = 32
    drives_per_area: int = 6  # of the embedded drive
    seconds: float = 30.0
    images_per_class: int = 120  # of the embedded places
    select: bool = True
    precision: Precision = "float32"
    engine: Engine = field(default_factory=LocalEngine)
    on_stage: OnStage = silent

    def effort(self) -> Effort:
        """How thoroughly the tables are made."""
        return Effort(
            out=self.out,
            repeats=self.repeats,
            iterations=self.iterations,
            search_iterations=self.search_iterations,
            select=self.select,
            select_stop=False,
            grid=GRID,
            engine=self.engine,
            on_stage=self.on_stage,
        )

    def base(self, video: FrameStore) -> Settings:
        """What all runs share: the network and the pairs of the paper."""
        return {
            "data": str(video.path),
            "encoder": "kitti",
            "split": "paper",
            "batch_size": self.batch_size,
            "motion_pairs": 47_984,
            "neighbour_pairs": 98_460,
            "precision": self.precision,
        }

    def recipe(self, name: str, base: Settings, published: dict[Key, Metrics]) -> Recipe:
        """A recipe with these methods."""
        keys = chosen_keys([(method, True) for method in METHODS], self.methods)
        return Recipe(f"{name}-{self.size}", base, keys, CHOSEN, published)


def scene_options(options: DrivingOptions) -> DrivingOptions:
    """Batches of 128, as the paper has them for scenes, and a quarter of the iterations."""
    return replace(options, batch_size=128, iterations=500, search_iterations=200)


def quick_driving(options: DrivingOptions) -> DrivingOptions:
    """The same on little data, with few iterations, two repetitions and settings chosen before."""
    return replace(
        options,
        repeats=2,
        iterations=100,
        batch_size=16,
        drives_per_area=3,
        seconds=6.0,
        images_per_class=30,
        per_class=options.per_class[:1],
        select=False,
    )


def reproduce_kitti(options: DrivingOptions) -> list[Table]:
    """Recognition of places from 4 labelled frames a class, for each split, and what the split makes of it."""
    effort = options.effort()
    options.recipe("", {}, {})  # a wrong name of a method is told before the long work begins
    store = _video(options, effort)
    tables = []
    for kind in options.splits:
        split = make_split(store, kind)
        base = options.base(store) | {"per_class": KITTI_PER_CLASS, "split": kind, "holdout_split": "paper"}
        rows = [
            pixel_row(store, split, KITTI_PER_CLASS, options.repeats),
            *cook(options.recipe(f"kitti-{kind}", base, KITTI if options.data else {}), effort),
        ]
        title = f"{_video_name(options)}: recognition of places, split {kind}"
        about = _about(options, store, kind, split, KITTI_PER_CLASS, store)
        tables.append(_table(title, rows, about, "KITTI with 4 classes, split at random" if options.data else ""))
    if len(tables) > 1:
        tables.append(_flattery(dict(zip(options.splits, tables, strict=True))))
    return tables


def reproduce_scenes(options: DrivingOptions, is_sun: bool = False) -> list[Table]:
    """Recognition of scenes from a few labels each, with what is learned from driving; one table for each few."""
    effort = options.effort()
    options.recipe("", {}, {})  # a wrong name of a method is told before the long work begins
    if options.scenes is None and options.data is not None:
        option = "--sun" if is_sun else "--scenes"
        raise ConfigError(f"KITTI's video needs pictures to be tried on: give their folder with {option}")
    video, scenes = _video(options, effort), _scenes(options, effort)
    kind = GIVEN if "part" in scenes.attributes else "paper"
    split = make_split(scenes, kind)
    classes, names = scenes.classes()
    for per_class in options.per_class:  # before the first of them is trained
        draw_labelled(classes, split.train, per_class, names, 0)
    tables = []
    for per_class in options.per_class:
        base = options.base(video) | {"labels": str(scenes.path), "label_split": kind, "per_class": per_class}
        published = SUN.get(per_class, {}) if is_sun and len(names) == SUN_CLASSES else {}
        # The paper chooses settings with 6 labels a class; other numbers of labels keep them.
        few = options.per_class[0]
        recipe = replace(
            options.recipe(f"scenes-{per_class}", base, published),
            search_name=f"scenes-{few}-{options.size}",
            search_base={"per_class": few},
        )
        pixels = replace(
            pixel_row(scenes, split, per_class, options.repeats), published=dict(published.get((PIXELS, True), {}))
        )
        rows = [pixels, *cook(recipe, effort)]
        title = f"{_video_name(options)} to scenes: {per_class} labelled images a class"
        about = _about(options, video, "paper", split, per_class, scenes)
        tables.append(_table(title, rows, about, "SUN397" if published else ""))
    return tables


def _table(title: str, rows: list[Row], about: dict[str, Any], published_on: str) -> Table:
    # A motion with too few pairs on the validation frames has no rho for any method, and no column.
    names = dict.fromkeys(name for row in rows for name, result in row.metrics.items() if isfinite(result.mean))
    motions = [name for name in names if name.startswith("rho_") and name != "rho_atomic"]
    columns = tuple(name for name in ("top1", "top1_class_mean", "top10", "rho_atomic") if name in names)
    comparisons = [test for metric in columns for test in compare_rows(rows, metric)]
    return Table(title, (*columns, *motions), rows, comparisons, about, published_on)


def _flattery(tables: dict[str, Table]) -> Table:
    """How much better each method looks when frames of one drive are on both sides."""
    (one, first), (other, second) = list(tables.items())[:2]
    rows = []
    for row in first.rows:
        other_row = second.row(row.method)
        mine, theirs = row.metrics.get("top1"), other_row.metrics.get("top1")
        if mine is not None and theirs is not None and not row.diverged and not other_row.diverged:
            gap = Result(tuple(a - b for a, b in zip(mine.values, theirs.values, strict=True)))
            rows.append(Row(row.method, True, {f"top1, {one}": mine, f"top1, {other}": theirs, "difference": gap}))
    leaked = "leaked_validation_frames"
    about = {f"{leaked}, {kind}": table.about[leaked] for kind, table in tables.items()}
    columns = (f"top1, {one}", f"top1, {other}", "difference")
    return Table("What a random split of video flatters: top-1 %", columns, rows, about=about)


def _video_name(options: DrivingOptions) -> str:
    return "KITTI" if options.data else "Drive"


def _about(
    options: DrivingOptions, video: FrameStore, kind: str, split: Split, per_class: int, labelled: FrameStore
) -> dict[str, Any]:
    classes, names = labelled.classes()
    counts = {name: int((classes[split.validation] == k).sum()) for k, name in enumerate(names)}
    elsewhere = options.scenes.name if options.scenes else "embedded places"
    return {
        "video": options.data.name if options.data else "embedded drive",
        "video_frames": len(video),
        "labelled": "the video" if labelled is video else elsewhere,
        "classes": len(names),
        "validation_frames_a_class": counts,
        "image_shape": list(video.image_shape),
        "labelled_images_a_class": per_class,
        "split": split.kind if labelled is not video else kind,
        "validation_frames": len(split.validation),
        "leaked_validation_frames": count_leaked(labelled, split),
        "iterations": options.iterations,
        "batch_size": options.batch_size,
        "precision": options.precision,
        "repeats": options.repeats,
        "settings_selected": options.select,
        "left_out": [note for store in dict.fromkeys((video.path, labelled.path)) for note in _notes(store)],
        "version": __version__,
    }


def _notes(store: Path) -> list[str]:
    return list(FrameStore.open(store).meta.get("notes", []))


def _video(options: DrivingOptions, effort: Effort) -> FrameStore:
    """The store of driving video."""
    made: dict[str, Any] = {"data": str(options.data.resolve()) if options.data else None}
    if not options.data:
        made |= {"drives_per_area": options.drives_per_area, "seconds": options.seconds}
    name = "kitti" if options.data else f"drive-{options.drives_per_area}x{options.seconds:g}s"

    def open_it() -> Source:
        if options.data:
            return open_source("kitti", options.data)
        return open_source("drive", drives_per_area=options.drives_per_area, seconds=options.seconds)

    return experiment_store(effort, f"{name}-{options.size}", made, open_it, options.size)


def _scenes(options: DrivingOptions, effort: Effort) -> FrameStore:
    """The store of labelled scenes, cropped to the aspect of the video."""
    made: dict[str, Any] = {
        "scenes": str(options.scenes.resolve()) if options.scenes else None,
        "partition": options.partition,
    }
    name = "scenes" if options.scenes else f"places-{options.images_per_class}"

    def open_it() -> Source:
        if options.scenes:
            return open_source("scenes", options.scenes, partition=options.partition, aspect=ASPECT)
        return open_source("places", images_per_class=options.images_per_class)

    return experiment_store(effort, f"{name}-{options.size}", made, open_it, options.size)
