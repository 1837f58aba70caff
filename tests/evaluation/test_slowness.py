"""The slowness of features on training and validation frames."""

import json
from dataclasses import replace

import numpy as np
import torch

from egoequiv.evaluation.slowness import NORMS, slowness
from egoequiv.evaluation.task import TaskData, TaskOptions, silent
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pairs import Split, sample_neighbour_pairs
from egoequiv.pose import NoMotion
from egoequiv.store import FrameStore
from egoequiv.training.auroc import slowness_auroc
from evaluation.grid_features import features_of, grid_store
from helpers import bare_store, data_error


def some_net(store: FrameStore) -> EgoNet:
    net = EgoNet(NetSpec("norb", store.image_shape))
    initialise(net, torch.Generator().manual_seed(0))
    return net


def test_features_that_say_which_recording_tell_nearly_all_neighbours() -> None:
    store = grid_store()
    pairs = sample_neighbour_pairs(store, np.arange(len(store)), count=400)
    z_i, z_j = (features_of(store).of(rows) for rows in (pairs.i, pairs.j))
    first, second = (slowness_auroc(z_i, z_j, pairs.is_neighbour, norm) for norm in NORMS)
    assert min(first, second) > 0.97
    assert first != second


def test_the_task_measures_both_parts(small_store: FrameStore) -> None:
    split = Split(np.arange(0, 144, 2), np.arange(1, 144, 2), "odd and even")
    data = TaskData(some_net(small_store), small_store, split, None)
    finding = slowness(data, TaskOptions(), silent)
    rows = json.loads(json.dumps(finding.details))["rows"]
    assert [(row["part"], row["norm"]) for row in rows] == [
        ("training", "l2"),
        ("training", "l1"),
        ("validation", "l2"),
        ("validation", "l1"),
    ]
    assert all(0.5 < row["auroc"] <= 1 for row in rows)
    assert [value.name for value in finding.values] == ["AUROC, validation frames", "AUROC, training frames"]
    assert [value.value for value in finding.values] == [rows[2]["auroc"], rows[0]["auroc"]]
    assert finding.values[0].all_baselines() == {"chance": 0.5}
    assert finding.tables[0].rows[0][0].text == "training"
    same = replace(data, untrained=data.net, shared={})
    again = slowness(same, TaskOptions(), silent).values[0]
    assert again.baselines == {"untrained": again.value}
    assert again.is_marked  # training has changed nothing


def test_pictures_without_poses_and_times_have_no_neighbours() -> None:
    store = bare_store(np.empty((20, 0)), [0] * 20, space=NoMotion())
    data = TaskData(some_net(store), store, Split(np.arange(10), np.arange(10, 20), "halves"), None)
    with data_error("bare-store", "neither poses nor times"):
        slowness(data, TaskOptions(), silent)
