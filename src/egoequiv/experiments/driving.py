"""The driving columns of the paper: places on KITTI, and scenes elsewhere with what was learned on KITTI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError
from egoequiv.evaluation.metric import Metric
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments.options import Effort, Grid, ReproduceOptions, Scale, Settings
from egoequiv.experiments.published import KITTI, SUN, Key, Metrics
from egoequiv.experiments.recipe import Recipe, chosen_keys, make_rows
from egoequiv.experiments.stores import PIXELS, about_frames, experiment_store, pixel_row
from egoequiv.experiments.table import Entry, MeasuredRow, Row, Table, compare_rows, merge_rows
from egoequiv.pairs import Split, draw_labelled, make_split
from egoequiv.pairs.splits import GIVEN
from egoequiv.store import FrameStore

METHODS = ("random", "clsnet", "temporal", "drlim", "equiv", "equiv+drlim")
SPLITS = ("paper", "by-recording")
KITTI_PER_CLASS = 4
SUN_CLASSES = 397  # published numbers are shown only beside a task of as many classes
ASPECT = "1242x375"  # KITTI's, to which scenes are cropped
GRID = Grid(learning_rates=(0.1, 0.01, 0.001), weights=(0.1, 0.316, 1.0, 3.16, 10.0), rate_seeds=2, seeds=2)
COMPARED = ("top1", "top1_class_mean", "top10", "rho_atomic", "ratio_atomic")  # in this order before the single motions

WHOLE = Scale(iterations=2_000, search_iterations=600, size=32)
# Batches of 128, as the paper has them for scenes, and a quarter of the iterations.
WHOLE_SCENES = replace(WHOLE, batch_size=128, iterations=500, search_iterations=200)
QUICK = Scale(repeats=2, iterations=100, size=32, drives_per_area=3, seconds=6.0, images_per_class=30, select=False)

# What --select chose on real KITTI frames, split paper; used with --no-select.
CHOSEN: dict[Key, Settings] = {
    ("random", True): {},
    ("clsnet", True): {"learning_rate": 0.01},
    ("temporal", True): {"learning_rate": 0.01, "weight": {"slowness": 1.0}},
    ("drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 0.316}},
    ("equiv", True): {"learning_rate": 0.01, "weight": {"equivariance": 3.16}},
    ("equiv+drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 0.316, "equivariance": 3.16}},
}


def reproduce_kitti(options: ReproduceOptions) -> dict[str, Table]:
    """Recognition of places from 4 labelled frames a class, for each split, and how much the split changes it."""
    effort, keys = options.effort(WHOLE, QUICK, select_stop=False, grid=GRID), _keys(options)
    video, splits = _video(options, effort), options.splits or SPLITS
    making = _Making(options, effort, keys, video)
    published_on = "KITTI with 4 classes, split at random" if options.data else ""
    tables = {}
    for kind in splits:
        own = {"per_class": KITTI_PER_CLASS, "split": kind, "holdout_split": "paper"}
        recipe = making.recipe(f"kitti-{kind}", own, KITTI if options.data else {})
        title = f"{making.name}: recognition of places, split {kind}"
        tables[f"table-{kind}"] = making.table(title, recipe, video, make_split(video, kind), published_on)
    if len(tables) > 1:
        tables["splits"] = _split_effect(dict(zip(splits, tables.values(), strict=True)))
    return tables


def reproduce_scenes(options: ReproduceOptions, is_sun: bool = False) -> dict[str, Table]:
    """Recognition of scenes from a few labels each, with what is learned from driving; one table for each few."""
    effort, keys = options.effort(WHOLE_SCENES, QUICK, select_stop=False, grid=GRID), _keys(options)
    numbers = options.per_class[:1] if options.quick else options.per_class
    if options.scenes is None and options.data is not None:
        option = "--sun" if is_sun else "--scenes"
        raise ConfigError(f"KITTI to scenes needs labelled pictures: give their folder with {option}")
    making = _Making(options, effort, keys, _video(options, effort))
    scenes = _scenes(options, effort)
    kind = GIVEN if "part" in scenes.attributes else "paper"
    split = make_split(scenes, kind)
    classes, names = scenes.classes()
    for per_class in numbers:  # before the first of them is trained
        draw_labelled(classes, split.train, per_class, names, 0)
    tables = {}
    for per_class in numbers:
        own = {"labels": str(scenes.path), "label_split": kind, "per_class": per_class, "split": "paper"}
        published = SUN.get(per_class, {}) if is_sun and len(names) == SUN_CLASSES else {}
        # The paper chooses settings with 6 labels a class; other numbers of labels keep them.
        recipe = replace(
            making.recipe(f"scenes-{per_class}", own, published),
            search_name=f"scenes-{numbers[0]}-{effort.size}",
            search_base={"per_class": numbers[0]},
        )
        title = f"{making.name} to scenes: {per_class} labelled images a class"
        tables[f"table-{per_class}"] = making.table(title, recipe, scenes, split, "SUN397" if published else "")
    return tables


def reproduce_sun(options: ReproduceOptions) -> dict[str, Table]:
    """The same with SUN397, beside the published numbers."""
    return reproduce_scenes(options, is_sun=True)


@dataclass(frozen=True)
class _Making:
    """What the tables of one command share: the options, the effort and the video that is learned from."""

    options: ReproduceOptions
    effort: Effort
    keys: Sequence[Key]  # of the rows
    video: FrameStore

    @property
    def name(self) -> str:
        """The video in titles."""
        return "KITTI" if self.options.data else "Drive"

    def recipe(self, name: str, own: Settings, published: dict[Key, Metrics]) -> Recipe:
        """The rows of one table, with the network and the pairs of the paper."""
        base = {
            "data": str(self.video.path),
            "encoder": "kitti",
            "batch_size": self.effort.batch_size,
            "motion_pairs": 47_984,
            "neighbour_pairs": 98_460,
            "precision": self.options.precision,
        }
        return Recipe(f"{name}-{self.effort.size}", base | own, self.keys, CHOSEN, published)

    def table(self, title: str, recipe: Recipe, labelled: FrameStore, split: Split, published_on: str) -> Table:
        """Train and measure the rows of a recipe, below the nearest labelled image in pixels."""
        pixels = dict(recipe.published.get((PIXELS, True), {}))
        per_class = recipe.base["per_class"]
        each = [pixel_row(labelled, split, per_class, self.effort.repeats, pixels), *make_rows(recipe, self.effort)]
        return _table(title, each, self._about(labelled, split, per_class), published_on)

    def _about(self, labelled: FrameStore, split: Split, per_class: int) -> dict[str, Any]:
        """What a table says of its frames; those with labels may be of another store than the video."""
        options, video = self.options, self.video
        classes, names = labelled.classes()
        elsewhere = options.scenes.name if options.scenes else "embedded places"
        counts = {name: int((classes[split.validation] == k).sum()) for k, name in enumerate(names)}
        stores = {store.path: store for store in (video, labelled)}
        return {
            "video": options.data.name if options.data else "embedded drive",
            "video_frames": len(video),
            "labelled": "the video" if labelled is video else elsewhere,
            "classes": len(names),
            "validation_frames_a_class": counts,
            **about_frames(self.effort, labelled, split, split.kind, per_class),
            "image_shape": list(video.image_shape),
            "batch_size": self.effort.batch_size,
            "precision": options.precision,
            "left_out": [note for store in stores.values() for note in store.meta.get("notes", [])],
        }


def _table(title: str, each: Sequence[MeasuredRow], about: dict[str, Any], published_on: str) -> Table:
    metrics, rows = merge_rows(each)
    # A motion with too few pairs on the validation frames has no rho for any method, and no column.
    known = [one for one in metrics if any(isfinite(row.mean(one.name)) for row in rows)]
    columns = [name for name in COMPARED if any(one.name == name for one in known)]
    motions = [one.name for one in known if one.family == "rho" and one.name not in COMPARED]
    return Table(
        title=title,
        metrics=metrics,
        columns=(*columns, *motions),
        rows=rows,
        comparisons=[test for name in columns for test in compare_rows(rows, name)],
        about=about,
        published_on=published_on,
    )


def _split_effect(tables: dict[str, Table]) -> Table:
    """How much better each method looks when frames of one drive are on both sides."""
    (one, first), (other, second) = list(tables.items())[:2]
    names = {f"top1, {kind}": f"top-1 %, {kind}" for kind in (one, other)}
    metrics = [Metric(name=name, title=title, digits=2, is_percent=True, family="top") for name, title in names.items()]
    metrics.append(Metric(name="difference", title="difference", digits=2, better="neither"))
    rows = []
    for row in first.rows:
        other_row = second.row(row.name)
        mine, theirs = row.result("top1"), other_row.result("top1")
        if mine is not None and theirs is not None and not row.diverged and not other_row.diverged:
            gap = Result(tuple(a - b for a, b in zip(mine.values, theirs.values, strict=True)))
            results = zip(metrics, (mine, theirs, gap), strict=True)
            entries = {metric.name: Entry(result=result).with_interval(metric) for metric, result in results}
            rows.append(Row(name=row.name, method=row.method, seeds=row.seeds, entries=entries))
    leaked = "leaked_validation_frames"
    return Table(
        title="How much a random split of video raises top-1 %",
        metrics=metrics,
        columns=tuple(metric.name for metric in metrics),
        rows=rows,
        about={f"{leaked}, {kind}": table.about[leaked] for kind, table in tables.items()},
    )


def _keys(options: ReproduceOptions) -> list[Key]:
    """The rows that are wanted; a wrong name of a method is reported before the long work begins."""
    return chosen_keys([(method, True) for method in METHODS], options.methods)


def _video(options: ReproduceOptions, effort: Effort) -> FrameStore:
    """The store of driving video."""
    if options.data:
        made = {"data": str(options.data.resolve())}
        return experiment_store(effort, "kitti", made, open_source("kitti", options.data))
    drawn: dict[str, Any] = {"drives_per_area": effort.drives_per_area, "seconds": effort.seconds}
    name = f"drive-{effort.drives_per_area}x{effort.seconds:g}s"
    return experiment_store(effort, name, {"data": None, **drawn}, open_source("drive", **drawn))


def _scenes(options: ReproduceOptions, effort: Effort) -> FrameStore:
    """The store of labelled scenes, cropped to the aspect of the video."""
    made = {"scenes": str(options.scenes.resolve()) if options.scenes else None, "partition": options.partition}
    if options.scenes:
        source = open_source("scenes", options.scenes, partition=options.partition, aspect=ASPECT)
        return experiment_store(effort, "scenes", made, source)
    source = open_source("places", images_per_class=effort.images_per_class)
    return experiment_store(effort, f"places-{effort.images_per_class}", made, source)
