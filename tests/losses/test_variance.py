"""Variance, invariance and covariance, on views and on pairs of frames."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses import InvariantVariance, MotionVariance, StreamBatch, VarianceViews, vicreg
from egoequiv.losses.variance import covariance_loss, variance_loss
from losses.nets import layered_net, net_with, turning_net


def drawn(seed: int, count: int, dim: int = 3) -> Tensor:
    return torch.randn(count, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_by_hand() -> None:
    # Standard deviations: sqrt(2) and 0. The second feature is constant: 1 is missing, less the root of 1e-4.
    z = torch.tensor([[0.0, 5.0], [2.0, 5.0]])
    assert float(variance_loss(z)) == pytest.approx((0 + 1 - 0.01) / 2, abs=1e-6)
    assert float(covariance_loss(z)) == 0
    # Both features are equal, with variance 2: the covariance is 2, and it is there twice, for two features.
    equal = torch.tensor([[0.0, 0.0], [2.0, 2.0]])
    assert float(covariance_loss(equal)) == pytest.approx((4 + 4) / 2)
    # Squared differences 0, 25, 0 and 9 (mean 8.5); variance losses .495 and 0; covariance losses 0 and 4.
    assert float(vicreg(z, equal, 1.0, 0.0, 0.0)) == pytest.approx(8.5)
    assert float(vicreg(z, equal, 0.0, 10.0, 0.0)) == pytest.approx(10 * 0.495 / 2, abs=1e-5)
    assert float(vicreg(z, equal, 2.0, 10.0, 3.0)) == pytest.approx(2 * 8.5 + 10 * 0.495 / 2 + 3 * 4, abs=1e-5)


@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 999))
def test_against_numpy(count: int, dim: int, seed: int) -> None:
    a, b = drawn(seed, count, dim), drawn(seed + 1000, count, dim)
    expected = 25 * np.mean((a.numpy() - b.numpy()) ** 2)
    for z in (a.numpy(), b.numpy()):
        covariance = np.atleast_2d(np.cov(z.T))
        expected += 25 / 2 * np.mean(np.maximum(0, 1 - np.sqrt(np.diag(covariance) + 1e-4)))
        expected += sum(covariance[j, k] ** 2 for j in range(dim) for k in range(dim) if j != k) / dim
    assert float(vicreg(a, b, 25.0, 25.0, 1.0)) == pytest.approx(expected)


@given(st.integers(0, 999))
def test_it_is_zero_for_equal_features_that_vary_and_are_independent_and_not_for_one_point(seed: int) -> None:
    z = 1.5 * torch.linalg.qr(drawn(seed, 9, 9) - drawn(seed, 9, 9).mean(0)).Q[:, :4] * 3
    z = z - z.mean(0)
    z = torch.linalg.qr(z).Q * 4  # columns of mean 0 that are orthogonal, with variance 16 / 8
    assert float(vicreg(z, z, 25.0, 25.0, 1.0)) == pytest.approx(0, abs=1e-9)
    point = torch.ones(9, 4)
    assert float(vicreg(point, point, 25.0, 25.0, 1.0)) == pytest.approx(25 * 0.99, rel=1e-5)
    shifted = vicreg(drawn(seed, 9) + 7.0, drawn(seed + 1, 9) + 7.0, 25.0, 25.0, 1.0)
    torch.testing.assert_close(shifted, vicreg(drawn(seed, 9), drawn(seed + 1, 9), 25.0, 25.0, 1.0))


def test_one_row_has_no_variance_and_a_finite_loss() -> None:
    z = torch.ones(1, 3, requires_grad=True)
    vicreg(z, 2 * z, 1.0, 1.0, 1.0).backward()
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_terms_expand_their_part() -> None:
    z = drawn(0, 8, 5).float()
    batch = StreamBatch(z[:4], z[4:], torch.arange(4))
    views = VarianceViews(expanded=7)
    assert views.layers(5, 2) == (5, 7, 7)
    net = layered_net(views, 5)
    expand = net.layers["variance"]
    expected = vicreg(expand(z[:4]), expand(z[4:]), 25.0, 25.0, 1.0)
    torch.testing.assert_close(views.loss(net, batch), expected)
    part = InvariantVariance(expanded=7)
    net = layered_net(part, 2)
    net.part = lambda name: {"invariant": slice(0, 2)}[name]  # type: ignore[method-assign, assignment]
    expand = net.layers["invariance"]
    expected = vicreg(expand(z[:4, :2]), expand(z[4:, :2]), 10.0, 10.0, 1.0)
    torch.testing.assert_close(part.loss(net, batch), expected)


def test_the_map_goes_back_from_the_second_image() -> None:
    net = turning_net()
    starts, angles = torch.linspace(0, 6, 12), torch.linspace(-2, 2, 12)
    z_i, z_j = (torch.stack([a.cos(), a.sin()], dim=1) for a in (starts, starts + angles))
    batch = StreamBatch(z_i, z_j, torch.arange(12), angles.unsqueeze(1))
    only = {"variance": 0.0, "covariance": 0.0}
    assert float(MotionVariance(**only).loss(net, batch)) == pytest.approx(0, abs=1e-9)  # type: ignore[arg-type]
    forth = StreamBatch(z_j, z_i, batch.target, batch.motion)
    # Features of length 1 are multiplied by the root of 2, and the error is the mean over 2 features.
    twice = (z_i - torch.stack([(starts + 2 * angles).cos(), (starts + 2 * angles).sin()], dim=1)).square().mean()
    assert float(MotionVariance(**only).loss(net, forth)) == pytest.approx(4.5 * 2 * float(twice), rel=1e-3)  # type: ignore[arg-type]
    whole = float(MotionVariance().loss(net, batch))
    scaled = [2**0.5 * z for z in (z_i, z_j)]
    expected = float(vicreg(*scaled, 0.0, 10.0, 1.0) + 10 * variance_loss(scaled[0]))
    assert whole == pytest.approx(expected, abs=1e-4)


def test_a_network_without_maps_is_refused() -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="maps of motions"):
        MotionVariance().loss(net_with(), batch)
