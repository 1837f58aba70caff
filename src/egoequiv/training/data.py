"""The data of a run: its stores, its splits and its labelled task, opened once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.files import read_json
from egoequiv.models import EgoNet
from egoequiv.models.maps import FEWEST_SCORED
from egoequiv.pairs import (
    MinedPatterns,
    MotionPatterns,
    Split,
    atomic_names,
    composite_names,
    count_leaked,
    count_near_copies,
    count_revisited,
    declare_patterns,
    find_motion_pairs,
    make_split,
    mine_patterns,
    split_frames,
)
from egoequiv.pairs.naming import NO_MOTION
from egoequiv.pairs.splits import AUTO, BY_PLACE, BY_TIME, GIVEN, PAPER
from egoequiv.pose import space_named
from egoequiv.store import FrameStore
from egoequiv.store.label_tables import LabelPlace, with_labels
from egoequiv.training.config import TrainConfig
from egoequiv.training.defaults import settle


@dataclass(frozen=True)
class Recognition:
    """The labelled task: classes of one store, and its split."""

    store: FrameStore
    classes: NDArray[np.int64]  # (N,) of the whole store
    class_names: tuple[str, ...]
    split: Split


@dataclass(frozen=True)
class OpenedData:
    """The store of a run in its motion space, its split, and its labelled task; no streams."""

    config: TrainConfig  # what was left to the data is decided in it
    store: FrameStore
    split: Split
    recognition: Recognition | None  # None where no labels are read
    choices: tuple[str, ...]  # one line for each setting that was left to the data

    @cached_property
    def leaked(self) -> int:
        """How many validation frames have a training frame close by."""
        return count_leaked(self.store, self.split, self.config.max_gap_s)

    @cached_property
    def revisited(self) -> int:
        """How many validation frames are at a place that a training frame shows at another time (`count_revisited`)."""
        return count_revisited(self.store, self.split, self.config.max_gap_s)

    @cached_property
    def near_copies(self) -> int | None:
        """How many further validation frames look nearly the same as a training frame (`count_near_copies`)."""
        return count_near_copies(self.store, self.split, self.config.max_gap_s)

    def fingerprint(self) -> str:
        """A digest of the stores: others at the same place have another one."""
        stores = [self.store] + ([self.recognition.store] if self.recognition else [])
        return " ".join(dict.fromkeys(store.fingerprint() for store in stores))


def open_data(config: TrainConfig) -> OpenedData:
    """Open the stores of a config, and split them.

    Args:
        config: The settings of a run; an encoder or a split that is `auto` is decided here.

    Returns:
        The opened data, with the config as it is decided.

    Example:
        opened = open_data(make_config({"data": "toys"}))
        print(opened.config.split, len(opened.split.train))
    """
    store = open_in_space(config)
    if not store.has_images:
        raise DataError(f"{store.place} holds poses but no images, and training needs them: ingest with images")
    labelled = _labelled_store(store, config) if reads_labels(config) else None
    is_chosen = config.split == AUTO
    config, choices = settle(config, store, labelled)
    split = _split(store, config.split, config)
    if is_chosen and split.kind == PAPER:
        choices += _leakage(store, split, config)
    if split.kind == BY_TIME:
        choices += _revisits(store, split, config)
    recognition = None if labelled is None else _recognition(store, split, labelled, config)
    return OpenedData(config, store, split, recognition, (*choices, *store.label_notes))


def reads_labels(config: TrainConfig) -> bool:
    """Whether a run reads labels: where its method learns from them, and to measure an untrained network."""
    method = config.objective()
    return "labelled" in method.streams or (not method.terms and config.use_labels)


def open_in_space(config: TrainConfig) -> FrameStore:
    """The store of a config, its motions seen in the config's space."""
    store = FrameStore.open(config.data)
    if config.labels is not None and LabelPlace.parse(config.labels):
        store = with_labels(store, config.labels)
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
    if store.space.named_motions():
        return declare_patterns(store.space, config.motions or atomic_names(store.space))
    is_chosen = config.keep_from == "training" or config.motions is not None
    keep = config.keep if is_chosen else config.clusters
    found = mine_patterns(
        store,
        split.train,
        clusters=config.clusters,
        keep=keep,
        max_gap_s=config.max_gap_s,
        motions=config.motions,
    ).patterns
    return found if is_chosen else _in_both(found, store, split, config)


def _in_both(found: MinedPatterns, store: FrameStore, split: Split, config: TrainConfig) -> MinedPatterns:
    """Those of all clusters that move most and have pairs in both parts, by poses alone: others cannot be measured."""
    counts = [
        find_motion_pairs(store, rows, found, config.max_gap_s).counts() for rows in (split.train, split.validation)
    ]
    moving = [name for name in found.names if name != NO_MOTION] or list(found.names)
    often = [name for name in moving if min(count[name] for count in counts) >= FEWEST_SCORED]
    return found.only((often or moving)[: config.keep])


def motions_of(store: FrameStore, split: Split, config: TrainConfig) -> MotionPatterns | None:
    """The motions that rho is measured for: the mined patterns, or all steps of a grid and their diagonals."""
    if not store.space.axes:
        return None
    if store.space.named_motions():
        return declare_patterns(store.space, atomic_names(store.space) + composite_names(store.space))
    return choose_patterns(store, split, config)


def patterns_for_names(opened: OpenedData, net: EgoNet) -> MotionPatterns | None:
    """Patterns that give names to motions of a run in video whose maps take any motion; None if none can be mined."""
    if net.motion_maps is None or opened.store.space.named_motions():
        return None
    try:
        return choose_patterns(opened.store, opened.split, opened.config)
    except EgoEquivError:
        return None


def _labelled_store(store: FrameStore, config: TrainConfig) -> FrameStore:
    """The store of the labelled images: the run's own, or another with images of the same size."""
    if store.numbers and not store.class_names and config.label_column == "label":
        raise DataError(
            f"{config.labels} holds numbers, which no method learns from: train with --no-labels, and evaluate reads "
            "them from the features (--task readout)"
        )
    if config.labels is None or config.labels == config.data or LabelPlace.parse(config.labels):
        return store
    labelled = FrameStore.open(config.labels)
    if labelled.image_shape != store.image_shape:
        height, width, _ = store.image_shape
        found, wanted = (" x ".join(map(str, s.image_shape)) for s in (labelled, store))
        raise DataError(
            f"{labelled.place} has images of {found} but {store.place} has {wanted}: "
            f"ingest the labelled images again with --size {height}x{width}"
        )
    return labelled


def split_of(store: FrameStore, config: TrainConfig) -> Split:
    """How a run of these settings divides the frames of its store."""
    return _split(store, config.split, config)


def _leakage(store: FrameStore, split: Split, config: TrainConfig) -> tuple[str, ...]:
    """A warning where frames at random, which were not chosen, make validation frames too easy."""
    leaked = count_leaked(store, split, config.max_gap_s)
    if not leaked:
        return ()
    return (
        f"warning: {leaked} of {len(split.validation)} validation frames have a training frame "
        "close by, so measures on them are too good: ingest more recordings, or frames with times or positions",
    )


def _revisits(store: FrameStore, split: Split, config: TrainConfig) -> tuple[str, ...]:
    """A warning where blocks of time show the same places."""
    again = count_revisited(store, split, config.max_gap_s)
    if not again:
        return ()
    return (
        f"warning: {again} of {len(split.validation)} validation frames are at a place to which the recording comes at "
        f"another time in a training frame: --set split={BY_PLACE} keeps places apart",
    )


def _split(store: FrameStore, kind: str, config: TrainConfig) -> Split:
    """The split of a config; with a holdout, its validation part is cut from the training part and nothing else."""
    seed, gap, place = config.split_seed, config.max_gap_s, config.place_m
    split = make_split(store, kind, seed=seed, train_fraction=config.train_fraction, max_gap_s=gap, place_m=place)
    if config.holdout_fraction:
        kept, kind = 1 - config.holdout_fraction, config.holdout_split or kind
        split = split_frames(store, split.train, kind, seed=seed + 1, train_fraction=kept, max_gap_s=gap, place_m=place)
    return split


def _recognition(store: FrameStore, split: Split, labelled: FrameStore, config: TrainConfig) -> Recognition:
    if labelled is not store:
        kind = config.label_split or (GIVEN if "part" in labelled.attributes else config.split)
        split = _split(labelled, kind, config)
    classes, names = labelled.classes(config.label_column)
    if len(names) < 2:
        raise DataError(f"{labelled.place} has the one class {names[0]!r}; recognition needs two or more")
    return Recognition(labelled, classes, names, split)
