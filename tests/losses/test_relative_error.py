"""The relative error: rho of the maps of a network, as a loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.evaluation.equivariance import score_mapped
from egoequiv.losses import RatioOfMeans, RelativeError, StreamBatch, ratio_of_means, relative_error
from losses.nets import net_with, turning_net


def drawn(seed: int, count: int, dim: int = 3) -> Tensor:
    return torch.randn(count, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_by_hand() -> None:
    # Errors of 1 and 0; the features moved by 2 and by 5.
    z_i, z_j = torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[2.0, 0.0], [0.0, 0.0]])
    predicted = torch.tensor([[0.0, 1.0], [3.0, 4.0]])
    assert float(relative_error(predicted, z_i, z_j, 0.0)) == pytest.approx((1 / 2 + 0 / 5) / 2)
    assert float(relative_error(predicted, z_i, z_j, 2.0)) == pytest.approx((1 / 4 + 0 / 7) / 2)


@given(st.integers(1, 9), st.integers(0, 999))
def test_without_a_floor_it_is_rho(batch: int, seed: int) -> None:
    predicted, z_i, z_j = (drawn(3 * seed + k, batch) for k in range(3))
    rho = score_mapped(predicted.numpy(), z_i.numpy(), z_j.numpy(), np.arange(batch)).rho
    assert float(relative_error(predicted, z_i, z_j, 0.0)) == pytest.approx(rho)


def test_the_ratio_of_means_by_hand() -> None:
    z_i, z_j = torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[2.0, 0.0], [0.0, 0.0]])
    assert float(ratio_of_means(torch.tensor([[0.0, 1.0], [3.0, 4.0]]), z_i, z_j)) == pytest.approx((1 + 0) / (2 + 5))


@given(st.integers(1, 9), st.integers(0, 999), st.floats(0.1, 1e3))
def test_the_ratio_is_that_of_the_measure_and_has_no_scale(batch: int, seed: int, size: float) -> None:
    predicted, z_i, z_j = (size * drawn(3 * seed + k, batch) for k in range(3))
    ratio = score_mapped(predicted.numpy(), z_i.numpy(), z_j.numpy(), np.arange(batch)).ratio_of_means
    assert float(ratio_of_means(predicted, z_i, z_j)) == pytest.approx(ratio)
    assert float(ratio_of_means(z_j, z_i, z_j)) == pytest.approx(1)


@given(st.integers(1, 9), st.integers(0, 999))
def test_a_perfect_map_has_none_and_copying_has_less_than_one(batch: int, seed: int) -> None:
    z_i, z_j = drawn(seed, batch), drawn(seed + 1000, batch)
    assert float(relative_error(z_i, z_i, z_j, 0.02)) == 0.0
    assert 0.5 < float(relative_error(z_j, z_i, z_j, 0.02)) < 1.0


@pytest.mark.parametrize("term", [RelativeError(), RatioOfMeans()])
def test_the_map_goes_back_and_the_length_of_features_does_not_matter(term: RelativeError | RatioOfMeans) -> None:
    net, angles, starts = turning_net(), torch.tensor([0.3, 1.0, -2.0]), torch.tensor([0.1, 2.0, 4.0])
    z_i, z_j = (torch.stack([a.cos(), a.sin()], dim=1) for a in (starts, starts + angles))
    clip = torch.zeros(3, dtype=torch.int64)
    right = term.loss(net, StreamBatch(5 * z_i, 2 * z_j, clip, angles.unsqueeze(1)))
    wrong = term.loss(net, StreamBatch(5 * z_i, 2 * z_j, clip, -angles.unsqueeze(1)))
    assert float(right) == pytest.approx(0, abs=1e-4)
    assert float(wrong) > 0.5


def test_a_network_without_maps_is_named() -> None:
    batch = StreamBatch(torch.zeros(2, 4), torch.zeros(2, 4), torch.zeros(2), torch.zeros(2, 1))
    with pytest.raises(ConfigError, match="needs a network with maps of motions"):
        RelativeError().loss(net_with(), batch)
