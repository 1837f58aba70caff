"""Pixels as features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.models import build_encoder
from egoequiv.store import FrameStore
from egoequiv.training import train
from egoequiv.training.open_run import open_run


def test_small_images_are_taken_as_they_are() -> None:
    images = torch.rand(2, 1, 12, 16, generator=torch.Generator().manual_seed(0))
    assert torch.equal(build_encoder("pixels", (12, 16, 1), {})(images), images.flatten(1))


def test_large_images_are_averaged_by_hand() -> None:
    encoder = build_encoder("pixels", (4, 4, 1), {"side": 2})
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert encoder(image).tolist() == [[2.5, 4.5, 10.5, 12.5]]
    assert encoder.feature_dim == 4


def test_an_average_does_not_change_the_mean_of_the_image() -> None:
    images = np.random.default_rng(0).random((3, 2, 32, 32), np.float32)
    features = build_encoder("pixels", (32, 32, 2), {})(torch.from_numpy(images))
    assert features.mean(dim=1).numpy() == pytest.approx(images.mean(axis=(1, 2, 3)), rel=1e-4)


def test_a_run_of_pixels_is_kept_and_opened_as_others_are(small_store: FrameStore, tmp_path: Path) -> None:
    train(small_store.path, tmp_path / "run", method="random", encoder="pixels", use_labels=False, iterations=0)
    net = open_run(tmp_path / "run").net
    assert not list(net.parameters())
    assert net(torch.from_numpy(np.array(small_store.images[:2]))).shape == (2, net.encoder.feature_dim)
