"""What the program itself has to be audited: baselines, runs and exports, with the frames they were trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from egoequiv.auditing.table import COLLAPSED
from egoequiv.errors import ConfigError
from egoequiv.files import read_json
from egoequiv.models import EgoNet, NetSpec, initialise, load_model
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.models.checksums import check_file
from egoequiv.models.foreign.layers import OUTPUT
from egoequiv.models.foreign.model import MOST_FEATURES, AuditedModel
from egoequiv.models.foreign.module import TorchForward, wrap_module
from egoequiv.models.foreign.preprocessing import Preprocessing
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.network import ALL
from egoequiv.models.saved import CONFIG, WEIGHTS, SavedConfig, load_config, load_network
from egoequiv.store import FrameStore
from egoequiv.store.frame_store import META
from egoequiv.training.collapse import has_collapsed
from egoequiv.training.config import make_config
from egoequiv.training.data import split_of
from egoequiv.training.network import pixel_statistics
from egoequiv.training.run_folder import DATA, RunFolder

STATISTICS_FRAMES = 2_000


def load_saved(spec: ModelSpec, store: FrameStore) -> AuditedModel:
    """The network of an export, or of a folder that `save_pretrained` wrote."""
    spec.refuse_declarations("an export keeps the size, mean and std it was trained with")
    folder = Path(spec.where)
    for name in (CONFIG, WEIGHTS):
        check_file(folder / name)
    config = load_config(folder)
    return with_training(wrap_net(spec, load_network(folder, config), "export"), config, store)


def with_training(model: AuditedModel, config: SavedConfig, store: FrameStore) -> AuditedModel:
    """The model with the split of the run that it was exported from, where the store is the one of that run."""
    known = str(config.trained_on.get("fingerprint", "")).split()
    if not known or not (store.path / META).exists() or store.fingerprint() not in known:
        return model
    if store.fingerprint() != known[0]:  # the store of its labelled images
        return replace(model, notes=(f"{model.name} was trained on labelled images of this store, measured here too",))
    return replace(model, split=split_of(store, make_config(_settings(config.trained_on, model.name))))


def _settings(trained_on: Mapping[str, object], name: str) -> dict[str, object]:
    """The settings of a run that decide its split; they name no code."""
    return {"data": name, "method": "random"} | {key: one for key, one in trained_on.items() if key != "fingerprint"}


def load_pixels(spec: ModelSpec, store: FrameStore) -> AuditedModel:
    """The baseline: the pixels themselves are the features, of smaller images where there are too many."""
    height, width, channels = store.image_shape
    shrink = sqrt(MOST_FEATURES / (height * width * channels))
    smaller = (max(int(height * shrink), 1), max(int(width * shrink), 1)) if shrink < 1 else None

    def flattened(images: Tensor, _layers: Sequence[str]) -> dict[str, Any]:
        return {OUTPUT: images.flatten(1)}

    return AuditedModel(spec.name, "pixels", spec.preprocessing(Preprocessing(size=smaller)), flattened)


def load_random(spec: ModelSpec, store: FrameStore) -> AuditedModel:
    """The baseline: a network that was not trained, `random` or `random:ENCODER`."""
    spec.refuse_declarations("a random network takes the images as they are in the store")
    encoder = str(spec.where).partition(":")[2] or "kitti"
    net = EgoNet(NetSpec(encoder, store.image_shape))
    initialise(net, torch.Generator().manual_seed(0))
    some = np.linspace(0, len(store) - 1, min(len(store), STATISTICS_FRAMES)).astype(np.int64)
    net.set_normalisation(*pixel_statistics(store, np.unique(some), net.encoder.unit_length))
    return wrap_net(spec, net, f"random ({encoder} encoder)")


def load_run(spec: ModelSpec, store: FrameStore) -> AuditedModel:
    """The network of a run folder, or one that was given; images are brought to the size it was trained on."""
    spec.refuse_declarations("a run keeps the size, mean and std it was trained with")
    if isinstance(spec.where, EgoNet):
        return wrap_net(spec, spec.where, "network")
    net, folder = load_model(spec.where), RunFolder(Path(spec.where))
    model = wrap_net(spec, net, "run")
    if has_collapsed(spec.part, folder.collapsed_parts, net.spec.parts):
        note = f"{spec.name} collapsed in training, so that its features hardly differ between frames"
        model = replace(model, kind=COLLAPSED, notes=(*model.notes, note))
    where = folder.trained_on(store)
    if where == "a copy" and _first_fingerprint(folder) != store.fingerprint():  # the store of its labelled images
        return replace(model, notes=(f"{spec.name} was trained on labelled images of this store, measured here too",))
    return replace(model, split=split_of(store, folder.config())) if where else model


def _first_fingerprint(folder: RunFolder) -> str:
    """Of the store whose frames a run was trained on, the first of those it read."""
    return str(read_json(folder.path / DATA, RUN_KIND).get("fingerprint")).partition(" ")[0]


def wrap_net(spec: ModelSpec, net: EgoNet, kind: str) -> AuditedModel:
    height, width, channels = net.spec.image_shape
    is_unit = net.encoder.unit_length
    scale = 255 * (sqrt(height * width * channels) if is_unit else 1.0)  # as `pixel_statistics` has it
    mean, std = (net.input_mean / 255).tolist(), (net.input_std / scale).tolist()
    own = Preprocessing((height, width), channels, tuple(mean), tuple(std), unit_length=is_unit)
    by_image = net.spec.normalisation == "image" or getattr(net.encoder, "own_preprocessing", False)
    if by_image:  # the network scales each image by itself, or its encoder does
        own = Preprocessing((height, width), channels, (0.0,) * channels, (1 / 255,) * channels)
    whole = wrap_module(replace(spec, where=net.encoder), own, kind)
    if not by_image and not net.spec.parts and spec.part == ALL:
        return whole
    part = _part_of(spec, net)

    def features(images: Tensor) -> Tensor:
        pixels = net.normalised(images.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) if by_image else images
        return net.encode(pixels)[:, part]

    named = kind if spec.part == ALL else f"{kind}, part {spec.part}"
    return replace(whole, kind=named, forward=TorchForward(net.encoder, features, spec.device))


def _part_of(spec: ModelSpec, net: EgoNet) -> slice:
    """Where the part of the features is; an unknown one is an error with the name of the model."""
    try:
        return net.part(spec.part)
    except ConfigError as problem:
        raise ConfigError(f"model {spec.name}: {problem}") from problem
