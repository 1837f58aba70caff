"""Recognition accuracy, of networks and of the nearest labelled image in pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.features import class_scores, embed
from egoequiv.evaluation.findings import baseline_texts, cell, estimated, notes_of
from egoequiv.evaluation.frame_features import groups_of
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.statistics import group_mean
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.models.network import ALL
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

TOP = (1, 5, 10)
PIXEL_BASELINES = ("chance", "most frequent class", "nearest pixels")
MOST_LABELLED = 5_000  # images that the nearest in pixels is looked for among, at most


def top_k_right(scores: NDArray[np.float32], classes: NDArray[np.int64], k: int = 1) -> NDArray[np.bool_]:
    """Whether the right class is among the k with the highest scores; (N, C), (N,) -> (N,).

    A class that ties with the right one counts as before it, so that equal scores for all classes are no success.
    """
    if not 1 <= k <= scores.shape[1]:
        raise ConfigError(f"top-{k} of {scores.shape[1]} classes cannot be measured")
    own = scores[np.arange(len(classes)), classes]
    worse = (scores < own[:, None]).sum(axis=1)  # counted this way, a score that is not a number is no success
    right: NDArray[np.bool_] = worse >= scores.shape[1] - k
    return right


def top_k_accuracy(scores: NDArray[np.float32], classes: NDArray[np.int64], k: int = 1) -> float:
    """How often the right class is among the k with the highest scores; (N, C), (N,)."""
    return float(top_k_right(scores, classes, k).mean())


def class_mean_accuracy(scores: NDArray[np.float32], classes: NDArray[np.int64]) -> float:
    """Top-1 accuracy within each class, averaged over the classes that occur: a large class does not drown the rest."""
    right = top_k_right(scores, classes)
    return float(np.mean([right[classes == own].mean() for own in np.unique(classes)]))


def nearest_pixel_accuracy(
    store: FrameStore, labelled: Indices, frames: Indices, classes: NDArray[np.int64], batch: int = 1_024
) -> float:
    """Accuracy of the class of the nearest labelled image, by the distance of pixels."""
    from sklearn.neighbors import NearestNeighbors  # here, because the import takes seconds

    index = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(_pixels(store, labelled))
    right = 0
    for start in range(0, len(frames), batch):
        rows = frames[start : start + batch]
        nearest = index.kneighbors(_pixels(store, rows), return_distance=False)[:, 0]
        right += int((classes[labelled[nearest]] == classes[rows]).sum())
    return right / len(frames)


def _pixels(store: FrameStore, frames: Indices) -> NDArray[np.float32]:
    return store.images[frames].reshape(len(frames), -1).astype(np.float32)


def recognition(data: TaskData, options: TaskOptions, _: OnProgress) -> Finding:
    """The task: the classifier head on the labelled validation frames."""
    task = data.recognition
    if task is None or data.net.head is None:
        raise DataError("the network was trained without labels: it has no classifier to measure")
    if data.part != ALL:
        raise DataError(
            f"the classifier of the run takes all features, not the part {data.part}: measure that by the task probe"
        )
    rows = task.split.validation[task.classes[task.split.validation] >= 0]
    if not len(rows):
        raise DataError(f"{task.store.place}: no validation frame has a label")
    features = data.features[rows] if task.store is data.store else embed(data.net, task.store, rows)
    scores, classes = class_scores(data.net, features), task.classes[rows]
    learned = task.split.train[task.classes[task.split.train] >= 0] if data.labelled is None else data.labelled
    labelled = thinned(learned, MOST_LABELLED, [options.seed, 0x1AB])
    key = ("nearest pixels", str(task.store.path), labelled, rows, task.classes)
    pixels = data.once(key, lambda: nearest_pixel_accuracy(task.store, labelled, rows, task.classes))
    values = accuracies(scores, classes, groups_of(task.store, "recording")[rows], 100 * pixels)
    notes = [
        "chance: guessing, each class equally often; most frequent class: always naming the one that most frames have; "
        "nearest pixels: the class of the nearest of "
        f"{plural(len(labelled), 'labelled training image')}, by the distance of pixels"
    ]
    table = [(value.metric.title, cell(value), *baseline_texts(value, PIXEL_BASELINES)) for value in values]
    there, names, warnings = np.unique(classes), task.class_names, notes_of(values[:1])
    if len(there) < len(names):  # an accuracy then says little
        some = ", ".join(names[number] for number in there[:5])
        warnings.append(
            f"the validation frames have {len(there)} of {len(names)} classes ({some}): choose another split"
        )
    return Finding(
        values,
        [Grid.of(f"recognition of {plural(len(rows), 'frame')}", ("", "accuracy", *PIXEL_BASELINES), table, notes)],
        {"frames": len(rows), "classes": list(names), "labelled": len(labelled)},
        notes=warnings,
        measured_on=task,
    )


def accuracies(
    scores: NDArray[np.float32], classes: NDArray[np.int64], recording: Indices, pixels: float
) -> list[Value]:
    """Top-k and the mean of classes in per cent; `pixels` is the accuracy of the nearest labelled image."""
    count = scores.shape[1]
    frequent = 100 * float(np.bincount(classes).max() / len(classes))
    values = []
    for k in (k for k in TOP if k < count):
        baselines = {"chance": 100 * k / count}
        if k == 1:
            baselines |= {"most frequent class": frequent, "nearest pixels": pixels}
        right = group_mean(top_k_right(scores, classes, k), recording)
        values.append(estimated(top_metric(k), right, recording, baselines=baselines))
    metric = top_metric(1).model_copy(update={"name": "top1_class_mean", "title": "mean of classes %"})
    mean = 100 * class_mean_accuracy(scores, classes)
    return [*values, Value(metric=metric, value=mean, baselines={"chance": 100 / count})]


def top_metric(k: int) -> Metric:
    """How often the right class is among the first k, in per cent."""
    return Metric(name=f"top{k}", title=f"top-{k} %", digits=2, is_percent=True, family="top")
