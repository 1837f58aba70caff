"""All figures of one run: recognition on the validation frames, and rho of every motion."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import (
    MotionError,
    class_mean_accuracy,
    class_scores,
    embed,
    measure_equivariance,
    top_k_accuracy,
)
from egoequiv.experiments.evaluations import read_evaluation
from egoequiv.files import plain, write_json
from egoequiv.models import EgoNet
from egoequiv.models.checkpoint import Which
from egoequiv.pairs import MotionPatterns, Split
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import motions_of
from egoequiv.training.open_run import OpenRun, open_run
from egoequiv.training.run_folder import RunFolder


def measure_run(run: Path, which: Which = "last") -> dict[str, Any]:
    """Measure a run on its validation frames; kept in its folder, and measured anew when the weights have changed."""
    config = RunFolder(run).config()
    kept, earlier = run / f"evaluation-{which}.json", read_evaluation(run, which)
    stores = [FrameStore.open(path).fingerprint() for path in (config.data, config.labels) if path is not None]
    measured_of = {"weights": _digest(run / f"{which}.safetensors"), "data": " ".join(dict.fromkeys(stores))}
    if earlier is not None and earlier.get("measured_of") == measured_of:
        return earlier
    measures = _measure(open_run(run, which)) | {"measured_of": measured_of}
    with suppress(DataError, OSError):  # a run on a read-only disk can be measured, only not kept
        write_json(kept, measures)
    return measures


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        raise DataError(f"{path} is missing: the run has no checkpoint yet; train it first") from None


def measure_store(run: Path, data: str | Path, which: Which = "last") -> dict[str, Any]:
    """Measure the equivariance of a run's network on all frames of a store; `notes` say whether it has seen them."""
    opened = open_run(run, which, data)
    store = opened.store
    everything = Split(np.arange(len(store)), np.arange(len(store)), "all")
    patterns = opened.folder.patterns() or motions_of(store, everything, opened.config)
    if patterns is not None and patterns.space != store.space:
        raise ConfigError(
            f"{run} learned motions of another motion space than {data} has: measure it on a store like its own"
        )
    errors = _motion_errors(opened.net, store, everything, patterns, opened.config)
    return _described(opened.config, which, {}, errors) | {"notes": _notes(opened.folder, store)}


def _notes(folder: RunFolder, store: FrameStore) -> list[str]:
    seen = folder.trained_on(store)
    if seen is None:
        return []
    if seen == "a copy":
        place = f"it has the fingerprint of the run's own, {folder.config().data}"
        return [f"{folder.path} was trained on frames of this store ({place}), and rho is over all of them"]
    return [
        f"{folder.path} was trained on frames of this store, and rho is over all of them: without a STORE, it is of "
        "validation frames alone"
    ]


def _measure(opened: OpenRun) -> dict[str, Any]:
    accuracies: dict[str, float] = {}
    task = opened.recognition
    if task is not None:
        rows = task.split.validation[task.classes[task.split.validation] >= 0]
        scores = class_scores(opened.net, embed(opened.net, task.store, rows))
        for k in (1, 5, 10):
            if k < len(task.class_names):
                accuracies[f"top{k}"] = 100 * top_k_accuracy(scores, task.classes[rows], k)
        accuracies["top1_class_mean"] = 100 * class_mean_accuracy(scores, task.classes[rows])
    errors = _motion_errors(opened.net, opened.store, opened.split, opened.patterns, opened.config)
    return _described(opened.config, opened.which, accuracies, errors)


def _motion_errors(
    net: EgoNet, store: FrameStore, split: Split, patterns: MotionPatterns | None, config: TrainConfig
) -> list[MotionError]:
    if patterns is None:
        return []
    return measure_equivariance(net, store, split.validation, patterns, max_gap_s=config.max_gap_s)


def _described(
    config: TrainConfig, which: Which, accuracies: dict[str, float], errors: list[MotionError]
) -> dict[str, Any]:
    atomic = tuple(error.motion for error in errors if "+" not in error.motion)
    composite = tuple(error.motion for error in errors if "+" in error.motion)
    return {
        "method": config.method,
        "labels": config.use_labels,
        "metrics": {**accuracies, **summarise_errors(errors, atomic, composite)},
        "motions": plain([asdict(error) for error in errors]),
        "checkpoint": which,
    }


def summarise_errors(
    errors: list[MotionError], atomic: tuple[str, ...], composite: tuple[str, ...]
) -> dict[str, float | None]:
    """Rho and the ratio of means of each motion, and their averages over atomic and composite motions."""
    metrics: dict[str, float | None] = {}
    for measure in ("rho", "ratio_of_means"):
        values = {error.motion: getattr(error, measure) for error in errors}
        prefix = "rho" if measure == "rho" else "ratio"
        for group, names in (("atomic", atomic), ("composite", composite)):
            if names:
                metrics[f"{prefix}_{group}"] = float(np.mean([values[name] for name in names]))
        metrics |= {f"{prefix}_{name}": value for name, value in values.items()}
    for error in errors:
        metrics[f"low_{error.motion}"], metrics[f"high_{error.motion}"] = error.interval
    metrics["excluded_pairs"] = float(sum(error.pairs_excluded for error in errors))
    described: dict[str, float | None] = plain(metrics)
    return described
