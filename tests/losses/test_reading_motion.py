"""Motion as a pretext task: it is read from the features of both frames."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError
from egoequiv.losses import MotionReading, StreamBatch, motion_error
from losses.nets import layered_net, net_with


def test_by_hand() -> None:
    motion, scale = torch.tensor([[10.0, 4.0], [-10.0, 0.0]]), torch.tensor([10.0, 2.0])
    # In units of their size the motions are (1, 2) and (-1, 0).
    assert float(motion_error(torch.tensor([[1.0, 2.0], [-1.0, 0.0]]), motion, scale)) == 0
    assert float(motion_error(torch.tensor([[1.0, 1.0], [0.0, 0.0]]), motion, scale)) == pytest.approx((1 + 1) / 4)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 999))
def test_against_numpy_with_components_that_never_vary(batch: int, dim: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    read, motion, scale = rng.normal(size=(batch, dim + 1)), rng.normal(size=(batch, dim + 1)), rng.uniform(1, 3, dim)
    motion[:, dim] = 0
    expected = np.mean((read[:, :dim] - motion[:, :dim] / scale) ** 2)
    found = motion_error(*(torch.from_numpy(a) for a in (read, motion, np.append(scale, inf))))
    assert float(found) == pytest.approx(expected)


@given(st.floats(0.01, 100), st.integers(0, 999))
def test_the_unit_of_a_motion_does_not_matter(unit: float, seed: int) -> None:
    read, motion = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    scale = motion.square().mean(0).sqrt()
    torch.testing.assert_close(motion_error(read, unit * motion, unit * scale), motion_error(read, motion, scale))
    assert float(motion_error(torch.zeros_like(read), motion, scale)) == pytest.approx(1)  # to say nothing


def test_the_term_reads_from_both_frames_in_their_order() -> None:
    term = MotionReading(hidden=6)
    assert term.layers(4, 2) == (8, 6, 2)
    net = layered_net(term, 4, motion_dim=2)
    net.set_motion_scale([10.0, inf])
    z_i, z_j = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    motion = torch.tensor([[10.0, 0.0], [-5.0, 0.0], [0.0, 0.0]])
    z = torch.cat([z_i, z_j], dim=1)
    read = net.layers["reading"](z / z.square().mean().sqrt())  # numbers of the size 1
    expected = (read[:, 0] - torch.tensor([1.0, -0.5, 0.0])).square().mean()
    torch.testing.assert_close(term.loss(net, StreamBatch(z_i, z_j, torch.arange(3), motion)), expected)
    assert not torch.allclose(term.loss(net, StreamBatch(z_j, z_i, torch.arange(3), motion)), expected)
    assert net.state_dict()["read_scale"].tolist() == [10.0, inf]


def test_without_motions_it_is_refused() -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="pairs with motions"):
        MotionReading().loss(net_with(), batch)
