"""The equivariance loss of Eq. 5, and the separation of the images of a pair."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError
from egoequiv.losses import Equivariance, Separation, StreamBatch, equivariance_loss, separation_loss
from losses.nets import net_with

sizes = st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))


def drawn(seed: int, batch: int, patterns: int, dim: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random z_i (B, D), mapped_j (B, G, D) and patterns (B,), some of them -1."""
    generator = torch.Generator().manual_seed(seed)
    z_i = torch.randn(batch, dim, dtype=torch.float64, generator=generator)
    mapped = torch.randn(batch, patterns, dim, dtype=torch.float64, generator=generator)
    return z_i, mapped, torch.randint(-1, patterns, (batch,), generator=generator)


def test_by_hand() -> None:
    z_i = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    mapped_j = torch.tensor([[[3.0, 4.0], [0.3, 0.4]], [[1.0, 1.25], [4.0, 5.0]]])
    # The first pair is of pattern 0: 5 for its own map, 1 - 0.5 for the other one.
    # The second is of no pattern: 1 - 0.25 for map 0, nothing for map 1, which is 5 away.
    loss = equivariance_loss(z_i, mapped_j, torch.tensor([0, -1]), margin=1.0)
    assert float(loss) == pytest.approx((5.5 + 0.75) / 2)
    swapped = equivariance_loss(z_i, mapped_j, torch.tensor([1, 0]), margin=1.0)
    assert float(swapped) == pytest.approx((0.5 + 0.25) / 2)


@given(sizes, st.integers(0, 999), st.floats(0, 3))
def test_against_plain_python(size: tuple[int, int, int], seed: int, margin: float) -> None:
    batch, patterns, dim = size
    z_i, mapped, pattern = drawn(seed, batch, patterns, dim)
    total = 0.0
    for b in range(batch):
        for g in range(patterns):
            distance = math.sqrt(sum((float(mapped[b, g, d]) - float(z_i[b, d])) ** 2 for d in range(dim)))
            total += distance if int(pattern[b]) == g else max(margin - distance, 0)
    assert float(equivariance_loss(z_i, mapped, pattern, margin)) == pytest.approx(total / batch)


@given(sizes, st.integers(0, 999), st.randoms(use_true_random=False))
def test_the_order_of_pairs_and_of_patterns_does_not_matter(
    size: tuple[int, int, int], seed: int, random: object
) -> None:
    batch, patterns, dim = size
    z_i, mapped, pattern = drawn(seed, batch, patterns, dim)
    loss = equivariance_loss(z_i, mapped, pattern, 1.0)
    rows = torch.tensor(random.sample(range(batch), batch))  # type: ignore[attr-defined]
    torch.testing.assert_close(equivariance_loss(z_i[rows], mapped[rows], pattern[rows], 1.0), loss)
    numbers = torch.tensor(random.sample(range(patterns), patterns))  # type: ignore[attr-defined]
    renamed = torch.tensor([-1 if p < 0 else int((numbers == p).nonzero()) for p in pattern.tolist()])
    torch.testing.assert_close(equivariance_loss(z_i, mapped[:, numbers], renamed, 1.0), loss)


@given(sizes, st.integers(0, 999))
def test_it_is_never_negative_and_zero_for_perfect_maps(size: tuple[int, int, int], seed: int) -> None:
    batch, patterns, dim = size
    z_i, mapped, pattern = drawn(seed, batch, patterns, dim)
    assert equivariance_loss(z_i, mapped, pattern, 1.0) >= 0
    perfect = z_i[:, None] + 5.0
    perfect = perfect.expand(batch, patterns, dim).clone()
    own = pattern >= 0
    perfect[own, pattern[own]] = z_i[own]
    assert float(equivariance_loss(z_i, perfect, pattern, 1.0)) == 0


def test_the_gradient_is_that_of_small_differences() -> None:
    z_i, mapped, pattern = drawn(3, 4, 3, 2)
    z_i.requires_grad_()
    mapped.requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: equivariance_loss(a, b, pattern, 1.0), (z_i, mapped))


def test_the_gradient_is_finite_where_a_distance_is_zero() -> None:
    z_i = torch.zeros(2, 3, requires_grad=True)
    mapped = torch.zeros(2, 2, 3, requires_grad=True)
    equivariance_loss(z_i, mapped, torch.tensor([0, 1]), 1.0).backward()
    assert z_i.grad is not None
    assert mapped.grad is not None
    assert z_i.grad.isfinite().all()
    assert mapped.grad.isfinite().all()


def test_the_map_is_put_on_the_second_image() -> None:
    maps = torch.tensor([[[0.0, -1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    net = net_with(maps=maps)
    # A quarter turn takes (2, 0) to (0, 2); the identity leaves it at a distance of sqrt(8) from there.
    batch = StreamBatch(torch.tensor([[0.0, 2.0]]), torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    assert float(Equivariance(margin=1.0).loss(net, batch)) == 0
    back = StreamBatch(batch.z_j, batch.z_i, batch.target)
    assert float(Equivariance(margin=1.0).loss(net, back)) == pytest.approx(4.0)
    assert float(Equivariance(margin=3.0).loss(net, batch)) == pytest.approx(3 - math.sqrt(8), rel=1e-5)


def test_a_network_without_maps_is_refused() -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="equivariance maps"):
        Equivariance().loss(net_with(), batch)


def test_separation_by_hand() -> None:
    z_i = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    z_j = torch.tensor([[0.3, 0.4], [4.0, 5.0], [2.0, 2.0]])
    assert float(separation_loss(z_i, z_j, 1.0)) == pytest.approx((0.5 + 0 + 1) / 3)
    batch = StreamBatch(z_i, z_j, torch.tensor([0, 1, -1]))
    assert float(Separation(margin=2.0).loss(net_with(), batch)) == pytest.approx((1.5 + 0 + 2) / 3)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 999), st.floats(0, 4))
def test_separation_against_plain_python(batch: int, dim: int, seed: int, margin: float) -> None:
    z_i, z_j = torch.randn(2, batch, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    gaps = [math.dist(a, b) for a, b in zip(z_i.tolist(), z_j.tolist(), strict=True)]
    expected = sum(max(margin - gap, 0) for gap in gaps) / batch
    assert float(separation_loss(z_i, z_j, margin)) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 999), st.floats(0, 4))
def test_separation_is_mutual_and_at_most_the_margin(seed: int, margin: float) -> None:
    z_i, z_j = torch.randn(2, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    loss = separation_loss(z_i, z_j, margin)
    assert 0 <= loss <= margin
    assert float(separation_loss(z_j, z_i, margin)) == float(loss)
    assert float(separation_loss(z_i, z_i, margin)) == pytest.approx(margin)
