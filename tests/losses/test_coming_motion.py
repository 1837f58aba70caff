"""The coming motion, read from one frame."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses import ComingMotion, StreamBatch
from egoequiv.models import EgoNet
from losses.nets import layered_net, net_with


def reader(scale: list[float], weight: Tensor, bias: Tensor) -> EgoNet:
    """A network whose layer of this loss has these weights."""
    net = layered_net(ComingMotion(), weight.shape[1], len(scale), motion_dim=len(scale))
    net.set_motion_scale(scale)
    layer = net.layers["coming"][0]
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
    return net


def batch_of(z: Tensor, motion: Tensor) -> StreamBatch:
    return StreamBatch(z, z, torch.arange(len(z)), motion)


def test_by_hand() -> None:
    net = reader([10.0, 2.0], torch.eye(2), torch.zeros(2))
    z, motion = torch.tensor([[1.0, 1.0], [-1.0, 1.0]]), torch.tensor([[10.0, 2.0], [-10.0, 4.0]])
    # In units of their size the motions are (1, 1) and (-1, 2); one number is read wrongly by 1.
    assert float(ComingMotion().loss(net, batch_of(z, motion))) == pytest.approx(1 / 4)
    assert float(ComingMotion().loss(net, batch_of(7 * z, motion))) == pytest.approx(1 / 4)  # whatever their size


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 999))
def test_against_numpy(count: int, dim: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, motion, weight, bias = (rng.normal(size=shape) for shape in ((count, 4), (count, dim), (dim, 4), dim))
    scale = rng.uniform(1, 3, dim)
    net = reader(scale.tolist(), *(torch.from_numpy(a).float() for a in (weight, bias)))
    expected = np.mean((z / np.sqrt(np.mean(z**2)) @ weight.T + bias - motion / scale) ** 2)
    found = ComingMotion().loss(net, batch_of(torch.from_numpy(z).float(), torch.from_numpy(motion).float()))
    assert float(found) == pytest.approx(expected, rel=1e-4)


@given(st.floats(0.01, 100), st.integers(0, 99))
def test_the_unit_of_a_motion_does_not_matter(unit: float, seed: int) -> None:
    z, motion = torch.randn(2, 5, 2, generator=torch.Generator().manual_seed(seed))
    losses = [
        ComingMotion().loss(reader([size, 2 * size], torch.eye(2), torch.ones(2)), batch_of(z, size * motion))
        for size in (1.0, unit)
    ]
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-4, atol=1e-5)


def test_a_component_that_never_varies_is_not_read() -> None:
    term = ComingMotion()
    assert term.layers(7, 3) == (7, 3)
    net = reader([10.0, inf], torch.eye(2), torch.zeros(2))
    z, motion = torch.tensor([[1.0, -1.0]]), torch.tensor([[10.0, 0.0]])
    assert float(term.loss(net, batch_of(z, motion))) == 0


def test_without_motions_it_is_refused() -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="needs pairs with motions"):
        ComingMotion().loss(net_with(), batch)
