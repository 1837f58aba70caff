"""The streams of a run: labelled images and pairs, drawn from its opened data for training and for validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.losses import StreamName
from egoequiv.methods import METHODS
from egoequiv.pairs import (
    MotionPatterns,
    atomic_names,
    declare_patterns,
    draw_labelled,
    find_motion_pairs,
    sample_neighbour_pairs,
    thin_out,
)
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.clips import find_clip_pairs
from egoequiv.pairs.revisits import find_coming_pairs, find_place_pairs
from egoequiv.pairs.shared import maps_by
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import OpenedData, Recognition, choose_patterns, open_data

POSITIVE_FRACTION = 0.25  # of mined pairs: one with a pattern to three without


@dataclass(frozen=True)
class Stream:
    """Rows of one kind: a labelled image or a pair in each, with its target."""

    store: FrameStore
    i: Indices  # (N,)
    j: Indices | None  # (N,), None for labelled images
    target: NDArray[np.int64]  # (N,): class, pattern, 1 for neighbours, or clip
    motion: NDArray[np.float32] | None = None  # (N, M) of pairs within clips
    place: NDArray[np.float32] | None = None  # (2, N, P) of pairs of one place

    def __len__(self) -> int:
        return len(self.i)


@dataclass(frozen=True)
class RunData(OpenedData):
    """All that a run reads: its opened data, and the streams drawn from it."""

    patterns: MotionPatterns | None  # None where no motion is learned
    train: dict[StreamName, Stream]
    validation: dict[StreamName, Stream]


def prepare_data(config: TrainConfig, patterns: MotionPatterns | None = None) -> RunData:
    """Open the stores of a config and draw its streams."""
    return draw_streams(open_data(config), patterns)


def draw_streams(opened: OpenedData, patterns: MotionPatterns | None = None) -> RunData:
    """Draw the streams of a run, for training and for validation.

    Patterns that a run has mined before may be given; otherwise they are declared or mined as the config says.
    """
    config, store, split = opened.config, opened.store, opened.split
    streams = config.objective().streams
    if config.pairs_across is not None and "clip" not in streams:
        raise ConfigError(
            f"pairs_across={config.pairs_across} has no effect on method {config.method!r}, without pairs of clips: "
            "leave it out, or choose recording+motion"
        )
    needs_motion = "motion" in streams or any(term.needs_motion for term in config.objective().terms)
    if needs_motion and not store.space.axes:
        raise DataError(
            f"{store.place} has no poses, and method {config.method!r} learns how the camera moved: ingest frames with "
            f"poses, or choose a method that needs none: {', '.join(_methods_without_poses(store, config))}"
        )
    patterns = (patterns or choose_patterns(store, split, config)) if "motion" in streams else None
    train, validation = (
        {name: _stream(name, opened, frames, patterns, is_training) for name in streams}
        for frames, is_training in ((split.train, True), (split.validation, False))
    )
    return RunData(
        config=config,
        store=store,
        split=split,
        recognition=opened.recognition,
        choices=opened.choices,
        patterns=patterns,
        train=train,
        validation=validation,
    )


def _methods_without_poses(store: FrameStore, config: TrainConfig) -> list[str]:
    """The methods that can be trained on a store without poses."""
    # Without poses, time says which frames are neighbours.
    lacking: set[StreamName] = {"motion"} if store.times_s is not None else {"motion", "neighbour"}
    methods = [method for method in METHODS.values() if not any(term.needs_motion for term in method.terms)]
    if not config.use_labels:
        methods = [method.without_labels() for method in methods if method.streams != ("labelled",)]
    return [method.name for method in methods if not lacking & set(method.streams)]


def _stream(
    name: StreamName,
    opened: OpenedData,
    frames: Indices,
    patterns: MotionPatterns | None,
    is_training: bool,
) -> Stream:
    store, recognition, config = opened.store, opened.recognition, opened.config
    if name == "labelled":
        if recognition is None:
            raise ConfigError("labelled images need a recognition task")
        return labelled_stream(recognition, config, is_training)
    if name == "motion":
        if patterns is None:
            raise ConfigError("motion pairs need patterns")
        pairs = find_motion_pairs(store, frames, patterns, config.max_gap_s)
        if patterns.others_are_negatives:
            pairs = thin_out(pairs, config.motion_pairs, POSITIVE_FRACTION, config.pair_seed)
        missing = [motion for motion, count in pairs.counts().items() if not count]
        if missing and is_training:
            raise DataError(f"{store.place}: no training pair is related by {missing[0]!r}; choose other motions")
        if not len(pairs):
            raise DataError(
                f"{store.place}: no two validation frames are related by a motion; lower train_fraction, or choose "
                "another split or split_seed"
            )
        return Stream(store, pairs.i, pairs.j, pairs.pattern)
    if name == "clip":
        names = config.motions or atomic_names(store.space)  # of a grid: one step along each axis, or those asked for
        clips = find_clip_pairs(
            store,
            frames,
            clip_s=config.clip_s,
            max_gap_s=config.max_gap_s,
            most=config.motion_pairs,
            seed=config.pair_seed,
            patterns=declare_patterns(store.space, names) if names else None,
            maps=_declared_maps(store, config),
        )
        if is_training and any(term.needs_motion for term in config.objective().terms) and not clips.motion.any():
            raise DataError(
                f"{store.place}: the camera does not move in any training pair, and method {config.method!r} learns "
                "how it moved: choose a method that needs no motion, such as recording"
            )
        terms = [term.name for term in config.objective().terms if term.needs_clips]
        if is_training and terms and np.ptp(clips.clip) < 2:  # neighbouring clips may show the same things
            shorter = "" if store.times_s is None else f"lower clip_s (now {config.clip_s:g}), or "
            raise DataError(
                f"{store.place}: loss {terms[0]!r} tells clips apart, and all training pairs are of one clip or of two "
                f"that follow each other: {shorter}add another recording"
            )
        return Stream(store, clips.i, clips.j, clips.clip, clips.motion)
    if name == "view":
        return Stream(store, frames, frames, frames)
    if name == "place":
        return _place_stream(store, frames, config)
    if name == "coming":
        i, j = find_coming_pairs(store, frames, config.max_gap_s)
        if not len(i):
            raise DataError(
                f"{store.place}: no frame has another {config.max_gap_s:g} s after it, and method {config.method!r} "
                "learns what comes next: choose another method, such as recording+motion"
            )
        return Stream(store, i, j, i, np.asarray(store.space.difference(store.poses[i], store.poses[j]), np.float32))
    neighbours = sample_neighbour_pairs(
        store, frames, count=config.neighbour_pairs, max_gap_s=config.neighbour_gap_s, seed=config.pair_seed
    )
    return Stream(store, neighbours.i, neighbours.j, neighbours.is_neighbour.astype(np.int64))


def _declared_maps(store: FrameStore, config: TrainConfig) -> Indices | None:
    """The map of each frame where recordings are said to share maps; None where nothing is said."""
    if config.pairs_across is None:
        return None
    if not store.space.named_motions():
        raise ConfigError(
            f"pairs_across={config.pairs_across} is for grids of poses, where frames of several recordings have one "
            f"pose, and {store.place} has other poses: leave it out, and choose a method with the loss place"
        )
    return maps_by(store, config.pairs_across)


def _place_stream(store: FrameStore, frames: Indices, config: TrainConfig) -> Stream:
    """Pairs of frames of one place."""
    pairs = find_place_pairs(store, frames, place_m=config.same_place_m, seed=config.pair_seed)
    if len(pairs) < 2:
        raise DataError(
            f"{store.place}: no two frames of one part of the split are at one place: raise same_place_m, or choose "
            "another method, such as recording+motion"
        )
    return Stream(store, pairs.i, pairs.j, pairs.i, place=np.stack([pairs.place_i, pairs.place_j]))


def labelled_stream(recognition: Recognition, config: TrainConfig, is_training: bool) -> Stream:
    """The labelled images of a run: those drawn for training, or all of the validation part."""
    classes, split = recognition.classes, recognition.split
    if is_training:
        few = 1 if config.all_labels else config.per_class
        rows = draw_labelled(classes, split.train, few, recognition.class_names, config.seed)
        if config.all_labels:
            rows = split.train[classes[split.train] >= 0]
    else:
        rows = split.validation[classes[split.validation] >= 0]
        if not len(rows):
            raise DataError(f"{recognition.store.place}: no validation frame has a label")
    return Stream(recognition.store, rows, None, classes[rows])
