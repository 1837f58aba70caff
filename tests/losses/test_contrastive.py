"""The contrastive loss of Eq. 6."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.losses import contrastive as of_differences
from egoequiv.losses.contrastive import Norm

distances = st.integers(0, 10_000).map(lambda k: k / 1_000)
margins = st.integers(0, 5_000).map(lambda k: k / 1_000)


def contrastive(distance: Tensor, is_positive: Tensor, margin: float) -> Tensor:
    """The loss of differences along one axis, whose length is the given distance."""
    return of_differences(torch.stack([torch.zeros_like(distance), distance], dim=-1), is_positive, margin)


def test_by_hand() -> None:
    distance = torch.tensor([[0.0, 0.5, 2.0], [0.0, 0.75, 2.0]])
    is_positive = torch.tensor([[True, True, True], [False, False, False]])
    # Not squared: 0.5 stays 0.5.
    assert contrastive(distance, is_positive, 1.0).tolist() == [[0.0, 0.5, 2.0], [1.0, 0.25, 0.0]]
    assert contrastive(distance, is_positive, 0.5).tolist() == [[0.0, 0.5, 2.0], [0.5, 0.0, 0.0]]


@given(st.lists(st.tuples(distances, st.booleans()), min_size=1, max_size=20), margins)
def test_against_plain_python(pairs: list[tuple[float, bool]], margin: float) -> None:
    distance = torch.tensor([d for d, _ in pairs], dtype=torch.float64)
    is_positive = torch.tensor([positive for _, positive in pairs])
    expected = [d if positive else max(margin - d, 0.0) for d, positive in pairs]
    assert contrastive(distance, is_positive, margin).tolist() == pytest.approx(expected)


@given(distances, distances, margins)
def test_it_falls_for_near_positives_and_for_far_negatives(a: float, b: float, margin: float) -> None:
    near, far = min(a, b), max(a, b)
    both = torch.tensor([near, far], dtype=torch.float64)
    positive = contrastive(both, torch.tensor([True, True]), margin)
    negative = contrastive(both, torch.tensor([False, False]), margin)
    assert 0 <= positive[0] <= positive[1]
    assert negative[0] >= negative[1] >= 0
    assert bool(negative[1] == 0) == (far >= margin)


def test_the_slope_is_one_and_ends_at_the_margin() -> None:
    distance = torch.tensor([0.3, 0.3, 1.5], requires_grad=True)
    contrastive(distance, torch.tensor([True, False, False]), 1.0).sum().backward()
    assert distance.grad is not None
    assert distance.grad.tolist() == [1.0, -1.0, 0.0]
    assert math.isfinite(float(distance.grad.sum()))


@pytest.mark.parametrize("norm", [1, 2])
def test_the_gradient_is_that_of_separate_steps(norm: Norm) -> None:
    generator = torch.Generator().manual_seed(3)
    difference = torch.randn(4, 6, 5, generator=generator, dtype=torch.float64)
    difference[0, 0] = 0
    is_positive = torch.rand(6, generator=generator) < 0.5
    upstream = torch.rand(4, 6, generator=generator, dtype=torch.float64)
    ours, theirs = difference.clone().requires_grad_(), difference.clone().requires_grad_()
    of_differences(ours, is_positive, 2.0, norm).backward(upstream)
    distance = torch.linalg.vector_norm(theirs, ord=norm, dim=-1)
    torch.where(is_positive, distance, (2.0 - distance).clamp_min(0)).backward(upstream)
    assert ours.grad is not None
    assert theirs.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_a_difference_of_zero_has_no_gradient_whatever_its_weight() -> None:
    difference = torch.zeros(1, 3, requires_grad=True)
    (1e6 * of_differences(difference, torch.tensor([True]), 1.0)).sum().backward()
    assert difference.grad is not None
    assert difference.grad.tolist() == [[0.0, 0.0, 0.0]]
