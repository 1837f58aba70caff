"""The margin against no motion."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError
from egoequiv.losses import NullMotion, StreamBatch, null_motion_loss
from losses.nets import net_with, turning_net


def test_by_hand() -> None:
    z_i, z_j = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 5.0]])
    margin = torch.tensor([0.3])
    root = math.sqrt(2)  # how far the directions are apart
    assert float(null_motion_loss(z_i, z_i, z_j, margin)) == 0  # a perfect prediction
    assert float(null_motion_loss(z_j, z_i, z_j, margin)) == pytest.approx(0.3)  # none
    assert float(null_motion_loss(-z_i, z_i, z_j, margin)) == pytest.approx(2 - root + 0.3)
    assert float(null_motion_loss(z_i, z_i, z_j, torch.tensor([2.0]))) == pytest.approx(2 - root)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 999))
def test_against_plain_python(batch: int, dim: int, seed: int) -> None:
    p, a, b = torch.randn(3, batch, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    margin = torch.rand(batch, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    unit = [[[x / math.hypot(*row) for x in row] for row in z.tolist()] for z in (p, a, b)]
    gaps = [
        max(0, math.dist(unit[0][k], unit[1][k]) - math.dist(unit[2][k], unit[1][k]) + float(margin[k]))
        for k in range(batch)
    ]
    assert float(null_motion_loss(p, a, b, margin)) == pytest.approx(sum(gaps) / batch)


@given(st.integers(0, 999), st.floats(0, 1))
def test_to_copy_costs_the_margin_and_lengths_do_not_matter(seed: int, margin: float) -> None:
    p, a, b = torch.randn(3, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    margins = torch.full((4,), margin, dtype=torch.float64)
    assert float(null_motion_loss(b, a, b, margins)) == pytest.approx(margin)
    torch.testing.assert_close(null_motion_loss(3 * p, a / 2, 5 * b, margins), null_motion_loss(p, a, b, margins))


def test_the_gradient_is_finite_where_nothing_moves() -> None:
    z = torch.ones(2, 3, requires_grad=True)
    null_motion_loss(z * 1.0, z, z * 1.0, torch.tensor([0.1, 0.1])).backward()
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_a_short_motion_has_a_small_margin() -> None:
    net = turning_net()
    net.set_motion_scale([2.0])
    net.motion_maps.weight.zero_()  # type: ignore[union-attr, operator]
    z = torch.tensor([[1.0, 0.0]])
    for motion, margin in ((0.0, 0.0), (0.5, 0.25), (-0.5, 0.25), (7.0, 1.0)):
        batch = StreamBatch(z, torch.tensor([[0.0, 1.0]]), torch.tensor([0]), torch.tensor([[motion]]))
        assert float(NullMotion(margin=0.4).loss(net, batch)) == pytest.approx(0.4 * margin, abs=1e-6)
    with pytest.raises(ConfigError, match="maps of motions"):
        NullMotion().loss(net_with(), StreamBatch(z, z, torch.tensor([0])))
