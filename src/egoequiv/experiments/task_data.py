"""What tasks look at, from an opened run: its network before and after training, its frames, its labelled task."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import numpy as np
import torch

from egoequiv.evaluation.task import TaskData
from egoequiv.models import EgoNet, initialise
from egoequiv.models.head import BackboneHead
from egoequiv.pairs import Split
from egoequiv.store.label_tables import LabelPlace
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import Recognition, open_data
from egoequiv.training.open_run import OpenRun
from egoequiv.training.streams import labelled_stream

Shared = MutableMapping[tuple[Any, ...], Any]  # what was computed of frames for all runs on them, by key


def open_task_data(opened: OpenRun, everything: bool = False, shared: Shared | None = None) -> TaskData:
    """What tasks look at, of a run.

    Args:
        opened: The run.
        everything: Look at all frames of the store, not at the validation part.
        shared: What runs on the same frames share, such as neighbours by pixels.
    """
    store, config, task = opened.store, opened.config, opened.recognition
    every = np.arange(len(store))
    split = Split(every, every, "all") if everything else opened.split
    return TaskData(
        net=opened.net,
        store=store,
        split=split,
        patterns=opened.patterns,
        untrained=untrained_like(opened.net, config) if config.objective().terms else None,
        recognition=labelled_task(opened),
        learned=opened.learned,
        # An untrained network gets the labelled images that others of its seed learn from.
        labelled=None if task is None else labelled_stream(task, config, is_training=True).i,
        max_gap_s=config.max_gap_s,
        neighbour_gap_s=config.neighbour_gap_s,
        label_column=config.label_column,
        shared={} if shared is None else shared,
        collapsed=opened.folder.collapsed_parts,
    )


def labelled_task(opened: OpenRun) -> Recognition | None:
    """The labelled task of a run, also of one that has not learned from it but names the store of its images."""
    place = opened.config.labels
    if opened.recognition is not None or place is None or LabelPlace.parse(place):
        return opened.recognition
    alone: dict[str, Any] = {"method": "random", "use_labels": True, "weight": {}, "margin": {}, "term_settings": {}}
    return open_data(opened.config.model_copy(update=alone)).recognition


def untrained_like(net: EgoNet, config: TrainConfig) -> EgoNet:
    """The network as it was before training: the baseline that says what training adds."""
    fresh = EgoNet(net.spec)
    initialise(fresh, torch.Generator().manual_seed(config.seed), config.map_init)
    fresh.input_mean.copy_(net.input_mean)
    fresh.input_std.copy_(net.input_std)
    if isinstance(fresh.encoder, BackboneHead) and isinstance(net.encoder, BackboneHead):
        fresh.encoder.mean.copy_(net.encoder.mean)
        fresh.encoder.whitening.copy_(net.encoder.whitening)
    return fresh.eval()
