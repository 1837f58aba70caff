"""View contrast: two views of one image among the views of all."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.losses import StreamBatch, ViewContrast, view_contrast
from losses.nets import layered_net


def drawn(seed: int, count: int, dim: int = 3) -> Tensor:
    return torch.randn(count, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_by_hand() -> None:
    # The views of the first image have the cosine 1, those of the second 0; both of the second have 0 and -1 with it.
    p_i = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    p_j = torch.tensor([[3.0, 0.0], [-1.0, 0.0]])
    first = math.log(math.e + 1 + math.exp(-1)) - 1  # of both of its views
    second = math.log(3)  # of the view with the cosine 0 to all others
    last = math.log(1 + 2 * math.exp(-1))
    assert float(view_contrast(p_i, p_j, 1.0)) == pytest.approx((2 * first + second + last) / 4)


@given(st.integers(1, 6), st.integers(0, 999), st.floats(0.1, 2))
def test_against_numpy(count: int, seed: int, temperature: float) -> None:
    p = drawn(seed, 2 * count)
    unit = p.numpy() / np.linalg.norm(p.numpy(), axis=1, keepdims=True)
    losses = []
    for a in range(2 * count):
        powers = {b: math.exp(unit[a] @ unit[b] / temperature) for b in range(2 * count) if b != a}
        losses.append(-math.log(powers[(a + count) % (2 * count)] / sum(powers.values())))
    found = view_contrast(p[:count], p[count:], temperature)
    assert float(found) == pytest.approx(np.mean(losses), abs=1e-9)


@given(st.integers(2, 6), st.integers(0, 999))
def test_views_may_change_places_and_equal_views_are_best(count: int, seed: int) -> None:
    p_i, p_j = drawn(seed, count, 8), drawn(seed + 1000, count, 8)
    loss = view_contrast(p_i, p_j, 0.1)
    torch.testing.assert_close(view_contrast(p_j, p_i, 0.1), loss)
    assert view_contrast(p_i, p_i, 0.1) < loss


def test_the_term_projects_the_features() -> None:
    term = ViewContrast(temperature=0.5, hidden=4, projected=3)
    assert term.layers(5, 2) == (5, 4, 3)
    net = layered_net(term, 5)
    z = drawn(0, 6, 5).float()
    project = net.layers["view"]
    expected = view_contrast(project(z[:3]), project(z[3:]), 0.5)
    torch.testing.assert_close(term.loss(net, StreamBatch(z[:3], z[3:], torch.arange(3))), expected)
