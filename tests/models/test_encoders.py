"""Encoders."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from egoequiv.models import ENCODERS, Encoder
from egoequiv.models.encoders import MlpEncoder


def test_two_full_layers_by_hand() -> None:
    encoder = MlpEncoder((1, 2, 1), hidden_units=2, feature_dim=1)
    with torch.no_grad():
        encoder.hidden.weight.copy_(torch.tensor([[1.0, -1.0], [-1.0, 1.0]]))
        encoder.hidden.bias.copy_(torch.tensor([0.0, 0.5]))
        encoder.features.weight.copy_(torch.tensor([[2.0, 10.0]]))
        encoder.features.bias.fill_(1.0)
    images = torch.tensor([[[[3.0, 1.0]]], [[[1.0, 3.0]]]])
    # Hidden (2, -1.5) and (-2, 2.5); what is below zero is cut off.
    assert encoder(images).tolist() == [[5.0], [26.0]]


def test_two_full_layers_against_numpy() -> None:
    torch.manual_seed(0)
    encoder = MlpEncoder((3, 4, 2), hidden_units=5, feature_dim=7)
    images = torch.randn(6, 2, 3, 4)
    weights = {name: value.detach().double().numpy() for name, value in encoder.named_parameters()}
    expected = []
    for image in images.double().numpy():
        hidden = np.maximum(weights["hidden.weight"] @ image.ravel() + weights["hidden.bias"], 0)
        expected.append(weights["features.weight"] @ hidden + weights["features.bias"])
    np.testing.assert_allclose(encoder(images).detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_network_of_the_paper_for_norb() -> None:
    encoder = ENCODERS["norb"]((96, 96, 1))
    shapes = {name: tuple(value.shape) for name, value in encoder.named_parameters()}
    assert shapes == {
        "hidden.weight": (20, 9216),
        "hidden.bias": (20,),
        "features.weight": (100, 20),
        "features.bias": (100,),
    }


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("shape", [(32, 32, 1), (24, 40, 3)])
def test_every_encoder_gives_the_features_it_promises(name: str, shape: tuple[int, int, int]) -> None:
    encoder = ENCODERS[name](shape)
    assert isinstance(encoder, Encoder)
    height, width, channels = shape
    assert encoder(torch.zeros(2, channels, height, width)).shape == (2, encoder.feature_dim)
