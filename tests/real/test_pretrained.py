"""The ImageNet encoder on photographs: a linear probe on its features tells scenes apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.linear_model import LogisticRegression

from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.pretrained import PACKAGES

SIDE, PER_CLASS = 64, 6


def photographs(folder: Path) -> tuple[torch.Tensor, np.ndarray]:
    """Some of each class, (N, H, W, 1) uint8, and their classes."""
    images, classes = [], []
    for number, of_class in enumerate(sorted(path for path in folder.iterdir() if path.is_dir())):
        files = sorted(of_class.glob("*.jpg"))
        for file in files[:: len(files) // PER_CLASS][:PER_CLASS]:
            images.append(np.asarray(Image.open(file).convert("L").resize((SIDE, SIDE))))
            classes.append(number)
    return torch.from_numpy(np.stack(images))[..., None], np.array(classes)


def accuracy(encoder: str, real_data: Path) -> float:
    net = EgoNet(NetSpec(encoder, (SIDE, SIDE, 1), normalisation="image")).eval().requires_grad_(False)
    initialise(net, torch.Generator().manual_seed(0))
    (train, train_class), (test, test_class) = (photographs(real_data / "scene15" / part) for part in ("train", "test"))
    z, z_test = net(train).numpy(), net(test).numpy()
    scale = z.std(axis=0) + 1e-6
    probe = LogisticRegression(C=0.01, max_iter=300).fit(z / scale, train_class)
    return float((probe.predict(z_test / scale) == test_class).mean())


def test_features_of_imagenet_tell_scenes_apart(real_data: Path) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason="the extra `imagenet` is not installed")
    trained, untrained = accuracy("efficientnet-lite0", real_data), accuracy("residual", real_data)
    assert trained > 0.45  # of 15 classes, with 6 photographs each
    assert trained > untrained + 0.2
