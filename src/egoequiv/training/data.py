"""The data of a run: stores, splits, and the streams of labelled images and pairs drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.losses import StreamName
from egoequiv.pairs import (
    Split,
    atomic_names,
    declare_patterns,
    draw_labelled,
    find_motion_pairs,
    make_split,
    sample_neighbour_pairs,
    split_frames,
)
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig


@dataclass(frozen=True)
class Stream:
    """Rows of one kind: a labelled image or a pair in each, with its target."""

    store: FrameStore
    i: Indices  # (N,)
    j: Indices | None  # (N,), None for labelled images
    target: NDArray[np.int64]  # (N,): class, pattern, or 1 for neighbours

    def __len__(self) -> int:
        return len(self.i)


@dataclass(frozen=True)
class Recognition:
    """The labelled task: classes of one store, and its split."""

    store: FrameStore
    classes: NDArray[np.int64]  # (N,) of the whole store
    class_names: tuple[str, ...]
    split: Split


@dataclass(frozen=True)
class RunData:
    """All that a run reads."""

    store: FrameStore
    split: Split
    patterns: tuple[str, ...]
    recognition: Recognition | None
    train: dict[StreamName, Stream]
    validation: dict[StreamName, Stream]

    def fingerprint(self) -> str:
        """What tells the stores of this run from others at the same place."""
        stores = [self.store] + ([self.recognition.store] if self.recognition else [])
        return " ".join(dict.fromkeys(store.fingerprint() for store in stores))


def prepare_data(config: TrainConfig) -> RunData:
    """Open the stores of a config and draw its streams, for training and for validation."""
    store = FrameStore.open(config.data)
    split = _split(store, config)
    streams = config.objective().streams
    untrained = not streams and config.use_labels
    recognition = _recognition(store, split, config) if "labelled" in streams or untrained else None
    patterns = tuple(config.motions or atomic_names(store.space)) if "motion" in streams else ()
    return RunData(
        store=store,
        split=split,
        patterns=patterns,
        recognition=recognition,
        train={name: _stream(name, store, split.train, patterns, recognition, config, True) for name in streams},
        validation={
            name: _stream(name, store, split.validation, patterns, recognition, config, False) for name in streams
        },
    )


def _split(store: FrameStore, config: TrainConfig) -> Split:
    """The split of a config; with a holdout, its validation part is cut from the training part and nothing else."""
    split = make_split(store, config.split, seed=config.split_seed, train_fraction=config.train_fraction)
    if config.holdout_fraction:
        kept = 1 - config.holdout_fraction
        split = split_frames(store, split.train, config.split, seed=config.split_seed + 1, train_fraction=kept)
    return split


def _recognition(store: FrameStore, split: Split, config: TrainConfig) -> Recognition:
    labelled = store
    if config.labels is not None and Path(config.labels).resolve() != store.path.resolve():
        labelled = FrameStore.open(config.labels)
        if labelled.image_shape != store.image_shape:
            height, width, _ = store.image_shape
            found, wanted = (" x ".join(map(str, s.image_shape)) for s in (labelled, store))
            raise DataError(
                f"{labelled.path} has images of {found} but {store.path} has {wanted}: "
                f"ingest the labelled images again with --size {height}x{width}"
            )
        split = _split(labelled, config)
    classes, names = labelled.classes(config.label_column)
    return Recognition(labelled, classes, names, split)


def _stream(
    name: StreamName,
    store: FrameStore,
    frames: Indices,
    patterns: tuple[str, ...],
    recognition: Recognition | None,
    config: TrainConfig,
    is_training: bool,
) -> Stream:
    if name == "labelled":
        if recognition is None:
            raise ConfigError("labelled images were asked for without a recognition task")
        return _labelled(recognition, config, is_training)
    if name == "motion":
        pairs = find_motion_pairs(store, frames, declare_patterns(store.space, patterns), config.max_gap_s)
        missing = [motion for motion, count in pairs.counts().items() if not count]
        if missing and is_training:
            raise DataError(f"{store.path}: no training pair is related by {missing[0]!r}; choose other motions")
        if not len(pairs):
            raise DataError(f"{store.path}: no two validation frames are related by a motion; lower train_fraction")
        return Stream(store, pairs.i, pairs.j, pairs.pattern)
    neighbours = sample_neighbour_pairs(
        store, frames, count=config.neighbour_pairs, max_gap_s=config.neighbour_gap_s, seed=config.pair_seed
    )
    return Stream(store, neighbours.i, neighbours.j, neighbours.is_neighbour.astype(np.int64))


def _labelled(recognition: Recognition, config: TrainConfig, is_training: bool) -> Stream:
    classes, split = recognition.classes, recognition.split
    if is_training:
        rows = draw_labelled(classes, split.train, config.per_class, recognition.class_names, config.seed)
    else:
        rows = split.validation[classes[split.validation] >= 0]
        if not len(rows):
            raise DataError(f"{recognition.store.path}: no validation frame has a label")
    return Stream(recognition.store, rows, None, classes[rows])
