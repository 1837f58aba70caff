"""The data of a run: stores, splits, and the streams of labelled images and pairs drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.files import read_json
from egoequiv.losses import StreamName
from egoequiv.methods import METHODS
from egoequiv.pairs import (
    MinedPatterns,
    MotionPatterns,
    Split,
    atomic_names,
    declare_patterns,
    draw_labelled,
    find_motion_pairs,
    make_split,
    mine_patterns,
    sample_neighbour_pairs,
    split_frames,
    thin_out,
)
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.splits import GIVEN
from egoequiv.pose import space_named
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig

POSITIVE_FRACTION = 0.25  # of mined pairs: one with a pattern to three without


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
    patterns: MotionPatterns | None  # None where no motion is learned
    recognition: Recognition | None
    train: dict[StreamName, Stream]
    validation: dict[StreamName, Stream]

    def fingerprint(self) -> str:
        """What tells the stores of this run from others at the same place."""
        return _fingerprint([self.store] + ([self.recognition.store] if self.recognition else []))


def stores_fingerprint(config: TrainConfig) -> str:
    """The fingerprint of the data of a config, without drawing its streams."""
    method = config.objective()
    reads_labels = "labelled" in method.streams or (not method.terms and config.use_labels)
    paths = [config.data] + ([config.labels] if reads_labels and config.labels is not None else [])
    return _fingerprint([FrameStore.open(path) for path in paths])


def _fingerprint(stores: list[FrameStore]) -> str:
    return " ".join(dict.fromkeys(store.fingerprint() for store in stores))


def prepare_data(config: TrainConfig, patterns: MotionPatterns | None = None) -> RunData:
    """Open the stores of a config and draw its streams, for training and for validation.

    Patterns that a run has mined before may be given; otherwise they are declared or mined as the config says.
    """
    store = open_in_space(config)
    if not store.has_images:
        raise DataError(f"{store.place} holds poses but no images, and training needs them: ingest with images")
    streams = config.objective().streams
    if "motion" in streams and not store.space.axes:
        raise DataError(
            f"{store.place} has no poses, and method {config.method!r} learns how the camera moved: ingest frames with "
            f"poses, or choose a method that needs none: {', '.join(_methods_without_poses(store, config))}"
        )
    split = _split(store, config.split, config)
    untrained = not streams and config.use_labels
    recognition = _recognition(store, split, config) if "labelled" in streams or untrained else None
    patterns = (patterns or choose_patterns(store, split, config)) if "motion" in streams else None
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


def _methods_without_poses(store: FrameStore, config: TrainConfig) -> list[str]:
    """The methods that can be trained on a store without poses."""
    # Without poses it is time that tells which frames are neighbours.
    lacking: set[StreamName] = {"motion"} if store.times_s is not None else {"motion", "neighbour"}
    methods = list(METHODS.values())
    if not config.use_labels:
        methods = [method.without_labels() for method in methods if method.streams != ("labelled",)]
    return [method.name for method in methods if not lacking & set(method.streams)]


def open_in_space(config: TrainConfig) -> FrameStore:
    """The store of a config, its motions seen in the config's space."""
    store = FrameStore.open(config.data)
    return store if config.space is None else store.in_space(space_named(config.space))


def choose_patterns(store: FrameStore, split: Split, config: TrainConfig) -> MotionPatterns:
    """The patterns of a config: from a file, declared by name, or mined from the poses of the training frames."""
    if config.patterns is not None:
        patterns = MinedPatterns.from_description(
            read_json(Path(config.patterns), "a file of patterns"), config.patterns
        )
        if patterns.space != store.space:
            raise ConfigError(
                f"{config.patterns} was mined in another motion space than {store.place} has here: set space as there"
            )
        return patterns
    if config.motions is not None or store.space.named_motions():
        return declare_patterns(store.space, config.motions or atomic_names(store.space))
    return mine_patterns(
        store, split.train, clusters=config.clusters, keep=config.keep, max_gap_s=config.max_gap_s
    ).patterns


def split_of(store: FrameStore, config: TrainConfig) -> Split:
    """How a run of these settings divides the frames of its store."""
    return _split(store, config.split, config)


def _split(store: FrameStore, kind: str, config: TrainConfig) -> Split:
    """The split of a config; with a holdout, its validation part is cut from the training part and nothing else."""
    split = make_split(store, kind, seed=config.split_seed, train_fraction=config.train_fraction)
    if config.holdout_fraction:
        kept = 1 - config.holdout_fraction
        kind = config.holdout_split or kind
        split = split_frames(store, split.train, kind, seed=config.split_seed + 1, train_fraction=kept)
    return split


def _recognition(store: FrameStore, split: Split, config: TrainConfig) -> Recognition:
    labelled = store
    if config.labels is not None and config.labels != config.data:
        labelled = FrameStore.open(config.labels)
        if labelled.image_shape != store.image_shape:
            height, width, _ = store.image_shape
            found, wanted = (" x ".join(map(str, s.image_shape)) for s in (labelled, store))
            raise DataError(
                f"{labelled.place} has images of {found} but {store.place} has {wanted}: "
                f"ingest the labelled images again with --size {height}x{width}"
            )
        kind = config.label_split or (GIVEN if "part" in labelled.attributes else config.split)
        split = _split(labelled, kind, config)
    classes, names = labelled.classes(config.label_column)
    if len(names) < 2:
        raise DataError(f"{labelled.place} has the one class {names[0]!r}; recognition needs two or more")
    return Recognition(labelled, classes, names, split)


def _stream(
    name: StreamName,
    store: FrameStore,
    frames: Indices,
    patterns: MotionPatterns | None,
    recognition: Recognition | None,
    config: TrainConfig,
    is_training: bool,
) -> Stream:
    if name == "labelled":
        if recognition is None:
            raise ConfigError("labelled images were asked for without a recognition task")
        return labelled_stream(recognition, config, is_training)
    if name == "motion":
        if patterns is None:
            raise ConfigError("motion pairs were asked for without patterns")
        pairs = find_motion_pairs(store, frames, patterns, config.max_gap_s)
        if patterns.others_are_negatives:
            pairs = thin_out(pairs, config.motion_pairs, POSITIVE_FRACTION, config.pair_seed)
        missing = [motion for motion, count in pairs.counts().items() if not count]
        if missing and is_training:
            raise DataError(f"{store.place}: no training pair is related by {missing[0]!r}; choose other motions")
        if not len(pairs):
            raise DataError(f"{store.place}: no two validation frames are related by a motion; lower train_fraction")
        return Stream(store, pairs.i, pairs.j, pairs.pattern)
    neighbours = sample_neighbour_pairs(
        store, frames, count=config.neighbour_pairs, max_gap_s=config.neighbour_gap_s, seed=config.pair_seed
    )
    return Stream(store, neighbours.i, neighbours.j, neighbours.is_neighbour.astype(np.int64))


def labelled_stream(recognition: Recognition, config: TrainConfig, is_training: bool) -> Stream:
    """The labelled images of a run: those drawn for training, or all of the validation part."""
    classes, split = recognition.classes, recognition.split
    if is_training:
        rows = draw_labelled(classes, split.train, config.per_class, recognition.class_names, config.seed)
    else:
        rows = split.validation[classes[split.validation] >= 0]
        if not len(rows):
            raise DataError(f"{recognition.store.place}: no validation frame has a label")
    return Stream(recognition.store, rows, None, classes[rows])
