"""Equivariance maps: all maps at once against one map at a time."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.models import EquivarianceMaps


def random_maps(patterns: int, dim: int, seed: int) -> EquivarianceMaps:
    maps = EquivarianceMaps(patterns, dim).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        maps.weight.normal_(generator=generator)
        maps.bias.normal_(generator=generator)
    return maps


def test_by_hand() -> None:
    maps = EquivarianceMaps(2, 2)
    with torch.no_grad():
        maps.weight.copy_(torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]]))
        maps.bias.copy_(torch.tensor([[10.0, 20.0], [0.0, -1.0]]))
    mapped = maps(torch.tensor([[1.0, 1.0], [2.0, 0.0]]))
    assert mapped.tolist() == [[[13.0, 27.0], [1.0, 0.0]], [[12.0, 26.0], [0.0, 1.0]]]


@given(st.integers(1, 5), st.integers(1, 7), st.integers(1, 6), st.integers(0, 99))
def test_all_maps_at_once_are_each_map_on_its_own(patterns: int, dim: int, batch: int, seed: int) -> None:
    maps = random_maps(patterns, dim, seed)
    z = torch.randn(batch, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed + 1))
    mapped = maps(z)
    assert mapped.shape == (batch, patterns, dim)
    for b in range(batch):
        for g in range(patterns):
            alone = torch.stack([maps.weight[g, d] @ z[b] + maps.bias[g, d] for d in range(dim)])
            torch.testing.assert_close(mapped[b, g], alone)


@given(st.integers(0, 99))
def test_maps_are_affine(seed: int) -> None:
    maps = random_maps(3, 4, seed)
    a, b = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(maps(0.3 * a + 0.7 * b), 0.3 * maps(a) + 0.7 * maps(b))


def test_every_map_gets_its_own_gradient() -> None:
    maps = random_maps(3, 4, 0)
    maps(torch.ones(2, 4, dtype=torch.float64))[:, 1].sum().backward()
    assert maps.weight.grad is not None
    assert maps.bias.grad is not None
    assert maps.weight.grad[1].unique().tolist() == [2.0]
    assert maps.bias.grad.tolist() == [[0.0] * 4, [2.0] * 4, [0.0] * 4]
    assert not maps.weight.grad[[0, 2]].any()
