"""The frame stores of an experiment: made once in its folder, and refused when they were made from other data."""

from __future__ import annotations

from functools import partial
from typing import Any

from egoequiv import __version__
from egoequiv.errors import DataError
from egoequiv.evaluation import nearest_pixel_accuracy
from egoequiv.evaluation.recognition import top_metric
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments.options import Effort
from egoequiv.experiments.published import Metrics
from egoequiv.experiments.table import Entry, MeasuredRow, Row
from egoequiv.files import read_json, write_json
from egoequiv.pairs import Split, count_leaked, draw_labelled
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest

PIXELS = "nearest pixels"


def experiment_store(effort: Effort, name: str, made_from: dict[str, Any], source: Source) -> FrameStore:
    """The store of that name, ingested the first time in gray at the size of the table, which ends the name."""
    name = f"{name}-{effort.size}"
    path = effort.out / "stores" / name
    stamp = path.with_name(f"{name}.json")  # a name may hold a dot: drive-6x7.5s-32
    made_from = made_from | {"recordings": len(source.recordings), "frames": source.frame_count}
    if path.exists():
        if read_json(stamp, "an experiment's store") != made_from:
            raise DataError(f"{path} was made from other data than is there now: choose another -o")
        return FrameStore.open(path)
    write_json(stamp, made_from)
    return ingest(
        source,
        path,
        size=(effort.size, effort.size),
        engine=effort.engine,
        on_progress=partial(effort.on_progress, f"frames, {name}"),
    )


def pixel_row(
    store: FrameStore, split: Split, per_class: int, repeats: int, published: Metrics | None = None
) -> MeasuredRow:
    """The nearest labelled image in pixels, with the labelled images that the networks get."""
    classes, names = store.classes()
    frames = split.validation[classes[split.validation] >= 0]
    accuracies = []
    for repetition in range(repeats):
        labelled = draw_labelled(classes, split.train, per_class, names, repetition)
        accuracies.append(100 * nearest_pixel_accuracy(store, labelled, frames, classes))
    metric = top_metric(1)
    entry = Entry(result=Result(tuple(accuracies)), baselines={"chance": 100 / len(names)}).with_interval(metric)
    seeds = tuple((repetition, 0) for repetition in range(repeats))
    row = Row(name=PIXELS, method=PIXELS, seeds=seeds, entries={metric.name: entry}, published=published or {})
    return [metric], row


def about_frames(effort: Effort, labelled: FrameStore, split: Split, kind: str, per_class: int) -> dict[str, Any]:
    """What every table says of its labelled frames, and how thoroughly it was made."""
    return {
        "image_shape": list(labelled.image_shape),
        "labelled_images_a_class": per_class,
        "split": kind,
        "validation_frames": len(split.validation),
        "leaked_validation_frames": count_leaked(labelled, split),
        "iterations": effort.iterations,
        "repeats": effort.repeats,
        "settings_selected": effort.select,
        "version": __version__,
    }
