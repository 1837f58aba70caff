"""The classification loss."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.errors import ConfigError
from egoequiv.losses import Classification, StreamBatch
from losses.nets import net_with


def loss_of(scores: torch.Tensor, target: torch.Tensor) -> float:
    """The loss of given scores (B, C): a head that passes its features on."""
    net = net_with(head=torch.eye(scores.shape[1], dtype=scores.dtype))
    return float(Classification().loss(net, StreamBatch(scores, scores, target)))


def test_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(3.0)], [5.0, 5.0]])
    assert loss_of(scores[:1], torch.tensor([1])) == pytest.approx(-math.log(3 / 4))
    assert loss_of(scores[:1], torch.tensor([0])) == pytest.approx(math.log(4))
    assert loss_of(scores, torch.tensor([0, 1])) == pytest.approx((math.log(4) + math.log(2)) / 2)


def test_the_head_is_applied() -> None:
    net = net_with(head=torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    z = torch.tensor([[math.log(2.0), math.log(5.0)]])
    batch = StreamBatch(z, z, torch.tensor([2]))
    assert float(Classification().loss(net, batch)) == pytest.approx(-math.log(5 / 8))


@given(st.integers(1, 6), st.integers(2, 7), st.integers(0, 999))
def test_against_plain_python(batch: int, classes: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = 3 * torch.randn(batch, classes, dtype=torch.float64, generator=generator)
    target = torch.randint(classes, (batch,), generator=generator)
    total = 0.0
    for row, own in zip(scores.tolist(), target.tolist(), strict=True):
        total -= math.log(math.exp(row[own]) / sum(math.exp(score) for score in row))
    assert loss_of(scores, target) == pytest.approx(total / batch)


@given(st.integers(0, 999), st.floats(-50, 50))
def test_a_common_shift_of_scores_changes_nothing(seed: int, shift: float) -> None:
    scores = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    target = torch.tensor([0, 1, 2, 0])
    assert loss_of(scores + shift, target) == pytest.approx(loss_of(scores, target))
    assert loss_of(scores, target) > 0


def test_a_network_without_a_head_is_refused() -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="classifier head"):
        Classification().loss(net_with(), batch)
