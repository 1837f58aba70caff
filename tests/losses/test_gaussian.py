"""Features that are kept Gaussian, and predictions without negatives."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from egoequiv.errors import ConfigError
from egoequiv.losses import Gaussian, MotionPrediction, StreamBatch, epps_pulley, gaussian_loss
from losses.nets import net_with, turning_net


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_by_hand() -> None:
    # All values are 0, so c(t) = 1. The integral of (1 - e^(-t^2/2))^2 e^(-t^2/2) over all t is
    # sqrt(2 pi) (1 - 2 / sqrt(2) + 1 / sqrt(3)), of which the tails beyond 3 have about .0065.
    whole = math.sqrt(2 * math.pi) * (1 - math.sqrt(2) + 1 / math.sqrt(3))
    assert float(epps_pulley(torch.zeros(10, 1))[0]) == pytest.approx(10 * (whole - 0.0065), rel=3e-3)


def integrand(t: float, values: np.ndarray) -> float:
    normal = math.exp(-(t**2) / 2)
    return float(abs(np.mean(np.exp(1j * t * values)) - normal) ** 2 * normal)


@given(st.integers(1, 20), st.integers(0, 999))
def test_against_scipy(count: int, seed: int) -> None:
    values = 1.5 * torch.randn(count, 2, dtype=torch.float64, generator=seeded(seed)) + 0.3
    for own, found in zip(values.numpy().T, epps_pulley(values).tolist(), strict=True):
        expected = count * quad(partial(integrand, values=own), -3, 3)[0]
        assert found == pytest.approx(expected, rel=0.02, abs=1e-3)


def test_normal_features_have_the_lowest_loss_of_all_and_one_point_the_highest() -> None:
    z = torch.randn(400, 5, generator=seeded(0))
    directions = torch.randn(64, 5, generator=seeded(1))
    normal = float(gaussian_loss(z, directions))
    others = {
        "wider": 2 * z,
        "narrower": 0.5 * z,
        "shifted": z + 0.5,
        "on a line": z[:, :1].expand(-1, 5),
        "two points": z.sign(),
        "one point": torch.zeros(400, 5),
    }
    losses = {name: float(gaussian_loss(other, directions)) for name, other in others.items()}
    assert all(loss > 2 * normal for loss in losses.values()), (normal, losses)
    assert max(losses, key=lambda name: losses[name]) == "one point"
    turn = torch.linalg.qr(torch.randn(5, 5, generator=seeded(2))).Q  # turned with the features, nothing changes
    assert float(gaussian_loss(z @ turn, 3 * directions @ turn)) == pytest.approx(normal, rel=1e-3)


def test_directions_are_drawn_while_it_learns_and_fixed_in_a_validation() -> None:
    z = torch.randn(6, 3, generator=seeded(0))
    batch = StreamBatch(z[:3], z[3:], torch.arange(3))
    term, net = Gaussian(directions=4), net_with()
    with torch.random.fork_rng():
        torch.manual_seed(5)
        first, second = (float(term.loss(net, batch)) for _ in range(2))
        torch.manual_seed(5)
        assert float(term.loss(net, batch)) == first
        assert first != second
        before = torch.get_rng_state()
        with torch.no_grad():
            assert float(term.loss(net, batch)) == float(term.loss(net, batch))
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(5)
        expected = gaussian_loss(z, torch.randn(4, 3))
    assert first == pytest.approx(float(expected))
    assert term.draws


def test_the_prediction_goes_back_from_the_second_image() -> None:
    net = turning_net()
    z_i, z_j = torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 3.0]])
    batch = StreamBatch(z_i, z_j, torch.tensor([0]), torch.tensor([[math.pi / 2]]))
    assert float(MotionPrediction().loss(net, batch)) == pytest.approx(0, abs=1e-9)
    still = StreamBatch(z_i, z_j, torch.tensor([0]), torch.tensor([[0.0]]))
    assert float(MotionPrediction().loss(net, still)) == pytest.approx((9 + 9) / 2)
    with pytest.raises(ConfigError, match="maps of motions"):
        MotionPrediction().loss(net_with(), batch)
