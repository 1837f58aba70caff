"""The slowness loss of Eq. 7."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.losses import Slowness, StreamBatch, slowness_loss
from losses.nets import net_with

norms = st.sampled_from([1, 2])


def drawn(seed: int, batch: int, dim: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    z_i, z_j = torch.randn(2, batch, dim, dtype=torch.float64, generator=generator)
    return z_i, z_j, torch.rand(batch, generator=generator) < 0.5


@pytest.mark.parametrize(("norm", "expected"), [(1, (7.0 + 0.3 + 0.0) / 3), (2, (5.0 + 0.5 + 0.0) / 3)])
def test_by_hand(norm: Literal[1, 2], expected: float) -> None:
    z_i = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    z_j = torch.tensor([[3.0, -4.0], [1.3, 0.6], [9.0, 9.0]])
    is_neighbour = torch.tensor([True, False, False])
    assert float(slowness_loss(z_i, z_j, is_neighbour, 1.0, norm)) == pytest.approx(expected)
    term = Slowness(margin=1.0, norm=norm)
    batch = StreamBatch(z_i, z_j, is_neighbour.long())
    assert float(term.loss(net_with(), batch)) == pytest.approx(expected)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 999), st.floats(0, 4), norms)
def test_against_plain_python(batch: int, dim: int, seed: int, margin: float, norm: Literal[1, 2]) -> None:
    z_i, z_j, is_neighbour = drawn(seed, batch, dim)
    total = 0.0
    for a, b, near in zip(z_i.tolist(), z_j.tolist(), is_neighbour.tolist(), strict=True):
        distance = sum(abs(x - y) ** norm for x, y in zip(a, b, strict=True)) ** (1 / norm)
        total += distance if near else max(margin - distance, 0)
    assert float(slowness_loss(z_i, z_j, is_neighbour, margin, norm)) == pytest.approx(total / batch)


@given(st.integers(1, 6), st.integers(0, 999), norms)
def test_it_is_mutual_and_blind_to_a_common_shift(batch: int, seed: int, norm: Literal[1, 2]) -> None:
    z_i, z_j, is_neighbour = drawn(seed, batch, 3)
    loss = slowness_loss(z_i, z_j, is_neighbour, 1.0, norm)
    assert loss >= 0
    torch.testing.assert_close(slowness_loss(z_j, z_i, is_neighbour, 1.0, norm), loss)
    torch.testing.assert_close(slowness_loss(z_i + 0.25, z_j + 0.25, is_neighbour, 1.0, norm), loss)


@given(st.integers(1, 6), st.integers(0, 999))
def test_the_l1_distance_is_never_the_shorter_one(batch: int, seed: int) -> None:
    z_i, z_j, _ = drawn(seed, batch, 4)
    pulled = torch.ones(batch, dtype=torch.bool)
    l1, l2 = (slowness_loss(z_i, z_j, pulled, 1.0, norm) for norm in (1, 2))
    assert l1 >= l2 * (1 - 1e-12)
    pushed_l1, pushed_l2 = (slowness_loss(z_i, z_j, ~pulled, 1.0, norm) for norm in (1, 2))
    assert pushed_l1 <= pushed_l2 + 1e-12


@pytest.mark.parametrize("norm", [1, 2])
def test_the_gradient(norm: Literal[1, 2]) -> None:
    z_i, z_j, is_neighbour = drawn(5, 4, 3)
    z_i.requires_grad_()
    z_j.requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: slowness_loss(a, b, is_neighbour, 1.0, norm), (z_i, z_j))


@pytest.mark.parametrize("norm", [1, 2])
def test_the_gradient_is_finite_where_two_images_are_the_same(norm: Literal[1, 2]) -> None:
    z_i, z_j = torch.zeros(2, 3, requires_grad=True), torch.zeros(2, 3, requires_grad=True)
    slowness_loss(z_i, z_j, torch.tensor([True, False]), 1.0, norm).backward()
    assert z_i.grad is not None
    assert z_j.grad is not None
    assert z_i.grad.isfinite().all()
    assert z_j.grad.isfinite().all()
